"""What the calls of a program lead to, as places: a slot, a component, a block, another file; and their inputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from prose_runtime import nodes as n
from prose_runtime.check.scope import required_names
from prose_runtime.check.subjects import find_subject
from prose_runtime.check.tables import Target
from prose_runtime.errors import UnreadableFile
from prose_runtime.lsp.desk import View
from prose_runtime.text import Source, Span

CallNode = n.Call | n.DoBlock | n.Session

_REFERENCE = re.compile(r"[\w./\\-]+")


class Spot(NamedTuple):
    """A place in a file."""

    source: Source
    span: Span


class Asked(NamedTuple):
    """An argument of a call."""

    call: CallNode
    argument: n.Argument


class TakenInput(NamedTuple):
    """An input that a target takes: ``about`` says what it is."""

    name: str
    spot: Spot
    about: str
    needed: bool


def calls(view: View, spec: n.Spec) -> Iterator[CallNode]:
    """All calls of a spec's program."""
    for node in view.scopes_of(spec).frames:
        if isinstance(node, n.Call | n.DoBlock | n.Session):
            yield node


def argument_at(view: View, spec: n.Spec, offset: int) -> Asked | None:
    """The argument whose name an offset lies in."""
    for call in calls(view, spec):
        if call.span.start <= offset <= call.span.end:
            for argument in call.args:
                if argument.name_span and argument.name_span.start <= offset <= argument.name_span.end:
                    return Asked(call, argument)
    return None


def target_at(view: View, spec: n.Spec, offset: int) -> tuple[CallNode, Target] | None:
    """The call whose target's name an offset lies in, with what it leads to."""
    targets = view.analysis_of(spec).targets
    for call in calls(view, spec):
        name = target_name(call)
        if name is not None and name.start <= offset <= name.end and call in targets:
            return call, targets[call]
    return None


def target_name(call: CallNode) -> Span | None:
    """Where a call names what it calls."""
    if isinstance(call, n.Call):
        return call.target.span
    name = call.block if isinstance(call, n.DoBlock) else call.agent
    return name.span if name else None


def inputs_of(view: View, spec: n.Spec, target: Target) -> list[TakenInput]:
    """The inputs that a target of a spec's program takes."""
    if target.slot is not None:
        return [
            TakenInput(name, Spot(spec.source, _word(spec.source, name, item.span)), item.text, not item.optional)
            for name, item in required_names(target.slot).items()
        ]
    if target.spec is not None:
        return list(_inputs_of_spec(view, target.spec))
    block = view.scopes_of(spec).start.get(target.name)
    names = block.params if target.kind == "block" and isinstance(block, n.BlockDef) else ()
    return [TakenInput(name.id, Spot(spec.source, name.span), f"parameter of `{target.name}`", True) for name in names]


def _inputs_of_spec(view: View, spec: n.Spec) -> Iterator[TakenInput]:
    for row in view.scopes_of(spec).inputs.values():
        needed = not row.optional and not row.has_default
        yield TakenInput(row.name, Spot(spec.source, row.name_span), row.description, needed)
    for item in spec.config:
        yield TakenInput(item.name, Spot(spec.source, item.name_span), item.description, False)


def file_spot(spec: n.Spec) -> Spot:
    """Where a spec gives its name."""
    return Spot(spec.source, spec.name_span)


def referred_file(view: View, offset: int) -> n.Spec | None:
    """The spec of a file that is named at an offset: in ``use "..."``, in the Patterns section, as a test's subject."""
    for spec in view.specs:
        for node in view.scopes_of(spec).frames:
            if isinstance(node, n.Use) and node.span.start <= offset <= node.span.end:
                return load(view, node.reference)
    if not _may_refer(view, offset):
        return None
    for match in _REFERENCE.finditer(view.source.text, *view.source.line_span(view.source.place(offset).line)):
        if match.start() <= offset <= match.end():
            if view.spec.kind == "test":
                return find_subject(view.spec, view.project).spec
            return load(view, match[0])
    return None


def _may_refer(view: View, offset: int) -> bool:
    """Whether an offset is in the Patterns section, or in the line of a test that names its subject."""
    patterns = view.spec.section("patterns")
    if patterns is not None and patterns.body.start <= offset <= patterns.body.end:
        return True
    line = view.source.text[slice(*view.source.line_span(view.source.place(offset).line))]
    return view.spec.kind == "test" and line.startswith("subject:")


def load(view: View, reference: str) -> n.Spec | None:
    """The spec that a reference means, beside the file, in its project, or in the library."""
    path = view.project.find(reference, Path(view.spec.source.path))
    try:
        return view.project.load(path).spec if path else None
    except UnreadableFile:
        return None


def _word(source: Source, word: str, span: Span) -> Span:
    match = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])").search(source.text, span.start, span.end)
    return Span(*match.span()) if match else span
