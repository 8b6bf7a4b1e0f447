"""Offsets in a text as the positions of the protocol, in the units that the client counts in, and back."""

from __future__ import annotations

from dataclasses import dataclass

from lsprotocol import types

from prose_runtime.text import Source, Span

_UNIT_BYTES = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2)}


@dataclass(frozen=True, slots=True)
class Positions:
    """Lines and characters of one text, both from 0. ``encoding`` is ``utf-16``, ``utf-8`` or ``utf-32``."""

    source: Source
    encoding: str = "utf-16"

    def position(self, offset: int) -> types.Position:
        """The position of an offset."""
        line, column = self.source.place(offset)
        if self.encoding == "utf-16":
            return types.Position(line - 1, self.source.utf16_column(offset) - 1)
        start = offset - column + 1
        return types.Position(line - 1, self._units(self.source.text[start:offset]))

    def range(self, span: Span) -> types.Range:
        """The range of a span."""
        return types.Range(self.position(span.start), self.position(max(span.start, span.end)))

    def offset(self, position: types.Position) -> int:
        """The offset of a position. One behind a line's last character, or behind the last line, is that end."""
        starts = self.source.line_starts
        if position.line >= len(starts):
            return len(self.source.text)
        start = starts[position.line]
        end = starts[position.line + 1] - 1 if position.line + 1 < len(starts) else len(self.source.text)
        units = 0
        for at in range(start, end):
            if units >= position.character:
                return at
            units += self._units(self.source.text[at])
        return end

    def span(self, wanted: types.Range) -> Span:
        """The span of a range."""
        return Span(self.offset(wanted.start), self.offset(wanted.end))

    @property
    def whole(self) -> types.Range:
        """The range of the whole text."""
        return self.range(Span(0, len(self.source.text)))

    def _units(self, text: str) -> int:
        if self.encoding not in _UNIT_BYTES:
            return len(text)
        codec, size = _UNIT_BYTES[self.encoding]
        return len(text.encode(codec, "surrogatepass")) // size
