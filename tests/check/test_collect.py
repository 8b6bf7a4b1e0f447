"""Which loops are lists: what is bound, returned or passed, and loops at the end of a collected body."""

import textwrap

import pytest

from prose_runtime.check.collect import collected
from prose_runtime.syntax.parse import parse
from prose_runtime.text import Source

HEAD = "---\nname: trial\nkind: function\n---\n\n### Execution\n\n```prose\n"


def lines_collected(body):
    """The lines, counted from 1, on which a collected construct starts."""
    text = HEAD + textwrap.dedent(body).strip("\n") + "\n```\n"
    source = Source("trial.prose.md", text)
    spec, diagnostics = parse(source)
    assert [d.message for d in diagnostics if d.severity == "error"] == []
    first = HEAD.count("\n")
    return sorted({source.place(node.span.start).line - first for node in collected(spec)})


PROGRAMS = {
    "a statement": ("repeat 2:\n  call a", []),
    "bound": ("let x = repeat 2:\n  call a", [1]),
    "assigned": ("let x = null\nx = for y in ys:\n  call a", [2]),
    "returned": ("return for y in ys:\n  call a", [1]),
    "parallel": ("let x = parallel for y in ys:\n  call a", [1]),
    "parallel block": ("let x = parallel:\n  call a\n  call b", [1]),
    "a plain parallel block": ("parallel:\n  call a\n  repeat 2:\n    call b", []),
    "bound in a branch": ("parallel:\n  let x = repeat 2:\n    call a\n  call b", [2]),
    "a branch of a value": ("let x = parallel:\n  repeat 2:\n    call a\n  call b", [1, 2]),
    "passed": ("call a\n  x: repeat 2:\n    call b", [2]),
    "nested, ending in return": (
        "let x = for t in ts:\n  repeat 2:\n    let v = call a\n    return v",
        [1, 2],
    ),
    "nested, ending in a call": ("let x = for t in ts:\n  repeat 2:\n    call a", [1, 2]),
    "nested, ending in let": ("let x = for t in ts:\n  repeat 2:\n    let v = call a", [1, 2]),
    "nested, ending in an append": ("let x = for t in ts:\n  repeat 2:\n    append t to ys", [1]),
    "nested, returning under a condition": (
        "let x = for t in ts:\n  repeat 2:\n    let v = call a\n    if v.ok:\n      return v",
        [1],
    ),
    "nested, returning under both": (
        "let x = for t in ts:\n  repeat 2:\n    if t.ok:\n      return 1\n    else:\n      return 2",
        [1, 2, 3],
    ),
    "nested, not at the end": ("let x = for t in ts:\n  repeat 2:\n    call a\n  t", [1]),
    "nested in a statement": ("for t in ts:\n  repeat 2:\n    return t", []),
    "three deep": ("let x = for t in ts:\n  repeat 2:\n    repeat 3:\n      return t", [1, 2, 3]),
    "below an if at the end": (
        "let x = for t in ts:\n  if t.many:\n    repeat 2:\n      call a\n  else:\n    call b",
        [1, 2, 3],
    ),
    "the end of a block": ("block p(t):\n  repeat 2:\n    call a\ndo p(1)", [2]),
    "the end of a stage": ("let x = ys | map:\n  repeat 2:\n    call a", [2]),
    "a do block bound": ("let x = do:\n  repeat 2:\n    call a", [1, 2]),
    "a try at the end": (
        "let x = repeat 2:\n  try:\n    call a\n  catch:\n    null\n  finally:\n    repeat 2:\n      call b",
        [1, 2],
    ),
    "a choice bound": (
        'let x = choice which one:\n  option "one":\n    repeat 2:\n      call a\n  option "two":\n    2',
        [1, 3],
    ),
    "a loop with a condition": ("let x = loop until ok (max: 3):\n  call a", [1]),
}


@pytest.mark.parametrize(("body", "expected"), PROGRAMS.values(), ids=PROGRAMS)
def test_collected(body, expected):
    assert lines_collected(body) == expected
