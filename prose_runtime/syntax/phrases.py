"""Pieces of a file's text that know where they stand, and the small splitting that section readers need."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from prose_runtime.text import Source, Span

NAME = r"[^\W\d]\w*(?:-\w+)*"
"""A name as it is written in sections and programs: letters, digits, ``_``, and ``-`` between them."""

_WRAP = re.compile(r"(?<![ \t])[ \t]*\n[ \t]*")
_BRACKETS = "([{"
_CLOSING = {")": "(", "]": "[", "}": "{"}
_SPECIAL = re.compile(r"[()\[\]{}\"'`,;]")


def before_remarks(text: str) -> int:
    """Where the words of a line end, without the comments behind them: 0 when there are comments alone."""
    end = len(text.rstrip())
    while text.endswith("-->", 0, end):
        at = text.rfind("<!--", 0, end)
        if at < 0 or (at and text[at - 1] not in " \t") or text.find("-->", at) != end - 3:
            break
        end = at
        while end and text[end - 1] in " \t":
            end -= 1
    return end


class Phrase(NamedTuple):
    """Text on one line, folded from the file's lines, that can tell the exact place of each of its characters.

    ``marks`` pairs an index into ``text`` with the offset of that character in the file, one pair a source line; the
    first index is 0.
    """

    text: str
    marks: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, source: Source, span: Span) -> Phrase:
        """The text of a span, with line ends and the blanks around them folded into one blank."""
        raw = source.text[span.start : span.end]
        if "\n" not in raw:
            piece = raw.strip()
            return cls(piece, ((0, span.start + len(raw) - len(raw.lstrip())),))
        pieces: list[str] = []
        marks = [(0, span.start)]
        at = length = 0
        for wrap in _WRAP.finditer(raw):
            line = raw[at : wrap.start()]
            if line.endswith("-->"):
                line = line[: before_remarks(line)]
            if line or not pieces:
                pieces.append(line)
                length += len(line) + 1
            at = wrap.end()
            marks.append((length, span.start + at))
        pieces.append(raw[at:])
        return cls(" ".join(pieces), tuple(marks)).part(0)

    def __bool__(self) -> bool:
        return bool(self.text)

    def offset(self, index: int) -> int:
        """Where in the file a character stands; the index behind the last one gives the end."""
        first, start = self.marks[bisect_right(self.marks, index, key=_index) - 1 if len(self.marks) > 1 else 0]
        return start + index - first

    @property
    def span(self) -> Span:
        """The characters of the file from the first to the last."""
        text, marks = self
        start = marks[0][1]
        if len(marks) == 1:
            return Span(start, start + len(text))
        return Span(start, self.offset(len(text) - 1) + 1)

    def part(self, start: int, end: int | None = None) -> Phrase:
        """A part without the blanks around it."""
        text, marks = self
        given = text[start:end]
        piece = given.strip()
        if piece != given:
            start += len(given) - len(given.lstrip())
        if len(marks) == 1:
            return Phrase(piece, ((0, marks[0][1] + start),))
        first = (0, self.offset(start))
        later = bisect_right(marks, start, key=_index)
        end = bisect_right(marks, start + len(piece) - 1, key=_index)
        return Phrase(piece, (first, *((at - start, offset) for at, offset in marks[later:end])))

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match at the start."""
        return pattern.match(self.text)

    def group(self, match: re.Match[str], name: str | int) -> Phrase:
        """A group of a match on this phrase, as a phrase."""
        return self.part(*match.span(name))

    def pieces(self, separators: str = ",") -> list[tuple[int, int]]:
        """Start and end of the parts between separators that stand outside brackets, quotes and backticks."""
        if not any(separator in self.text for separator in separators):
            return [(0, len(self.text))] if self.text.strip() else []
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


def _index(mark: tuple[int, int]) -> int:
    return mark[0]


def outside(text: str) -> Iterator[tuple[int, str]]:
    """Index and character of each comma and semicolon outside brackets, quotes and backticks.

    A bracket or quote without a partner is an ordinary character.
    """
    partners = pairs(text)
    at = 0
    while found := _SPECIAL.search(text, at):
        at = found.start()
        if text[at] in ",;":
            yield at, text[at]
        at = partners.get(at, at) + 1


def closing(text: str, at: int) -> int | None:
    """The index of what closes the bracket, quote or backtick at an index, if that opens anything."""
    return pairs(text).get(at)


@lru_cache(maxsize=32)
def pairs(text: str) -> Mapping[int, int]:
    """Where each bracket, quote and backtick that opens something is closed. What stands in quotes opens nothing."""
    found: dict[int, int] = {}
    stack: list[int] = []
    waiting = dict.fromkeys(_BRACKETS, 0)
    at = 0
    while special := _SPECIAL.search(text, at):
        at = special.start()
        char = text[at]
        if char in _BRACKETS:
            stack.append(at)
            waiting[char] += 1
        elif char in _CLOSING and waiting[_CLOSING[char]]:
            at_opening = _drop_to(_CLOSING[char], text, stack, waiting)
            found[at_opening] = at
        elif (end := _quote_end(text, at)) is not None:
            found[at] = end
            at = end
        at += 1
    return found


def _drop_to(opening: str, text: str, stack: list[int], waiting: dict[str, int]) -> int:
    """Take brackets from the stack up to the innermost of a kind; those before it have no partner."""
    while True:
        at = stack.pop()
        waiting[text[at]] -= 1
        if text[at] == opening:
            return at


def _quote_end(text: str, at: int) -> int | None:
    char = text[at]
    if char not in "`\"'" or (char != "`" and at > 0 and text[at - 1].isalnum()):
        # A quote inside a word is an apostrophe.
        return None
    end = text.find(char, at + 1)
    while char != "`" and end > 0 and text[end - 1] == "\\":
        end = text.find(char, end + 1)
    return None if end < 0 else end
