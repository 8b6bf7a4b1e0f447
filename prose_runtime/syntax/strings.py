"""String literals: escapes, indentation and braces (LANGUAGE.md section 3)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prose_runtime.diagnostics import Collector, Edit, Fix
from prose_runtime.nodes import Expr, Field, Interpolation, MadeName, Name, Template
from prose_runtime.text import Source, Span, compiled

NAME = r"[A-Za-z_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?"
"""An identifier. It may hold ``-`` but not end with it."""

_VALUE = rf"\{{{NAME}(?:\.{NAME})*\}}"
MADE = rf"[A-Za-z_][A-Za-z0-9_-]*(?:{_VALUE}[A-Za-z0-9_-]*){{1,8}}"
"""A name that is made of letters and at most eight values: ``research_{trend}``."""

TRIPLE = re.compile(r'"""(?>(?:[^"\\]|\\.|"(?!""))*)"""', re.DOTALL)
"""A whole triple-quoted literal."""

SINGLE = re.compile(r'"(?>(?:[^"\\\n]|\\[^\n])*)"')
"""A whole string literal of one line."""

_ESCAPES = {"\\": "\\", '"': '"', "n": "\n", "t": "\t", "{": "{", "}": "}"}
_PIECE = (
    r"(?P<escape>\\[^\r\n])"
    r"|(?P<newline>\r\n?|\n)"
    r"|(?P<double>\$?\{\{)"
    r"|(?P<shell>\$\{)"
    rf"|\{{(?P<path>{NAME}(?:\.{NAME})*)\}}"
    rf"|\{{(?P<made>{MADE})\}}"
    r"|(?P<text>[^\\\r\n{$]+|[\\{$])"
)
_MADE_PART = rf"(?P<value>{_VALUE})|[^{{}}]+"
_PATH_PART = rf"\.({NAME})"
_FIRST = re.compile(NAME)
_SURROGATE = re.compile("[\ud800-\udfff]")
_OPENING_BREAK = re.compile(r"[ \t]*(?:\r\n?|\n)")
_NON_BLANK_LINE = re.compile(r"([ \t]*)[^ \t\r\n]")
_LATER_LINE = re.compile(r"[\r\n]([ \t]*)[^ \t\r\n]")


def template(source: Source, span: Span, out: Collector) -> Template:
    """A string literal with its quotes as text and interpolations.

    Whether an interpolation names anything is for the resolver to say: its ``raw`` is kept for that.
    """
    if source.text.startswith('"""', span.start) and span.end - span.start >= 6:
        body, indent = _dedented(source.raw, Span(span.start + 3, span.end - 3))
        return Template(span=span, parts=tuple(_Reader(source, out, indent).parts(body)), triple=True)
    body = Span(span.start + 1, span.end - 1)
    return Template(span=span, parts=tuple(_Reader(source, out).parts(body)))


def plain(source: Source, span: Span, out: Collector) -> str:
    """The text of a string literal in which braces have no meaning, such as a label."""
    parts = template(source, span, out).parts
    return "".join(part if isinstance(part, str) else part.raw for part in parts)


def bare(source: Source, span: Span, out: Collector) -> Template:
    """Text without quotes, such as the criteria of a choice: on one line, backslashes as they are."""
    if source.slice(span) != source.read(span):
        source = Source(source.path, source.text)
    parts = [
        re.sub(r"\s+", " ", part) if isinstance(part, str) else part
        for part in _Reader(source, out, escapes=False).parts(span)
    ]
    return Template(span=span, parts=tuple(parts))


def _dedented(raw: str, body: Span) -> tuple[Span, int]:
    """What remains of a triple-quoted body, and by how many blanks each of its lines is indented at least."""
    opening = _OPENING_BREAK.match(raw, body.start, body.end)
    start = opening.end() if opening else body.start
    end = _before_closing_break(raw, Span(start, body.end))
    indents = [match.group(1) for match in _LATER_LINE.finditer(raw, start, end)]
    first = _NON_BLANK_LINE.match(raw, start, end)
    if opening and first:
        indents.append(first.group(1))
    indent = _common(indents)
    if opening:
        start += min(indent, _blanks_at(raw, start, end))
    return Span(start, end), indent


def _common(indents: list[str]) -> int:
    """How many characters all indentations begin with alike."""
    if not indents:
        return 0
    first, last = min(indents), max(indents)
    return next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))


def _before_closing_break(raw: str, body: Span) -> int:
    """The end of a body without its last newline and the blanks behind it."""
    end = body.end
    while end > body.start and raw[end - 1] in " \t":
        end -= 1
    if end > body.start and raw[end - 1] in "\r\n":
        end -= 2 if raw.startswith("\r\n", max(body.start, end - 2), end) else 1
        return end
    return body.end


