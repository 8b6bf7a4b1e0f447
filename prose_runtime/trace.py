"""What happened in a run and when, written beside its answers for people who read it later.

Nothing of a run depends on the trace: a resumed run reads its answers alone. Pieces of streamed answers are left out,
and outputs, which stand in the answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from prose_runtime.events import (
    CallFinished,
    CallRetry,
    CallStarted,
    ConditionDecided,
    Emitted,
    Event,
    RunFinished,
    RunStarted,
    Warned,
)
from prose_runtime.journal import RunRecord
from prose_runtime.text import Where
from prose_runtime.values import Usage, to_json

NAMES: dict[type[Event], str] = {
    RunStarted: "run_started",
    RunFinished: "run_finished",
    CallStarted: "call_started",
    CallRetry: "call_retry",
    CallFinished: "call_finished",
    ConditionDecided: "condition",
    Emitted: "emitted",
    Warned: "warned",
}
"""The events of a trace, by the name that they have in it."""

SOURCE = "source"
"""The name of the rows that keep the text of a spec: ``file`` and ``text``."""

_LEFT_OUT = frozenset({"output", "result"})
_FIELDS = {kind: [field.name for field in fields(kind) if field.name not in _LEFT_OUT] for kind in NAMES}


class TraceListener:
    """Writes the events of a run into its record. ``clock`` gives seconds since 1970."""

    def __init__(self, record: RunRecord, clock: Callable[[], float] = time.time):
        self.record = record
        self.clock = clock

    def __call__(self, event: Event) -> None:
        """Write an event down, if the trace holds its kind."""
        if type(event) in NAMES:
            self.record.trace(self.clock(), as_row(event))

    def source(self, file: str, text: str) -> None:
        """Keep the text of a spec as the run found it."""
        self.record.trace(self.clock(), {"event": SOURCE, "file": file, "text": text})


def as_row(event: Event) -> dict[str, Any]:
    """An event as JSON: its name as ``event``, then its fields; a place is an object of file, line and column."""
    kind = type(event)
    return {"event": NAMES[kind], **{name: _plain(getattr(event, name)) for name in _FIELDS[kind]}}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Where):
        return {"file": value.file, "line": value.line, "column": value.column}
    return value.as_json() if isinstance(value, Usage) else to_json(value)
