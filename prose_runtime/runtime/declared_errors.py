"""Errors that a function declares: a reply may be one of them, and a program catches it by its name.

A function says them under Errors. Its model raises one by replying ``{"error": name, "message": text}``; a service
can also fail with that kind, and a program throws the name as its text.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from prose_runtime.check.declared import declared_names, error_names
from prose_runtime.jsontext import read_json
from prose_runtime.nodes import Spec

_KEYS = frozenset({"error", "message"})


def told(spec: Spec) -> str:
    """What a role is told of the errors that it may raise."""
    names = error_names(spec)
    if not names:
        return ""
    rows = [f"- {name}: {text}" if text else f"- {name}" for name, text in declared_names(spec, "errors").items()]
    form = 'When you cannot do it for one of these reasons, answer only {"error": NAME, "message": "why"}:'
    return "\n".join([form, *rows])


def with_error(schema: Mapping[str, Any] | None, names: Collection[str]) -> Mapping[str, Any] | None:
    """A schema of objects in which an error can be named as well."""
    if schema is None or not names or "properties" not in schema:
        return schema
    error = {"type": "string", "enum": sorted(names), "description": "only when it cannot be done"}
    return {**schema, "properties": {**schema["properties"], "error": error}}


def raised(reply: Any, names: Collection[str]) -> tuple[str, str] | None:
    """Name and message of the declared error that a reply is, if it is one."""
    if not names:
        return None
    found = reply
    if isinstance(reply, str):
        found = read_json(reply, lambda value: isinstance(value, dict) and value.keys() <= _KEYS)
    if not isinstance(found, dict) or not isinstance(found.get("error"), str) or found["error"] not in names:
        return None
    message = found.get("message")
    return found["error"], message if isinstance(message, str) and message else found["error"]