def _blanks_at(raw: str, start: int, end: int) -> int:
    position = start
    while position < end and raw[position] in " \t":
        position += 1
    return position - start


class _Reader:
    """Reads the inside of a literal from the file's own characters, so that every offset is one of the file."""

    def __init__(self, source: Source, out: Collector, indent: int = 0, *, escapes: bool = True):
        self.source = source
        self.raw = source.raw
        self.out = out
        self.indent = indent
        self.escapes = escapes
        self.line_end = -1
        self.next_close = -1

    def parts(self, body: Span) -> Iterator[str | Interpolation]:
        """Text and interpolations in order; neighbouring text is one part."""
        text: list[str] = []
        position = body.start
        while position < body.end:
            piece, position = self._piece(position, body.end)
            if isinstance(piece, str):
                text.append(piece)
                continue
            if text:
                yield _SURROGATE.sub("\ufffd", "".join(text))
                text.clear()
            yield piece
        if joined := _SURROGATE.sub("\ufffd", "".join(text)):
            yield joined

    def _piece(self, position: int, end: int) -> tuple[str | Interpolation, int]:
        match = compiled(_PIECE).match(self.raw, position, end)
        if match is None:
            return self.raw[position], position + 1
        kind, found, after = match.lastgroup, match.group(), match.end()
        if kind == "newline":
            return "\n", after + min(self.indent, _blanks_at(self.raw, after, end))
        if kind == "escape":
            return self._escape(found, Span(position, after)), after
        if kind == "double":
            return self._double(position, found, end)
        if kind in ("path", "made"):
            read = interpolation if kind == "path" else _made
            return read(self.raw, Span(position, after)), after
        if found == "\\" and self.escapes:
            self._unknown_escape(Span(position, after))
        return found, after

    def _escape(self, found: str, span: Span) -> str:
        if not self.escapes:
            return found
        known = _ESCAPES.get(found[1])
        if known is None:
            self._unknown_escape(span)
            return found
        return known

    def _unknown_escape(self, span: Span) -> None:
        found = self.source.slice(span)
        self.out.warning(
            "unknown-escape",
            span,
            f"`{found}` is no escape and stays as it is written",
            f"write `\\{found}` for a backslash; the escapes are " + r"`\\`, `\"`, `\n`, `\t`, `\{` and `\}`",
            fix=Fix("Double the backslash", (Edit(Span(span.start, span.start + 1), "\\\\"),)),
        )

    def _double(self, position: int, found: str, end: int) -> tuple[str, int]:
        """``{{text}}`` is ``{text}``; ``${{text}}`` stays; without ``}}`` on the line the first brace is text."""
        close = self._closing(position + len(found), end)
        if close < 0:
            return (found[:2], position + 2) if found[0] == "$" else ("{", position + 1)
        if found[0] == "$":
            return self.raw[position : close + 2], close + 2
        return "{" + self.raw[position + 2 : close] + "}", close + 2

    def _closing(self, start: int, end: int) -> int:
        """The offset of the next ``}}`` on this line, or -1. What was searched once is not searched again."""
        if start > self.line_end:
            newline = self.raw.find("\n", start, end)
            self.line_end = newline if newline >= 0 else end
            self.next_close = self.raw.find("}}", start, self.line_end)
        elif 0 <= self.next_close < start:
            self.next_close = self.raw.find("}}", start, self.line_end)
        return self.next_close


def made_name(source: Source, span: Span) -> MadeName:
    """A name that is made of letters and values."""
    return _made_name(source.raw, span)


def _made_name(raw: str, span: Span) -> MadeName:
    parts: list[str | Interpolation] = []
    for match in compiled(_MADE_PART).finditer(raw, span.start, span.end):
        parts.append(interpolation(raw, Span(*match.span())) if match["value"] else match.group())
    return MadeName(span=span, parts=tuple(parts))


def _made(raw: str, span: Span) -> Interpolation:
    """``{research_{trend}}`` with its braces."""
    name = _made_name(raw, Span(span.start + 1, span.end - 1))
    return Interpolation(span=span, value=name, raw=raw[span.start : span.end])


def interpolation(raw: str, span: Span) -> Interpolation:
    """``{a.b}`` with its braces."""
    first = _FIRST.match(raw, span.start + 1)
    end = first.end() if first else span.end - 1
    value: Expr = Name(span=Span(span.start + 1, end), id=raw[span.start + 1 : end])
    if end < span.end - 1:
        for part in compiled(_PATH_PART).finditer(raw, end, span.end - 1):
            name_span = Span(part.start(1), part.end(1))
            whole = Span(value.span.start, part.end())
            value = Field(span=whole, object=value, name=part[1], name_span=name_span)
    return Interpolation(span=span, value=value, raw=raw[span.start : span.end])
