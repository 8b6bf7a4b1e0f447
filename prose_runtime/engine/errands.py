"""Activities of a workflow: what it has workers do, paced so that no message to the engine is too large."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

from prose_runtime.engine import wire
from prose_runtime.errors import EngineError
from prose_runtime.runtime.told import error_from

ATTEMPT_TIME = timedelta(days=30)
"""How long one attempt at an activity may take at most; a worker that is gone shows by its missing heartbeat."""

AT_ONCE = 3_000_000
"""Bytes that go to the engine in one message at most; it takes 4 MiB."""

SUMMARY = 190
"""Characters of a summary; the engine takes 400 bytes."""


class Errands:
    """What one workflow has done. ``lost_after``: seconds of silence after which a worker counts as lost."""

    def __init__(self, lost_after: float):
        self.in_flight = 0
        self._lost_after = timedelta(seconds=lost_after)
        self._task = -1
        self._sent = 0

    async def run(self, kind: str, step: str, argument: Mapping[str, Any], summary: str) -> Any:
        """Have a worker do something at a step.

        Raises:
            ServiceError: It tells of a service's failure.
            EngineError: What it takes, or gives, is too large.
        """
        size = wire.check_size(argument, f"what step {step} hands over", "pass less, or run it on one machine")
        await self._room(size)
        self.in_flight += 1
        try:
            return await workflow.execute_activity(
                kind,
                argument,
                activity_id=wire.activity_id(step),
                summary=short(summary),
                start_to_close_timeout=ATTEMPT_TIME,
                heartbeat_timeout=self._lost_after,
                retry_policy=RetryPolicy(maximum_interval=timedelta(minutes=1)),
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise asyncio.CancelledError from None
            raise _told(error) from None
        finally:
            self.in_flight -= 1

    async def _room(self, size: int) -> None:
        """Wait until what goes out in one message leaves room for so many bytes."""
        while True:
            task = workflow.info().get_current_history_length()
            if task != self._task:
                self._task, self._sent = task, 0
            if self._sent == 0 or self._sent + size <= AT_ONCE:
                self._sent += size
                return
            await workflow.sleep(timedelta(milliseconds=1), summary="more in the next message")


def _told(error: ActivityError) -> Exception:
    """What an activity that will not be tried again failed with."""
    cause = error.cause
    if isinstance(cause, ApplicationError) and cause.details:
        row = cause.details[0]
        return error_from(row) if "exit_code" in row else wire.failure_from(row)
    message = getattr(cause, "message", None) or error.message
    return EngineError(f"the engine gave the call up: {message}")


def short(text: str) -> str:
    """The text, cut where a summary ends."""
    return text if len(text) <= SUMMARY else text[: SUMMARY - 1] + "…"
