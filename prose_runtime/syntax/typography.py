"""Signs that web pages and word processors put into a program for plain ones: odd blanks and curly quotes."""

from __future__ import annotations

import re

from prose_runtime.diagnostics import Collector, Edit, Fix
from prose_runtime.syntax.outer import MARKED
from prose_runtime.syntax.strings import SINGLE, TRIPLE
from prose_runtime.text import Source, Span, compiled

_BLANKS = "\u00a0\u1680\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff"
_QUOTES = "\u201c\u201d\u201e\u201f"
_ODD = re.compile(f"[{_BLANKS}{_QUOTES}]")
_FOUND = (
    rf"(?s){TRIPLE.pattern}|{SINGLE.pattern}|{MARKED}|(?<![^\W_])\#[^\n]*"
    rf'|(?P<blanks>[{_BLANKS}]+)|(?P<string>[{_QUOTES}][^{_QUOTES}"\n]*[{_QUOTES}])'
)


def plain(source: Source, span: Span, out: Collector) -> Source:
    """The source of a program as it is read: blanks of every kind are blanks, and curly quotes delimit strings.

    Strings, marked text and comments stay as they are. Offsets do, too. A line with odd signs gets a warning that can
    be mended.
    """
    text = source.text
    if not _ODD.search(text, span.start, span.end):
        return source
    pieces, position = [], 0
    lines: list[tuple[int, int, int]] = []
    line_end = -1
    for match in compiled(_FOUND).finditer(text, span.start, span.end):
        kind = match.lastgroup
        if kind is None:
            continue
        start, end = match.span()
        pieces += [text[position:start], f'"{text[start + 1 : end - 1]}"' if kind == "string" else " " * (end - start)]
        position = end
        if start >= line_end:
            line_end = text.find("\n", end) % (len(text) + 1)
            lines.append((start, end, end))
        else:
            lines[-1] = (*lines[-1][:2], end)
    read = source.reading("".join([*pieces, text[position:]]))
    for start, end, last in lines:
        _warn(Span(start, end), last, read, out)
    return read


def _warn(first: Span, last: int, read: Source, out: Collector) -> None:
    """One warning for each line, at its first odd sign; ``last`` is the offset behind the last one."""
    quotes = read.text[first.start] == '"'
    message = f"the {'quotes' if quotes else 'blank'} here {'are' if quotes else 'is'} of printed text"
    fix = Fix("Write plain signs", (Edit(Span(first.start, last), read.text[first.start : last]),))
    out.warning("printed-sign", first, message, "write plain blanks, and straight quotes around strings", fix=fix)
