"""Runner of conditions: expression, structure, null criterion, judge (LANGUAGE.md, Conditions)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prose_runtime.check.conditions import verdict_of
from prose_runtime.events import ConditionDecided, Rung
from prose_runtime.nodes import Clause, Condition, Expr, Junction, Predicate, Test
from prose_runtime.runtime import judge
from prose_runtime.runtime.core import Activation, evaluate
from prose_runtime.runtime.program import Plan
from prose_runtime.values import ServiceRef, Value, field, to_json, to_text, truthy

_RUNGS: Mapping[Rung, int] = {"expression": 1, "structure": 2, "judge": 3}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found out without asking: a verdict, or the words that are left for the judge."""

    verdict: bool | None
    rung: Rung = "expression"
    open: str = ""


async def decide(condition: Condition, act: Activation) -> bool:
    """The verdict of a condition; it is told to the listeners with the rung that decided.

    Raises:
        RunFailed: The judge was needed and gave no verdict (kind ``judge``).
    """
    act = act.at(act.unit.program.labels.get(condition, "condition"))
    where = act.unit.program.where(condition.span)
    outcome = await _test(condition.test, act)
    verdict, reason, rung = outcome.verdict, None, outcome.rung
    if verdict is None:
        text = filled(outcome.open, act, act.unit.program.analysis.visible.get(condition, frozenset()))
        names = named_values(text, act, act.unit.program.analysis.visible.get(condition, frozenset()))
        verdict, reason = await judge.verdict(text, names, act, where)
        rung = "judge"
    act.emit(ConditionDecided(act.path, condition.text, rung, verdict, reason, where))
    return verdict


async def _test(test: Test, act: Activation) -> Outcome:
    if isinstance(test, Junction):
        return await _junction(test, act)
    assert isinstance(test, Clause)
    return await _clause(test, act)


async def _junction(test: Junction, act: Activation) -> Outcome:
    """Each part takes its own rung; the judge is asked only when the others leave it open, and once for all of them."""
    ending = test.op == "or"
    rung: Rung = "expression"
    left_open = []
    for part in test.parts:
        outcome = await _test(part, act)
        rung = max(rung, outcome.rung, key=_RUNGS.__getitem__)
        if outcome.verdict is None:
            left_open.append(outcome.open)
        elif outcome.verdict == ending:
            return Outcome(ending, rung)
    if left_open:
        return Outcome(None, rung, f" {test.op} ".join(left_open))
    return Outcome(not ending, rung)


async def _clause(clause: Clause, act: Activation) -> Outcome:
    plan = act.unit.program.plans.get(clause) or Plan()
    if plan.expr is not None:
        held = await _expression(plan.expr, act)
        if held is not None:
            return Outcome(held)
    if plan.criterion is not None and act.frame.names.get(plan.criterion.name) is None:
        return Outcome(plan.criterion.verdict, "structure")
    if plan.claim is not None:
        value: Value = act.frame.names.get(plan.claim.subject)
        for name in plan.claim.path:
            value = field(value, name)
        verdict = verdict_of(plan.claim, value, act.unit.program.alternatives.get(plan.claim.subject, ()))
        if verdict is not None:
            return Outcome(verdict, "structure")
    return Outcome(None, "expression", clause.text)


async def _expression(expr: Expr, act: Activation) -> bool | None:
    value = await evaluate(expr, act)
    return None if value is None and isinstance(expr, Predicate) else truthy(value)


_NAMES = re.compile(r"[A-Za-z_][\w-]*")
_BRACED = re.compile(r"\{([A-Za-z_][\w-]*)((?:\.[A-Za-z_][\w-]*)*)\}")


def filled(text: str, act: Activation, visible: frozenset[str]) -> str:
    """The text with ``{name}`` replaced where the name resolves."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in visible:
            return match[0]
        found = act.frame.names.get(match[1])
        for part in match[2].split(".")[1:]:
            found = field(found, part)
        return to_text(found)

    return _BRACED.sub(value, text)


def named_values(text: str, act: Activation, visible: frozenset[str], *, strictly: bool = False) -> dict[str, Any]:
    """The values that a text names; if none, and not ``strictly``, the frame's results of calls, the latest first."""
    names = act.frame.names
    mentioned = [n for n in dict.fromkeys(_NAMES.findall(text)) if n in visible and n in names]
    shown = [n for n in mentioned if not _refers(names[n])]
    shown = shown or ([] if strictly else [*reversed(act.frame.results)])
    return {n: to_json(names[n]) for n in shown if n in names}


def _refers(value: Value) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_refers, value))
    return isinstance(value, ServiceRef)
