"""One logical line of a program with canonical spacing, on as many physical lines as before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from prose_runtime.records import dataclass
from prose_runtime.syntax.format_expressions import KEYWORDS
from prose_runtime.syntax.outer import MARKED
from prose_runtime.syntax.strings import SINGLE, TRIPLE
from prose_runtime.text import Span

STEP = 2
"""How many blanks each level of a block or bracket is indented."""

CONTINUED = 4
"""How much deeper a line goes on outside of brackets, so that it is no line of its body."""

COMMENT_GAP = "  "
"""What stands before a comment at the end of a line."""

_STRING = rf"(?P<string>{TRIPLE.pattern}|{SINGLE.pattern})"
_SHARED = r"(?P<newline>\n)|(?P<blank>[ \t]+)"
_COMMENT = r"(?P<comment>(?<![^\W_])\#[^\n]*)"
_CODE = re.compile(
    rf"{_STRING}|{_COMMENT}|(?P<glued>\#[^\n]*)|(?P<quoted>'[^'\n]*')|{_SHARED}"
    r"|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\w*)|(?P<word>[^\W\d](?:[\w-]*\w)?)|(?P<sign>->|[=!<>]=|.)",
    re.DOTALL,
)
_ENGLISH = re.compile(rf"{_STRING}|(?P<mark>{MARKED})|{_COMMENT}|{_SHARED}|(?P<text>.)", re.DOTALL)
_IN_MARKS = re.compile(rf"{_STRING}|{_SHARED}|(?P<text>.)", re.DOTALL)
_INDENT = re.compile(r"[ \t]*")
_OPENING = ("(", "[", "{")
_CLOSING = (")", "]", "}")


@dataclass(slots=True)
class Places:
    """What the tree knows of offsets of the text.

    The blanks in ``english`` spans may be folded, ``raw`` spans stay as they are; both are found by their start.
    ``minus`` are signs of values, ``tight`` the brackets that follow a name directly.
    """

    english: dict[int, Span] = field(default_factory=dict)
    raw: dict[int, Span] = field(default_factory=dict)
    minus: set[int] = field(default_factory=set)
    tight: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a line. ``kind`` is code, text (as it is), string, newline, comment, or glued.

    What is glued is no comment for the layout, because a letter stands before its ``#``.
    """

    kind: str
    text: str
    start: int

    def is_code(self, *texts: str) -> bool:
        """Whether it is one of these signs."""
        return self.kind == "code" and self.text in texts


