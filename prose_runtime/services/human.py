"""``human``: asks the person at the terminal; without one the run pauses until there is one."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from prose_runtime.errors import Paused
from prose_runtime.jsontext import parse_json
from prose_runtime.services import keyboard
from prose_runtime.services.api import Reply, Request, Service
from prose_runtime.services.settings import ServiceSettings
from prose_runtime.services.shape import in_words, shape_of, types_of
from prose_runtime.values import number, to_text


def provider(settings: ServiceSettings) -> Service:
    """Make a service of the person at the terminal."""
    return HumanService(settings.name)


class HumanService:
    """Shows what a role is told on stderr and reads the answer from stdin, one question at a time.

    ``patient``: the runtime's bound on the time of a call does not hold for a person.
    """

    patient = True

    def __init__(self, name: str):
        self.name = name

    async def __call__(self, request: Request) -> Reply:
        """Ask the person. Raises ``Paused`` when stdin is no terminal or the person ends it with Ctrl-D."""
        if not at_terminal():
            raise _paused(request)
        async with keyboard.turn():
            schema = shape_of(request)
            _show(_question(request))
            lines = Lines(request)
            return Reply(await _text(lines) if schema is None else await _filled(lines, schema))

    async def ping(self) -> str:
        """Whether somebody can be asked."""
        return "at this terminal" if at_terminal() else "no terminal on stdin: a call pauses the run"


def at_terminal() -> bool:
    """Whether a person can answer on stdin."""
    try:
        return sys.stdin is not None and sys.stdin.isatty()
    except ValueError:  # closed
        return False


class Lines:
    """Lines that the person types in answer to a request."""

    def __init__(self, request: Request):
        self._request = request

    async def read(self) -> str:
        """The next line without its end. Raises ``Paused`` at the end of the input."""
        typed = await keyboard.line()
        if typed is None:
            raise _paused(self._request)
        return typed


def _paused(request: Request) -> Paused:
    who = f" for {request.label}" if request.label else ""
    asked = request.prompt or request.job
    question = f": {_short(asked)}" if asked else ""
    return Paused(
        f"waiting for a person's answer{who}{question}",
        help="go on in a terminal, where somebody can answer",
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 120 else line[:119] + "…"


def _show(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _question(request: Request) -> str:
    told = [request.job, request.instructions, request.persona, request.background]
    parts = [request.label, *(part for part in told if part)]
    parts += [f"{name}:{_block(to_text(value))}" for name, value in request.inputs.items()]
    if request.language:
        parts.append(f"Answer in {request.language}.")
    if request.purpose == "judge":
        parts.append("Does this hold?")
    parts.append(request.prompt or "")
    if request.note:
        parts.append(f"A note for this answer: {request.note}")
    if request.fault:
        parts.append(f"The earlier answer was not accepted: {request.fault}.")
    return "\n" + "\n".join(part for part in parts if part) + "\n"


def _block(text: str) -> str:
    return "".join(f"\n  {line}" for line in text.splitlines()) if "\n" in text else f" {text}"


async def _text(lines: Lines) -> str:
    _show("Your answer (an empty line or a lone . ends it):\n")
    answer: list[str] = []
    while True:
        line = await lines.read()
        if line.strip() == ".":
            return "\n".join(answer)
        if line.strip():
            answer.append(line)
        elif answer:
            return "\n".join(answer)
        else:
            _show("(a lone . gives an empty answer)\n")


async def _filled(lines: Lines, schema: Mapping[str, Any]) -> Any:
    fields = schema.get("properties")
    if not fields:
        return await _value(lines, "answer", schema, required=True)
    required = schema.get("required", ())
    filled = {}
    for name, field in fields.items():
        value = await _value(lines, name, field, required=name in required)
        if value is not None or name in required:
            filled[name] = value
    return filled


async def _value(lines: Lines, name: str, schema: Mapping[str, Any], *, required: bool) -> Any:
    """Ask for one value until it fits; an empty line leaves it out where that is allowed."""
    optional = not required or "null" in types_of(schema)
    note = "; empty: none" if optional else ""
    while True:
        _show(f"{name} ({_hint(schema)}{note}): ")
        typed = (await lines.read()).strip()
        if not typed and optional:
            return None
        try:
            return converted(typed, schema)
        except ValueError as error:
            _show(f"  {error}\n")


def _hint(schema: Mapping[str, Any]) -> str:
    types = types_of(schema)
    if types == ["boolean"]:
        return "yes or no"
    if types[:1] == ["array"]:
        return "a list: a, b, c or JSON"
    if types[:1] == ["object"] and schema.get("properties"):
        return in_words(schema).replace("a JSON object", "JSON", 1)
    return in_words({key: value for key, value in schema.items() if key != "type" or "enum" not in schema})


def converted(typed: str, schema: Mapping[str, Any]) -> Any:
    """What a person typed, as a value of the schema. Raises ``ValueError`` with a sentence for the person."""
    if schema.get("enum"):
        return _chosen(typed, schema["enum"])
    fault = "please type something"
    for kind in types_of(schema) or ["any"]:
        try:
            return _CONVERT[kind](typed, schema)
        except ValueError as error:
            fault = str(error)
    raise ValueError(fault)


def _chosen(typed: str, options: list[Any]) -> Any:
    for option in options:
        if typed.casefold() == to_text(option).casefold():
            return option
    raise ValueError("please type one of: " + ", ".join(to_text(option) for option in options))


def _as_text(typed: str, schema: Mapping[str, Any]) -> str:
    if not typed:
        raise ValueError("please type something (a lone . for an empty text)")
    return "" if typed == "." else typed


def _as_number(typed: str, schema: Mapping[str, Any]) -> int | float:
    value = number(typed.replace(",", ".") if typed.count(",") == 1 else typed)
    if value is None:
        raise ValueError("please type a number")
    return value


def _as_integer(typed: str, schema: Mapping[str, Any]) -> int:
    value = number(typed)
    if not isinstance(value, int):
        raise ValueError("please type a whole number")
    return value


def _as_boolean(typed: str, schema: Mapping[str, Any]) -> bool:
    words = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}
    if typed.casefold() not in words:
        raise ValueError("please type yes or no")
    return words[typed.casefold()]


def _as_list(typed: str, schema: Mapping[str, Any]) -> Any:
    if typed.startswith("["):
        return _as_json(typed, list)
    items = schema.get("items") or {}
    return [converted(part.strip(), items) for part in typed.split(",") if part.strip()]


def _as_object(typed: str, schema: Mapping[str, Any]) -> Any:
    return _as_json(typed, dict)


def _as_json(typed: str, kind: type[Any]) -> Any:
    try:
        value = parse_json(typed)
    except ValueError:
        value = None
    if not isinstance(value, kind):
        raise ValueError("please type JSON: " + ('["a", "b"]' if kind is list else '{"name": "value"}'))
    return value


def _as_null(typed: str, schema: Mapping[str, Any]) -> None:
    if typed.casefold() not in ("", "null", "none"):
        raise ValueError("leave it empty or type a fitting value")


def _as_any(typed: str, schema: Mapping[str, Any]) -> Any:
    try:
        return parse_json(typed)
    except ValueError:
        return _as_text(typed, schema)


_CONVERT = {
    "string": _as_text,
    "number": _as_number,
    "integer": _as_integer,
    "boolean": _as_boolean,
    "array": _as_list,
    "object": _as_object,
    "null": _as_null,
    "any": _as_any,
}
