"""What conditions say of a role's latest answer on the way to a point: a yes, a no, or only that it was looked at.

Something is said of an answer only where a name surely holds it, as it is and the latest one (``State.held``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prose_runtime import nodes as n
from prose_runtime.check.conditions import NEGATIVE, POSITIVE, VERDICT_FIELDS, Wording, stem
from prose_runtime.check.flow_values import OLDER, Fact, Held, State, Val
from prose_runtime.syntax.config_values import ValueType, read_type

if TYPE_CHECKING:
    from prose_runtime.check.flow_walk import Expressions

_YES = frozenset(map(stem, (*POSITIVE, "okay", "true", "allow", "permit", "grant", "clear", "confirm", "agree", "go")))
_NO = frozenset(map(stem, (*NEGATIVE, "failure", "false", "deny", "forbid", "veto", "halt", "disagree", "decline")))

_NONE: frozenset[Fact] = frozenset()


def side_of(word: str) -> int:
    """1 for a word of approval, -1 for one of refusal, 0 for any other."""
    root = stem(word)
    return 1 if root in _YES else -1 if root in _NO else 0


def held_by(expr: n.Expr, state: State) -> Held | None:
    """The role whose latest answer, or a field of it, a place surely is."""
    if isinstance(expr, n.Name):
        return state.held.get(expr.id)
    name = expr.name if isinstance(expr, n.Field) else _key(expr)
    held = held_by(expr.object, state) if name is not None and isinstance(expr, n.Field | n.Index) else None
    return None if held is None else held._replace(field=name)


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
        return _of_claim(reading.claim, yes, walk, state)
    seen = [state.deep(state.names[name]) for name in reading.names if name in state.names]
    return frozenset(fact for value in seen for fact in _looked_at(value))


def _all_or_any(parts: list[frozenset[Fact]], every: bool) -> frozenset[Fact]:
    if every:
        return frozenset().union(*parts)
    sure = parts[0].intersection(*parts[1:])
    roles = [frozenset(fact.role for fact in part) for part in parts]
    return sure | frozenset(Fact(role, 0) for role in roles[0].intersection(*roles[1:]))


def _looked_at(value: Val) -> frozenset[Fact]:
    return frozenset(Fact(label.name, 0) for label in value.data if label.kind == "output" and not label.flags & OLDER)


def _about(held: Held | None, value: Val, side: int, holds: bool, walk: Expressions) -> frozenset[Fact]:
    """What it says that a claim of a side ``holds`` of a value: when it does not, the opposite need not be said."""
    seen = _looked_at(value)
    if held is None or not side or walk.is_called_meanwhile(held.role):
        return seen
    firm = holds or _says_one_of_two(held, walk)
    return seen | {Fact(held.role, side if holds else -side, firm)}


def _says_one_of_two(held: Held, walk: Expressions) -> bool:
    """Whether an answer, or the field of it, is surely either a yes or a no, as the role's contract lists its words."""
    kinds = {name: kind for name, kind in _contract(held.role, walk).items() if held.field in (None, name)}
    sided = [kind for name, kind in kinds.items() if side_of(name) or name in VERDICT_FIELDS]
    return bool(sided) and all(
        kind.kind == "boolean" or (kind.kind == "enum" and len(kind.options) == 2 and _opposed(kind.options))
        for kind in sided
    )


def _opposed(options: tuple[str, ...]) -> bool:
    return {side_of(option) for option in options} == {1, -1}


def _of_claim(claim: Wording, yes: bool, walk: Expressions, state: State) -> frozenset[Fact]:
    value = state.names.get(claim.subject)
    if value is None:
        return _NONE
    held = state.held.get(claim.subject)
    for name in claim.path:
        value = state.field(value, name)
        held = None if held is None else held._replace(field=name)
    return _about(held, state.deep(value), side_of(claim.word), yes != claim.negated, walk)


def _of_expr(expr: n.Expr, yes: bool, walk: Expressions, state: State) -> frozenset[Fact]:
    if isinstance(expr, n.Unary) and expr.op == "not":
        return _of_expr(expr.operand, not yes, walk, state)
    if isinstance(expr, n.Binary) and expr.op in ("and", "or"):
        parts = [_of_expr(side, yes, walk, state) for side in (expr.left, expr.right)]
        return _all_or_any(parts, (expr.op == "and") == yes)
    if isinstance(expr, n.Binary) and expr.op in ("==", "!="):
        return _compared(expr.left, expr.right, yes == (expr.op == "=="), walk, state)
    if isinstance(expr, n.Predicate):
        return _of_predicate(expr, yes != expr.negated, walk, state)
    return _truth(expr, yes, walk, state)


def _truth(expr: n.Expr, yes: bool, walk: Expressions, state: State) -> frozenset[Fact]:
    """``review.accepted``: only a field has a truth that says something, as any text is true."""
    held = held_by(expr, state)
    side = side_of(held.field) if held is not None and held.field is not None and _is_flag(held, walk) else 0
    return _about(held, walk.whole(expr, state), side, yes, walk)


def _is_flag(held: Held, walk: Expressions) -> bool:
    """Whether a field is true or false, as far as the role's contract tells: the word "no" is true as well."""
    kind = _contract(held.role, walk).get(held.field or "")
    return kind is None or kind.kind == "boolean"


def _contract(role: str, walk: Expressions) -> dict[str, ValueType]:
    """The types that a slot's ``ensures`` gives to fields."""
    slot = walk.slots.get(role)
    promises = slot.ensures if slot is not None else ()
    return {name: read_type(spelled) for promise in promises for name, spelled in promise.types.items()}


def _compared(left: n.Expr, right: n.Expr, same: bool, walk: Expressions, state: State) -> frozenset[Fact]:
    """``decision == "approve"``, ``review.accepted == true``."""
    for subject, literal in ((left, right), (right, left)):
        said = _spelled(literal)
        if said is None:
            continue
        held = held_by(subject, state)
        name = held.field if held is not None else None
        field = side_of(name) if name is not None else 0
        if isinstance(said, bool):
            side = field if said else -field
        else:
            telling = name is None or field or name in VERDICT_FIELDS
            side = side_of(said) * (field or 1) if telling else 0
        return _about(held, walk.whole(subject, state), side, same, walk)
    return _looked_at(walk.parts(n.ListExpr(span=left.span, items=(left, right)), state))


def _of_predicate(expr: n.Predicate, holds: bool, walk: Expressions, state: State) -> frozenset[Fact]:
    if expr.op in ("true", "false"):
        return _compared(expr.subject, n.Constant(span=expr.span, value=expr.op == "true"), holds, walk, state)
    if expr.op == "is" and expr.operand is not None:
        return _compared(expr.subject, expr.operand, holds, walk, state)
    return _looked_at(walk.whole(expr.subject, state))


def _key(expr: n.Expr) -> str | None:
    said = _spelled(expr.index) if isinstance(expr, n.Index) else None
    return said if isinstance(said, str) else None


def _spelled(expr: n.Expr) -> str | bool | None:
    """A boolean, or a text without interpolation."""
    if isinstance(expr, n.Template) and all(isinstance(part, str) for part in expr.parts):
        return "".join(part for part in expr.parts if isinstance(part, str))
    return expr.value if isinstance(expr, n.Constant) and isinstance(expr.value, bool | str) else None
