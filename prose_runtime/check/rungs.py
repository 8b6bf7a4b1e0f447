"""Which rungs can decide each condition of a spec: what ``prose check --verbose`` says (LANGUAGE.md, Conditions)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from prose_runtime import nodes as n
from prose_runtime.check.conditions import criterion, wording
from prose_runtime.check.mentions import names_read
from prose_runtime.check.tables import Analysis
from prose_runtime.diagnostics import Diagnostic

CODE = "condition-rungs"

EXPRESSION, STRUCTURE, JUDGE = "expression", "structure", "judge"
_ORDER = (EXPRESSION, STRUCTURE, JUDGE)
_SENTENCES = {
    (EXPRESSION,): "computed from the values: no service is asked",
    (STRUCTURE,): "decided by the fields of the answer: no judge is asked",
    (EXPRESSION, STRUCTURE): "decided by the values and the fields of the answer: no judge is asked",
    (JUDGE,): "always for the judge to decide",
}


def rungs(analysis: Analysis) -> Iterator[Diagnostic]:
    """For each condition and choice of a spec and its components a note that says what can decide it."""
    for part in (analysis.spec, *analysis.spec.components):
        known = analysis if part is analysis.spec else analysis.callees.get(part)
        if part.body is None or known is None:
            continue
        outside = given(part, known.inputs)
        for node in part.body.walk():
            if isinstance(node, n.Condition):
                found = rungs_of(node, known.visible, outside)
                yield _note(part, node, _SENTENCES.get(found) or _sentence(found))
            elif isinstance(node, n.Choice):
                yield _note(part, node.criteria, "always for the judge to decide")


Visible = Mapping[n.Node, frozenset[str]]


def rungs_of(condition: n.Condition, visible: Visible, outside: frozenset[str]) -> tuple[str, ...]:
    """The rungs that a condition may come to, in order: ``expression``, ``structure``, ``judge``.

    ``visible`` and ``outside`` are the names in scope and those that hold no answers.
    """
    found = {rung for clause in _clauses(condition.test) for rung in _clause(clause, visible, outside)}
    return tuple(rung for rung in _ORDER if rung in found)


def _clause(clause: n.Clause, visible: Visible, outside: frozenset[str]) -> tuple[str, ...]:
    """An expression over known names is always decided, except for English predicates that do not fit their values."""
    names = visible.get(clause, frozenset())
    if clause.expr is not None and names_read(clause.expr) <= names:
        return (EXPRESSION,)
    if criterion(clause.text, names) is not None:
        return (STRUCTURE, JUDGE)
    claim = wording(clause.text, names - outside, names)
    if claim is None:
        return (JUDGE,)
    return (STRUCTURE,) if claim.explicit else (STRUCTURE, JUDGE)


def given(spec: n.Spec, inputs: Collection[str]) -> frozenset[str]:
    """The names that only ever stand for something from outside: they hold no answers."""
    outside = {"config", *inputs, *(slot.name for slot in spec.slots), *(item.name for item in spec.config)}
    nodes = spec.body.walk() if spec.body else iter(())
    return frozenset(outside - {b.target.id for b in nodes if isinstance(b, n.Bind) and isinstance(b.target, n.Name)})


def _clauses(test: n.Test) -> Iterator[n.Clause]:
    if isinstance(test, n.Clause):
        yield test
    elif isinstance(test, n.Junction):
        for part in test.parts:
            yield from _clauses(part)


def _sentence(found: tuple[str, ...]) -> str:
    return f"decided by {' or '.join(found[:-1])} where that is clear, else by the judge"


def _note(spec: n.Spec, node: n.Node, sentence: str) -> Diagnostic:
    return Diagnostic(CODE, "info", sentence, spec.source, node.span)
