"""Brings several things on one line into the form of lines and children: stages, bodies, items that are objects."""

from __future__ import annotations

import re

from prose_runtime.diagnostics import Collector, Edit, Fix
from prose_runtime.syntax import loose
from prose_runtime.syntax.layout import Line
from prose_runtime.syntax.outer import hits, trimmed
from prose_runtime.text import Source, Span

_STAGE = r"\|\s*(?:map|pmap|filter|reduce)(?![\w-])"
_ENGLISH_HEAD = re.compile(
    r"(?:(?:(?:let|const)\s+)?[\w-]+\s*=\s*|return\s+)?(?:if|elif|else\s+if|(?:loop\s+)?(?:until|while)|choice)(?![\w-])"
    r"(?!\s*(?:=[^=]|\.))"
)
_PLAIN_HEAD = re.compile(
    r"(?:(?:(?:let|const)\s+)?[\w-]+\s*=\s*|return\s+)?"
    r"(?:for|repeat|loop|parallel|try|catch|finally|else|option|(?:block|agent)(?=\s+[A-Za-z_])|do(?=\s*:)|\|)"
    r"(?![\w-])(?!\s*(?:=[^=]|\.))"
)
_KEY_FIRST = re.compile(r"[A-Za-z_][\w-]*\s*:\s")
_INLINE_PLAIN = r":\s*(?=\S)"
_INLINE_STATEMENT = (
    r":\s*(?=(?:return|break|continue|throw|emit|call|let|const|record|append|add|session|do|sleep|if|for|repeat|loop"
    r"|parallel|option)(?![\w-])"
    r"|[A-Za-z_][\w-]*\s*=(?!=))"
)


def split(source: Source, line: Line, out: Collector, *, entry: bool, data: bool) -> None:
    """Split ``xs | map: E``, ``if C: return x``, ``- key: value`` and a trailing comma.

    ``entry``: the line is an input, not a statement. ``data``: its words are text.
    """
    text = source.text
    if entry:
        _split_item(text, line)
    if not data:
        _split_stages(text, line)
    if not data and (not entry or not _KEY_FIRST.match(text, line.start, line.end)):
        _split_body(text, line, out)
    if entry and text[line.end - 1] == ",":
        comma = Span(line.end - 1, line.end)
        fix = Fix("Remove the comma", (Edit(comma, ""),))
        out.warning("trailing-comma", comma, "no comma ends an input's line", "leave it out", fix=fix)
        line.end = max(line.start + 1, trimmed(text, Span(line.start, line.end - 1)).end)


def _split_item(text: str, line: Line) -> None:
    """``- key: value`` with the pairs below: an item that is an object, whose first pair stands behind the dash."""
    if not text.startswith("- ", line.start):
        return
    first = trimmed(text, Span(line.start + 1, line.end))
    key = loose.key_of(text, first)
    if key is None or key in loose.HEADS:
        return
    column = line.indent + first.start - line.start
    pair = Line(first.start, line.end, column)
    below = next((i for i, child in enumerate(line.children) if not _belongs(text, child, pair)), len(line.children))
    pair.children, line.children = line.children[:below], [pair, *line.children[below:]]
    line.end = line.start + 1


def _belongs(text: str, line: Line, pair: Line) -> bool:
    """Whether a line belongs to a key. As in YAML, the items of its list may stand right below it."""
    item = line.indent == pair.indent and text[pair.end - 1] == ":" and text.startswith("- ", line.start)
    return item or line.indent > pair.indent


def _split_stages(text: str, line: Line) -> None:
    if "|" not in text[line.start + 1 : line.end]:
        return
    starts = [m.start() for m in hits(text, line.span, _STAGE) if m.start() > line.start]
    if not starts:
        return
    ends = [*starts[1:], line.end]
    stages = [
        Line(start, trimmed(text, Span(start, end)).end, line.indent, stage=True)
        for start, end in zip(starts, ends, strict=True)
    ]
    below = next((i for i, child in enumerate(line.children) if child.stage), len(line.children))
    stages[-1].children = line.children[:below]
    line.children = stages + line.children[below:]
    line.end = max(line.start + 1, trimmed(text, Span(line.start, starts[0])).end)


def _split_body(text: str, line: Line, out: Collector) -> None:
    if text[line.end - 1] == ":":
        return
    if _ENGLISH_HEAD.match(text, line.start, line.end):
        pattern = _INLINE_STATEMENT
    elif _PLAIN_HEAD.match(text, line.start, line.end):
        pattern = _INLINE_PLAIN
    else:
        return
    match = next(hits(text, line.span, pattern), None)
    if match is None:
        return
    colon, start = match.start() + 1, match.end()
    if not line.stage:
        out.warning(
            "inline-body",
            Span(start, line.end),
            "the body of a construct stands on lines of its own",
            "move it to the next line and indent it",
        )
    line.children.insert(0, Line(start, line.end, line.indent + 2))
    line.end = colon
