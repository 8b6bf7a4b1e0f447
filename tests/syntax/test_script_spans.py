"""Every node spans exactly the characters that it is written with, in the file's own offsets."""

from __future__ import annotations

import pytest

from prose_runtime.nodes import (
    Argument,
    Binary,
    Bind,
    Branch,
    Call,
    Catch,
    Clause,
    Condition,
    Entry,
    Field,
    ForEach,
    FunctionCall,
    If,
    Loop,
    Name,
    Node,
    ParallelOptions,
    Pipeline,
    Predicate,
    Repeat,
    Session,
    Stage,
    Template,
    Try,
)
from support.scripts import read

PROGRAM = '''let first = call writer
  topic: "on {topic}"   # remark
  deep: call other
    x: (a + b)

if the text says "wait: stop" or n > 3:  # why
  emit "x"
elif **it is
  done**:
  break
else:
  let y = len(xs) | map:
    item.name
  | filter:
    item
try:
  loop until calm (max: 4) as pass:
    call w with { a: 1, b }
catch as e:
  parallel for x in xs ("any", count: 2):
    repeat 2:
      session n: finder
        prompt: """
          hello
        """
return a or call w
  z: 1
'''


def texts(kind: type[Node]) -> list[str]:
    parsed = read(PROGRAM)
    assert parsed.diagnostics == []
    return [parsed.text(node) for node in parsed.nodes(kind)]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Argument, ['topic: "on {topic}"', "deep: call other\n    x: (a + b)", "x: (a + b)", "a: 1", "b"]),
        (Condition, ['the text says "wait: stop" or n > 3', "**it is\n  done**", "calm"]),
        (Clause, ['the text says "wait: stop"', "n > 3", "it is\n  done", "calm"]),
        (Predicate, ["it is\n  done"]),
        (FunctionCall, ["len(xs)"]),
        (Field, ["item.name"]),
        (Stage, ["| map:\n    item.name", "| filter:\n    item"]),
        (Pipeline, ["len(xs) | map:\n    item.name\n  | filter:\n    item"]),
        (ParallelOptions, ['("any", count: 2)']),
        (Binary, ["a + b", "n > 3", "a or call w\n  z: 1"]),
        (Template, ['"on {topic}"', '"x"', '"""\n          hello\n        """']),
        (Session, ['session n: finder\n        prompt: """\n          hello\n        """']),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_span(kind: type[Node], expected: list[str]) -> None:
    assert texts(kind)[: len(expected)] == expected


def test_constructs_reach_to_the_end_of_their_last_body() -> None:
    parsed = read(PROGRAM)
    first = {kind: parsed.text(parsed.nodes(kind)[0]) for kind in (Bind, If, Branch, Try, Catch, Loop, ForEach, Repeat)}
    assert first[Bind].startswith("let first") and first[Bind].endswith("x: (a + b)")
    assert first[If].startswith("if the text") and first[If].endswith("| filter:\n    item")
    assert first[Branch] == 'if the text says "wait: stop" or n > 3:  # why\n  emit "x"'
    assert first[Try].startswith("try:") and first[Try].endswith('"""')
    assert first[Catch].startswith("catch as e:") and first[Catch].endswith('"""')
    assert first[Loop] == "loop until calm (max: 4) as pass:\n    call w with { a: 1, b }"
    assert first[ForEach].startswith("parallel for x") and first[Repeat].startswith("repeat 2:")


def test_names_span_their_word() -> None:
    parsed = read(PROGRAM)
    assert all(parsed.text(name) == name.id for name in parsed.nodes(Name))
    for node in parsed.nodes(Argument):
        assert node.name_span is not None
        assert parsed.source.text[node.name_span.start : node.name_span.end] == node.name


def test_keys_of_objects() -> None:
    parsed = read('return { a: 1, "b c": 2, d }')
    assert [parsed.text(entry) for entry in parsed.nodes(Entry)] == ["a: 1", '"b c": 2', "d"]
    quoted = read('call w with { "b c": 2, d: 1 }').nodes(Argument)
    assert [read_span(argument) for argument in quoted] == [5, 1]


def read_span(argument: Argument) -> int:
    assert argument.name_span is not None
    return argument.name_span.end - argument.name_span.start


def test_carriage_returns_move_nothing() -> None:
    plain, crlf = read(PROGRAM), read(PROGRAM.replace("\n", "\r\n"))
    assert crlf.diagnostics == []
    lines = [[p.source.place(node.span.start) for node in p.block.walk()] for p in (plain, crlf)]
    assert lines[0] == lines[1]
    assert [call.target.id for call in crlf.nodes(Call)] == ["writer", "other", "w", "w"]