class LineWriter:
    """Writes a logical line at an indentation."""

    def __init__(self, text: str, places: Places, indent: int):
        self.text = text
        self.places = places
        self.indent = indent
        self.margin = indent
        self.lines = [" " * indent]
        self.fresh = True
        self.open: list[int] = []
        self.before: _Piece | None = None
        self.breaks = 0
        self.questions = 0

    def write(self, span: Span) -> list[str]:
        """The physical lines, without blanks at their ends other than those of strings."""
        for piece in self._pieces(span):
            if piece.kind == "newline":
                self.breaks += 1
                continue
            if self.breaks:
                self._break(piece)
            if piece.kind == "glued":
                self.lines[-1] += piece.text.rstrip()
            elif piece.kind == "comment":
                self.lines[-1] += COMMENT_GAP * (not self.fresh) + piece.text.rstrip()
            else:
                self._put(piece)
        return self.lines

    # the pieces of a line

    def _pieces(self, span: Span) -> Iterator[_Piece]:
        at = span.start
        while at < span.end:
            if whole := self.places.raw.get(at):
                yield _Piece("text", self.text[whole.start : whole.end], at)
                at = whole.end
            elif whole := self.places.english.get(at):
                yield from _english(self.text, whole)
                at = whole.end
            else:
                match = _CODE.match(self.text, at, span.end)
                assert match is not None and match.lastgroup is not None
                if match.lastgroup != "blank":
                    yield _Piece(_kind(match.lastgroup), match.group(), at)
                at = match.end()

    # putting them down

    def _put(self, piece: _Piece) -> None:
        text = indented(piece.text, self.margin) if piece.kind == "string" else piece.text
        first, *more = text.split("\n")
        self.lines[-1] += " " * self._is_spaced(piece) + first
        self.lines += more
        self.fresh = False
        self.questions += piece.is_code("?")
        if piece.is_code(*_OPENING):
            self.open.append(self.margin)
        elif piece.is_code(*_CLOSING) and self.open:
            self.open.pop()
        self.before = piece

    def _break(self, piece: _Piece) -> None:
        """Begin the next physical line; of several blank lines inside brackets one remains."""
        closes = piece.is_code(*_CLOSING)
        ends_marks = piece.text in ("**", "***") and not self.open
        opened = self.before is not None and self.before.is_code(*_OPENING)
        if self.breaks > 1 and self.open and not closes and not opened:
            self.lines.append("")
        inside = self.open[-1] + (0 if closes else STEP) if self.open else 0
        self.margin = inside if self.open else self.indent + (0 if ends_marks else CONTINUED)
        self.lines.append(" " * self.margin)
        self.fresh = True
        self.breaks = 0

    def _is_spaced(self, piece: _Piece) -> bool:
        """Whether a blank stands before a piece."""
        before = self.before
        if before is None or self.fresh:
            return False
        if before.is_code("(", "[", ".") or before.start in self.places.minus:
            return False
        if piece.is_code(":") and self.questions:
            self.questions -= 1
            return True
        if piece.is_code(")", "]", ",", ":", ".") or (piece.is_code("}") and before.is_code("{")):
            return False
        if piece.is_code("-") and before.text in KEYWORDS and piece.start == before.start + len(before.text):
            # Only directly before a minus is such a word a name here.
            return piece.start in self.places.minus
        return not (piece.is_code("(", "[") and piece.start in self.places.tight)


def _kind(group: str) -> str:
    if group in ("newline", "comment", "glued", "string"):
        return group
    return "text" if group == "quoted" else "code"


def _english(text: str, span: Span) -> Iterator[_Piece]:
    """English with single blanks; its line breaks and comments are pieces of their own."""
    said = ""
    for kind, found in _words(text, span):
        if kind not in ("newline", "comment"):
            said += " " if kind == "blank" else found
            continue
        if said.strip():
            yield _Piece("text", said.strip(" "), span.start)
        said = ""
        yield _Piece(kind, found, span.start)
    if said.strip():
        yield _Piece("text", said.strip(" "), span.start)


def _words(text: str, span: Span) -> Iterator[tuple[str, str]]:
    for match in _ENGLISH.finditer(text, span.start, span.end):
        inner = _IN_MARKS.finditer(text, *match.span()) if match["mark"] else iter([match])
        for word in inner:
            yield word.lastgroup or "", word.group()


def indented(literal: str, margin: int) -> str:
    """A triple-quoted literal whose lines stand at an indentation; what it says stays the same."""
    first, *lines = literal.split("\n")
    if not lines:
        return literal
    blank = first[3:].strip(" \t") == ""
    closing = lines.pop() if lines[-1].strip(" \t") == '"""' else None
    told = [line.removesuffix('"""') for line in lines] if closing is None else lines
    common = _common([_blanks(line) for line in told if line.strip(" \t")])
    if common is None:
        # Only blanks, which are all part of the text.
        return literal
    moved = [_moved(line, common, " " * margin) for line in lines]
    ends = [" " * margin + closing.strip(" \t")] if closing is not None else []
    return "\n".join(['"""' if blank else first, *moved, *ends])


def _blanks(line: str) -> str:
    return _INDENT.match(line)[0]  # type: ignore[index]


def _common(indents: list[str]) -> int | None:
    if not indents:
        return None
    first, last = min(indents), max(indents)
    shorter = min(len(first), len(last))
    return next((at for at in range(shorter) if first[at] != last[at]), shorter)


def _moved(line: str, common: int, margin: str) -> str:
    rest = line[min(common, len(_blanks(line))) :]
    return margin + rest if rest else ""
