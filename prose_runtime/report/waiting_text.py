"""What a paused run waits for, for the person who goes on with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from prose_runtime.services.dialogue import TEXT, WORDS, said_already
from prose_runtime.services.typed import hint


def waiting_text(waiting: Sequence[Mapping[str, Any]], run: str | None) -> list[str]:
    """The open questions, and how each is answered. ``run`` is None for a run without a record."""
    lines: list[str] = []
    for question in waiting:
        lines += ["", *(f"  {line}" for line in question["question"].splitlines())]
        said = question.get("said")
        lines += [f"  {line}" for line in said_already(said).splitlines()] if said else []
        lines += [f"  needed: {', '.join(_needs(question))}"]
    if run is not None and waiting:
        lines += ["", "answer with:"]
        lines += [f"  prose resume {run} --answer '{_address(question, waiting)}'" for question in waiting]
        lines += ["  (@FILE and - read the text from a file or from standard input)"]
    return lines


def _address(question: Mapping[str, Any], waiting: Sequence[Mapping[str, Any]]) -> str:
    """The text alone where only one waits, else with the target in front, or with the step where targets are alike.

    Where one of several words is to be chosen, the field that it goes into says so.
    """
    fields = _open_fields(question)
    words = {name: "WORD" if "enum" in fields[name] else "VALUE" for name in fields}
    chosen = next((name for name in fields if "enum" in fields[name] or question.get("said")), None)
    alike = [other for other in waiting if other["target"] == question["target"]]
    whose = "" if len(waiting) == 1 else question["target"] if len(alike) == 1 else question["step"]
    if chosen is None or TEXT in fields:
        return f"{whose}=TEXT" if whose else "TEXT"
    return f"{whose}.{chosen}={words[chosen]}" if whose else f"{chosen}={words[chosen]}"


def _open_fields(question: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The fields that nothing was said about yet."""
    fields, said = (question["schema"] or {}).get("properties", {}), question.get("said", {})
    return {name: fields[name] for name in fields if name not in said and not (name == TEXT and WORDS in said)}


def _needs(question: Mapping[str, Any]) -> list[str]:
    schema = question["schema"]
    if schema is None:
        return ["a text"]
    fields = _open_fields(question)
    if not schema.get("properties"):
        return [hint(schema)]
    required = schema.get("required", ())
    optional = {name: "" if name in required else ", may be left out" for name in fields}
    return [f"{name} ({hint(field)}{optional[name]})" for name, field in fields.items()]
