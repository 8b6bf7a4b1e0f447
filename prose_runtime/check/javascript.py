"""The JavaScript of a composite: how the engine gets it, and its faults of syntax (LANGUAGE.md section 5)."""

from __future__ import annotations

import re
from typing import NamedTuple

from prose_runtime.nodes import Fence
from prose_runtime.text import Place, Source, Span, compiled

_PLACE = r"<input>:(\d+)(?::(\d+))?"
_NAME = r"[A-Za-z_$][\w$]*"
_STATES = ("__compositeState", "__controlState")
_ALIAS = rf"({_NAME})\s*=\s*(?:{'|'.join(_STATES)})(?![\w$.?(\[])"
_PART = rf"(?:^|[{{,])\s*({_NAME})(?:\s*:\s*{_NAME})?\s*(=)?"
_WRITTEN = rf"\.({_NAME})\s*(?:[-+*/%?|&]{{0,2}}=(?!=)|\+\+|--)"
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
    places = [Place(int(line), int(column or 1)) for line, column in compiled(_PLACE).findall(stack)]
    return [place for place in places if place.line > 1]


def place_span(source: Source, fence: Fence, place: Place) -> Span:
    """The rest of the line at a place of a program; behind its end, the last line that holds something."""
    start, end = fence.content
    last = source.place(start + len(source.text[start:end].rstrip()))
    line = source.line_span(min(place.line, last.line))
    at = line.start + place.column - 1 if place.line <= last.line else line.start
    return _trimmed(source, Span(at if at < line.end else line.start, line.end))


def loop_at(source: Source, fence: Fence, place: Span) -> Span:
    """The line of the loop that a program was in when its time was up.

    The engine names the last place at which something was called or raised, and nothing of what a loop only computes:
    the loop is the innermost one around that place, else the next one behind it.
    """
    start, end = fence.content
    text = compiled(_OPAQUE).sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source.text[start:end])
    loops = [(start + found.start(), start + _body_end(text, found.end())) for found in compiled(_LOOP).finditer(text)]
    around = [at for at, until in loops if at <= place.start < until]
    at = next(iter([*around[-1:], *(at for at, _ in loops if at >= place.start)]), None)
    if at is None:
        return place
    return _trimmed(source, Span(at, source.line_span(source.place(at).line).end))


_OPAQUE = r"(?s)//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|[^`\\])*`"
_LOOP = r"(?<![\w$.])(?:while|for|do)(?![\w$])"


def _body_end(text: str, at: int) -> int:
    """Where the statement ends that begins behind a loop's keyword: behind its block, or its semicolon."""
    depth = 0
    for index in range(at, len(text)):
        if text[index] in "({[":
            depth += 1
        elif text[index] in ")}]":
            depth -= 1
            if depth < 0 or (depth == 0 and text[index] == "}"):
                return index + 1
        elif text[index] == ";" and depth == 0:
            return index + 1
    return len(text)


def _trimmed(source: Source, span: Span) -> Span:
    text = source.text[span.start : span.end]
    return Span(span.end - len(text.lstrip()), span.end)


class StateRead(NamedTuple):
    """A field that a program reads from its state. ``defaulted``: a destructuring gives it a value of its own."""

    span: Span
    defaulted: bool = False


def state_reads(source: Source, fence: Fence) -> dict[str, StateRead]:
    """The fields of the state that a program reads and never writes, each with its first place.

    It sees ``state.x`` and ``{ x, y: z, w = 1 } = state``, also through another name for the state.
    """
    start, end = fence.content
    text = source.text[start:end]
    found: dict[str, StateRead] = {}
    for state in {*_STATES, *compiled(_ALIAS).findall(text)}:
        reads = list(re.finditer(rf"(?<![\w$.]){re.escape(state)}\??\.({_NAME})", text))
        for pattern in re.finditer(rf"(\{{[^{{}}]*)\}}\s*=\s*{re.escape(state)}(?![\w$.?(\[])", text):
            reads += compiled(_PART).finditer(text, *pattern.span(1))
        for read in reads:
            at = Span(start + read.start(1), start + read.end(1))
            one = StateRead(at, read.re.pattern == _PART and read[2] is not None)
            found[read[1]] = min(found.get(read[1], one), one)
    written = set(compiled(_WRITTEN).findall(text))
    return {name: read for name, read in sorted(found.items(), key=lambda item: item[1]) if name not in written}


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
        return _told(source, fence, place, said.removeprefix("SyntaxError: "))
    return None


_TOKEN = r"[\w$]+|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|=>|[=!<>]=+|\S"


def _told(source: Source, fence: Fence, place: Place, message: str) -> SyntaxFault:
    """The fault at the one token that the engine means: the one at its place, or the one that it has just read."""
    span = place_span(source, fence, place)
    line = source.place(span.start).line
    tokens = [Span(*found.span()) for found in compiled(_TOKEN).finditer(source.text, source.offset(line), span.end)]
    if place.line > line:
        return SyntaxFault("it ends where more is expected", tokens[-1] if tokens else span)
    if message.startswith("invalid redefinition"):
        return SyntaxFault(message, max((t for t in tokens if t.end <= span.start), default=span))
    return SyntaxFault(message, min((t for t in tokens if t.end > span.start), default=span))
