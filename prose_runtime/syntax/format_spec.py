"""Spec files laid out anew: frontmatter, headings, lists of data sections, fences of programs.

Sections keep their order. Prose stays as it is, byte for byte, and so does everything in sections whose text is told
to a role or only read by people; of these no more than the blank lines at their ends are changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prose_runtime.diagnostics import Collector
from prose_runtime.nodes import Block, Section, Spec
from prose_runtime.records import dataclass
from prose_runtime.syntax.format_code import format_code
from prose_runtime.syntax.format_list import format_list
from prose_runtime.syntax.frontmatter import read_frontmatter
from prose_runtime.syntax.markdown import FenceParts, MarkdownBlock, read_blocks
from prose_runtime.syntax.names import EXECUTABLE_SECTIONS, PROSE_LABELS
from prose_runtime.text import Source, Span

_DATA_SECTIONS = frozenset(
    "slots config parameters requires inputs returns ensures maintains invariants shape fixtures expects".split()
) | {"expects not"}
_CONTENT = 2
_MOVING = re.compile(r"^ {1,3}(?:[-*+]|\d{1,9}[.)])(?: |$)", re.M)
_FIELD = re.compile(r"(?P<key>[A-Za-z_][\w-]*)[ \t]*:[ \t]+(?P<value>\S.*?)[ \t]*$")


@dataclass(frozen=True, slots=True)
class _Part:
    """A heading with what stands below it, up to the next one; ``section`` is None outside of sections."""

    heading: MarkdownBlock
    end: int
    section: Section | None
    program: Block | None


def lay_out(spec: Spec) -> str:
    """The text of a file whose tree is ``spec``, with newlines alone; it must have been read without an error."""
    if not spec.frontmatter and spec.span.start == 0 and spec.source.path.endswith(".prose"):
        return format_code(spec.source, Span(0, len(spec.source.text)), spec.body) if spec.body else spec.source.text
    return _Writer(spec).write()


class _Writer:
    def __init__(self, spec: Spec):
        self.spec = spec
        self.source = spec.source
        self.text = spec.source.text
        self.raw = spec.source.raw
        self.head_end = read_frontmatter(self.source, Collector(self.source)).end
        self.blocks = read_blocks(self.source, self.head_end)

    def write(self) -> str:
        parts = list(self._parts())
        first = parts[0].heading.span.start if parts else len(self.text)
        pieces = [self._frontmatter(), _trimmed(self.raw[self.head_end : first])]
        for part in parts:
            pieces += [self._heading(part.heading), self._body(part)]
        return "\n\n".join(piece for piece in pieces if piece) + "\n"

    # the parts of a file

    def _parts(self) -> Iterator[_Part]:
        owners = (self.spec, *self.spec.components)
        sections = {section.span.start: (section, owner) for owner in owners for section in owner.sections}
        starts = {*sections, *(component.span.start for component in self.spec.components)}
        title = self._title(min(starts, default=len(self.text)))
        headings = [b for b in self.blocks if b.kind == "heading" and (b.span.start in starts or b is title)]
        ends = (*(heading.span.start for heading in headings[1:]), len(self.text))
        for heading, end in zip(headings, ends, strict=False):
            section, owner = sections.get(heading.span.start, (None, self.spec))
            yield _Part(heading, end, section, owner.body)

    def _title(self, before: int) -> MarkdownBlock | None:
        levels = (b for b in self.blocks if b.kind == "heading" and b.level == 1 and b.span.start < before)
        return next(levels, None) if self.spec.title else None

    def _frontmatter(self) -> str:
        lines = self.raw[: self.head_end].strip().split("\n")
        inner = _trimmed("\n".join(lines[1:-1])).split("\n")
        return "\n".join(["---", *map(_field, inner), "---"])

    def _heading(self, block: MarkdownBlock) -> str:
        if block.underlined:
            return self.raw[block.span.start : block.span.end]
        title = f"{'#' * block.level} {self.raw[block.title.start : block.title.end]}".rstrip()
        remarks = self.raw[block.title.end : block.span.end].strip()
        return f"{title} {remarks}" if remarks.startswith("<!--") else title

    # what stands below a heading

    def _body(self, part: _Part) -> str:
        start = self.text.find("\n", part.heading.span.end, part.end)
        span = Span(part.end if start < 0 else start + 1, part.end)
        key = part.section.key if part.section else ""
        if key not in _DATA_SECTIONS and key not in EXECUTABLE_SECTIONS:
            return _trimmed(self.raw[span.start : span.end])
        return self._blocks(span, key, part.program)

    def _blocks(self, span: Span, key: str, program: Block | None) -> str:
        """The blocks of a section, with no more than one blank line between them, and one around each fence."""
        done, at, fenced = "", span.start, False
        inside = [b for b in self.blocks if span.start <= b.span.start < span.end and b.span.start < b.span.end]
        staying = self._staying(inside) if key in _DATA_SECTIONS else inside
        for block in inside:
            start = self._start(block)
            between = self.raw[at:start]
            # Link definitions are no blocks.
            kept = _trimmed(between)
            apart = fenced or block.fence is not None or "\n\n" in re.sub(r"[ \t]+", "", between)
            done += ("\n\n" + kept if done else kept) if kept else ""
            done += ("\n\n" if apart or kept else "\n") if done else ""
            if block.kind == "list" and block not in staying:
                done += format_list(self.source, block.span, rows=key in ("parameters", "requires", "inputs"))
            else:
                done += self._block(block, start, program if key in EXECUTABLE_SECTIONS else None)
            at, fenced = block.span.end, block.fence is not None
        rest = _trimmed(self.raw[at : span.end])
        return f"{done}\n\n{rest}" if done and rest else done or rest

    def _staying(self, blocks: Sequence[MarkdownBlock]) -> list[MarkdownBlock]:
        """The lists that would take in the block behind them if their bullets moved to the left."""
        staying: list[MarkdownBlock] = []
        for block, behind in zip(reversed(blocks[:-1]), reversed(blocks[1:]), strict=True):
            deep = self.text.startswith(" " * _CONTENT, self._start(behind))
            still = behind.kind != "list" or behind in staying
            if deep and still and _MOVING.search(self.text, self._start(block), block.span.end):
                staying.append(block)
        return staying

    def _start(self, block: MarkdownBlock) -> int:
        """Where the line begins on which a block does."""
        return self.text.rfind("\n", 0, block.span.start) + 1

    def _block(self, block: MarkdownBlock, start: int, program: Block | None) -> str:
        if block.fence and program and _holds(block.fence, program):
            return self._fence(block.fence, program)
        return self.raw[start : block.span.end]

    def _fence(self, fence: FenceParts, program: Block) -> str:
        opening = self.text[fence.opening.start : fence.opening.end]
        label = opening.lstrip(opening[0])
        mark = opening[: len(opening) - len(label)]
        code = format_code(self.source, fence.content, program)
        return f"{mark}{label.strip()}\n{code}{mark}"


def _holds(fence: FenceParts, program: Block) -> bool:
    return fence.label in PROSE_LABELS and bool(program.statements) and fence.content.covers(program.span)


def _field(line: str) -> str:
    match = _FIELD.match(line)
    return f"{match['key']}: {match['value']}" if match else line


def _trimmed(text: str) -> str:
    """A text without the blank lines at its ends; the indentation of its first line stays."""
    lines = text.split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines)


def source_of(source: Source) -> Source:
    """The same file with newlines alone, in which no offset stands between two characters of one line break."""
    return Source(source.path, source.raw.replace("\r\n", "\n").replace("\r", "\n"))
