"""Search in program text outside of strings, brackets, marked text and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from prose_runtime.syntax.strings import SINGLE, TRIPLE
from prose_runtime.text import Span

MARKED = r"\*\*\*(?=[^*]).*?\*\*\*|\*\*(?=[^*\s]).*?\*\*"
"""``**text**`` or ``***text***``."""


@cache
def _search(pattern: str) -> re.Pattern[str]:
    quiet = f"{TRIPLE.pattern}|{SINGLE.pattern}|{MARKED}|(?<![^\\W_])\\#[^\\n]*"
    return re.compile(rf"(?:{quiet})|(?P<open>[(\[{{])|(?P<close>[)\]}}])|(?P<hit>{pattern})", re.DOTALL)


def hits(text: str, span: Span, pattern: str) -> Iterator[re.Match[str]]:
    """Where a pattern matches at the outermost level, from left to right."""
    depth = 0
    for match in _search(pattern).finditer(text, span.start, span.end):
        kind = match.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind is not None and match["hit"] is not None and not depth:
            yield match


def trimmed(text: str, span: Span, also: str = "") -> Span:
    """A span without the blanks, and the characters of ``also``, at its ends."""
    piece = text[span.start : span.end]
    unwanted = " \t\n" + also
    start = span.start + len(piece) - len(piece.lstrip(unwanted))
    end = span.end - (len(piece) - len(piece.rstrip(unwanted)))
    return Span(start, max(start, end))
