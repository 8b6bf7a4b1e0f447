"""What the rules of portability share (LANGUAGE.md, first paragraph).

Portable is what the published grammar and the standard patterns use: ``call`` with its inputs below, ``let``,
``const``, assignment, ``repeat``, ``for``, ``loop``, ``parallel`` in its forms, ``if``, ``choice``, ``try``, ``throw``,
``return``, ``record``/``append ... to``, blocks, pipelines, literals, fields, indexes, arithmetic, ``or``, and whatever
a condition says, because a condition is English. Everything else is read here, and only here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts
from prose_runtime.text import Source, Span

_Node = TypeVar("_Node", bound=n.Node)


def outside_conditions(nodes: Iterable[_Node], facts: Facts) -> Iterator[_Node]:
    """The nodes that are no part of a condition: what stands there is English to other readers."""
    inside = [condition.span for condition in facts.all(n.Condition)]
    for node in nodes:
        if not any(span.covers(node.span) for span in inside):
            yield node


def outermost(nodes: Iterable[_Node]) -> Iterator[_Node]:
    """The nodes that stand in none of the others, in source order."""
    end = -1
    for node in sorted(nodes, key=lambda node: (node.span.start, -node.span.end)):
        if node.span.start >= end:
            end = node.span.end
            yield node


def ends_its_line(source: Source, span: Span) -> bool:
    """Whether nothing but blanks and a comment stands behind a span on its line."""
    line = source.line_span(source.place(span.end).line)
    rest = source.text[span.end : line.end].strip()
    return not rest or rest.startswith("#")


def indentation(source: Source, span: Span) -> str:
    """The blanks before the line on which a span starts."""
    line = source.line_span(source.place(span.start).line)
    text = source.text[line.start : line.end]
    return text[: len(text) - len(text.lstrip())]
