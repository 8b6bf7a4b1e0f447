"""``rehearsal``: no model. It fills any demanded shape and shows what each role was given (DESIGN.md section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prose_runtime.services.api import Reply, Request, Service
from prose_runtime.services.settings import ServiceSettings
from prose_runtime.services.shape import shape_of, types_of
from prose_runtime.values import Usage, to_text

MARK = "[rehearsal]"
"""Stands in front of each text, so that nobody takes it for an answer."""

WORDS_SHOWN = 6
DEEPEST = 6
"""Levels of a schema that refers to itself."""


def provider(settings: ServiceSettings) -> Service:
    """Make a stand-in."""
    return RehearsalService(settings.name)


@dataclass(slots=True)
class RehearsalService:
    """The same request always gets the same answer; it costs nothing."""

    name: str

    async def __call__(self, request: Request) -> Reply:
        """Fill the shape, or say what was given."""
        given = given_to(request)
        schema = shape_of(request)
        value = f"{MARK} {given}" if schema is None else _Filler(schema, given).fill(schema, "")
        return Reply(value, Usage(0, 0, 0, 0.0), "rehearsal")

    async def ping(self) -> str:
        """It needs nothing."""
        return "ready (a stand-in, no model)"


def given_to(request: Request) -> str:
    """In short what a role was told: its job, its inputs' names and first words, the prompt."""
    parts = [_first_words(request.job) or "no job"]
    parts += [f"{name}: {_first_words(to_text(value)) or 'nothing'}" for name, value in request.inputs.items()]
    if request.prompt:
        parts.append(f"asked: {_first_words(request.prompt)}")
    if request.note:
        parts.append(f"note: {_first_words(request.note)}")
    return "; ".join(parts)


def _first_words(text: str) -> str:
    # An answer quoted in a later call would otherwise grow by one mark each time.
    words = text.replace(MARK, "").split()
    short = " ".join(word[:30] for word in words[:WORDS_SHOWN])
    return f"{short} …" if len(words) > WORDS_SHOWN else short


class _Filler:
    """Fills one schema. Booleans are true and numbers high, so that loops which wait for success end."""

    def __init__(self, root: Mapping[str, Any], given: str):
        self.root = root
        self.given = given

    def fill(self, schema: Any, name: str, depth: int = 0) -> Any:
        if not isinstance(schema, Mapping) or depth > DEEPEST:
            return None
        schema = self.resolved(schema)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return schema["enum"][0]
        types = types_of(schema)
        kind = types[0] if types else "string"
        fillers = {
            "object": self.object,
            "array": self.array,
            "string": self.text,
            "number": self.number,
            "integer": self.number,
        }
        if kind in fillers:
            return fillers[kind](schema, name, depth)
        return True if kind == "boolean" else None

    def resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Follow references, take the first alternative that is not null, join what has to hold together."""
        for _ in range(DEEPEST):
            if "$ref" in schema:
                schema = self.referred(str(schema["$ref"]))
            elif schema.get("anyOf") or schema.get("oneOf"):
                options = schema.get("anyOf") or schema.get("oneOf") or [{}]
                schema = next((option for option in options if types_of(option) != ["null"]), options[0])
            elif schema.get("allOf"):
                schema = self.joined(schema)
            else:
                break
        return schema

    def referred(self, reference: str) -> Mapping[str, Any]:
        found: Any = self.root
        for part in reference.removeprefix("#").strip("/").split("/") if reference != "#" else ():
            found = found.get(part, {}) if isinstance(found, Mapping) else {}
        return found if isinstance(found, Mapping) else {}

    def joined(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        whole: dict[str, Any] = {key: value for key, value in schema.items() if key != "allOf"}
        for part in map(self.resolved, schema["allOf"]):
            properties = {**whole.get("properties", {}), **part.get("properties", {})}
            whole = {**part, **whole, **({"properties": properties} if properties else {})}
        return whole

    def object(self, schema: Mapping[str, Any], name: str, depth: int) -> dict[str, Any]:
        fields = dict(schema.get("properties", {}))
        fields.update((key, {}) for key in schema.get("required", ()) if key not in fields)
        return {key: self.fill(field, key, depth + 1) for key, field in fields.items()}

    def array(self, schema: Mapping[str, Any], name: str, depth: int) -> list[Any]:
        count = max(2, schema.get("minItems", 0))
        count = min(count, schema.get("maxItems", count))
        return [self.fill(schema.get("items", {}), name, depth + 1) for _ in range(count)]

    def text(self, schema: Mapping[str, Any], name: str, depth: int) -> str:
        text = f"{MARK} {name + ' from ' if name else ''}{self.given}"
        text = text.ljust(schema.get("minLength", 0), ".")
        return text[: schema.get("maxLength", len(text))]

    def number(self, schema: Mapping[str, Any], name: str, depth: int) -> int | float:
        low = schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
        high = schema.get("maximum", schema.get("exclusiveMaximum"))
        value = max(1, low) if high is None else high
        if "exclusiveMaximum" in schema and value == schema["exclusiveMaximum"]:
            value = low
        return value if isinstance(value, int | float) else 1
