"""The Markdown of a spec as blocks with exact offsets.

mistune decides what is a heading, a fence or a list; its tree carries no positions, so a subclass notes the cursor at
which each block of the top level starts. Text inside blocks is not its business: lists are read by ``bullets``.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from mistune.block_parser import BlockParser
from mistune.core import BlockState

from prose_runtime.records import dataclass
from prose_runtime.syntax.names import EXECUTABLE_SECTIONS, LOOSE_LABELS, PROSE_LABELS, SECTIONS, section_key
from prose_runtime.syntax.phrases import before_remarks
from prose_runtime.text import NOWHERE, Source, Span, compiled

BlockKind = Literal["heading", "fence", "list", "html", "other"]


@dataclass(frozen=True, slots=True)
class FenceParts:
    """The parts of a fenced block: the opening marker with its label, the label, the lines between, and the end."""

    opening: Span
    label: str
    content: Span
    closed: bool


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """A block of the top level. ``level`` and ``title`` are a heading's, ``fence`` a fence's; level 0 is no heading.

    A heading underlined with ``===`` or ``---`` has ``underlined`` set.
    """

    kind: BlockKind
    span: Span
    level: int = 0
    title: Span = NOWHERE
    fence: FenceParts | None = None
    underlined: bool = False


def read_blocks(source: Source, start: int = 0) -> list[MarkdownBlock]:
    """The blocks from an offset on, in order; blank lines and link definitions are none."""
    text = source.text
    state = _State()
    state.process(text if text.endswith("\n") else text + "\n")
    state.cursor = start
    _PARSER.parse(state)
    # Indented code goes past the rules, and its cursor has not moved.
    placed = sorted((token.get("start", token.get("near", 0)), at) for at, token in enumerate(state.tokens))
    ends = [begin for begin, _ in placed[1:]]
    blocks = []
    for (begin, at), end in zip(placed, [*ends, len(text)], strict=False):
        token = state.tokens[at]
        if token["type"] != "blank_line":
            # Link definitions leave no token, so that a block may seem to reach further than it does.
            span = Span(begin, begin + len(text[begin : token.get("end", end)].rstrip()))
            blocks.append(_block(token, span, text))
    return blocks


def _block(token: dict[str, Any], span: Span, text: str) -> MarkdownBlock:
    if "fence" in token:
        return MarkdownBlock("fence", span, fence=token["fence"])
    if token["type"] == "heading":
        if token["style"] == "setext":
            title = _line_at(text, span.start)
            if not title.end > title.start:  # `===` straight below the frontmatter
                return MarkdownBlock("other", span)
            return MarkdownBlock("heading", span, token["attrs"]["level"], title, underlined=True)
        return MarkdownBlock("heading", span, token["attrs"]["level"], _heading_title(text, span))
    kind = token["type"]
    return MarkdownBlock("list" if kind == "list" else "html" if kind == "block_html" else "other", span)


_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]*(?P<title>.*?)(?:(?:^|(?<=[ \t]))#+)?[ \t]*$")


def _heading_title(text: str, span: Span) -> Span:
    match = _HEADING.match(text[span.start : span.end])
    if match is None:
        return Span(span.end, span.end)
    start, end = match.span("title")
    end = start + before_remarks(match["title"])
    return Span(span.start + start, span.start + end)


def _line_at(text: str, offset: int) -> Span:
    end = text.find("\n", offset)
    line = text[offset : len(text) if end < 0 else end]
    start = offset + len(line) - len(line.lstrip())
    return Span(start, start + len(line.strip()))


class _State(BlockState):
    """Notes where each token starts, and which section the cursor is in."""

    section = ""

    def add_paragraph(self, text: str) -> None:
        start = self.cursor
        super().add_paragraph(text)
        self.tokens[-1].setdefault("start", start)

    def append_token(self, token: dict[str, Any]) -> None:
        token["near"] = self.cursor
        super().append_token(token)


class _Parser(BlockParser):
    """mistune's block parser with positions, and with fences of programs that may hold fences in their strings."""

    def parse(self, state: BlockState, rules: list[str] | None = None) -> None:
        """Read the top level only: what is inside an item or a quote never changes how far it reaches."""
        if state.parent is None:
            super().parse(state, rules)

    def parse_method(self, m: re.Match[str], state: BlockState) -> int | None:
        start = state.cursor
        known = len(state.tokens)
        end = super().parse_method(m, state)
        for token in state.tokens[known:]:
            # A block that ended this one has been through here already and knows its place.
            token.setdefault("start", start)
        return end

    def parse_atx_heading(self, m: re.Match[str], state: BlockState) -> int:
        end = super().parse_atx_heading(m, state)
        token = state.last_token()
        token["end"] = min(end, len(state.src))
        if isinstance(state, _State) and token["attrs"]["level"] <= 3:
            state.section = section_key(token["text"][: before_remarks(token["text"])])
        return end

    def parse_block_quote(self, m: re.Match[str], state: BlockState) -> int:
        """A quote ends at the first line that has no mark and starts something; mistune lets it swallow headings."""
        state.append_token({"type": "block_quote"})
        at = state.find_line_end()
        while at < state.cursor_max:
            line = state.get_line(at)
            if not _QUOTED.match(line) and (not line.strip() or compiled(_STARTS).match(line)):
                break
            at += len(line)
        return at

    def parse_list(self, m: re.Match[str], state: BlockState) -> int:
        """A list of the plainest form ends where its lines do; of any other mistune has to read every item."""
        end = _end_of_plain_list(state.src, m.start())
        if end is None:
            return super().parse_list(m, state)
        state.append_token({"type": "list"})
        return end

    def parse_fenced_code(self, m: re.Match[str], state: BlockState) -> int | None:
        info = m["fenced_3"].strip()
        if "`" in info and m["fenced_2"][0] == "`":
            return None
        label = (info.split() or [""])[0].lower()
        content = min(m.end() + 1, state.cursor_max)
        section = state.section if isinstance(state, _State) else ""
        executable = label in (PROSE_LABELS if section in EXECUTABLE_SECTIONS else LOOSE_LABELS)
        end, after, closed = _fence_end(state.src, content, m["fenced_2"], executable)
        opening = Span(m.start("fenced_2"), m.start("fenced_3") + len(info) if info else m.end("fenced_2"))
        token = {"type": "block_code", "raw": "", "fence": FenceParts(opening, label, Span(content, end), closed)}
        token["end"] = after
        state.append_token(token)
        return after


