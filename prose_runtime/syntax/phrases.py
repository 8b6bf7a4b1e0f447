"""Pieces of a file's text that know where they stand, and the small splitting that section readers need."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from prose_runtime.text import Source, Span

NAME = r"[^\W\d]\w*(?:-\w+)*"
"""A name as it is written in sections and programs: letters, digits, ``_``, and ``-`` between them."""

_WRAP = re.compile(r"[ \t]*\n[ \t]*")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_SPECIAL = re.compile(r"[()\[\]{}\"'`,;]")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Text on one line, folded from the file's lines, that can tell the exact place of each of its characters.

    ``marks`` pairs an index into ``text`` with the offset of that character in the file, one pair a source line.
    """

    text: str
    marks: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, source: Source, span: Span) -> Phrase:
        """The text of a span, with line ends and the blanks around them folded into one blank."""
        raw = source.text[span.start : span.end]
        pieces: list[str] = []
        marks = [(0, span.start)]
        at = length = 0
        for wrap in _WRAP.finditer(raw):
            pieces.append(raw[at : wrap.start()])
            length += wrap.start() - at + 1
            at = wrap.end()
            marks.append((length, span.start + at))
        pieces.append(raw[at:])
        return cls(" ".join(pieces), tuple(marks)).part(0)

    def __bool__(self) -> bool:
        return bool(self.text)

    def offset(self, index: int) -> int:
        """Where in the file a character stands; the index behind the last one gives the end."""
        known = self.marks[0]
        for mark in self.marks:
            if mark[0] > index:
                break
            known = mark
        return known[1] + index - known[0]

    @property
    def span(self) -> Span:
        """The characters of the file from the first to the last."""
        start = self.offset(0)
        return Span(start, self.offset(len(self.text) - 1) + 1 if self.text else start)

    def part(self, start: int, end: int | None = None) -> Phrase:
        """A part without the blanks around it."""
        piece = self.text[start:end]
        start += len(piece) - len(piece.lstrip())
        piece = piece.strip()
        first = (0, self.offset(start))
        later = [(at - start, offset) for at, offset in self.marks if start < at < start + len(piece)]
        return Phrase(piece, (first, *later))

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match at the start."""
        return pattern.match(self.text)

    def group(self, match: re.Match[str], name: str | int) -> Phrase:
        """A group of a match on this phrase, as a phrase."""
        return self.part(*match.span(name))

    def pieces(self, separators: str = ",") -> list[tuple[int, int]]:
        """Start and end of the parts between separators that stand outside brackets, quotes and backticks."""
        cuts = [i for i, char in outside(self.text) if char in separators]
        bounds = zip([0, *(i + 1 for i in cuts)], [*cuts, len(self.text)], strict=True)
        return [(start, end) for start, end in bounds if self.text[start:end].strip()]

    def split(self, separators: str = ",") -> list[Phrase]:
        """The parts between separators, without blanks around them; empty ones are left out."""
        return [self.part(start, end) for start, end in self.pieces(separators)]

    def unwrapped(self) -> Phrase:
        """The phrase without one pair of backticks around all of it."""
        text = self.text
        return self.part(1, -1) if len(text) > 1 and text[0] == text[-1] == "`" and "`" not in text[1:-1] else self


def outside(text: str) -> Iterator[tuple[int, str]]:
    """Index and character of each comma and semicolon, and of each bracket, outside brackets, quotes and backticks.

    Of a bracket pair only the opening is given; a bracket or quote without a partner is an ordinary character.
    """
    at = 0
    while found := _SPECIAL.search(text, at):
        at = found.start()
        char = text[at]
        end = closing(text, at)
        if char in ",;" or (char in _BRACKETS and end is not None):
            yield at, char
        at = at + 1 if end is None else end + 1


def closing(text: str, at: int) -> int | None:
    """The index of what closes the bracket, quote or backtick at an index, if that opens anything."""
    char = text[at]
    if char in _BRACKETS:
        return _closing_bracket(text, at)
    if char == "`" or (char in "\"'" and _may_open(text, at)):
        end = text.find(char, at + 1)
        while char != "`" and end > 0 and text[end - 1] == "\\":
            end = text.find(char, end + 1)
        return None if end < 0 else end
    return None


def _may_open(text: str, at: int) -> bool:
    """A quote inside a word is an apostrophe."""
    return at == 0 or not text[at - 1].isalnum()


def _closing_bracket(text: str, at: int) -> int | None:
    wanted = []
    while found := _SPECIAL.search(text, at):
        at = found.start()
        char = text[at]
        if char in _BRACKETS:
            wanted.append(_BRACKETS[char])
        elif char == wanted[-1]:
            wanted.pop()
            if not wanted:
                return at
        elif char in "\"'`" and (end := closing(text, at)) is not None:
            at = end
        at += 1
    return None
