"""Lists as bullets: text folded on one line, nested bullets, and the rows below, each with its exact place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from prose_runtime.diagnostics import Collector
from prose_runtime.nodes import Bullet, Row
from prose_runtime.records import dataclass
from prose_runtime.syntax.phrases import Phrase, before_remarks
from prose_runtime.text import Source, Span

_MARKER = re.compile(r"(?P<indent>[ \t]*)(?P<marker>[-*+]|(?P<number>\d{1,9})[.)])(?P<gap>[ \t]+|$)")
_FENCE = re.compile(r"(`{3,}|~{3,})[^\n]*")
_COMMENT = re.compile(r"<!--.*-->")


@dataclass(slots=True)
class _Open:
    """A bullet that may still go on. ``indent`` is the column at which its content starts."""

    indent: int
    start: int
    ordered: bool
    end: int
    text: Span
    ended: bool = False
    colon: bool = False
    rows: list[Row] = field(default_factory=list)
    bullets: list[Bullet] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Line:
    span: Span
    indent: int


def read_bullets(source: Source, span: Span, out: Collector) -> tuple[Bullet, ...]:
    """The bullets of a list that stands at a span. A fence in an item that never closes is reported."""
    return _Reader(source, out).read(span)


class _Reader:
    def __init__(self, source: Source, out: Collector):
        self.source = source
        self.out = out
        self.open: list[_Open] = []
        self.done: list[Bullet] = []
        self.fence: tuple[str, _Open, Span] | None = None

    def read(self, span: Span) -> tuple[Bullet, ...]:
        for start, text in _lines(self.source.text, span):
            if text.strip():
                self._line(start, text)
            elif self.open:
                self.open[-1].ended = True
        self._close_to(-1)
        return tuple(self.done)

    def _line(self, start: int, text: str) -> None:
        indent = _columns(text)
        body = text.strip()
        begin = start + len(text) - len(text.lstrip())
        line = _Line(Span(begin, begin + len(body)), indent)
        if self.fence and indent >= self.fence[1].indent:
            self._fenced(line, body)
            return
        if body.endswith("-->"):
            text = text[: before_remarks(text) or len(text)]
            body = text.strip()
            line = _Line(Span(begin, begin + len(body)), indent)
        marker = _MARKER.match(text)
        if marker and self._is_bullet(marker):
            self._bullet(start, text, marker)
        elif not _COMMENT.fullmatch(body):
            self._text(line, body)

    def _is_bullet(self, marker: re.Match[str]) -> bool:
        """Inside running text a number other than 1 starts no item, unless the list is a numbered one."""
        number = marker["number"]
        return number is None or int(number) == 1 or not self.open or any(o.ordered for o in self.open)

    def _bullet(self, start: int, text: str, marker: re.Match[str]) -> None:
        column = _columns(text)
        self._close_to(column)
        rest = text[marker.end() :].strip()
        gap = _columns(marker["gap"], column + len(marker["marker"])) if rest else 1
        indent = column + len(marker["marker"]) + (gap if gap <= 4 else 1)
        begin = start + marker.start("marker")
        at = start + marker.end()
        words = Span(at, at + len(rest))
        self.open.append(_Open(indent, begin, marker["number"] is not None, max(words.end, begin + 1), words))
        self.open[-1].colon = rest.endswith(":")

    def _text(self, line: _Line, body: str) -> None:
        if self.open and any(o.ended for o in self.open):
            self._close_to(line.indent)
        if not self.open:
            return
        item = self.open[-1]
        item.end = line.span.end
        if _FENCE.fullmatch(body):
            self.fence = (body, item, line.span)
        if item.text.start == item.text.end and not item.rows:
            item.text = line.span
            item.colon = body.endswith(":")
        elif self.fence or item.colon or item.ended or item.rows or item.bullets:
            item.rows.append(Row(span=line.span, text=body))
        else:
            item.text = Span(item.text.start, line.span.end)
            item.colon = body.endswith(":")

    def _fenced(self, line: _Line, body: str) -> None:
        assert self.fence is not None
        opening, item, _ = self.fence
        item.end = line.span.end
        item.rows.append(Row(span=line.span, text=body))
        marker = opening[: len(opening) - len(opening.lstrip(opening[0]))]
        if body.startswith(marker) and not body.strip(opening[0]):
            self.fence = None

    def _close_to(self, column: int) -> None:
        """End the bullets whose content starts right of a column."""
        while self.open and column < self.open[-1].indent:
            item = self.open.pop()
            if self.fence and self.fence[1] is item:
                report_open_fence(self.out, self.fence[2])
                self.fence = None
            bullet = self._node(item)
            if self.open:
                self.open[-1].bullets.append(bullet)
                self.open[-1].end = bullet.span.end
            else:
                self.done.append(bullet)

    def _node(self, item: _Open) -> Bullet:
        phrase = Phrase.of(self.source, item.text)
        return Bullet(
            span=Span(item.start, item.end),
            text=phrase.text,
            text_span=item.text,
            bullets=tuple(item.bullets),
            rows=tuple(item.rows),
        )


def report_open_fence(out: Collector, opening: Span) -> None:
    """Say that a fence is never closed, at its opening."""
    marker = out.source.text[opening.start : opening.end]
    closing = marker[: len(marker) - len(marker.lstrip(marker[0]))]
    out.error("unclosed-fence", opening, "this fence is never closed", f"end it with {closing} alone on a line")


def _lines(text: str, span: Span) -> Iterator[tuple[int, str]]:
    at = span.start
    while at < span.end:
        end = text.find("\n", at, span.end)
        end = span.end if end < 0 else end
        yield at, text[at:end]
        at = end + 1


def _columns(text: str, start: int = 0) -> int:
    """The width of leading blanks; a tab reaches the next multiple of four."""
    column = start
    for char in text:
        if char == " ":
            column += 1
        elif char == "\t":
            column += 4 - column % 4
        else:
            break
    return column - start
