"""The JavaScript of a composite: how the engine gets it, and its faults of syntax (LANGUAGE.md section 5)."""

from __future__ import annotations

import re
from typing import NamedTuple

from prose_runtime.nodes import Fence
from prose_runtime.text import Place, Source, Span

_PLACE = re.compile(r"<input>:(\d+)(?::(\d+))?")
_COMPILE_SECONDS = 2.0
_STACK = 512 * 1024


class SyntaxFault(NamedTuple):
    """What the engine says of a program that it cannot compile, and where."""

    message: str
    span: Span


def wrapped(source: Source, fence: Fence) -> str:
    """The program as an expression whose value is an async function; its lines are those of the file."""
    line = source.place(fence.content.start).line
    return "\n" * (line - 2) + "(async () => {\n" + source.slice(fence.content) + "\n})"


def places_in(stack: str) -> list[Place]:
    """The places in the file that a stack of the engine names, innermost first.

    Line 1 never holds a fence's content: what stands there is the engine's own.
    """
    places = [Place(int(line), int(column or 1)) for line, column in _PLACE.findall(stack)]
    return [place for place in places if place.line > 1]


def place_span(source: Source, fence: Fence, place: Place) -> Span:
    """The rest of the line at a place of a program; behind its end, the last line that holds something."""
    content = source.text[fence.content.start : fence.content.end].rstrip()
    end = fence.content.start + len(content)
    if place.line > source.place(end).line:
        line = source.line_span(source.place(end).line)
        return Span(line.end, line.end)
    line = source.line_span(place.line)
    return Span(min(line.start + place.column - 1, line.end), line.end)


def syntax_fault(source: Source, fence: Fence) -> SyntaxFault | None:
    """Compile a program without running it."""
    import quickjs  # type: ignore[import-untyped]

    context = quickjs.Context()
    context.set_max_stack_size(_STACK)
    context.set_time_limit(_COMPILE_SECONDS)
    try:
        context.eval(wrapped(source, fence))
    except quickjs.JSException as fault:
        said, _, stack = str(fault).partition("\n")
        place = next(iter(places_in(stack)), source.place(fence.content.start))
        span = place_span(source, fence, place)
        return SyntaxFault(said.removeprefix("SyntaxError: "), span)
    return None
