"""Playing a pattern of the library with scripted roles, and reading from the record who was told what."""

from __future__ import annotations

from typing import Any

import prose_runtime as prose
from prose_runtime.nodes import Spec
from prose_runtime.runtime.result import Result
from prose_runtime.services.prompt import render
from prose_runtime.testing import Recorder, record, script
from support.commands import ROOT

PATTERNS = ROOT / "patterns"


class Play:
    """A finished run of a pattern: its ``result``, and for each slot a recorder, or a list of them."""

    def __init__(self, result: Result, roles: dict[str, Any]):
        self.result = result
        self.roles = roles

    @property
    def value(self) -> Any:
        """What the pattern returned."""
        return self.result.value

    @property
    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        """Every call in order: the slot, and the inputs that it was given."""
        return [(call["target"], call["inputs"]) for call in self.result.calls]

    @property
    def targets(self) -> list[str]:
        """The slots in the order of the calls."""
        return [target for target, _ in self.calls]

    @property
    def rungs(self) -> set[str]:
        """How its conditions were decided."""
        return {condition["rung"] for condition in self.result.conditions}

    def told(self, slot: str, member: int | None = None) -> str:
        """Everything that a role was told in all of its calls, as a model reads it."""
        role = self.roles[slot]
        recorders: list[Recorder] = role if isinstance(role, list) else [role]
        chosen = recorders if member is None else [recorders[member]]
        return "\n".join("\n".join(render(request)) for one in chosen for request in one.requests)


def play(name: str, inputs: dict[str, Any], config: dict[str, Any] | None = None, **replies: Any) -> Play:
    """Run a pattern. Each slot is given the list of its role's replies; a list slot a tuple of such lists."""
    roles: dict[str, Any] = {}
    for slot, given in replies.items():
        members = given if isinstance(given, tuple) else (given,)
        recorders = [record(script(*r, name=f"{slot}-{i}"), name=f"{slot}-{i}") for i, r in enumerate(members, 1)]
        roles[slot] = recorders if isinstance(given, tuple) else recorders[0]
    result = prose.run(PATTERNS / f"{name}.prose.md", inputs, bind=roles, config=config or {})
    return Play(result, roles)


def load(name: str) -> Spec:
    """A spec of the library, by the name of its file."""
    return prose.load(PATTERNS / f"{name}.prose.md")


def failed(message: str) -> dict[str, str]:
    """The reply of a service that is down."""
    return {"error": message, "kind": "unavailable"}
