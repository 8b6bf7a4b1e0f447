"""Programs in files, laid out anew: two blanks a level, canonical spacing; line breaks and comments are the author's.

The layout says where lines begin and how deep they stand, the tree what is English, a sign before a value, an index.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prose_runtime.diagnostics import Collector
from prose_runtime.nodes import (
    Argument,
    Block,
    BlockDef,
    Call,
    Choice,
    Condition,
    Discretion,
    DoBlock,
    Effect,
    FunctionCall,
    Group,
    Index,
    MadeName,
    Node,
    Option,
    Session,
    Stage,
    Template,
    Unary,
)
from prose_runtime.syntax import layout, typography
from prose_runtime.syntax.format_lines import COMMENT_GAP, STEP, LineWriter, Places
from prose_runtime.syntax.layout import Line
from prose_runtime.syntax.outer import hits
from prose_runtime.syntax.strings import SINGLE, TRIPLE
from prose_runtime.text import Source, Span

_STARS_BEFORE = re.compile(r"\**\Z")
_SINGLE_QUOTED = re.compile(r"'[^'\n]*'")


def format_code(source: Source, span: Span, block: Block) -> str:
    """The program of a span, of which ``block`` is the tree; the text ends with a newline unless it is empty.

    The source has no carriage returns, and the program no errors.
    """
    source = typography.plain(source, span, Collector(source))
    lines = _flat(layout.read(source, span, Collector(source)), 0)
    return _CodeWriter(source, span, _places(source, block)).write(lines)


def _flat(lines: list[Line], depth: int) -> Iterator[tuple[Line, int]]:
    for line in lines:
        yield line, depth
        yield from _flat(line.children, depth + 1)


def _places(source: Source, block: Block) -> Places:
    places = Places()
    text = source.text
    criteria: set[Node] = set()
    for node in block.walk():
        if isinstance(node, Condition | Discretion):
            _add(places.english, node.span)
        elif isinstance(node, Choice):
            criteria.add(node.criteria)
            _add(places.english, _criteria(text, node.criteria.span))
        elif node in criteria:
            continue
        elif isinstance(node, Template | MadeName) and not _is_literal(text[node.span.start : node.span.end]):
            _add(places.raw, node.span)
        elif (
            isinstance(node, Argument)
            and node.name_span
            and text[node.name_span.start : node.name_span.end][-1:] == "-"
        ):
            _add(places.raw, node.name_span)
        elif isinstance(node, Effect):
            _add(places.raw, Span(node.name_span.start, _effect_end(text, node)))
        elif isinstance(node, Option):
            _option(text, node, places)
        elif isinstance(node, Unary) and node.op == "-":
            places.minus.add(node.span.start)
        elif isinstance(node, Index):
            places.tight.add(text.find("[", node.object.span.end))
        elif (end := _before_inputs(text, node)) is not None:
            places.tight.add(_skip_blanks(text, end))
    return places


def _add(spans: dict[int, Span], span: Span) -> None:
    if span.end > spans.get(span.start, span._replace(end=span.start)).end:
        spans[span.start] = span


def _criteria(text: str, span: Span) -> Span:
    """The criteria of a choice with the marks around them; nothing when they are a string literal."""
    if _is_literal(text[span.start : span.end]):
        return Span(span.start, span.start)
    start, end = span
    while text[start - 1 : start] in (" ", "\t", "\n"):
        start -= 1
    stars = len(_STARS_BEFORE.search(text, max(0, start - 3), start)[0])  # type: ignore[index]
    if not stars:
        return span
    while text[end : end + 1] in (" ", "\t", "\n"):
        end += 1
    return Span(start - stars, end + stars)


def _is_literal(text: str) -> bool:
    return bool(SINGLE.fullmatch(text) or TRIPLE.fullmatch(text) or _SINGLE_QUOTED.fullmatch(text))


def _effect_end(text: str, effect: Effect) -> int:
    """Where the words of an effect end, before its properties on the lines below."""
    end = effect.name_span.end
    for word in effect.text.split():
        end = text.find(word, end) + len(word)
    return end


def _option(text: str, option: Option, places: Places) -> None:
    start = _skip_blanks(text, option.span.start + len("option"))
    if text[start] != '"':
        colon = next((hit.start() for hit in hits(text, Span(start, option.span.end), r":(?=\s)|:\Z")), start)
        _add(places.english, Span(start, colon))


def _before_inputs(text: str, node: Node) -> int | None:
    """The end of what an opening parenthesis follows directly."""
    before: Node | None = None
    if isinstance(node, FunctionCall):
        return node.name_span.end
    if isinstance(node, Group):
        return node.span.start + len("group")
    if isinstance(node, Call):
        before = node.target
    elif isinstance(node, DoBlock):
        before = node.block
    elif isinstance(node, BlockDef):
        before = node.name
    elif isinstance(node, Session):
        before = node.agent
    elif isinstance(node, Stage) and node.names:
        return text.rfind("(", node.span.start, node.names[0].span.start)
    return before.span.end if before else None


def _skip_blanks(text: str, offset: int) -> int:
    while offset < len(text) and text[offset] in " \t":
        offset += 1
    return offset


class _CodeWriter:
    """Puts logical lines, and the comments and blank lines between them, at their new places."""

    def __init__(self, source: Source, span: Span, places: Places):
        self.text = source.text
        self.span = span
        self.places = places
        self.long = [span for span in places.raw.values() if "\n" in source.text[span.start : span.end]]
        self.done: list[str] = []
        self.path: list[int] = []
        """The old indentation of the last line and of those above it, by depth."""

    def write(self, lines: Iterator[tuple[Line, int]]) -> str:
        at = self.span.start
        for line, depth in lines:
            if line.start < at:
                continue
            self._between(self.text[at : line.start], depth)
            self.path[depth:] = [line.indent]
            at = max(line.end, self._end_of_raw(line))
            self.done += LineWriter(self.text, self.places, depth * STEP).write(Span(line.start, at))
        self._between(self.text[at : self.span.end] + "\n", 0)
        while self.done and not self.done[-1]:
            self.done.pop()
        return "".join(line + "\n" for line in self.done)

    def _end_of_raw(self, line: Line) -> int:
        """Where text that stays as it is ends, when it begins on a line and goes on below."""
        return max((span.end for span in self.long if line.start <= span.start < line.end), default=line.end)

    def _between(self, gap: str, depth: int) -> None:
        """The rest of the line before, comments on lines of their own, and at most one blank line in a row."""
        rest, *below = gap.split("\n")
        if not self.path:
            below = [rest, *below]
        elif rest.strip():
            self.done[-1] += COMMENT_GAP + rest.strip()
        wanted = bool(self.done) and depth < len(self.path)
        for line in below[:-1]:
            if comment := line.strip():
                indent = self._comment_depth(layout.width(line[: line.index(comment)]), depth) * STEP
                self.done.append(" " * indent + comment)
                wanted = True
            elif wanted:
                self.done.append("")
                wanted = False

    def _comment_depth(self, column: int, depth: int) -> int:
        """The depth of a comment: that of the line that follows, unless it stands below a deeper line before it."""
        if depth >= len(self.path):
            return depth
        return max([depth, *(d for d in range(depth, len(self.path)) if self.path[d] <= column)])
