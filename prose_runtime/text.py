"""Source text and places in it: spans, line and column numbers, UTF-16 columns for editors, cells of a terminal."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import NamedTuple

_NO_BREAK = "\u00a0"
_JOINER, _AS_EMOJI = "\u200d", "\ufe0f"
_MARKER = rf"(?m)^[ \t{_NO_BREAK}]*(?:[-*+]|\d{{1,9}}[.)]|\#{{1,6}})[ {_NO_BREAK}]"


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern for what few files hold, compiled when one does: of all patterns together a start would feel it."""
    return re.compile(pattern)


class Span(NamedTuple):
    """A half-open range of character offsets into ``Source.text``."""

    start: int
    end: int

    def covers(self, other: Span) -> bool:
        """Whether the other span lies inside this one."""
        return self.start <= other.start and other.end <= self.end


NOWHERE = Span(0, 0)
"""The span of what a file leaves out."""


class Place(NamedTuple):
    """A one-based line and column, counted in characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Where:
    """A place in a file, as errors and results carry it: one-based line and column."""

    file: str
    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, eq=False)
class Source:
    """One file's text.

    ``raw`` is the file as decoded, without a byte order mark. ``text`` has the same length and is what parsers
    read: the carriage return of a CRLF is a blank there and a lone one a newline, so that offsets stay exact. So is a
    no-break blank before or behind the sign of a heading or bullet, which some keyboards write where a blank is meant.
    """

    path: str
    raw: str
    text: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        text = self.raw.replace("\r\n", " \n").replace("\r", "\n")
        if _NO_BREAK in text:
            text = compiled(_MARKER).sub(lambda match: match.group().replace(_NO_BREAK, " "), text)
        object.__setattr__(self, "text", text)

    def reading(self, text: str) -> Source:
        """The same file with other characters, as many, for parsers to read."""
        assert len(text) == len(self.text)
        other = Source(self.path, self.raw)
        object.__setattr__(other, "text", text)
        return other

    @cached_property
    def line_starts(self) -> list[int]:
        """Offset of the first character of each line."""
        starts = [0]
        find = self.text.find
        at = find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = find("\n", at + 1)
        return starts

    @property
    def end(self) -> Span:
        """The empty span behind the last character."""
        return Span(len(self.text), len(self.text))

    def place(self, offset: int) -> Place:
        """Line and column of an offset."""
        line = bisect_right(self.line_starts, offset)
        return Place(line, offset - self.line_starts[line - 1] + 1)

    def where(self, span: Span) -> Where:
        """The place at which a span starts."""
        return Where(self.path, *self.place(span.start))

    def offset(self, line: int, column: int = 1) -> int:
        """Offset of a one-based line and column."""
        return self.line_starts[line - 1] + column - 1

    def line_span(self, line: int) -> Span:
        """The characters of a line, without its newline and trailing blanks."""
        start = self.line_starts[line - 1]
        end = self.line_starts[line] - 1 if line < len(self.line_starts) else len(self.text)
        return Span(start, start + len(self.text[start:end].rstrip()))

    def first_line(self, span: Span) -> Span:
        """The part of a span on its first line, without trailing blanks."""
        return Span(span.start, max(span.start, min(span.end, self.line_span(self.place(span.start).line).end)))

    def trimmed(self, span: Span) -> Span:
        """A span without the blanks at its ends; one of blanks alone stays as it is."""
        text = self.text[span.start : span.end]
        found = text.strip()
        if not found or len(found) == len(text):
            return span
        start = span.start + len(text) - len(text.lstrip())
        return Span(start, start + len(found))

    def slice(self, span: Span) -> str:
        """The file's own characters of a span, with newlines as ``\\n``."""
        return self.raw[span.start : span.end].replace("\r\n", "\n").replace("\r", "\n")

    def read(self, span: Span) -> str:
        """The characters of a span as parsers read them, with newlines as ``\\n``."""
        text = self.text[span.start : span.end]
        return text.replace(" \n", "\n") if "\r" in self.raw[span.start : span.end] else text

    def utf16_column(self, offset: int) -> int:
        """One-based column in UTF-16 code units, as editors and SARIF count."""
        start = self.line_starts[self.place(offset).line - 1]
        return len(self.text[start:offset].encode("utf-16-le", "surrogatepass")) // 2 + 1


def printable(text: str) -> str:
    """The text with control characters replaced, so that a file or an answer cannot steer the terminal."""
    return "".join(" " if c == "\t" else "\N{REPLACEMENT CHARACTER}" if _controls(c) else c for c in text)


def _controls(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs", "Cf") and character not in "\u200d\ufeff"


def width(text: str) -> int:
    """How many terminal cells a text takes: wide characters two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(character: str) -> int:
    if character == _AS_EMOJI:
        return 1  # the sign before it is drawn as wide as an emoji
    if character == _JOINER or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
