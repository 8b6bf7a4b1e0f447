"""What holds of reading any program: it never raises, spans nest, and time grows with the length only."""

from __future__ import annotations

import re
import time
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from prose_runtime.diagnostics import Collector
from prose_runtime.nodes import Node
from prose_runtime.syntax.delegation import parse_block, parse_expression
from prose_runtime.text import Source, Span

GOLDEN = Path(__file__).parents[1] / "syntax" / "golden"
PROGRAMS = [
    case.partition("\n")[2].partition("\n---\n")[0]
    for path in sorted(GOLDEN.glob("*.txt"))
    for case in path.read_text(encoding="utf-8").split("=== ")[1:]
]
PIECES = re.findall(r"\w+|\s+|\S", "\n".join(PROGRAMS))
HOSTILE = [
    '"',
    '"""',
    "**",
    "***",
    "\t",
    "\r\n",
    "\\",
    "{{",
    "}}",
    "é",
    "\u2028",
    "\x00",
    "\ud800",
    "1e999",
    "|",
    "'",
    "#",
]


def check(text: str, span: Span | None = None) -> None:
    """Read a part of a text; the tree's spans nest inside it, the faults lie inside the file."""
    source = Source("any.prose", text)
    out = Collector(source)
    place = span or Span(0, len(source.text))
    block = parse_block(source, place, out)
    parse_expression(source, place, Collector(source))
    waiting: list[tuple[Node, Span]] = [(block, place)]
    while waiting:
        node, around = waiting.pop()
        assert around.covers(node.span) and node.span.start <= node.span.end, (type(node).__name__, node.span, around)
        waiting += [(child, node.span) for child in node.children()]
    for diagnostic in out.items:
        assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(text)
        assert diagnostic.message and not diagnostic.message.endswith(".")
        assert diagnostic.start <= diagnostic.end


@given(st.text(alphabet=st.characters(codec=None), max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_text(text: str) -> None:
    check(text)


@given(st.lists(st.sampled_from(PIECES + HOSTILE * 20), max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_sequence_of_words(pieces: list[str]) -> None:
    check("".join(pieces))


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A good program with some characters removed, doubled or replaced."""
    text = draw(st.sampled_from(PROGRAMS))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        text = text[:start] + draw(st.sampled_from(["", "", " ", "\n", *HOSTILE, *PIECES])) + text[end:]
    return text


@given(mutated())
@settings(max_examples=150, deadline=None)
def test_mutated_programs(text: str) -> None:
    check(text)


@given(mutated(), st.integers(0, 40), st.integers(0, 40))
@settings(max_examples=100, deadline=None)
def test_a_part_of_a_file_stays_in_its_part(text: str, before: int, after: int) -> None:
    whole = "x" * before + "\n" + text + "\n" + "[" * after
    check(whole, Span(before + 1, before + 1 + len(Source("a", text).text)))


def seconds(text: str) -> float:
    source = Source("long.prose", text)
    start = time.process_time()
    parse_block(source, Span(0, len(source.text)), Collector(source))
    return time.process_time() - start


BLOCK = """let x = call writer
  topic: topic
  notes: notes or "none"
if x says yes and n > 3:
  record { a: x, n: n } in log
for y in xs:
  emit "now {y}"
"""


def test_a_block_of_forty_lines_is_read_in_milliseconds() -> None:
    seconds(BLOCK)
    assert min(seconds(BLOCK * 6) for _ in range(5)) < 0.05


def test_time_is_linear_in_the_length() -> None:
    seconds(BLOCK)
    one, four = (min(seconds(BLOCK * n) for _ in range(2)) for n in (50, 200))
    assert four < 4 * one * 3


LONG = {
    "lines": BLOCK * 300,
    "string": 'let x = "' + "a{b} " * 40_000 + '"',
    "triple": 'let x = """\n' + "  a {{b}} \\d\n" * 20_000 + '"""',
    "open triple": 'let x = """\n' + '  ""a\n' * 100_000,
    "open brackets": "x(\n" * 1500,
    "open bracket lines": "let x = (\n" * 1500,
    "open marks": "if **a\n" * 1500,
    "elifs": "if a:\n  x\n" + "elif b:\n  x\n" * 1000,
    "orphans": "else:\n  x\n" * 1000,
    "stages": "xs\n" + "| map: item\n" * 1000,
    "stages on a line": "xs " + "| map: item " * 1000,
    "blanks in a condition": "if a" + " " * 50_000 + "b" + " " * 50_000 + ":\n  x",
    "joints": "if " + " or ".join(["the a is good"] * 1000) + ":\n  x",
    "alternatives": "if x is " + " or ".join(['"a"'] * 1000) + ":\n  x",
    "thens": "let x = if " + "x then " * 1500,
    "elses": "let x = a if b " + "else " * 1500,
    "bars": "x = " + "|" * 50_000,
    "english": "foo bar baz\n" * 1000,
    "deep": "".join(" " * i + "if a:\n" for i in range(800)),
}


def test_nothing_takes_long() -> None:
    slow = {name: spent for name, text in LONG.items() if (spent := seconds(text)) > 5}
    assert slow == {}
