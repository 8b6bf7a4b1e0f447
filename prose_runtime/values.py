"""The values of a running program: JSON, references to services, and errors (LANGUAGE.md section 2)."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from prose_runtime.records import dataclass

Value = Any
"""None, bool, int, float, str, list, dict, ServiceRef or ErrorValue; lists and dicts hold values."""


@dataclass(frozen=True, slots=True)
class ServiceRef:
    """What a slot's name evaluates to. ``name`` is the binding's name and all that a program can see of it.

    ``slot`` is the slot it was bound to: a call through a variable still counts as a call of that slot.
    """

    name: str
    slot: str | None = None
    target: Any = None

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class ErrorValue:
    """A caught error: the value of ``e`` in ``catch as e`` and of a failed branch under ``on-fail: "continue"``."""

    message: str
    kind: str = "failed"
    service: str | None = None
    cause: Any = None

    def as_json(self) -> dict[str, Any]:
        """The three public fields."""
        return {"message": self.message, "kind": self.kind, "service": self.service}


def truthy(value: Value) -> bool:
    """Falsy are null, false, 0, "", [] and {}; an error and a reference are truthy."""
    return isinstance(value, ServiceRef | ErrorValue) or bool(value)


def strange(value: Any) -> str | None:
    """What of something that a Python program gave is no value, in a word or two; None where all of it is one.

    Values are JSON, references and errors. NaN is none, and keys are texts.
    """
    if value is None or isinstance(value, str | int | ServiceRef | ErrorValue):
        return None
    if isinstance(value, float):
        return None if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return next((found for entry in value if (found := strange(entry))), None)
    if not isinstance(value, dict):
        return f"a {type(value).__name__}"
    key = next((key for key in value if not isinstance(key, str)), None)
    return strange(list(value.values())) if key is None else f"the key {key!r}"


def to_json(value: Value) -> Any:
    """The plain JSON form: references as binding names, errors as objects."""
    if type(value) in _FLAT:
        return clean_text(value) if isinstance(value, str) else value
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, ServiceRef):
        return value.name
    if isinstance(value, ErrorValue):
        return value.as_json()
    return clean_text(value) if isinstance(value, str) else value


_FLAT = frozenset({str, int, float, bool, type(None)})


def to_text(value: Value) -> str:
    """What a value looks like inside a string: text as it is, null as nothing, the rest as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, ServiceRef):
        return value.name
    if isinstance(value, ErrorValue):
        return value.message
    return json.dumps(to_json(value), ensure_ascii=False)


def clean_text(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD, so that it can be written anywhere."""
    return text if text.isascii() else _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


_SURROGATE = re.compile("[\ud800-\udfff]")


def field(value: Value, name: str) -> Value:
    """``value.name``: a missing field is null; ``length`` of a list or text is its length."""
    if isinstance(value, dict):
        if name in value:
            return value[name]
        return len(value) if name == "length" else None
    if name == "length" and isinstance(value, list | str):
        return len(value)
    if isinstance(value, ErrorValue) and name in ("message", "kind", "service"):
        return getattr(value, name)
    return None


def item(value: Value, index: Value) -> Value:
    """``value[index]``: out of range or of the wrong kind is null; negative indexes count from the end."""
    if isinstance(index, str):
        return field(value, index) if isinstance(value, dict | ErrorValue) else None
    if isinstance(index, float) and index.is_integer():
        index = int(index)
    if isinstance(value, list | str) and isinstance(index, int) and not isinstance(index, bool):
        return value[index] if -len(value) <= index < len(value) else None
    return None


Copies = dict[int, tuple[Any, Any]]
"""Lists and objects with their copies, by the id of the original."""


def snapshot(value: Value, copies: Copies | None = None) -> Value:
    """A copy that later changes do not reach. What ``copies`` holds already is not copied again, but shared."""
    if not isinstance(value, list | dict):
        return value
    copies = {} if copies is None else copies
    if id(value) in copies:
        return copies[id(value)][1]
    if isinstance(value, list):
        copied: Any = []
        copies[id(value)] = (value, copied)
        flat = _FLAT.issuperset(map(type, value))
        copied.extend(value if flat else [snapshot(entry, copies) for entry in value])
    else:
        copied = {}
        copies[id(value)] = (value, copied)
        flat = _FLAT.issuperset(map(type, value.values()))
        copied.update(value if flat else {key: snapshot(entry, copies) for key, entry in value.items()})
    return copied


def number(value: Value) -> int | float | None:
    """The number that a value is or that its text spells, else None. Booleans are no numbers."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        text = value.strip()
        if len(text) <= _LONGEST_INTEGER and text.lstrip("+-").isdigit():
            return int(text)
        spelled = float(text)
        return spelled if math.isfinite(spelled) else None
    return None


_LONGEST_INTEGER = 300
"""Digits up to which text is read exactly; Python refuses integers of some thousands of digits."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Usage:
    """What answers cost. Unknown figures are None and stay unknown when added to known ones.

    Tokens are the provider's own count; ``cached_tokens`` of the input ones were read from a prompt cache.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None

    def as_json(self) -> dict[str, Any]:
        """The figures of one call."""
        return {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens, "cost_usd": self.cost_usd}

    def __add__(self, other: Usage) -> Usage:
        if other is NO_USAGE:
            return self
        return Usage(*(_sum(getattr(self, name), getattr(other, name)) for name in self.__dataclass_fields__))


def _sum(one: Any, other: Any) -> Any:
    return one if other is None else other if one is None else one + other


NO_USAGE = Usage()
"""Nothing is known of the cost."""
