"""A person's turn, wherever the person is: what is said to them, what they are asked for, what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

from prose_runtime.services.api import Request, Turn
from prose_runtime.services.outline import outline
from prose_runtime.services.shape import shape_of, types_of
from prose_runtime.services.typed import converted, hint
from prose_runtime.values import to_json, to_text

TEXT = "text"
"""The field that holds an answer as a whole beside the fields that are read from it."""

WORDS = ""
"""The part of a turn that holds a person's own words."""


class Channel(Protocol):
    """A way to a person. ``blank`` is what they send to leave a question open."""

    blank: str

    async def text(self, question: str) -> str:
        """Put a question that is answered in one or more lines."""
        ...

    async def line(self, question: str) -> str:
        """Put a question that is answered in a line; a blank answer is the empty text."""
        ...

    async def tell(self, text: str) -> None:
        """Say something that needs no answer."""
        ...


async def answer(channel: Channel, request: Request, question: str, *, freely: bool) -> Any:
    """Ask for what a request needs.

    ``freely``: the person first answers in their own words, and is asked afterwards for the fields that the program
    needs; a text that is needed may be those words. What they have said in this turn already is not asked for.
    """
    schema = shape_of(request)
    if schema is None:
        return await channel.text(question)
    fields, turn = schema.get("properties"), request.turn or Turn()
    if turn.parts:
        question = f"{question}\n{said_already(turn.parts)}"
    if not fields or not freely or request.purpose != "call":
        await channel.tell(question)
        if not fields:
            return await _value(channel, "answer", schema, required=True)
        return await _filled(channel, schema, turn)
    if WORDS in turn.parts:
        await channel.tell(question)
    said = await turn.part(WORDS, partial(channel.text, question))
    name, field = next(iter(fields.items()))
    if len(fields) == 1 and name in schema.get("required", ()) and takes_words(field):
        return {name: said}
    return in_words_alone(said, fields, await _filled(channel, schema, turn, said))


def in_words_alone(said: str, fields: Mapping[str, Any], filled: Mapping[str, Any]) -> Any:
    """An answer of words and fields. Words alone are a text: it stands for all fields that the program reads.

    Words that are one of the options of a field, and of no other, choose it: "continue" is the decision to continue.
    """
    filled = {**_chosen(said, {name: field for name, field in fields.items() if name not in filled}), **filled}
    return {TEXT: said, **filled} if filled or TEXT in fields else said


def _chosen(said: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        name: option
        for name, field in fields.items()
        for option in field.get("enum") or ()
        if option is not None and said.strip().casefold() == to_text(option).casefold()
    }
    return found if len(found) == 1 else {}


def takes_words(schema: Mapping[str, Any]) -> bool:
    """Whether any text is a value of a schema."""
    types = types_of(schema)
    return (not types or "string" in types) and not schema.get("enum") and "const" not in schema


async def _filled(channel: Channel, schema: Mapping[str, Any], turn: Turn, said: str | None = None) -> dict[str, Any]:
    required = schema.get("required", ())
    filled: dict[str, Any] = {}
    for name, field in schema["properties"].items():
        if said is not None and name == TEXT:
            continue
        ask = partial(_value, channel, name, field, required=name in required, said=said)
        value = await turn.part(name, ask)
        if value is not None or name in required:
            filled[name] = value
    return filled


async def _value(
    channel: Channel, name: str, schema: Mapping[str, Any], *, required: bool, said: str | None = None
) -> Any:
    """Ask for one value until it fits; a blank answer leaves it out, or takes what was said, where that is allowed."""
    optional = not required or "null" in types_of(schema)
    as_said = said is not None and required and takes_words(schema)
    note = f"; {channel.blank}: what you wrote" if as_said else f"; {channel.blank}: none" if optional else ""
    question = f"{name} ({hint(schema)}{note}): "
    while True:
        typed = (await channel.line(question)).strip()
        if not typed and (as_said or optional):
            return said if as_said else None
        try:
            return converted(typed, schema)
        except ValueError as error:
            await channel.tell(f"  {error}")


def question(request: Request, *, briefed: bool = False) -> str:
    """What a person is told of a request. ``briefed``: they know role, persona and background already."""
    told = [] if briefed else [request.briefing or request.job, request.instructions]
    if not briefed:
        told += [request.voice, f"Background:{_block(request.background)}" if request.background else None]
    parts = [request.label, *(part for part in told if part)]
    given = {n: v for n, v in request.inputs.items() if v is not None or request.purpose != "call"}
    parts += [f"{name}:{_block(_readable(value))}" for name, value in given.items()]
    if request.language:
        parts.append(f"Answer in {request.language}.")
    if request.purpose == "judge":
        parts.append("Does this hold?")
    parts.append(request.prompt or "")
    if request.note:
        parts.append(f"A note for this answer: {request.note}")
    if request.fault:
        parts.append(f"The earlier answer was not accepted: {request.fault}.")
    return "\n".join(part for part in parts if part)


def said_already(parts: Mapping[str, Any]) -> str:
    """What somebody has said in a turn that goes on, for them to see."""
    rows = [f"{name}: {to_text(value)}" if name else to_text(value) for name, value in parts.items()]
    return "You have said already:" + _block("\n".join(rows))


def _readable(value: Any) -> str:
    return "\n".join(outline(to_json(value))) if isinstance(value, dict | list) and value else to_text(value)


def _block(text: str) -> str:
    return "".join(f"\n  {line}".rstrip(" ") for line in text.splitlines()) if "\n" in text else f" {text}"


class Briefed:
    """Remembers which roles a person has been briefed on."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def question(self, request: Request) -> str:
        """The question of a request, with the briefing on its role when this is the role's first turn."""
        if request.briefing is None:
            return question(request)
        known = request.briefing in self._told
        self._told.add(request.briefing)
        return question(request, briefed=known)
