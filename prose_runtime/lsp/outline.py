"""A file's outline: sections with what they declare, the program with what it defines and binds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from prose_runtime import nodes as n
from prose_runtime.lsp.desk import View
from prose_runtime.syntax.names import EXECUTABLE_SECTIONS
from prose_runtime.text import Span

EntryKind = Literal[
    "section", "slot", "config", "input", "output", "component", "instance", "block", "variable", "call"
]


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the outline. ``whole`` covers all that belongs to it, ``name_span`` what is selected."""

    name: str
    kind: EntryKind
    whole: Span
    name_span: Span
    detail: str = ""
    inside: tuple[Entry, ...] = ()


def outline(view: View) -> list[Entry]:
    """The entries of a file, in order; those of an inline component stand in its entry."""
    spec = view.spec
    entries = [*_sections(view, spec)]
    for component in spec.components:
        inside = tuple(_sections(view, component))
        entries.append(Entry(component.name, "component", component.span, component.name_span, "", inside))
    if not entries and spec.body is not None:
        entries += _program(view, spec, spec.span)
    return sorted(entries, key=lambda entry: entry.whole)


def _sections(view: View, spec: n.Spec) -> Iterator[Entry]:
    for section in spec.sections:
        if section.key in EXECUTABLE_SECTIONS:
            inside = list(_program(view, spec, section.span))
        else:
            inside = [e for e in _declared(view, spec) if section.span.start <= e.whole.start < section.span.end]
        yield Entry(section.title, "section", section.span, section.title_span, "", tuple(inside))


def _declared(view: View, spec: n.Spec) -> Iterator[Entry]:
    for slot in spec.slots:
        yield Entry(slot.name, "slot", slot.span, slot.name_span, slot.description)
    for item in spec.config:
        yield Entry(item.name, "config", item.span, item.name_span, item.type or "")
    for row in spec.parameters:
        yield Entry(row.name, "input", row.span, row.name_span, row.type or "")
    for output in spec.returns.outputs if spec.returns else ():
        yield Entry(output.name, "output", output.span, output.name_span, output.type or "")
    for instance in spec.instances:
        if instance.name:
            yield Entry(instance.name, "instance", instance.span, _first_line(view, instance.span), instance.pattern)


def _program(view: View, spec: n.Spec, within: Span) -> Iterator[Entry]:
    """Blocks, the first binding of each name of the delegation, and calls that bind nothing."""
    seen: set[str] = set()
    for node in spec.body.walk() if spec.body and within.covers(spec.body.span) else ():
        if isinstance(node, n.BlockDef):
            yield Entry(node.name.id, "block", node.span, node.name.span, ", ".join(p.id for p in node.params))
        elif isinstance(node, n.Bind):
            for name in _bound(node):
                if name.id not in seen:
                    yield Entry(name.id, "variable", node.span, name.span, _summary(node.value))
                seen.add(name.id)
        elif isinstance(node, n.ExprStatement) and isinstance(node.value, n.Call):
            target = node.value.target
            yield Entry(_summary(node.value), "call", node.span, target.span)


def _bound(node: n.Bind) -> Iterable[n.Name]:
    if isinstance(node.target, n.Name):
        return (node.target,)
    return node.target.names if isinstance(node.target, n.Destructure) else ()


def _summary(value: n.Expr) -> str:
    if isinstance(value, n.Call):
        return f"call {value.target.id}" if isinstance(value.target, n.Name) else "call"
    return type(value).__name__.lower() if isinstance(value, n.Parallel | n.Repeat | n.Loop | n.Pipeline) else ""


def _first_line(view: View, span: Span) -> Span:
    line = view.source.line_span(view.source.place(span.start).line)
    return Span(span.start, max(span.start, min(line.end, span.end)))
