"""Operators over what is known of values: the value where it is known, else how large or long it can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from prose_runtime.check.bounds_formula import ZERO, Formula, applied, count, least, most
from prose_runtime.check.bounds_values import (
    FLAG,
    UNKNOWN,
    Answer,
    Anything,
    At,
    ListAt,
    Null,
    Num,
    Range,
    Row,
    State,
    Text,
    Val,
    element_of,
    filled,
    joined,
    known,
    list_size,
    literal,
    numeric,
    size_of,
    val,
)
from prose_runtime.values import number

_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def binary(op: str, left: Val, right: Val, state: State, unknown: Formula) -> Val:
    """``a + b``, ``a < b``, ``a in b``; ``unknown`` is the length of a list of which nothing is known."""
    if op in ("==", "!="):
        return _equality(left, right, op == "!=")
    if op in _ORDER:
        return _ordered(op, left, right)
    if op == "in":
        return FLAG
    number_ = val(arithmetic(op, numeric(left), numeric(right)))
    return joined(number_, *_joins(left, right, state, unknown)) if op == "+" else number_


def _equality(left: Val, right: Val, negated: bool) -> Val:
    (left_known, one), (right_known, two) = known(left), known(right)
    plain = isinstance(one, str | int | float | None) and isinstance(two, str | int | float | None)
    if not (left_known and right_known and plain):
        return FLAG
    same = one is two if isinstance(one, bool) or isinstance(two, bool) else one == two
    return literal(same != negated)


def _ordered(op: str, left: Val, right: Val) -> Val:
    (left_known, one), (right_known, two) = known(left), known(right)
    if not (left_known and right_known):
        return FLAG
    if one is None or two is None:
        return literal(False)
    a, b = number(one), number(two)
    return FLAG if a is None or b is None else literal(_ORDER[op](a, b))


def arithmetic(op: str, one: Num, two: Num) -> Num:
    """The range of a number that is computed from two."""
    if op == "+":
        return Num(_plus(one.low, two.low), _plus(one.high, two.high))
    if op == "-":
        return Num(_minus(one.low, two.high), _minus(one.high, two.low))
    if op == "*":
        return _times(one, two)
    exact = one.low == one.high and two.low == two.high
    if exact and one.low is not None and two.low is not None:
        result = applied("/" if op == "/" else "%", one.low, two.low)
        return Num(result, result)
    return Num(None, None)


def _plus(one: Formula | None, two: Formula | None) -> Formula | None:
    return None if one is None or two is None else one + two


def _minus(one: Formula | None, two: Formula | None) -> Formula | None:
    return None if one is None or two is None else one.minus(two)


def _times(one: Num, two: Num) -> Num:
    if one.low is None or two.low is None or one.high is None or two.high is None:
        return Num(None, None)
    exact = one.low == one.high and two.low == two.high
    if exact or (one.low.positive and two.low.positive):
        return Num(one.low * two.low, one.high * two.high)
    return Num(None, None)


def _joins(left: Val, right: Val, state: State, unknown: Formula) -> list[Val]:
    """What ``+`` gives beside a number: two lists or texts together."""
    found = []
    if _may_be(left, ListAt, Row) and _may_be(right, ListAt, Row):
        sizes = list_size(left, state, unknown), list_size(right, state, unknown)
        size = Range(sizes[0].low + sizes[1].low, sizes[0].high + sizes[1].high)
        found.append(val(Row(size, joined(element_of(left, state), element_of(right, state)))))
    if any(isinstance(basic, Text | Answer | Anything) for basic in left | right):
        found.append(UNKNOWN)
    return found


def _may_be(value: Val, *kinds: type[Any]) -> bool:
    return any(isinstance(basic, (*kinds, At, Answer, Anything)) for basic in value)


def negative(value: Val) -> Val:
    """``-a``."""
    found = numeric(value)
    zero = Num(ZERO, ZERO)
    return val(arithmetic("-", zero, found))


def predicate(op: str, subject: Val, operand: Val, state: State) -> bool | None:
    """What an English predicate says, None when that shows only while the program runs."""
    is_known, content = known(subject)
    if op in ("present", "absent", "null"):
        null = {isinstance(basic, Null) or (known(frozenset({basic})) == (True, None)) for basic in subject}
        unsure = any(isinstance(basic, At | Answer | Anything) and not known(val(basic))[0] for basic in subject)
        return None if len(null) != 1 or (unsure and null != {True}) else null.pop() == (op != "present")
    if op == "empty":
        return _empty(subject, state)
    if not is_known:
        return None
    if op in ("true", "false"):
        return content is (op == "true") or str(content).strip().lower() == op
    two_known, other = known(operand)
    return _compared(op, content, other) if two_known else None


def _empty(subject: Val, state: State) -> bool | None:
    found: set[bool | None] = set()
    for basic in subject:
        is_known, content = known(val(basic))
        size = size_of(basic, state)
        if is_known:
            found.add(content in (None, "", [], {}))
        else:
            full = None if size is None or not isinstance(basic, ListAt | Row | At) else filled(size)
            found.add(None if full is None else not full)
    return found.pop() if len(found) == 1 else None


def _compared(op: str, one: Any, other: Any) -> bool | None:
    if op == "is":
        verdict = known(_equality(literal(one), literal(other), False))
        return bool(verdict[1]) if verdict[0] else None
    a, b = number(one), number(other)
    order = {"meets": ">=", "exceeds": ">", "at_most": "<="}.get(op)
    return None if order is None or a is None or b is None else _ORDER[order](a, b)


def function(name: str, args: list[Val], state: State, unknown: Formula) -> Val:
    """``len(xs)`` and the other small functions."""
    made = _FUNCTIONS.get(name)
    if made is None or not args:
        return UNKNOWN
    return made(args, state, unknown)


def _length(args: list[Val], state: State, unknown: Formula) -> Val:
    sizes = [size_of(basic, state) or Range(ZERO, unknown) for basic in args[0] if not isinstance(basic, Null)]
    if not sizes:
        return literal(0)
    return joined(*(val(Num(size.low, size.high)) for size in sizes))


def _extreme(choose: str) -> Callable[[list[Val], State, Formula], Val]:
    def function_(args: list[Val], state: State, unknown: Formula) -> Val:
        if len(args) < 2:
            return val(Num(None, None))
        nums = [numeric(arg) for arg in args]
        low, high = _applied(choose, [num.low for num in nums]), _applied(choose, [num.high for num in nums])
        known_highs = [num.high for num in nums if num.high is not None]
        if high is None and choose == "min" and known_highs:
            high = known_highs[0]
        return val(Num(low, high))

    return function_


def _applied(choose: str, ends: list[Formula | None]) -> Formula | None:
    known_ends = [end for end in ends if end is not None]
    if len(known_ends) < len(ends):
        return None
    return most(known_ends) if choose == "max" else least(known_ends)


def _range(args: list[Val], state: State, unknown: Formula) -> Val:
    first, last = (Num(ZERO, ZERO), numeric(args[0])) if len(args) == 1 else (numeric(args[0]), numeric(args[1]))
    found = arithmetic("-", last, first)
    if len(args) > 2:
        found = Num(None, None)
    low = ZERO if found.low is None else count(found.low)
    element = val(Num(first.low, last.high))
    return val(Row(Range(low, unknown if found.high is None else count(found.high)), element))


def _round(args: list[Val], state: State, unknown: Formula) -> Val:
    found = numeric(args[0])
    if len(args) > 1 or found.low is None or found.high is None:
        return val(Num(None, None))
    return val(Num(applied("round", found.low), applied("round", found.high)))


def _text(args: list[Val], state: State, unknown: Formula) -> Val:
    return UNKNOWN


def _keys(args: list[Val], state: State, unknown: Formula) -> Val:
    is_known, content = known(args[0])
    if is_known and isinstance(content, dict):
        return literal(list(content))
    return val(Row(Range(ZERO, unknown), UNKNOWN))


_FUNCTIONS: Mapping[str, Callable[[list[Val], State, Formula], Val]] = {
    "len": _length,
    "max": _extreme("max"),
    "min": _extreme("min"),
    "range": _range,
    "round": _round,
    "keys": _keys,
}

__all__ = ["arithmetic", "binary", "function", "negative", "predicate"]