_PARSER = _Parser()
_PLAIN_LIST = re.compile(r"(?:- (?! |[-\t ]*$)[^\n]*\n(?:  [^\n]*\n|[ \t]*\n)*)+", re.M)
"""Bullets of one hyphen and one blank at the margin, the lines indented below them, and blank lines."""


def _end_of_plain_list(text: str, start: int) -> int | None:
    """Where a list of such lines ends; None when what comes behind may belong to it.

    What stands at the margin behind a blank line, and is no bullet, does not.
    """
    plain = _PLAIN_LIST.match(text, start)
    if plain is None or plain.end() == len(text):
        return plain and plain.end()
    end = plain.end()
    last = text[text.rfind("\n", 0, end - 1) + 1 : end]
    return None if last.strip() or text[end] in " \t-" else end


_QUOTED = re.compile(r"[ ]{0,3}>")
_STARTS = r"[ ]{0,3}(?:#{1,6}[ \t]|```|~~~|[-*+][ \t]|1[.)][ \t]|<!--|(?:[-*_][ \t]*){3,}$)"


def _fence_end(text: str, start: int, marker: str, executable: bool) -> tuple[int, int, bool]:
    """Where a fence's content ends, where the text goes on, and whether the fence is closed."""
    line = rf"^[ ]{{0,3}}{marker[0]}{{{len(marker)},}}"
    close = re.compile(line + r"[ \t]*(?:\n|\Z)", re.M)
    if executable:
        found, limit = _program_fence_end(text, start, close, re.compile(line, re.M))
    else:
        found, limit = close.search(text, start), None
    if found is not None:
        return found.start(), found.end(), True
    if limit is None:
        limit = _section_heading(text, start)
    return limit, limit, False


_STRINGS = re.compile(r'"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*|^[ ]{0,3}(?:`{3,}|~{3,})[^\n]*\n?', re.M)
_TRIPLE_END = re.compile(r'\\.|"""', re.S)


def _program_fence_end(
    text: str, start: int, close: re.Pattern[str], mark: re.Pattern[str]
) -> tuple[re.Match[str] | None, int | None]:
    """The first closing fence outside triple-quoted strings; without one, where the next section begins if known."""
    at = start
    section: int | None = None
    while found := _STRINGS.search(text, at):
        at = found.end()
        if found[0] == '"""':
            end = _triple_end(text, at)
            early = _unterminated(text, at, end, close, mark)
            if early is not None:
                return early, None
            at = len(text) if end is None else end
        elif found[0].startswith("#"):
            heading = _HEADING_LINE.match(text, text.rfind("\n", 0, found.start()) + 1)
            if section is None and heading and section_key(heading["title"]) in SECTIONS:
                section = heading.start()
        elif closed := close.match(text, found.start()):
            return closed, None
        elif section is not None and mark.match(text, found.start()):
            # Another fence opens behind a section's heading: this one was never closed.
            return None, section
    return None, None


def _triple_end(text: str, at: int) -> int | None:
    for found in _TRIPLE_END.finditer(text, at):
        if found[0] == '"""':
            return found.end()
    return None


def _unterminated(
    text: str, start: int, end: int | None, close: re.Pattern[str], mark: re.Pattern[str]
) -> re.Match[str] | None:
    """The fence's end when the triple-quoted string before it was never ended.

    Fences inside a string come in pairs. One that stands alone, with a heading between it and the next quotes (or with
    no more quotes at all), is the end of the program's own fence.
    """
    inner: re.Match[str] | None = None
    opened = False
    for line in mark.finditer(text, start, len(text) if end is None else end):
        closed = close.match(text, line.start())
        if opened and closed:
            opened, inner = False, None
        elif not opened:
            opened, inner = True, closed
    if inner is None or (end is not None and not _HEADING_LINE.search(text, inner.end(), end)):
        return None
    return inner


_HEADING_LINE = re.compile(r"^[ ]{0,3}#{2,3}[ \t]+(?P<title>[^\n]*)$", re.M)


def _section_heading(text: str, start: int) -> int:
    """Offset of the first heading of a section that the language knows, or the end of the text."""
    headings = _HEADING_LINE.finditer(text, start)
    return next((h.start() for h in headings if section_key(h["title"]) in SECTIONS), len(text))
