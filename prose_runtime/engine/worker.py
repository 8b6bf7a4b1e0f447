"""A worker: walks programs and asks services for runs of one queue, until it is stopped."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from prose_runtime.depth import make_room
from prose_runtime.engine.activities import Activities
from prose_runtime.engine.connection import Place, connect
from prose_runtime.engine.flow import ProseRun

GRACE = timedelta(seconds=30)
"""How long a worker that is told to stop waits for its calls."""


def _tells(record: logging.LogRecord) -> bool:
    """Whether a line of the log tells something: that a call which nobody waits for any more ended does not."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


async def work(
    place: Place,
    folder: Path,
    stop: asyncio.Event,
    *,
    at_once: int = 100,
    per_second: float | None = None,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Work until ``stop`` is set; calls in flight are finished then, as far as ``GRACE`` allows.

    ``at_once``: calls at a time at this worker. ``per_second``: calls that all workers of the queue begin together.
    ``folder`` holds, or has above it, the prose.yml whose services are asked.

    Raises:
        UsageError: That prose.yml has faults.
        EngineError: The engine cannot be reached.
    """
    make_room()
    logging.getLogger("temporalio.activity").addFilter(_tells)
    activities = Activities(folder)
    client = await connect(place)
    with ThreadPoolExecutor(4, "workflow") as threads:
        worker = Worker(
            client,
            task_queue=place.task_queue,
            workflows=[ProseRun],
            activities=activities.all(),
            # The interpreter is deterministic by itself: it has nothing that a sandbox would have to take away.
            workflow_runner=UnsandboxedWorkflowRunner(),
            workflow_task_executor=threads,
            max_concurrent_activities=at_once,
            max_task_queue_activities_per_second=per_second,
            graceful_shutdown_timeout=GRACE,
            sticky_queue_schedule_to_start_timeout=timedelta(seconds=min(10.0, place.lost_after)),
            # Reading a large spec may take longer than the two seconds after which the SDK would call it a deadlock.
            debug_mode=True,
        )
        async with worker:
            ready()
            await stop.wait()
    await activities.aclose()
