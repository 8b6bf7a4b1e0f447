"""The shape that an answer has to fill, and how to say it in plain words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from prose_runtime.services.api import Request

WORDS = {
    "string": "text",
    "number": "number",
    "integer": "whole number",
    "boolean": "true or false",
    "array": "list",
    "object": "object",
    "null": "null",
}
"""What a person calls the types of JSON Schema."""

LONGEST_DESCRIPTION = 200
"""Characters of a field's own description that are passed on."""


def shape_of(request: Request) -> Mapping[str, Any] | None:
    """The JSON Schema of the answer: the request's own, else that of a verdict or a choice; None when text is due.

    LANGUAGE.md section 3, Conditions: a judge answers ``{verdict, reason}``, a choice ``{option, reason}``.
    """
    if request.schema is not None or request.purpose == "call":
        return request.schema
    decision: dict[str, Any] = {"verdict": {"type": "boolean"}}
    if request.purpose == "choice":
        decision = {"option": {"type": "string", "enum": list(request.options)}}
    # The reason comes first, so that a model thinks before it decides.
    return {"type": "object", "properties": {"reason": {"type": "string"}, **decision}, "required": [*decision]}


def in_words(schema: Mapping[str, Any]) -> str:
    """A schema as a phrase: ``an object with score (number) and why (text, may be left out)``."""
    return _phrase(schema, 0)


def types_of(schema: Mapping[str, Any]) -> list[str]:
    """The types that a schema allows, ``null`` last; empty when it does not say."""
    given = schema.get("type")
    types = [given] if isinstance(given, str) else list(given or ())
    if not types and "properties" in schema:
        types = ["object"]
    if not types and "items" in schema:
        types = ["array"]
    return sorted(types, key=lambda name: name == "null")


def _phrase(schema: Mapping[str, Any], depth: int) -> str:
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    if schema.get("enum"):
        return "one of " + ", ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    either = schema.get("anyOf") or schema.get("oneOf")
    if either:
        return " or ".join(_phrase(option, depth) for option in either)
    return " or ".join(_typed(name, schema, depth) for name in types_of(schema)) or "any value"


def _typed(name: str, schema: Mapping[str, Any], depth: int) -> str:
    if name == "object":
        return _object(schema, depth)
    items = schema.get("items")
    if name == "array" and isinstance(items, Mapping) and items:
        return f"a list, each item {_phrase(items, depth + 1)}"
    return f"a {WORDS[name]}" if depth == 0 and name != "null" else WORDS.get(name, name)


def _object(schema: Mapping[str, Any], depth: int) -> str:
    properties = schema.get("properties")
    if not properties:
        return "a JSON object" if depth == 0 else "an object"
    required = schema.get("required", ())
    fields = [_field(name, field, name in required, depth) for name, field in properties.items()]
    return f"{'a JSON' if depth == 0 else 'an'} object with " + ", ".join(fields)


def _field(name: str, schema: Mapping[str, Any], required: bool, depth: int) -> str:
    said = schema.get("description")
    parts = [_phrase(schema, depth + 1)]
    if isinstance(said, str) and said.strip():
        parts.append(" ".join(said.split())[:LONGEST_DESCRIPTION])
    if not required:
        parts.append("may be left out")
    return f'"{name}" ({"; ".join(parts)})'
