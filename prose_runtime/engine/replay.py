"""Whether this version of the interpreter can go on with runs that another one began: their histories are replayed."""

from __future__ import annotations

from collections.abc import AsyncIterator

from temporalio.client import Client, WorkflowHistory
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from prose_runtime.engine import wire
from prose_runtime.engine.converter import CONVERTER
from prose_runtime.engine.flow import ProseRun


async def replayed(history: WorkflowHistory) -> str | None:
    """What keeps this version from going on with a run, or None when it can."""
    replayer = Replayer(
        workflows=[ProseRun],
        workflow_runner=UnsandboxedWorkflowRunner(),
        data_converter=CONVERTER,
        debug_mode=True,
    )
    result = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    return str(result.replay_failure) if result.replay_failure else None


async def replay_running(client: Client, queue: str) -> AsyncIterator[tuple[str, str | None]]:
    """Each run of a queue that goes on, with what keeps this version from going on with it."""
    asked = f"WorkflowType = '{wire.WORKFLOW}' AND ExecutionStatus = 'Running' AND TaskQueue = '{queue}'"
    async for found in client.list_workflows(asked):
        handle = client.get_workflow_handle(found.id, run_id=found.run_id)
        yield found.id, await replayed(await handle.fetch_history())
