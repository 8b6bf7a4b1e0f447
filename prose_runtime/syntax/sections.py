"""The outline of a spec: its title, its sections and its inline components (LANGUAGE.md section 1)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from itertools import zip_longest

from prose_runtime.diagnostics import Collector, Edit, Fix, Secondary, did_you_mean
from prose_runtime.nodes import Bullet, Fence, Section
from prose_runtime.records import dataclass
from prose_runtime.syntax.bullets import read_bullets, report_open_fence
from prose_runtime.syntax.frontmatter import report_tabs
from prose_runtime.syntax.markdown import MarkdownBlock, read_blocks
from prose_runtime.syntax.names import (
    EXECUTABLE_SECTIONS,
    JAVASCRIPT_LABELS,
    LABELLED_SECTIONS,
    MAIN_SECTIONS,
    PROSE_LABELS,
    SECTIONS,
    SPEC_SECTIONS,
    section_key,
)
from prose_runtime.syntax.phrases import NAME
from prose_runtime.text import Source, Span

_LABEL = re.compile(r"(?:\*\*|__)?(?P<title>[A-Za-z]+):?(?:\*\*|__)?:?(?<=[:*_])")
_COMPONENT = re.compile(rf"`?(?P<name>{NAME})`?")


@dataclass(slots=True)
class Area:
    """The file's own part, or an inline component: what stands between its heading and the next one of its level.

    It is ``opening`` until its first section, or until the first component: what it says there is its preamble, with
    the fences ``loose`` in it.
    """

    start: int
    name: Span
    preamble_start: int
    title: str | None = None
    preamble: str = ""
    opening: bool = True
    end: int = 0
    sections: list[Section] = field(default_factory=list)
    loose: list[Fence] = field(default_factory=list)

    def all(self, *keys: str) -> list[Section]:
        """The first section of each of these titles, in the order of the file."""
        found = {key: next((s for s in self.sections if s.key == key), None) for key in keys}
        return sorted((s for s in found.values() if s), key=lambda s: s.span)

    def first(self, *keys: str) -> Section | None:
        """The first section, in the order of the titles given."""
        return next((s for key in keys for s in self.sections if s.key == key), None)


@dataclass(frozen=True, slots=True)
class Outline:
    """The parts of a file."""

    main: Area
    components: tuple[Area, ...]


def read_outline(source: Source, start: int, out: Collector) -> Outline:
    """The outline of the text from an offset on. Faults of its structure are reported."""
    blocks = read_blocks(source, start)
    _check_tabs(source, start, blocks, out)
    outline = _Reader(source, start, out).read(blocks)
    for area in (outline.main, *outline.components):
        _check_sections(source, area, out)
    return outline


def programs(section: Section) -> list[Fence]:
    """The executable fences of a section."""
    return [fence for fence in section.fences if fence.label in PROSE_LABELS | JAVASCRIPT_LABELS]


def opening_line(source: Source, fence: Fence) -> Span:
    """The first line of a fence."""
    return source.line_span(source.place(fence.span.start).line)._replace(start=fence.span.start)


class _Reader:
    def __init__(self, source: Source, start: int, out: Collector):
        self.source = source
        self.out = out
        self.main = Area(start, Span(start, start), start)
        self.area = self.main
        self.components: list[Area] = []
        self.heading: MarkdownBlock | None = None
        self.bullets: list[Bullet] = []
        self.fences: list[Fence] = []

    def read(self, blocks: Sequence[MarkdownBlock]) -> Outline:
        for block, following in zip_longest(blocks, blocks[1:]):
            if block.kind == "heading":
                self._heading(block)
            elif block.fence is not None:
                self._fence(block)
            elif block.kind == "list":
                self.bullets += read_bullets(self.source, block.span, self.out)
            elif block.kind == "html":
                self._html(block)
            elif following is not None and following.kind == "list":
                self._label(block)
        end = len(self.source.text)
        self._finish(end)
        self.area.end = end
        self.main.end = end
        return Outline(self.main, tuple(self.components))

    def _heading(self, block: MarkdownBlock) -> None:
        title = self.source.text[block.title.start : block.title.end]
        if block.underlined or block.level > 3:
            if block.underlined and block.level == 1:
                self._title(block, title)
            return
        self._finish(block.span.start)
        if block.level == 3:
            self._section(block, title)
        elif block.level == 2:
            self._second_level(block, title)
        else:
            self._title(block, title)

    def _title(self, block: MarkdownBlock, title: str) -> None:
        """The first heading of the first level, above all sections, is the title; later ones are documentation."""
        if self.main.title is None and self.main.opening:
            self.main.title = title or None
            self.main.preamble_start = block.span.end

    def _section(self, block: MarkdownBlock, title: str) -> None:
        if self.area is not self.main and section_key(title) in SPEC_SECTIONS:
            # No component has such a section: the heading above was one of documentation.
            if not self.area.sections:
                self.components.remove(self.area)
            self._leave(block.span.start)
        self.heading = block

    def _label(self, block: MarkdownBlock) -> None:
        """``requires:`` above a list, outside of the sections under headings, is how older files begin a section."""
        if self.heading is not None and self.heading.kind == "heading":
            return
        text = self.source.text[block.span.start : block.span.end]
        found = _LABEL.fullmatch(text)
        if found is None or section_key(found["title"]) not in LABELLED_SECTIONS:
            return
        self._finish(block.span.start)
        start, end = found.span("title")
        title = Span(block.span.start + start, block.span.start + end)
        modern = f"### {found['title'].capitalize()}"
        fix = Fix(f"Write {modern}", (Edit(block.span, f"{modern}\n"),))
        message = f"the section {found['title']} has a label in place of a heading"
        self.out.warning("section-label", title, message, f"write {modern}", fix=fix)
        self.heading = replace(block, title=title)

    def _leave(self, at: int) -> None:
        self.area.end = at
        self.area = self.main

    def _second_level(self, block: MarkdownBlock, title: str) -> None:
        if section_key(title) in MAIN_SECTIONS:
            message = f"the section {title} has a heading of the second level, which opens a component"
            fix = Fix(f"Write ### {title}", (Edit(Span(block.span.start, block.span.start), "#"),))
            marked = self.source.text.startswith("##", block.span.start)
            self.out.warning("section-level", block.title, message, f"write ### {title}", fix=fix if marked else None)
            self._section(block, title)
            return
        if self.area is not self.main:
            self._leave(block.span.start)
        name = _COMPONENT.fullmatch(title)
        if name:
            start, end = name.span("name")
            place = Span(block.title.start + start, block.title.start + end)
            self.main.opening = False
            self.area = Area(block.span.start, place, block.span.end)
            self.components.append(self.area)

    def _fence(self, block: MarkdownBlock) -> None:
        parts = block.fence
        assert parts is not None
        if not parts.closed:
            report_open_fence(self.out, parts.opening)
        self.fences.append(Fence(span=block.span, label=parts.label, content=parts.content))

    def _html(self, block: MarkdownBlock) -> None:
        text = self.source.text[block.span.start : block.span.end]
        if text.startswith("<!--") and "-->" not in text:
            place = Span(block.span.start, block.span.start + 4)
            self.out.error("unclosed-comment", place, "this comment never ends", "end it with -->")

    def _finish(self, end: int) -> None:
        """End the section, or the text before the first section, at an offset."""
        text = self.source.text
        heading, self.heading = self.heading, None
        if heading is None:
            if self.area.opening:
                self.area.preamble = self.source.slice(Span(self.area.preamble_start, end)).strip()
                self.area.loose += self.fences
        else:
            self.area.opening = False
            line_end = text.find("\n", heading.span.end, end)
            start = end if line_end < 0 else line_end + 1
            body = Span(start, start + len(text[start:end].rstrip()))
            self.area.sections.append(self._node(heading, body))
        self.bullets, self.fences = [], []

    def _node(self, heading: MarkdownBlock, body: Span) -> Section:
        title = self.source.text[heading.title.start : heading.title.end]
        return Section(
            span=Span(heading.span.start, body.end if body.start < body.end else heading.span.end),
            key=section_key(title),
            title=title,
            title_span=heading.title,
            body=body,
            bullets=tuple(self.bullets),
            fences=tuple(self.fences),
        )


def _check_tabs(source: Source, start: int, blocks: Sequence[MarkdownBlock], out: Collector) -> None:
    """Tabs outside fences; those of a program are the business of its own parser."""
    at = start
    for block in blocks:
        if block.fence is not None:
            report_tabs(source, Span(at, block.span.start), out)
            at = block.span.end
    report_tabs(source, Span(at, len(source.text)), out)


def _check_sections(source: Source, area: Area, out: Collector) -> None:
    first: dict[str, Section] = {}
    for section in area.sections:
        if section.key not in SECTIONS:
            hint = did_you_mean(section.key, SECTIONS) if _misspelt(section.key) else None
            if hint:
                out.warning("unknown-section", section.title_span, f"there is no section {section.title}", hint)
        elif section.key in first:
            where = Secondary(first[section.key].title_span, "first given here")
            message = f"the section {section.title} is given twice"
            out.error("duplicate-section", section.title_span, message, "join the two", secondary=[where])
        first.setdefault(section.key, section)
        if section.key in EXECUTABLE_SECTIONS:
            _check_fences(source, section, out)


def _misspelt(key: str) -> bool:
    """Whether a title is a letter or two away from one that means something; other titles are documentation."""
    return any(
        abs(len(key) - len(known)) < 2 and _changes(key, known) <= (2 if len(known) > 6 else 1) for known in SECTIONS
    )


def _changes(one: str, other: str) -> int:
    """How many characters differ between the common beginning and the common end."""
    start = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    one, other = one[start:], other[start:]
    ends: Iterator[tuple[str, str]] = zip(reversed(one), reversed(other), strict=False)
    end = next((i for i, (a, b) in enumerate(ends) if a != b), min(len(one), len(other)))
    return max(len(one), len(other)) - end


def _check_fences(source: Source, section: Section, out: Collector) -> None:
    fences = programs(section)
    if len(fences) > 1:
        two_programs(source, f"the section {section.title}", fences, out)


def two_programs(source: Source, where: str, fences: Sequence[Fence], out: Collector) -> None:
    """Report the second of several programs where only one can be."""
    first = Secondary(opening_line(source, fences[0]), "the first program is here")
    help_line = "join the programs, or label what is only an example with another word, as in ```text"
    out.error(
        "two-fences", opening_line(source, fences[1]), f"{where} has a second program", help_line, secondary=[first]
    )
