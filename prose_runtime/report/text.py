"""Diagnostics for a person: place, sentence, the line with a caret range, help, and a summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prose_runtime.diagnostics import Diagnostic, Severity
from prose_runtime.errors import UnreadableFile
from prose_runtime.text import Source, Span, printable, width

_COLOURS: dict[str, str] = {"error": "1;31", "warning": "1;33", "info": "1;34", "help": "1;36", "bold": "1", "dim": "2"}


def render(
    diagnostics: Sequence[Diagnostic],
    unreadable: Sequence[UnreadableFile] = (),
    *,
    files: int | None = None,
    colour: bool = False,
) -> str:
    """The report. ``files`` is how many were checked; colour is for terminals only."""
    paint = _Paint(colour)
    blocks = ["\n".join(_block(diagnostic, paint)) for diagnostic in diagnostics]
    return "\n\n".join([*blocks, summary(diagnostics, unreadable, files)])


def summary(
    diagnostics: Sequence[Diagnostic], unreadable: Sequence[UnreadableFile] = (), files: int | None = None
) -> str:
    """One line that counts."""
    counts = [_count(_number(diagnostics, kind), kind) for kind in ("error", "warning") if _number(diagnostics, kind)]
    where = f" in {_count(files, 'file')}" if files is not None else ""
    unread = f"; {_count(len(unreadable), 'file')} could not be read" if unreadable else ""
    fixable = sum(diagnostic.fix is not None and diagnostic.fix.safe for diagnostic in diagnostics)
    mended = f"; `--fix` mends {fixable}" if fixable else ""
    return (f"Found {' and '.join(counts)}{where}" if counts else f"No faults found{where}") + mended + unread + "."


def _number(diagnostics: Sequence[Diagnostic], severity: Severity) -> int:
    return sum(diagnostic.severity == severity for diagnostic in diagnostics)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


class _Paint:
    """Adds terminal colours, or nothing."""

    def __init__(self, colour: bool):
        self.colour = colour

    def __call__(self, style: str, text: str) -> str:
        return f"\x1b[{_COLOURS[style]}m{text}\x1b[0m" if self.colour and text else text


def _block(diagnostic: Diagnostic, paint: _Paint) -> Iterator[str]:
    kind = paint(diagnostic.severity, f"{diagnostic.severity}[{diagnostic.code}]")
    yield f"{paint('bold', printable(str(diagnostic.where)))}: {kind} {printable(diagnostic.message)}"
    yield from _excerpt(diagnostic.source, diagnostic.span, diagnostic.severity, paint)
    for second in diagnostic.secondary:
        place = diagnostic.source.where(second.span)
        yield f"  {paint('dim', 'note:')} {printable(second.message)} ({printable(str(place))})"
    if diagnostic.help:
        first, *more = diagnostic.help.split("\n")
        yield f"  {paint('help', 'help:')} {printable(first)}"
        yield from (f"        {printable(line)}" for line in more)


def _excerpt(source: Source, span: Span, severity: Severity, paint: _Paint) -> Iterator[str]:
    """The first line of a span and carets below what is wrong on it."""
    if not source.text:
        return
    number = source.place(span.start).line
    line = source.line_span(number)
    text = source.text[line.start : line.end]
    start = min(span.start, line.end) - line.start
    end = max(start + 1, min(span.end, line.end) - line.start)
    text, start, end = _window(text, start, end)
    margin = f"{number:>5} | "
    yield paint("dim", margin) + printable(text)
    carets = "^" * max(1, width(text[start:end]))
    yield paint("dim", " " * (len(margin) - 2) + "| ") + " " * width(text[:start]) + paint(severity, carets)


_LONGEST = 160


def _window(text: str, start: int, end: int) -> tuple[str, int, int]:
    """A part of a very long line around what is wrong."""
    if len(text) <= _LONGEST:
        return text, start, end
    first = max(0, start - _LONGEST // 2)
    head, tail = "…" if first else "", "…" if first + _LONGEST < len(text) else ""
    shift = len(head) - first
    shown = head + text[first : first + _LONGEST] + tail
    return shown, start + shift, min(end + shift, len(shown))
