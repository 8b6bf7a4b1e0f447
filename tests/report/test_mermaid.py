"""Diagrams of programs: every line is one of Mermaid's sequence diagrams, and says who is called in which construct."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prose_runtime.check.checker import check_path
from prose_runtime.report.mermaid import diagram
from support.commands import ROOT
from support.programs import pattern

LIBRARY = sorted((ROOT / "patterns").glob("*.prose.md"))
LINE = re.compile(
    r"sequenceDiagram|participant \w+ as [^;#]+|\w+--?>>\w+: [^;]+|Note over run: [^;]+|end"
    r"|(?:loop|par|and|alt|else|opt|critical|option|rect)(?: [^;]*)?"
)
OPENS = ("loop", "par ", "alt", "opt ", "critical", "rect")


def drawn(folder: Path, body: str, slots: str = "a b", rows: str = "topic: string") -> list[str]:
    text = diagram(check_path(pattern(folder, body, slots=slots, rows=rows)))
    return [line.strip() for line in text.splitlines()]


def well_formed(lines: list[str]) -> None:
    depth = 0
    for line in lines:
        text = re.sub(r"#(?:\d+|[a-z]+);", "_", line.strip())
        assert LINE.fullmatch(text), line
        depth += text.startswith(OPENS)
        depth -= text == "end"
        assert depth >= 0, line
    assert depth == 0


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.name.partition(".")[0])
def test_each_library_pattern_can_be_drawn(path: Path) -> None:
    analysis = check_path(path)
    text = diagram(analysis)
    well_formed(text.splitlines())
    for slot in analysis.spec.slots:
        assert re.search(rf"participant (p\d+) as {slot.name}\b", text)
    assert text.count("->>p") >= len(analysis.spec.slots)


def test_constructs_become_frames(tmp_path: Path) -> None:
    body = (
        "let x = call a\n  topic: topic\nif x.ok:\n  call b\nelse:\n  return x\n"
        "parallel:\n  let y = call a\n  let z = call b\n"
        "repeat 3:\n  call a\ntry:\n  call a\ncatch as e:\n  call b\nreturn x"
    )
    lines = drawn(tmp_path, body)
    well_formed(lines)
    wanted = [
        *("run->>p1: topic", "p1-->>run: x", "alt x.ok", "run->>p2: call", "else otherwise", "Note over run: return x"),
        *("end", "par at once", "and", "loop 3 times", "critical try", "option a failure"),
    ]
    places = [lines.index(line) for line in wanted]
    assert places == sorted(places)


def test_what_calls_nobody_is_left_out(tmp_path: Path) -> None:
    lines = drawn(tmp_path, "let n = 1\nif topic:\n  n = 2\nrepeat 2:\n  emit n\ncall a\ncall b")
    assert [line for line in lines if line.startswith(OPENS)] == []


def test_a_block_is_drawn_where_it_is_called_and_once_when_it_calls_itself(tmp_path: Path) -> None:
    lines = drawn(tmp_path, "do both\nblock both:\n  call a\n  call b\n  do both")
    well_formed(lines)
    assert lines.count("run->>p1: call") == 1
    assert "Note over run: both again" in lines


def test_text_of_the_program_means_nothing_to_mermaid(tmp_path: Path) -> None:
    lines = drawn(tmp_path, 'let x = call a\nif x.text == "end; # %% \\"q\\"":\n  call b')
    well_formed(lines)
    assert "opt x.text == #quot;end#59; #35; #37;#37; \\#quot;q\\#quot;#quot;" in lines
