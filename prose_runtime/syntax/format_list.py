"""Lists laid out anew: ``-`` as the mark, two blanks a level, wrapped lines below the text that they belong to."""

from __future__ import annotations

import re

from prose_runtime.diagnostics import Collector
from prose_runtime.nodes import Bullet
from prose_runtime.syntax.bullets import read_bullets
from prose_runtime.syntax.phrases import NAME
from prose_runtime.text import Source, Span

_MARK = re.compile(r"(?P<indent> *)(?P<mark>[-*+]|\d{1,9}[.)])(?P<gap> +|$)")
_ROW = re.compile(rf" *[&`*]*{NAME}[`*]*(?: *\([^)]*\))? *:(?: |$)")
_ROW_STEP = 2


def format_list(source: Source, span: Span, *, rows: bool) -> str:
    """The list of a span, without a newline at its end.

    ``rows``: the lines below a bullet that ends with a colon are rows ``name: type -- description``, which stand two
    blanks deeper than its text. Other lines below keep their distance to it.
    """
    return _List(source, span, rows).write()


class _List:
    def __init__(self, source: Source, span: Span, rows: bool):
        self.source = source
        self.rows = rows
        self.first = source.place(span.start).line
        last = source.place(max(span.start, span.end - 1)).line
        # The file's own characters: a no-break blank is one where a bullet begins, and stays elsewhere.
        self.old = [source.raw[slice(*self._line(number))] for number in range(self.first, last + 1)]
        self.new: dict[int, str] = {}
        self.marks: set[int] = set()
        for bullet in read_bullets(source, span, Collector(source)):
            self._bullet(bullet, 0)

    def _line(self, number: int) -> Span:
        starts = self.source.line_starts
        end = starts[number] - 1 if number < len(starts) else len(self.source.text)
        return Span(starts[number - 1], end)

    def write(self) -> str:
        lines: list[str] = []
        for number, line in enumerate(self.old, self.first):
            text = self.new.get(number, line)
            blank_before = bool(lines) and not lines[-1].strip(" \t")
            if number in self.marks and blank_before:
                # Of several blank lines before a bullet one is enough.
                while len(lines) > 1 and not lines[-2].strip(" \t"):
                    lines.pop()
                lines[-1] = ""
            lines.append(text)
        return "\n".join(lines)

    def _bullet(self, bullet: Bullet, indent: int) -> None:
        number = self._number(bullet.span.start)
        mark = _MARK.match(self.source.text[slice(*self._line(number))])
        if mark is None:
            return
        sign = "-" if mark["mark"] in "*+-" else mark["mark"]
        rest = self._at(number)[mark.end() :].strip(" \t")
        self.new[number] = " " * indent + f"{sign} {rest}".rstrip(" \t")
        self.marks.add(number)
        content = indent + len(sign) + 1
        gap = len(mark["gap"]) if rest and len(mark["gap"]) <= 4 else 1
        self._text(bullet, number, content)
        self._below(bullet, content, len(mark["indent"]) + len(mark["mark"]) + gap)
        for child in bullet.bullets:
            self._bullet(child, content)

    def _text(self, bullet: Bullet, first: int, content: int) -> None:
        if bullet.text_span.start == bullet.text_span.end:
            return
        for number in range(self._number(bullet.text_span.start), self._number(bullet.text_span.end - 1) + 1):
            if number != first:
                self.new[number] = " " * content + self._at(number).strip(" \t")

    def _below(self, bullet: Bullet, content: int, old_content: int) -> None:
        """The rows of a bullet, moved together so that they keep their own indentation."""
        numbers = [self._number(row.span.start) for row in bullet.rows]
        if not numbers:
            return
        old = min(_width(self._at(number)) for number in numbers)
        # Deeper lines behind a nested bullet would belong to that.
        new = content if bullet.bullets else max(content, content + old - old_content)
        if self.rows and bullet.text.endswith(":"):
            new = content + _ROW_STEP
        for number in numbers:
            line = self._at(number)
            deeper = 0 if self.rows and _ROW.match(line) else _width(line) - old
            self.new[number] = " " * (new + deeper) + (line.strip(" \t") if self.rows else line.lstrip(" "))

    def _number(self, offset: int) -> int:
        return self.source.place(offset).line

    def _at(self, number: int) -> str:
        return self.old[number - self.first]


def _width(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
