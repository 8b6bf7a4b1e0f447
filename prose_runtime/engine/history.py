"""The calls of a run, read from the engine's history: it is the record, whatever became of the workers."""

from __future__ import annotations

from typing import Any

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import WorkflowHandle
from temporalio.converter import default

from prose_runtime.engine import wire
from prose_runtime.values import NO_USAGE, ErrorValue, Usage

_CONVERTER = default().payload_converter


async def calls_of(handle: WorkflowHandle[Any, Any]) -> list[dict[str, Any]]:
    """The ``calls`` of the object of a run: requests that went to services, in the order of their start."""
    found = Calls()
    async for event in handle.fetch_history_events():
        found.take(event)
    return found.calls


class Calls:
    """Gathers calls from the events of a history."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self._open: dict[int, dict[str, Any]] = {}

    def take(self, event: HistoryEvent) -> None:
        """Take the next event."""
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            self._scheduled(event)
        elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
            done = event.activity_task_completed_event_attributes
            if done.scheduled_event_id in self._open:
                self._answered(self._open.pop(done.scheduled_event_id), _value(done.result.payloads))
        elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED:
            failed = event.activity_task_failed_event_attributes
            if failed.scheduled_event_id in self._open:
                details = failed.failure.application_failure_info.details.payloads
                self._failed(self._open.pop(failed.scheduled_event_id), _value(details), failed.failure.message)
        elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED:
            asked = event.activity_task_cancel_requested_event_attributes
            entry = self._open.pop(asked.scheduled_event_id, None)
            if entry is not None:
                entry["output"] = ErrorValue("cancelled", "cancelled", entry["service"]).as_json()

    def _scheduled(self, event: HistoryEvent) -> None:
        scheduled = event.activity_task_scheduled_event_attributes
        if scheduled.activity_type.name != wire.ASK:
            return
        asked = _value(scheduled.input.payloads)
        if asked["request"]["purpose"] != "call":
            return
        entry = {
            "step": asked["step"],
            "target": asked["target"],
            "service": asked["service"],
            "inputs": asked["request"]["inputs"],
            "prompt": asked["request"]["prompt"],
            "output": None,
            "line": asked["line"],
            "usage": NO_USAGE.as_json(),
        }
        self.calls.append(entry)
        self._open[event.event_id] = entry

    def _answered(self, entry: dict[str, Any], row: dict[str, Any]) -> None:
        entry["output"] = row["value"]
        entry["usage"] = Usage(**row["usage"]).as_json()

    def _failed(self, entry: dict[str, Any], row: dict[str, Any] | None, message: str) -> None:
        told = row or {"message": message, "kind": wire.ENGINE, "service": entry["service"]}
        entry["output"] = {name: told.get(name) for name in ("message", "kind", "service")}
        entry["usage"] = Usage(**(row or {}).get("usage", {})).as_json()


def _value(payloads: Any) -> Any:
    return _CONVERTER.from_payloads(list(payloads))[0] if payloads else None
