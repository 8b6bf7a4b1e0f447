"""What is being written at a place: which part of a file it is, which names can be seen there, which call goes on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from prose_runtime import nodes as n
from prose_runtime.check.scope import Frame, Scopes
from prose_runtime.check.tables import Target
from prose_runtime.lsp.desk import View
from prose_runtime.lsp.targets import load
from prose_runtime.syntax.names import EXECUTABLE_SECTIONS
from prose_runtime.text import Source, Span

Part = Literal["frontmatter", "program", "patterns", "heading", "text"]

_PREFIX = re.compile(r"[\w-]*\Z")
_HEADING = re.compile(r" {0,3}#{1,3}[ \t]*[\w \t]*\Z")
_CALL = re.compile(r"\b(?:call|do|session:|resume:)[ \t]+(?P<name>[A-Za-z_][\w-]*)[ \t]*(?P<open>\(|with[ \t]*\{)?")
_CLOSED = re.compile(r"^---[ \t]*$", re.M)


@dataclass(frozen=True, slots=True)
class Place:
    """A place in an open file.

    Attributes:
        spec: The spec or inline component that it lies in.
        left: The line up to it, without the word that is being written.
        prefix: That word, as far as it is written, and ``word`` where it stands.
    """

    view: View
    offset: int
    spec: n.Spec
    part: Part
    left: str
    prefix: str

    @property
    def word(self) -> Span:
        """What a completion replaces."""
        return Span(self.offset - len(self.prefix), self.offset)

    @property
    def line(self) -> Span:
        """The line up to the place."""
        return Span(self.offset - len(self.left) - len(self.prefix), self.offset)

    @property
    def scopes(self) -> Scopes:
        """The names of the spec."""
        return self.view.scopes_of(self.spec)

    @property
    def frame(self) -> Frame:
        """The frame that a statement written here would stand in."""
        return frame_at(self.scopes, self.view.source, self.offset)


def place_at(view: View, offset: int) -> Place:
    """Where an offset is, as far as a text that may be half written tells."""
    source = view.source
    start = source.line_starts[source.place(offset).line - 1]
    line = source.text[start:offset]
    found = _PREFIX.search(line)
    prefix = found[0] if found else ""
    spec = view.spec_at(offset)
    left = line[: len(line) - len(prefix)]
    return Place(view, offset, spec, _part(view, spec, offset, line), left, prefix)


def _part(view: View, spec: n.Spec, offset: int, line: str) -> Part:
    text = view.source.text
    if spec.source.path.endswith(".prose"):
        return "program"
    if text.startswith("---"):
        closing = _CLOSED.search(text, 3)
        if closing is None or offset <= closing.start():
            return "frontmatter"
    for section in spec.sections:
        for fence in section.fences:
            if fence.content.start <= offset <= fence.content.end:
                return _fenced(section)
    return "heading" if _HEADING.fullmatch(line) else "text"


def _fenced(section: n.Section) -> Part:
    if section.key in EXECUTABLE_SECTIONS:
        return "program"
    return "patterns" if section.key == "patterns" else "text"


def frame_at(scopes: Scopes, source: Source, offset: int) -> Frame:
    """The frame that a statement at an offset stands in; indentation tells, also where a line is not finished."""
    here = source.place(offset).line
    column = _indent(source, here, offset)
    best = scopes.root
    for frame in scopes.all_frames:
        if frame.node is None or frame is scopes.root:
            continue
        head = source.place(frame.node.span.start).line
        if (head == here and frame.kind == "branch") or (head < here and _goes_on(source, head, here, column)):
            best = frame
    return best


def _goes_on(source: Source, head: int, here: int, column: int) -> bool:
    """Whether all lines behind a head, up to a place, are indented more than it is."""
    own = _indent(source, head)
    between = (_indent(source, line) for line in range(head + 1, here) if not _blank(source, line))
    return column > own and all(indent > own for indent in between)


def _indent(source: Source, line: int, offset: int | None = None) -> int:
    """The column at which a line starts; an empty one starts at the place that is looked at."""
    span = source.line_span(line)
    text = source.text[span.start : span.end]
    if not text.strip() and offset is not None:
        return offset - span.start
    return len(text) - len(text.lstrip())


def _blank(source: Source, line: int) -> bool:
    return not source.text[slice(*source.line_span(line))].strip()


@dataclass(frozen=True, slots=True)
class GoingOn:
    """A call whose inputs are being written, and the names of those that stand there."""

    target: Target
    given: frozenset[str]


def call_going_on(place: Place) -> GoingOn | None:
    """The call that takes an input written at a place: in its brackets, or on a line below it."""
    source = place.view.source
    here = source.place(place.offset).line
    match = None
    for found in _CALL.finditer(place.left):
        match = found if found["open"] and not re.search(r"[)}]", place.left[found.end() :]) else match
    if match is not None:
        return _going_on(place, match["name"], here)
    if place.left.strip():
        return None
    column = len(place.left)
    for line in range(here - 1, 0, -1):
        if not _blank(source, line) and _indent(source, line) < column:
            text = source.text[slice(*source.line_span(line))]
            above = None if text.endswith(":") else _last(_CALL, text)
            return _going_on(place, above["name"], line) if above and not text[above.end() :].strip() else None
    return None


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return found[-1] if found else None


def _going_on(place: Place, name: str, line: int) -> GoingOn | None:
    source = place.view.source
    target = _by_name(place, name)
    for call, known in place.view.analysis_of(place.spec).targets.items():
        if isinstance(call, n.Call | n.DoBlock) and known.name == name:
            target = known
            if source.place(call.span.start).line == line:
                others = [arg for arg in call.args if not arg.span.start <= place.offset <= arg.span.end]
                return GoingOn(known, frozenset(arg.name for arg in others if arg.name))
    return GoingOn(target, frozenset()) if target else None


def _by_name(place: Place, name: str) -> Target | None:
    """What a call of a name leads to when its own line cannot be read yet."""
    node = place.scopes.start.get(name)
    if isinstance(node, n.Slot):
        return Target("slot", name, slot=node)
    if isinstance(node, n.BlockDef):
        return Target("block", name)
    component = next((one for one in place.view.spec.components if one.name == name), None)
    reference = node.reference if isinstance(node, n.Use) else node.pattern if isinstance(node, n.Instance) else name
    spec = component or load(place.view, reference)
    return Target("spec", name, spec=spec) if spec else None
