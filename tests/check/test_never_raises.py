"""Whatever stands in a file, checking it gives diagnostics with places inside the file, and never an exception."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prose_runtime.check.checker import analyse
from prose_runtime.check.project import Project, library
from prose_runtime.diagnostics import Diagnostic
from prose_runtime.syntax.parse import parse
from prose_runtime.text import Source
from support.suites import cases

TEXTS = [text for case in cases() for name, text in case.files.items() if name.endswith(".md")]
TEXTS += [path.read_text(encoding="utf-8") for path in sorted(library().glob("*.prose.md"))]
PIECES = [
    "call ",
    "let x = ",
    "return ",
    "{",
    "}",
    '"',
    "```\n",
    "  ",
    "\t",
    "\n",
    "parallel:\n",
    "- `a`",
    "é",
    "| map:",
    "(",
]


def diagnostics(text: str, folder: Path) -> tuple[Source, tuple[Diagnostic, ...]]:
    source = Source(str(folder / "spec.prose.md"), text)
    spec, parsed = parse(source)
    return source, analyse(spec, Project(folder, deep=False), parsed).diagnostics


def is_well_placed(found: tuple[Diagnostic, ...], source: Source) -> bool:
    ordered = list(found) == sorted(found, key=lambda d: (d.span, d.code))
    inside = all(0 <= d.span.start <= d.span.end <= len(source.text) for d in found)
    return ordered and inside and len({(d.code, d.span, d.message) for d in found}) == len(found)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        end = min(len(text), at + draw(st.integers(0, 40)))
        piece = draw(st.sampled_from(PIECES) | st.text(max_size=6))
        text = text[:at] + piece + text[end:]
    return text


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=mutated())
def test_mutated_specs(text: str, tmp_path: Path) -> None:
    source, found = diagnostics(text, tmp_path)
    assert is_well_placed(found, source)


@pytest.mark.parametrize("cut", range(0, 1200, 60))
def test_specs_that_stop_in_the_middle(cut: int, tmp_path: Path) -> None:
    for path in sorted(library().glob("*.prose.md")):
        source, found = diagnostics(path.read_text(encoding="utf-8")[:cut], tmp_path)
        assert is_well_placed(found, source)


@pytest.mark.parametrize("opened", ["(", "[", "{a: ", "not ", "if x:\n"])
def test_deep_nesting_is_a_fault_and_no_crash(opened: str, tmp_path: Path) -> None:
    head = "---\nname: deep\nkind: function\n---\n\n### Execution\n\n```prose\n"
    lines = "".join(" " * depth + opened for depth in range(600)) if "\n" in opened else "return " + opened * 3000
    source, found = diagnostics(head + lines + "1\n```\n", tmp_path)
    assert any(d.severity == "error" for d in found)
    assert is_well_placed(found, source)
