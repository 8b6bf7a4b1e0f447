"""The catalogue of bad lines: each example gets its sentence, at the line and without a fault besides it."""

from __future__ import annotations

import pytest

from prose_runtime.syntax import messages
from prose_runtime.syntax.messages import ENTRIES, STATEMENTS, Slip
from support.scripts import read_alone


def filled(text: str) -> str:
    return text.partition("{word}")[0]


@pytest.mark.parametrize("slip", [*STATEMENTS, messages.ENGLISH], ids=lambda slip: slip.example)
def test_example(slip: Slip) -> None:
    parsed = read_alone(f"let before = 1\n{slip.example}\nlet after = 2\n")
    found = parsed.diagnostics
    assert [(d.start.line, d.code, d.severity) for d in found] == [(2, "syntax", "error")]
    assert found[0].source.slice(found[0].span) == slip.marked
    assert found[0].message.startswith(filled(slip.message))
    assert found[0].help is not None and found[0].help.startswith(filled(slip.help))
    assert "{word}" not in found[0].message + found[0].help
    assert len(parsed.block.statements) == 3


def test_an_input_with_an_equals_sign() -> None:
    found = read_alone("call w\n  topic = topic\n  b: 1").diagnostics
    assert [(d.start.line, d.code) for d in found] == [(2, "syntax")]
    assert "topic: value" in str(found[0].help)
    assert (ENTRIES[0].example, found[0].source.slice(found[0].span)) == ("topic = topic", ENTRIES[0].marked)


@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        ("let x = a b", 11, ["`b`"]),
        ("return a +", 10, ["too early"]),
        ("return größe", 10, ["U+00F6"]),
        ("return a \u00a7 b", 10, ["U+00A7"]),
        ("emit @x", 6, ["`@`"]),
        ("Then ask the critic to review it.", 1, ["English", "call", "emit"]),
        ('emit "a && b" c', 15, ["`c`"]),
        ("let y = x.map(f)", 11, ["methods", "map", "len(xs)"]),
    ],
)
def test_place_and_words(line: str, column: int, words: list[str]) -> None:
    found = read_alone(line).diagnostics
    assert [(d.code, d.start.column) for d in found] == [("syntax", column)]
    said = f"{found[0].message} {found[0].help}"
    assert all(word in said for word in words)
