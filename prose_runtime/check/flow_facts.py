"""What conditions say of a role's latest answer on the way to a point: a yes, a no, or only that it was looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prose_runtime import nodes as n
from prose_runtime.check.conditions import NEGATIVE, POSITIVE, Wording, stem
from prose_runtime.check.flow_values import OLDER, Fact, State, Val

if TYPE_CHECKING:
    from prose_runtime.check.flow_walk import Expressions

_YES = frozenset(map(stem, (*POSITIVE, "okay", "true", "allow", "permit", "grant", "clear", "confirm", "agree", "go")))
_NO = frozenset(map(stem, (*NEGATIVE, "failure", "false", "deny", "forbid", "veto", "halt", "disagree", "decline")))

_NONE: frozenset[Fact] = frozenset()


def side_of(word: str) -> int:
    """1 for a word of approval, -1 for one of refusal, 0 for any other."""
    root = stem(word)
    return 1 if root in _YES else -1 if root in _NO else 0


def facts_of(test: n.Test, yes: bool, walk: Expressions, state: State) -> frozenset[Fact]:
    """What it says of roles that a condition, or a part of it, came out so."""
    if isinstance(test, n.Junction):
        parts = [facts_of(part, yes, walk, state) for part in test.parts]
        return _all_or_any(parts, (test.op == "and") == yes)
    assert isinstance(test, n.Clause)
    reading = walk.reading(test)
    if reading.expr is not None:
        return _of_expr(reading.expr, yes, walk, state)
    if reading.claim is not None:
        return _of_claim(reading.claim, yes, state)
    seen = [state.deep(state.names[name]) for name in reading.names if name in state.names]
    return frozenset(fact for value in seen for fact in _about(value, 0))


def _all_or_any(parts: list[frozenset[Fact]], every: bool) -> frozenset[Fact]:
    if every:
        return frozenset().union(*parts)
    sure = parts[0].intersection(*parts[1:])
    roles = [frozenset(fact.role for fact in part) for part in parts]
    return sure | frozenset(Fact(role, 0) for role in roles[0].intersection(*roles[1:]))


def _about(value: Val, side: int) -> frozenset[Fact]:
    """What a claim on a value says of the role that gave it: of several, only that they were looked at."""
    roles = {label.name for label in value.data if label.kind == "output"}
    latest = {label.name for label in value.data if label.kind == "output" and not label.flags & OLDER}
    if len(roles) == 1 and latest:
        return frozenset({Fact(role, side) for role in latest})
    return frozenset(Fact(role, 0) for role in latest)


def _of_claim(claim: Wording, yes: bool, state: State) -> frozenset[Fact]:
    value = state.names.get(claim.subject)
    if value is None:
        return _NONE
    for name in claim.path:
        value = state.field(value, name)
    side = side_of(claim.word) * (1 if yes != claim.negated else -1)
    # What is not explicitly a yes need not be a no, and the other way round for what is not one word's opposite.
    return _about(state.deep(value), side)


def _of_expr(expr: n.Expr, yes: bool, walk: Expressions, state: State) -> frozenset[Fact]:
    sign = 1 if yes else -1
    if isinstance(expr, n.Unary) and expr.op == "not":
        return _of_expr(expr.operand, not yes, walk, state)
    if isinstance(expr, n.Binary) and expr.op in ("and", "or"):
        parts = [_of_expr(side, yes, walk, state) for side in (expr.left, expr.right)]
        return _all_or_any(parts, (expr.op == "and") == yes)
    if isinstance(expr, n.Binary) and expr.op in ("==", "!="):
        return _compared(expr.left, expr.right, sign if expr.op == "==" else -sign, walk, state)
    if isinstance(expr, n.Predicate):
        return _of_predicate(expr, -sign if expr.negated else sign, walk, state)
    return _about(walk.whole(expr, state), side_of(_word(expr)) * sign)


def _compared(left: n.Expr, right: n.Expr, sign: int, walk: Expressions, state: State) -> frozenset[Fact]:
    """``decision == "approve"``, ``review.accepted == true``."""
    for subject, literal in ((left, right), (right, left)):
        said = _spelled(literal)
        if isinstance(said, bool):
            return _about(walk.whole(subject, state), side_of(_word(subject)) * (sign if said else -sign))
        if said is not None:
            return _about(walk.whole(subject, state), side_of(said) * sign)
    return _about(walk.parts(n.ListExpr(span=left.span, items=(left, right)), state), 0)


def _of_predicate(expr: n.Predicate, sign: int, walk: Expressions, state: State) -> frozenset[Fact]:
    value = walk.whole(expr.subject, state)
    if expr.op in ("true", "false"):
        return _about(value, side_of(_word(expr.subject)) * (sign if expr.op == "true" else -sign))
    if expr.op == "is" and expr.operand is not None:
        return _compared(expr.subject, expr.operand, sign, walk, state)
    return _about(value, 0)


def _word(expr: n.Expr) -> str:
    """The last name of a place: what its value is about."""
    if isinstance(expr, n.Field):
        return expr.name
    if isinstance(expr, n.Index):
        said = _spelled(expr.index)
        return said if isinstance(said, str) else ""
    return expr.id if isinstance(expr, n.Name) else ""


def _spelled(expr: n.Expr) -> str | bool | None:
    """A boolean, or a text without interpolation."""
    if isinstance(expr, n.Template) and all(isinstance(part, str) for part in expr.parts):
        return "".join(part for part in expr.parts if isinstance(part, str))
    return expr.value if isinstance(expr, n.Constant) and isinstance(expr.value, bool | str) else None
