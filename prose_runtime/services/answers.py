"""Answers that people give from elsewhere, such as ``prose resume RUN --answer``, to the questions that wait.

A question is the JSON object that a paused run tells of: ``errors.Paused.waiting``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prose_runtime.errors import UsageError
from prose_runtime.jsontext import parse_json
from prose_runtime.services.api import Reply, Request
from prose_runtime.services.dialogue import WORDS, in_words_alone, takes_words
from prose_runtime.services.shape import types_of
from prose_runtime.services.typed import converted, hint

Question = Mapping[str, Any]


class Answered:
    """A person who has answered already, as a service."""

    patient = True

    def __init__(self, name: str, value: Any):
        self.name = name
        self._value = value

    async def __call__(self, request: Request) -> Reply:
        """Give the answer."""
        return Reply(self._value)


@dataclass(slots=True)
class _Parts:
    """What is said to one question: a text, and fields by name."""

    text: str | None = None
    fields: dict[str, str] = field(default_factory=dict)


def read_answers(waiting: Sequence[Question], given: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The answers by step. ``given`` are pairs of an address and a text.

    An address is empty, a field, the question's target or step, or both as ``target.field``.

    Raises:
        UsageError: Nothing waits, several questions could be meant, or a question needs more, or something else.
    """
    if not waiting:
        raise UsageError(
            "the run waits for nobody's answer", help="`prose resume RUN` goes on, and tells what it asks when it waits"
        )
    parts: dict[str, _Parts] = {}
    for address, text in given:
        question, name = _addressed(address, waiting)
        said = parts.setdefault(question["step"], _Parts())
        if name in said.fields or (not name and said.text is not None):
            raise UsageError(f"two answers are given for {_named(question, name)}", help="give one")
        if name:
            said.fields[name] = text
        else:
            said.text = text
    return {q["step"]: _value(q, parts[q["step"]]) for q in waiting if q["step"] in parts}


def is_address(word: str, waiting: Sequence[Question]) -> bool:
    """Whether a word in front of ``=`` says which question or field is meant; else it is part of the text."""
    return bool(_fitting(word, waiting))


def _addressed(address: str, waiting: Sequence[Question]) -> tuple[Question, str]:
    fitting = _fitting(address, waiting) if address else [(question, "") for question in waiting]
    if len(fitting) == 1:
        return fitting[0]
    same_target = len({question["target"] for question, _ in fitting}) < len(fitting)
    names = [question["step" if same_target else "target"] for question, _ in fitting]
    what = f"`{address}` is wanted by" if address else "these wait:"
    ways = " or ".join(f"`--answer '{name}{f'.{address}' if address and part else ''}=...'`"
                       for name, (_, part) in zip(names, fitting, strict=True))  # fmt: skip
    raise UsageError(f"several questions could be meant: {what} {', '.join(names)}", help=f"write {ways}")


def _fitting(address: str, waiting: Sequence[Question]) -> list[tuple[Question, str]]:
    """The questions, and their fields or "" for the whole, that an address can mean."""
    whole = [(q, "") for q in waiting if _same(address, q["step"]) or _same(address, q["target"])]
    if whole:
        return whole
    found = []
    for question in waiting:
        for name in (question["schema"] or {}).get("properties", ()):
            if any(_same(address, way) for way in (name, f"{question['target']}.{name}", f"{question['step']}.{name}")):
                found.append((question, name))
    return found


def _same(one: str, other: str) -> bool:
    return one.strip().replace("_", "-") == other.replace("_", "-")


def _named(question: Question, name: str = "") -> str:
    return f"`{question['target']}{f'.{name}' if name else ''}`"


def _value(question: Question, said: _Parts) -> Any:
    schema = question["schema"]
    if schema is None:
        return said.text
    fields = schema.get("properties")
    if not fields:
        return _converted(question, "", said.text or "", schema)
    value = dict(question.get("said") or {})
    words, whole = value.pop(WORDS, None), _whole(said.text)
    value |= whole or {}
    value |= {name: _converted(question, name, text, fields[name]) for name, text in said.fields.items()}
    missing = [name for name in schema.get("required", ()) if name not in value]
    if said.text is not None and whole is None:
        only = missing if len(missing) == 1 and not said.fields else []
        value |= {name: _converted(question, name, said.text, fields[name]) for name in only}
        words = words if words is not None and only else said.text
    if words is None:
        return _complete(question, value, missing)
    value |= {name: words for name in missing if name not in value and takes_words(fields[name])}
    value = _complete(question, value, [name for name in missing if name not in value])
    return in_words_alone(words, fields, value)


def _whole(text: str | None) -> dict[str, Any] | None:
    """All fields at once, when the text is a JSON object."""
    try:
        value = parse_json(text or "")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _complete(question: Question, value: dict[str, Any], missing: list[str]) -> dict[str, Any]:
    fields = question["schema"]["properties"]
    needed = [name for name in missing if "null" not in types_of(fields[name])]
    if needed:
        ways = " ".join(f"--answer '{name}=...'" for name in needed)
        kinds = ", ".join(f"{name} ({hint(fields[name])})" for name in needed)
        raise UsageError(f"the answer for {_named(question)} needs {kinds}", help=f"add {ways}")
    return {**value, **dict.fromkeys(missing)}


def _converted(question: Question, name: str, text: str, schema: Mapping[str, Any]) -> Any:
    try:
        return text if types_of(schema)[:1] == ["string"] and takes_words(schema) else converted(text.strip(), schema)
    except ValueError as error:
        shown = json.dumps(text, ensure_ascii=False)
        raise UsageError(f"{_named(question, name)} cannot be {shown}: {error}") from None
