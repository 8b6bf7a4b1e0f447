"""The small functions of the language (LANGUAGE.md section 3): pure, over values."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from prose_runtime.values import Value, field, number, to_json, to_text

LARGEST_TEXT = 50_000_000
"""Characters of a text that a program may build."""

LONGEST_LIST = 1_000_000
"""Elements of a list that ``range`` and ``+`` may build."""


class BadArgument(ValueError):
    """An argument of the wrong kind; the message says what was expected."""


def numeric(value: Value, what: str) -> int | float:
    """The number that a value is or spells.

    Raises:
        BadArgument: It is no number; ``what`` names its place in the sentence.
    """
    found = number(value)
    if found is None:
        raise BadArgument(f"{what} must be a number, not {described(value)}")
    return found


def described(value: Value) -> str:
    """A value as a sentence names it: its kind, and itself when it is short."""
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"an object with {', '.join(value) or 'no fields'}"
    text = json.dumps(to_json(value), ensure_ascii=False)
    return text if len(text) <= 40 else f'the text {text[:36]}…"'


def _list(value: Value, what: str) -> list[Value]:
    if isinstance(value, list):
        return value
    raise BadArgument(f"{what} must be a list, not {described(value)}")


def _length(value: Value) -> int:
    if isinstance(value, str | list | dict):
        return len(value)
    if value is None:
        return 0
    raise BadArgument(f"len takes a text, a list or an object, not {described(value)}")


def _over_numbers(name: str, pick: Callable[[list[Any]], Any], empty: Value = None) -> Callable[..., Value]:
    def function(*values: Value) -> Value:
        items = _list(values[0], name) if len(values) == 1 else list(values)
        numbers = [numeric(item, f"each value of {name}") for item in items]
        return pick(numbers) if numbers else empty

    return function


def _range(*bounds: Value) -> list[Value]:
    given = [int(numeric(b, "each bound of range")) for b in bounds]
    if given[2:] == [0]:
        raise BadArgument("the step of range must not be 0")
    numbers = range(*given)
    if numbers and max(abs(numbers[-1] - numbers[0]) // abs(numbers.step), 0) >= LONGEST_LIST:
        raise BadArgument(f"range gives at most {LONGEST_LIST:,} numbers")
    return list(numbers)


def _round(value: Value, digits: Value = 0) -> Value:
    places = int(numeric(digits, "the digits of round"))
    scaled = numeric(value, "the value of round") * 10**places
    nearest = math.floor(scaled + 0.5) / 10**places
    return int(nearest) if places <= 0 else nearest


def _split(text: Value, separator: Value = None) -> list[Value]:
    return list(to_text(text).split(to_text(separator) or None))


def _join(items: Value, separator: Value = ", ") -> str:
    return bounded(to_text(separator).join(map(to_text, _list(items, "the first argument of join"))))


def _short(text: Value, length: Value) -> str:
    most = int(numeric(length, "the length of short"))
    whole = " ".join(to_text(text).split())
    if len(whole) <= most:
        return whole
    room = max(most - 1, 0)
    words = whole[: room + 1].rpartition(" ")[0] or whole[:room]
    return words.rstrip(" ,;:.–—-") + "…"


def bounded(text: str) -> str:
    """The text itself.

    Raises:
        BadArgument: It is longer than a program may build.
    """
    if len(text) > LARGEST_TEXT:
        raise BadArgument(f"a text has at most {LARGEST_TEXT:,} characters")
    return text


def _object(value: Value, what: str) -> dict[str, Value]:
    if isinstance(value, dict):
        return value
    raise BadArgument(f"{what} takes an object, not {described(value)}")


def group(items: Value, name: str) -> dict[str, Value]:
    """``group(xs by field)``: lists of the elements by the text of one of their fields, in order of appearance.

    Raises:
        BadArgument: The value is no list.
    """
    groups: dict[str, Value] = {}
    for entry in _list(items, "the value of group"):
        groups.setdefault(to_text(field(entry, name)), []).append(entry)
    return groups


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "len": _length,
    "max": _over_numbers("max", max),
    "min": _over_numbers("min", min),
    "sum": _over_numbers("sum", sum, 0),
    "range": _range,
    "join": _join,
    "split": _split,
    "lower": lambda text: to_text(text).lower(),
    "upper": lambda text: to_text(text).upper(),
    "trim": lambda text: to_text(text).strip(),
    "short": _short,
    "round": _round,
    "keys": lambda value: list(_object(value, "keys")),
    "values": lambda value: list(_object(value, "values").values()),
    "json": lambda value: json.dumps(to_json(value), ensure_ascii=False),
}
"""Name to function. They raise BadArgument for a wrong kind and TypeError for a wrong number of arguments."""
