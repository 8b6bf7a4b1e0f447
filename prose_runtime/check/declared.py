"""What a function's sections declare by name: Errors, Environment, Tools, Skills (LANGUAGE.md section 1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from prose_runtime.nodes import Spec

Part = Literal["errors", "environment", "tools", "skills"]

_NAMED = re.compile(r"(?:`(?P<ticked>[^`\n]+)`|(?P<bare>[A-Za-z_@][\w:./@-]*\w|[A-Za-z]))\s*(?P<rest>.*)", re.DOTALL)
_TEXT = re.compile(r"^\s*(?:\((?P<note>[^)]*)\))?\s*(?:[:—–]|--?\s)?\s*")
_OPTIONAL = re.compile(r"\boptional\b", re.IGNORECASE)


def declared_names(spec: Spec, part: Part) -> Mapping[str, str]:
    """The names that the bullets of a section begin with, and what stands behind each."""
    section = spec.section(part)
    found: dict[str, str] = {}
    for bullet in section.bullets if section else ():
        match = _NAMED.match(bullet.text)
        if match is None or bullet.text.lower().startswith("none"):
            continue
        name = (match["ticked"] or match["bare"]).strip()
        if match["ticked"] or re.match(r"\s*(?:$|[:(—–]|--?\s)", match["rest"]):
            found.setdefault(name, match["rest"])
    return {name: _described(rest) for name, rest in found.items()}


def _described(rest: str) -> str:
    match = _TEXT.match(rest)
    note = f"({match['note']}) " if match and match["note"] else ""
    return (note + rest[match.end() if match else 0 :]).strip()


def needed_names(spec: Spec, part: Part) -> Mapping[str, str]:
    """As ``declared_names``, without those that say that they are optional."""
    return {name: text for name, text in declared_names(spec, part).items() if not _OPTIONAL.search(text)}


def error_names(spec: Spec | None) -> frozenset[str]:
    """The errors that a spec declares. One that is also an output is a value like any other."""
    if spec is None:
        return frozenset()
    outputs = {output.name for output in spec.returns.outputs} if spec.returns else set()
    return frozenset() if "error" in outputs else frozenset(declared_names(spec, "errors"))
