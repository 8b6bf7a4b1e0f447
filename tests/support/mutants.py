"""Specs with one fault each, made from good ones: what `tests/mutations.py` measures the checker with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from prose_runtime import nodes as n
from prose_runtime.check.checker import analyse, check_path
from prose_runtime.check.fixes import edited
from prose_runtime.check.project import Project
from prose_runtime.check.scope import scopes
from prose_runtime.check.tables import Analysis
from prose_runtime.diagnostics import Edit
from prose_runtime.syntax.parse import parse
from prose_runtime.text import Source, Span


@dataclass(frozen=True)
class Mutant:
    """A spec with a fault: its ``kind``, what was changed on which line, and the whole text."""

    kind: str
    line: int
    what: str
    text: str


def mutants(analysis: Analysis) -> Iterator[Mutant]:
    """All mutants of a spec, in a fixed order."""
    spec = analysis.spec
    makers = (_dropped_arguments, _swapped_slots, _other_outputs, _removed_bounds, _misspelt_names)
    for maker in makers:
        for what, edits in maker(analysis):
            line = spec.source.place(edits[0].span.start).line
            kind = maker.__name__.strip("_").replace("_", " ")
            yield Mutant(kind, line, what, edited(spec.source, edits))


def noticed(mutant: Mutant, path: Path, project: Project) -> list[str]:
    """The codes of the faults that the checker finds in a mutant and not in the good spec."""
    known = {(d.code, d.message) for d in check_path(path, project).diagnostics}
    spec, parsed = parse(Source(str(path), mutant.text))
    found = analyse(spec, project, parsed).diagnostics
    return [d.code for d in found if (d.code, d.message) not in known and d.severity != "info"]


Changes = Iterator[tuple[str, list[Edit]]]


def _calls(analysis: Analysis) -> list[n.Call]:
    body = analysis.spec.body
    return [node for node in (body.walk() if body else ()) if isinstance(node, n.Call)]


def _dropped_arguments(analysis: Analysis) -> Changes:
    """Each input of each call left out."""
    source = analysis.spec.source
    for call in _calls(analysis):
        for argument in call.args:
            line = source.offset(source.place(argument.span.start).line)
            end = source.text.find("\n", argument.span.end)
            yield f"{_target(call, source)} without {argument.name}", [Edit(Span(line - 1, end), "")]


def _swapped_slots(analysis: Analysis) -> Changes:
    """Two slots that take each other's place in all calls."""
    source = analysis.spec.source
    calls = [call for call in _calls(analysis) if isinstance(call.target, n.Name)]
    named = {slot.name for slot in analysis.spec.slots}
    slots = sorted({call.target.id for call in calls if isinstance(call.target, n.Name)} & named)
    for one, other in combinations(slots, 2):
        exchange = {one: other, other: one}
        edits = [
            Edit(c.target.span, exchange[name]) for c in calls if (name := source.slice(c.target.span)) in exchange
        ]
        yield f"{one} and {other} exchanged", edits


def _other_outputs(analysis: Analysis) -> Changes:
    """Each input of a call replaced by the result of each other role that the program has."""
    source = analysis.spec.source
    body = analysis.spec.body
    results: dict[str, str] = {}
    for node in body.walk() if body else ():
        if isinstance(node, n.Bind) and isinstance(node.target, n.Name) and isinstance(node.value, n.Call):
            results[node.target.id] = _target(node.value, source)
    for call in _calls(analysis):
        for argument in call.args:
            passed = source.slice(argument.value.span)
            for name, role in results.items():
                if role != _target(call, source) and name not in (passed, passed.split(".")[0]):
                    what = f"{_target(call, source)} is passed {name} as {argument.name} instead of {passed}"
                    yield what, [Edit(argument.value.span, name)]


def _removed_bounds(analysis: Analysis) -> Changes:
    """Each repetition in sequence without its number, each loop without its maximum."""
    source = analysis.spec.source
    body = analysis.spec.body
    for node in body.walk() if body else ():
        if isinstance(node, n.Repeat) and node.parallel is None:
            yield "repeat without a number", [Edit(Span(node.span.start, node.count.span.end), "loop")]
        elif isinstance(node, n.Loop) and node.maximum is not None:
            start = source.text.rfind("(", node.span.start, node.maximum.span.start)
            end = source.text.find(")", node.maximum.span.end) + 1
            yield "loop without a maximum", [Edit(Span(start, end), "")]


def _misspelt_names(analysis: Analysis) -> Changes:
    """Each name that the program reads or calls, and each name of an input, without one of its letters."""
    source = analysis.spec.source
    body = analysis.spec.body
    read = {use.name for use in scopes(analysis.spec).uses}
    for node in body.walk() if body else ():
        if isinstance(node, n.Name) and node in read and len(node.id) > 3:
            yield f"{node.id} misspelt", [_without_a_letter(node.span, source)]
        elif isinstance(node, n.Argument) and node.name and node.name_span and len(node.name) > 3:
            yield f"the input {node.name} misspelt", [_without_a_letter(node.name_span, source)]


def _without_a_letter(span: Span, source: Source) -> Edit:
    at = span.start + (span.end - span.start) // 2
    while source.text[at] in "_-":
        at += 1
    return Edit(Span(at, at + 1), "")


def _target(call: n.Call, source: Source) -> str:
    return source.slice(call.target.span)
