"""What the record of a run holds: the answers from outside, by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Answer:
    """What came from outside at one step.

    Attributes:
        step: The place in the program: the path of constructs and iterations.
        digest: Of the request's content; another digest at the same step means that the spec or inputs changed.
        kind: ``reply``, or ``error`` when the service failed; ``value`` is then the error as JSON. ``event`` is no
            answer to a request but what happened outside, such as which of several replies came first.
        service: The binding's name.
        usage: What the answer cost, as JSON.
        model: The model that answered, as its provider names it.
        reopened: It ended the run, and has to be asked for again when the run goes on.
        parts: Digests of the parts of the request, by name: they say what changed.
    """

    step: str
    digest: str
    kind: Literal["reply", "error", "event"]
    value: Any
    service: str
    usage: Mapping[str, Any] | None = None
    model: str | None = None
    reopened: bool = False
    parts: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run of the list. ``status`` is the run's own, or ``running``, or ``interrupted`` when its process died.

    ``started`` is UTC in ISO 8601; ``calls`` counts the requests made to services.
    """

    run: str
    spec: str
    status: str
    started: str
    calls: int

    def as_json(self) -> dict[str, Any]:
        """The row of ``prose runs list --json``."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}
