"""What happens in a run, as typed events. Terminal, result, cost meter and reports are listeners on them.

The step of an event is the path of constructs and iterations that leads to it (DESIGN.md section 6), such as
``repeat[2]/call left``; branches of a parallel block add their index.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from prose_runtime.records import dataclass
from prose_runtime.text import Where
from prose_runtime.values import NO_USAGE, Usage

Rung = Literal["expression", "structure", "judge"]
Status = Literal["completed", "failed", "cancelled", "paused"]


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""

    step: str


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    """A run begins; ``run`` is its identifier, ``note`` says which default service answers and why."""

    run: str
    spec: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class RunFinished(Event):
    """A run ended, with exit status as in the JSON output."""

    run: str
    status: Status
    result: Any = None
    error: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class StepStarted(Event):
    """A construct begins. ``kind`` is its keyword: repeat, for, loop, parallel, branch, try, call, session ..."""

    kind: str
    where: Where


@dataclass(frozen=True, slots=True)
class StepFinished(Event):
    """A construct ended."""

    kind: str
    status: Status


@dataclass(frozen=True, slots=True)
class CallStarted(Event):
    """A request goes to a service. ``attempt`` counts from 1 over retries and the one repair."""

    target: str
    service: str
    inputs: dict[str, Any]
    prompt: str | None
    where: Where
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class CallText(Event):
    """A piece of an answer, as it arrives."""

    text: str


@dataclass(frozen=True, slots=True)
class CallRetry(Event):
    """The provider or the runtime waits and asks again. ``delay`` is in seconds."""

    attempt: int
    delay: float
    reason: str


@dataclass(frozen=True, slots=True)
class CallFinished(Event):
    """An answer arrived (``output``) or not (``error``). ``recorded``: it was read from the record, not asked for."""

    output: Any = None
    error: dict[str, Any] | None = None
    usage: Usage = NO_USAGE
    recorded: bool = False


@dataclass(frozen=True, slots=True)
class ConditionDecided(Event):
    """A condition or choice has its verdict: a bool, or the chosen label."""

    text: str
    rung: Rung
    verdict: bool | str
    reason: str | None
    where: Where


@dataclass(frozen=True, slots=True)
class Emitted(Event):
    """``emit``: a line for the person watching."""

    value: Any
    where: Where


@dataclass(frozen=True, slots=True)
class Warned(Event):
    """Something a person should know, given once a place."""

    message: str
    where: Where | None = None


Listener = Callable[[Event], None]
