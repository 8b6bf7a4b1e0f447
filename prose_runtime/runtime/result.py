"""What a run came to: collected from its events, handed out as one object (DESIGN.md section 4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from prose_runtime.errors import Paused, ProseError
from prose_runtime.events import CallFinished, CallStarted, ConditionDecided, Emitted, Event, Status
from prose_runtime.runtime.limits import Meter
from prose_runtime.values import NO_USAGE, Usage

NEVER_SENT = frozenset({"limit", "edited", "record", "engine"})
"""Kinds of errors that end a run before a request goes out: it is no call then."""


@dataclass(slots=True)
class Result:
    """The record of a finished run.

    ``calls``, ``conditions``, ``emitted`` and ``invariants`` are as in the JSON output; ``value`` is the result;
    ``error`` is set unless the run completed; ``usage`` is that of all requests, the judge's included;
    ``unpriced`` are models whose price is not known although the cost is limited.
    """

    spec: str
    run: str | None = None
    status: Status = "completed"
    value: Any = None
    error: ProseError | None = None
    calls: list[dict[str, Any]] = field(default_factory=list)
    conditions: list[dict[str, Any]] = field(default_factory=list)
    emitted: list[Any] = field(default_factory=list)
    invariants: list[dict[str, Any]] = field(default_factory=list)
    usage: Usage = NO_USAGE
    requests: int = 0
    unpriced: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 when it completed, else that of the error."""
        return 0 if self.error is None else self.error.exit_code

    def as_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints; that of a paused run also has the questions that are ``waiting``."""
        return {
            "run": self.run,
            "status": self.status,
            "spec": self.spec,
            "result": self.value,
            "error": self.error.as_json() if self.error else None,
            "calls": self.calls,
            "conditions": self.conditions,
            "emitted": self.emitted,
            "invariants": self.invariants,
            "usage": {"calls": self.requests, **self.usage.as_json()},
            **({"waiting": self.error.waiting} if isinstance(self.error, Paused) else {}),
        }


class ResultListener:
    """Fills a result from the events of its run."""

    def __init__(self, result: Result):
        self.result = result
        self._open: dict[str, dict[str, Any]] = {}
        self._shown: dict[type[Event], Callable[[Any], None]] = {
            CallStarted: self._started,
            CallFinished: self._finished,
            ConditionDecided: self._decided,
            Emitted: self._emitted,
        }

    def __call__(self, event: Event) -> None:
        """Take an event; those that the result does not show are passed over."""
        show = self._shown.get(type(event))
        if show is not None:
            show(event)

    def _started(self, event: CallStarted) -> None:
        entry = {
            "step": event.step,
            "target": event.target,
            "service": event.service,
            "inputs": event.inputs,
            "prompt": event.prompt,
            "output": None,
            "line": event.where.line,
            "usage": NO_USAGE.as_json(),
        }
        self._open[event.step] = entry
        self.result.calls.append(entry)

    def _finished(self, event: CallFinished) -> None:
        entry = self._open.pop(event.step)
        if event.error is not None and event.error["kind"] in NEVER_SENT:
            self.result.calls.remove(entry)
            return
        entry["output"] = event.output if event.error is None else event.error
        entry["usage"] = event.usage.as_json()

    def _emitted(self, event: Emitted) -> None:
        self.result.emitted.append(event.value)

    def _decided(self, event: ConditionDecided) -> None:
        self.result.conditions.append(
            {
                "step": event.step,
                "text": event.text,
                "rung": event.rung,
                "verdict": event.verdict,
                "reason": event.reason,
                "line": event.where.line,
            }
        )

    def close(self, meter: Meter) -> None:
        """Take over the totals."""
        self.result.usage = meter.usage
        self.result.requests = meter.calls
        self.result.unpriced = meter.unpriced
