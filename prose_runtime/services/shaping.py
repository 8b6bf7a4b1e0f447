"""Between the schemas and texts of models and ours: objects around bare values, reasoning taken out of text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

WRAPPER = "value"
"""The field that carries an answer which is no object where a provider takes only objects."""


def as_object(schema: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """An object schema for the same answer, and whether the answer has to be unwrapped."""
    if schema.get("type") == "object" or ("type" not in schema and "properties" in schema):
        return {**schema, "type": "object", "properties": dict(schema.get("properties", {}))}, False
    return {"type": "object", "properties": {WRAPPER: dict(schema)}, "required": [WRAPPER]}, True


def unwrapped(value: Any, wrapped: bool) -> Any:
    """The answer itself, taken out of its wrapper when it was given in one."""
    return value[WRAPPER] if wrapped and isinstance(value, dict) and set(value) == {WRAPPER} else value


_OPENING = re.compile(r"\s*<(think|thinking|reasoning)>")
_THOUGHT = re.compile(r"\s*<(think|thinking|reasoning)>.*?(?:</\1>\s*|\Z)", re.DOTALL)
_CLOSING = re.compile(r"</(?:think|thinking|reasoning)>\s*")


def without_thoughts(text: str) -> str:
    """A reply without the reasoning at its start.

    Some servers hand out a model's reasoning as text, between tags, and some chat templates write the opening tag
    themselves, so that only the closing one arrives.
    """
    if _OPENING.match(text):
        return _THOUGHT.sub("", text, count=1)
    closing = _CLOSING.search(text)
    if closing and "<" + closing.group().strip()[2:] not in text[: closing.start()]:
        return text[closing.end() :]
    return text


class ThoughtFilter:
    """Passes on the pieces of a reply as they arrive, without reasoning between tags at its start."""

    def __init__(self) -> None:
        self._held = ""
        self._open = False

    def feed(self, piece: str) -> str:
        """What may be shown after this piece; empty while it is not known whether it is reasoning."""
        if self._open:
            return piece
        self._held += piece
        start = self._held.lstrip()
        if _OPENING.match(self._held):
            return self._after_thought()
        if start and not any(f"<{tag}>".startswith(start) for tag in ("think", "thinking", "reasoning")):
            return self._release(self._held)
        return ""

    def finish(self) -> str:
        """What was still held back at the end of the reply and is no reasoning."""
        return "" if self._open or _OPENING.match(self._held) else self._held

    def _after_thought(self) -> str:
        rest = _THOUGHT.sub("", self._held, count=1)
        return self._release(rest) if rest and _CLOSING.search(self._held) else ""

    def _release(self, text: str) -> str:
        self._open = True
        self._held = ""
        return text
