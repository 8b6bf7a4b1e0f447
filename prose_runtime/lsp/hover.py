"""What is told about the place that somebody points at."""

from __future__ import annotations

import re
from typing import NamedTuple

from prose_runtime import nodes as n
from prose_runtime.check.rungs import given, rungs_of
from prose_runtime.lsp.cards import card, demand_line, field_line, spec_card, target_card
from prose_runtime.lsp.desk import View
from prose_runtime.lsp.index import Index
from prose_runtime.lsp.targets import argument_at, inputs_of, referred_file, target_at, target_name
from prose_runtime.lsp.words import FUNCTION_HELP, HELP, MODIFIER_HELP, SECTION_HELP
from prose_runtime.syntax.names import section_key
from prose_runtime.text import Span

_WORD = re.compile(r"[A-Za-z_](?:[\w-]*\w)?")
_RUNGS = {
    "expression": "expression (computed from values)",
    "structure": "structure (read off a result's fields or its one word)",
    "judge": "judge (a service is asked)",
}
_DOUBLE = ("else if", "at least", "at most")


class Told(NamedTuple):
    """A text in Markdown, and the place that it is about."""

    text: str
    span: Span


def hover(view: View, index: Index, offset: int) -> Told | None:
    """What is known of the place at an offset: a name, an argument, a target, a condition, a word, a heading."""
    spec = view.spec_at(offset)
    named = _name(view, index, spec, offset) or _field(view, spec, offset)
    condition = _condition(view, spec, offset)
    if named and condition:
        return Told(f"{named.text}\n\n---\n\n{condition.text}", named.span)
    return named or _keyword(view, spec, offset) or condition or _heading(view, spec, offset) or _file(view, offset)


def _name(view: View, index: Index, spec: n.Spec, offset: int) -> Told | None:
    asked = argument_at(view, spec, offset)
    found = index.at(offset)
    if asked and asked.argument.name_span and not (found and found.span.covers(asked.argument.name_span)):
        target = view.analysis_of(spec).targets.get(asked.call)
        taken = {one.name: one for one in (inputs_of(view, spec, target) if target else ())}
        name = asked.argument.name or ""
        if name in taken:
            need = "required" if taken[name].needed else "optional"
            about = f": {taken[name].about}" if taken[name].about else ""
            of = f" of `{target.name}`" if target else ""
            return Told(f"**input** `{name}`{of} ({need}){about}", asked.argument.name_span)
        return Told(MODIFIER_HELP[name], asked.argument.name_span) if name in MODIFIER_HELP else None
    called = target_at(view, spec, offset)
    span = target_name(called[0]) if called else None
    if called and span:
        told = [target_card(view, spec, called[1]) or (card(view, found.symbol) if found else "")]
        told.append(demand_line(view.analysis_of(spec).demands.get(called[0])))
        return Told("\n\n".join(filter(None, told)), span)
    return Told(card(view, found.symbol), found.span) if found else None


def _field(view: View, spec: n.Spec, offset: int) -> Told | None:
    """A field of a call's result: whose it is, what is declared of it, and whether the program needs it."""
    analysis, scopes = view.analysis_of(spec), view.scopes_of(spec)
    for node, frame in scopes.frames.items():
        if not isinstance(node, n.Field) or not node.name_span.start <= offset <= node.name_span.end:
            continue
        root = node.object
        bound = frame.lookup(root.id) if isinstance(root, n.Name) else []
        calls = [one.node.value for one in bound if isinstance(one.node, n.Bind) and one.node.value in analysis.targets]
        lines = [field_line(node.name, analysis.targets[call], analysis.demands.get(call)) for call in calls if call]
        return Told("\n".join(dict.fromkeys(lines)), node.name_span) if lines else None
    return None


def _condition(view: View, spec: n.Spec, offset: int) -> Told | None:
    """Which rungs can decide each part of the condition at an offset."""
    scopes = view.scopes_of(spec)
    for node in scopes.frames:
        if isinstance(node, n.Condition) and node.span.start <= offset <= node.span.end:
            outside = given(spec, scopes.inputs)
            parts = [part for part in node.walk() if isinstance(part, n.Clause)]
            alone = [n.Condition(span=part.span, text=part.text, test=part) for part in parts]
            lines = [f"- `{one.text}`: {_rungs(rungs_of(one, scopes.visible, outside))}" for one in alone]
            return Told("\n".join(["**condition**, decided by the first that can:", "", *lines]), node.span)
    return None


def _rungs(rungs: tuple[str, ...]) -> str:
    return ", then ".join(_RUNGS[rung] for rung in rungs)


def _keyword(view: View, spec: n.Spec, offset: int) -> Told | None:
    if spec.body is None or not spec.body.span.start <= offset <= spec.body.span.end or _in_string(view, spec, offset):
        return None
    line = view.source.line_span(view.source.place(offset).line)
    text = view.source.text[slice(*line)]
    for word in _DOUBLE:
        at = text.find(word)
        if at >= 0 and line.start + at <= offset <= line.start + at + len(word):
            return Told(HELP[word], Span(line.start + at, line.start + at + len(word)))
    for match in _WORD.finditer(text):
        if line.start + match.start() <= offset <= line.start + match.end():
            span = Span(line.start + match.start(), line.start + match.end())
            calls = text[match.end() :].startswith("(") and FUNCTION_HELP.get(match[0])
            told = calls or HELP.get(match[0])
            return Told(told, span) if told else None
    return None


def _in_string(view: View, spec: n.Spec, offset: int) -> bool:
    return any(
        isinstance(node, n.Template) and node.span.start < offset < node.span.end
        for node in view.scopes_of(spec).frames
    )


def _heading(view: View, spec: n.Spec, offset: int) -> Told | None:
    for section in spec.sections:
        if section.title_span.start <= offset <= section.title_span.end:
            told = SECTION_HELP.get(section_key(section.title))
            return Told(told, section.title_span) if told else None
    return None


def _file(view: View, offset: int) -> Told | None:
    other = referred_file(view, offset)
    return Told(spec_card(view, other), Span(offset, offset)) if other else None
