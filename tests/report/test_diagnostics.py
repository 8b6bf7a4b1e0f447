"""One set of diagnostics, every renderer; the texts expected stand in files beside this one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prose_runtime.diagnostics import Diagnostic, Secondary
from prose_runtime.errors import UnreadableFile
from prose_runtime.report import github, text
from prose_runtime.report import json as json_report
from prose_runtime.text import Source, Span

EXPECTED = Path(__file__).parent / "diagnostics"

SOURCE = Source(
    "specs/a, b.prose.md",
    "let a = topik\r\n"
    "let 好 = 好好 + naïve\n"
    "\tcall writter  # 100%\n"
    "return {\n"
    "  a: 1\n"
    "}\n"
    "let view = 1\n"
    "let view = 2\n" + "x" * 300 + " bad " + "y" * 300,
)


def span(words: str, nth: int = 0) -> Span:
    at = -1
    for _ in range(nth + 1):
        at = SOURCE.text.index(words, at + 1)
    return Span(at, at + len(words))


def diagnostics() -> list[Diagnostic]:
    lines = Span(SOURCE.text.index("{"), SOURCE.text.index("}") + 1)
    first = Secondary(span("view"), "the first one")
    return [
        Diagnostic("undefined-name", "error", "`topik` is not defined", SOURCE, span("topik"), "did you mean `topic`?"),
        Diagnostic("undefined-name", "error", "`naïve` is not defined", SOURCE, span("naïve")),
        Diagnostic("unknown-target", "error", "100% wrong: \x1b[31mred", SOURCE, span("writter"), "one\ntwo"),
        Diagnostic("return-missing", "warning", "over several lines", SOURCE, lines),
        Diagnostic("published-twice", "error", "`view` again", SOURCE, span("view", 1), secondary=(first,)),
        Diagnostic("unknown-target", "info", "far to the right", SOURCE, span("bad")),
    ]


UNREADABLE = [UnreadableFile("specs/x:y.prose.md", "permission denied")]


@pytest.mark.parametrize(
    ("name", "have"),
    [
        ("text.txt", text.render(diagnostics(), UNREADABLE, files=3)),
        ("github.txt", github.render(diagnostics(), UNREADABLE)),
        ("json.json", json_report.render(diagnostics(), UNREADABLE)),
    ],
)
def test_rendered_as_expected(name: str, have: str) -> None:
    assert have + "\n" == (EXPECTED / name).read_text(encoding="utf-8")


def test_carets_stand_below_what_is_wrong() -> None:
    first, second, *_ = text.render(diagnostics()).split("\n\n")
    _, line, carets, _ = first.split("\n")
    assert line.index("topik") == carets.index("^^^^^")
    _, line, carets = second.split("\n")
    assert text.width(line[: line.index("naïve")]) == carets.index("^^^^^")


def test_colour_adds_nothing_but_colour() -> None:
    import re

    coloured = text.render(diagnostics(), colour=True)
    assert coloured != text.render(diagnostics())
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == text.render(diagnostics())


def test_a_file_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in text.render(diagnostics())


def test_summary_counts() -> None:
    assert text.summary(diagnostics(), files=1) == "Found 4 errors and 1 warning in 1 file."
    assert text.summary([], files=2) == "No faults found in 2 files."
    assert "1 file could not be read" in text.summary([], UNREADABLE, 0)


def test_json_has_the_fields_of_the_format_and_no_others() -> None:
    shown = json.loads(json_report.render(diagnostics()))
    assert list(shown) == ["diagnostics"]
    assert list(shown["diagnostics"][0]) == [
        "file", "line", "column", "end_line", "end_column", "code", "severity", "message", "help",
    ]  # fmt: skip
    assert shown["diagnostics"][3]["end_line"] == 6


def test_github_commands_stay_on_one_line_each() -> None:
    assert len(github.render(diagnostics(), UNREADABLE).splitlines()) == 7
    assert github.render([]) == ""
