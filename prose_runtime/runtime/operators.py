"""Operators over values: equality, order, arithmetic, membership and the English predicates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from prose_runtime.runtime.functions import LONGEST_LIST, BadArgument, bounded, described, numeric
from prose_runtime.values import ErrorValue, ServiceRef, Value, field, number, to_text


def equal(one: Value, other: Value) -> bool:
    """JSON equality: 1 equals 1.0, true does not equal 1, a reference equals its binding's name."""
    if isinstance(one, ServiceRef) or isinstance(other, ServiceRef):
        return str(one) == str(other)
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[k], other[k]) for k in one)
    return bool(one == other)


def ordered(op: str, one: Value, other: Value) -> bool:
    """``<``, ``<=``, ``>``, ``>=`` over numbers or over texts. Null is in no order with anything.

    Raises:
        BadArgument: The two are of different kinds.
    """
    if one is None or other is None:
        return False
    left, right = number(one), number(other)
    if left is not None and right is not None:
        return bool(_ORDER[op](left, right))
    if isinstance(one, str) and isinstance(other, str):
        return bool(_ORDER[op](one, other))
    raise BadArgument(f"cannot compare {described(one)} with {described(other)} by {op}")


_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def arithmetic(op: str, one: Value, other: Value) -> Value:
    """``+ - * / %``. ``+`` also joins two lists, and texts when either side is text that spells no number.

    Raises:
        BadArgument: An operand is no number, or the division is by zero.
    """
    if op == "+" and isinstance(one, list) and isinstance(other, list):
        if len(one) + len(other) > LONGEST_LIST:
            raise BadArgument(f"a list has at most {LONGEST_LIST:,} elements")
        return one + other
    if op == "+" and _joins(one, other):
        return bounded(to_text(one) + to_text(other))
    left, right = numeric(one, f"the left side of {op}"), numeric(other, f"the right side of {op}")
    if op in ("/", "%") and right == 0:
        raise BadArgument(f"{described(one)} {op} 0 has no value")
    result = _ARITHMETIC[op](left, right)
    exact = isinstance(result, float) and isinstance(left, int) and isinstance(right, int) and result.is_integer()
    return int(result) if exact else result


_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": lambda a, b: a % b,
}


def _joins(one: Value, other: Value) -> bool:
    texts = isinstance(one, str), isinstance(other, str)
    return all(texts) or (any(texts) and (number(one) is None or number(other) is None))


def member(value: Value, container: Value) -> bool:
    """``x in xs``: an element of a list, a key of an object, a part of a text."""
    if isinstance(container, list):
        return any(equal(value, entry) for entry in container)
    if isinstance(container, dict):
        return to_text(value) in container
    return isinstance(container, str) and to_text(value) in container


def has(value: Value, spelled: str, operand: Value) -> bool:
    """``value has X``: a field of that spelling that is not null, or a member."""
    if isinstance(value, dict | ErrorValue):
        return field(value, spelled) is not None
    return member(spelled, value) or (operand is not None and member(operand, value))


def empty(value: Value) -> bool:
    """Null, "", [] and {}."""
    return value is None or (isinstance(value, str | list | dict) and not value)


def _is_flag(value: Value, flag: bool) -> bool:
    return value is flag or (isinstance(value, str) and value.strip().lower() == str(flag).lower())


def _measured(compare: Callable[[Any, Any], bool]) -> Callable[[Value, Value], bool | None]:
    def predicate(value: Value, bound: Value) -> bool | None:
        left, right = number(value), number(bound)
        return None if left is None or right is None else compare(left, right)

    return predicate


PREDICATES: Mapping[str, Callable[[Value, Value], bool | None]] = {
    "present": lambda value, _: value is not None,
    "absent": lambda value, _: value is None,
    "null": lambda value, _: value is None,
    "empty": lambda value, _: empty(value),
    "true": lambda value, _: _is_flag(value, True),
    "false": lambda value, _: _is_flag(value, False),
    "is": equal,
    "contains": lambda value, part: member(part, value),
    "meets": _measured(lambda a, b: a >= b),
    "exceeds": _measured(lambda a, b: a > b),
    "at_most": _measured(lambda a, b: a <= b),
}
"""What each predicate of ``nodes.Predicate`` but ``has`` says of a value; None when it has no meaning for it."""
