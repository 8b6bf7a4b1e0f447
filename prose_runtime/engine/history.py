"""The calls of a run, read from the engine's history: it is the record, whatever became of the workers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent, WorkflowTaskFailedEventAttributes
from temporalio.client import Client

from prose_runtime.engine import wire
from prose_runtime.engine.carried import Carried
from prose_runtime.engine.converter import CONVERTER
from prose_runtime.errors import EngineError
from prose_runtime.events import CallFinished, CallStarted, Listener, Warned
from prose_runtime.journal import Answer
from prose_runtime.services.api import Reply
from prose_runtime.text import Where
from prose_runtime.trace import SOURCE, as_row
from prose_runtime.values import NO_USAGE, ErrorValue, Usage

_ENDS = frozenset(
    {
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
    }
)

_DONE = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED

_CONVERTER = CONVERTER.payload_converter


async def events(client: Client, run: str, *, wait: bool = False) -> AsyncIterator[HistoryEvent]:
    """What happened in a run, also where its history was cut and begun anew; ``wait``: until it ends.

    Where the run was begun again after it had ended, what happened before comes first.
    """
    for part in await _parts(client, run):
        following: str | None = part
        while following is not None:
            handle = client.get_workflow_handle(run, run_id=following)
            following = None
            async for event in handle.fetch_history_events(wait_new_event=wait):
                yield event
                following = event.workflow_execution_continued_as_new_event_attributes.new_execution_run_id or following


async def _parts(client: Client, run: str) -> list[str]:
    """The first histories of the run and of those that it goes on from, the oldest first."""
    parts: list[str] = []
    at: str | None = None
    while True:
        handle = client.get_workflow_handle(run, run_id=at)
        event = await anext(handle.fetch_history_events(page_size=1))
        begun = event.workflow_execution_started_event_attributes
        parts.append(begun.first_execution_run_id)
        at = value_of(begun.input.payloads).get("earlier")
        if at is None:
            return parts[::-1]


class Calls:
    """Gathers the ``calls`` of the object of a run, in the order of their start; ``listener`` hears of each."""

    def __init__(self, listener: Listener | None = None) -> None:
        self._tell = listener or (lambda event: None)
        self.calls: list[dict[str, Any]] = []
        self._open: dict[int, dict[str, Any]] = {}
        self._ended = False
        self._over = False

    @property
    def over(self) -> bool:
        """Whether the run has ended."""
        return self._over

    @property
    def in_flight(self) -> bool:
        """Whether a request waits for its answer."""
        return bool(self._open)

    def take(self, event: HistoryEvent) -> None:
        """Take the next event."""
        self._over = event.event_type in _ENDS or event.event_type == _DONE
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED:
            self._stuck(event.workflow_task_failed_event_attributes)
        if event.event_type in _ENDS:
            self._ended = True
        elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            self._scheduled(event)
        elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
            done = event.activity_task_completed_event_attributes
            if done.scheduled_event_id in self._open:
                self._answered(self._open.pop(done.scheduled_event_id), value_of(done.result.payloads))
        elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED:
            failed = event.activity_task_failed_event_attributes
            if failed.scheduled_event_id in self._open:
                details = failed.failure.application_failure_info.details.payloads
                self._failed(self._open.pop(failed.scheduled_event_id), value_of(details), failed.failure.message)
        elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED:
            asked = event.activity_task_cancel_requested_event_attributes
            entry = self._open.pop(asked.scheduled_event_id, None)
            if entry is not None:
                entry["output"] = ErrorValue("cancelled", "cancelled", entry["service"]).as_json()
                self._tell(CallFinished(entry["step"], error=entry["output"]))

    def _stuck(self, failed: WorkflowTaskFailedEventAttributes) -> None:
        """Tell that a worker cannot go on with the run; what is only the order of things by the way is passed over."""
        message = failed.failure.message
        if message and failed.cause != WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND:
            self._tell(Warned("", f"a worker cannot go on with the run, which waits for one that can: {message}"))

    def _scheduled(self, event: HistoryEvent) -> None:
        scheduled = event.activity_task_scheduled_event_attributes
        if scheduled.activity_type.name != wire.ASK:
            return
        asked = value_of(scheduled.input.payloads)
        if asked["request"]["purpose"] != "call":
            return
        entry = {
            "step": asked["step"],
            "target": asked["request"]["target"],
            "service": asked["service"],
            "inputs": asked["request"]["inputs"],
            "prompt": asked["request"]["prompt"],
            "output": None,
            "line": asked["line"],
            "usage": NO_USAGE.as_json(),
        }
        self._place(entry)
        self._open[event.event_id] = entry
        where = Where("", asked["line"])
        self._tell(
            CallStarted(entry["step"], entry["target"], entry["service"], entry["inputs"], entry["prompt"], where)
        )

    def _place(self, entry: dict[str, Any]) -> None:
        """Add a call; one that is made again after the run had ended takes the place of the earlier one."""
        for i, earlier in enumerate(self.calls if self._ended else ()):
            if earlier["step"] == entry["step"]:
                self.calls[i] = entry
                return
        self.calls.append(entry)

    def _answered(self, entry: dict[str, Any], row: dict[str, Any]) -> None:
        entry["output"] = row["value"]
        usage = Usage(**row["usage"])
        entry["usage"] = usage.as_json()
        self._tell(CallFinished(entry["step"], entry["output"], usage=usage))

    def _failed(self, entry: dict[str, Any], row: dict[str, Any] | None, message: str) -> None:
        told = row or {"message": message, "kind": EngineError.kind, "service": entry["service"]}
        entry["output"] = {name: told.get(name) for name in ("message", "kind", "service")}
        entry["usage"] = Usage(**(row or {}).get("usage", {})).as_json()
        self._tell(CallFinished(entry["step"], error=entry["output"]))


class Record:
    """Gathers the answers of a run, for one that goes on where it ended. ``asked`` is what it was started with."""

    def __init__(self) -> None:
        self.asked: dict[str, Any] = {}
        self._carried = Carried()
        self._open: dict[int, str] = {}

    def take(self, event: HistoryEvent) -> None:
        """Take the next event."""
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
            self.asked = value_of(event.workflow_execution_started_event_attributes.input.payloads)
            self._carried = Carried.unpacked(self.asked.get("record"))
        elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            scheduled = event.activity_task_scheduled_event_attributes
            if scheduled.activity_type.name == wire.ASK:
                self._open[event.event_id] = value_of(scheduled.input.payloads)["step"]
        elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
            done = event.activity_task_completed_event_attributes
            if done.scheduled_event_id in self._open:
                self._carried.replies[self._open[done.scheduled_event_id]] = value_of(done.result.payloads)
        elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED:
            failed = event.activity_task_failed_event_attributes
            row = value_of(failed.failure.application_failure_info.details.payloads)
            if failed.scheduled_event_id in self._open and row:
                self._carried.failures[self._open[failed.scheduled_event_id]] = row
        elif event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
            signal = event.workflow_execution_signaled_event_attributes
            if signal.signal_name == "answer":
                step, value = _CONVERTER.from_payloads(list(signal.input.payloads))
                self._carried.replies.setdefault(step, wire.reply_to(Reply(value)))

    def answers(self) -> dict[str, Answer]:
        """The answers by step, as the record of a run on one machine holds them."""
        kept = self._carried
        found = {
            step: Answer(step, "", "reply", row["value"], "", row["usage"], row["model"])
            for step, row in kept.replies.items()
        }
        failed = {
            step: Answer(step, "", "error", row, row["service"] or "", row["usage"])
            for step, row in kept.failures.items()
        }
        return {**found, **failed}

    def carried(self, ended_at: str | None) -> Carried:
        """The record without the answers at the step that ended the run: there it asks again."""
        self._carried.resumed = True
        self._carried.left = None
        call = (ended_at or "").partition("#")[0]
        for rows in (self._carried.replies, self._carried.failures):
            for step in [step for step in rows if call and step.partition("#")[0] == call]:
                del rows[step]
        return self._carried


class Trace:
    """What happened in a run and when: rows as ``trace.as_row`` makes them, with ``at`` in seconds since 1970."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.record = Record()
        self._at = 0.0
        self._calls = Calls(lambda event: self.rows.append({"at": self._at, **as_row(event)}))

    @property
    def ended(self) -> bool:
        """Whether the run has ended."""
        return self._calls.over

    def take(self, event: HistoryEvent) -> None:
        """Take the next event."""
        self._at = event.event_time.ToNanoseconds() / 1e9
        self.record.take(event)
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED and not self.rows:
            texts: dict[str, str] = self.record.asked["bundle"]["texts"]
            self.rows += [{"at": self._at, "event": SOURCE, "file": file, "text": texts[file]} for file in texts]
        self._calls.take(event)

    def add(self, rows: list[dict[str, Any]]) -> None:
        """Add what the workflow told by itself."""
        self.rows = sorted([*self.rows, *rows], key=lambda row: row["at"])


def value_of(payloads: Any) -> Any:
    """The first JSON value of some payloads, or None."""
    return _CONVERTER.from_payloads(list(payloads))[0] if payloads else None
