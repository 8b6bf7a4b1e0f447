"""What makes demands fit for a very small model: tight schemas, shortened inputs, texts cut where a sentence ends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from prose_runtime.services.shape import types_of

TEXT_LIMIT = 240
"""Characters of one text inside a structured answer."""
LIST_LIMIT = 4
"""Items of a list, unless more are demanded."""
NUMBERS = [*(step / 10 for step in range(1, 10)), *range(11)]
"""What a number may be where no bounds are given: a grade out of one or out of ten, or a small count."""
MARK = " [... {} characters left out ...] "
"""What stands for the middle of a text that was too long."""

_SENTENCE_END = re.compile(r"[.!?][\"')\]]*(?=\s|$)")


def small_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same demand with nothing left open: every field asked for, no others, short texts, small numbers."""
    if "enum" in schema or "const" in schema:
        return {key: schema[key] for key in ("enum", "const") if key in schema}
    either = schema.get("anyOf") or schema.get("oneOf")
    types = types_of(schema)
    if either or len(types) > 1:
        options = either or [{**schema, "type": name} for name in types]
        return {"anyOf": [small_schema(option) for option in options]}
    name = types[0] if types else "string"
    return _SMALL.get(name, _other)(schema)


def shortened(value: Any, limit: int) -> Any:
    """The value with each text in it that is longer than ``limit`` characters losing its middle, with a mark."""
    if isinstance(value, dict):
        return {key: shortened(item, limit) for key, item in value.items()}
    if isinstance(value, list):
        return [shortened(item, limit) for item in value]
    if isinstance(value, str) and len(value) > limit + len(MARK):
        half = limit // 2
        return value[:half] + MARK.format(len(value) - 2 * half) + value[-half:]
    return value


def whole_sentences(text: str) -> str:
    """The text up to its last sentence end, or up to its last whole word when it has none."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    if ends:
        return text[: ends[-1]]
    head, space, _ = text.rpartition(" ")
    return f"{head if space else text}..."


def _object(schema: Mapping[str, Any]) -> dict[str, Any]:
    fields = schema.get("properties") or {"text": {"type": "string"}}
    return {
        "type": "object",
        "properties": {name: small_schema(field) for name, field in fields.items()},
        "required": list(fields),
        "additionalProperties": False,
    }


def _array(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Not empty unless that is allowed in so many words: an empty list shows nothing of a pattern."""
    items = schema.get("items")
    least = schema.get("minItems", 1)
    most = max(least, min(schema.get("maxItems", LIST_LIMIT), LIST_LIMIT))
    item = small_schema(items if isinstance(items, Mapping) else {})
    return {"type": "array", "items": item, "minItems": least, "maxItems": most}


def _string(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "string", "maxLength": min(schema.get("maxLength", TEXT_LIMIT), TEXT_LIMIT)}


def _number(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A choice among few numbers: llama.cpp holds no decimal number to its bounds."""
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None or high is None:
        fits = [n for n in NUMBERS if (low is None or n >= low) and (high is None or n <= high)]
        return {"enum": fits or [low if high is None else high]}
    return {"enum": [round(low + (high - low) * step / 10, 6) for step in range(11)]}


def _integer(schema: Mapping[str, Any]) -> dict[str, Any]:
    low = schema.get("minimum", min(0, schema.get("maximum", 0)))
    return {"type": "integer", "minimum": low, "maximum": schema.get("maximum", max(10, low + 10))}


def _other(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": schema["type"]}


_SMALL = {"object": _object, "array": _array, "string": _string, "number": _number, "integer": _integer}
