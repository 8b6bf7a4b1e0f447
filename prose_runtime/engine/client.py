"""Sending runs to the engine, waiting for them, and looking at them."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import (
    Client,
    WorkflowExecution,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
)
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError

from prose_runtime.check.checker import all_diagnostics
from prose_runtime.engine import wire
from prose_runtime.engine.asking import Asking, Person, nobody
from prose_runtime.engine.connection import Place
from prose_runtime.engine.history import Calls, Record, Trace, events
from prose_runtime.engine.wiring import pack
from prose_runtime.errors import Cancelled, CheckFailed, EngineError, ProseError, UsageError
from prose_runtime.events import Listener
from prose_runtime.journal import RunRow
from prose_runtime.runtime.inputs import check_inputs
from prose_runtime.runtime.result import Result
from prose_runtime.runtime.session import RunRequest
from prose_runtime.runtime.told import result_from

_STATUS = {
    WorkflowExecutionStatus.RUNNING: "running",
    WorkflowExecutionStatus.COMPLETED: "completed",
    WorkflowExecutionStatus.FAILED: "failed",
    WorkflowExecutionStatus.CANCELED: "cancelled",
    WorkflowExecutionStatus.TERMINATED: "cancelled",
    WorkflowExecutionStatus.TIMED_OUT: "failed",
    WorkflowExecutionStatus.CONTINUED_AS_NEW: "running",
}


def order(request: RunRequest, place: Place) -> dict[str, Any]:
    """What a workflow is started with: the specs, inputs, config and words of a run.

    Raises:
        CheckFailed: The spec has errors.
        UsageError: Inputs or config are wrong.
        EngineError: It is larger than the engine takes.
    """
    path, shown = request.base / request.spec_path, Path(request.spec_path)
    words = [word for bound in request.bind.values() for word in (bound if isinstance(bound, list) else [bound])]
    packed = pack(path, shown, words, request.base)
    analysis = packed.analysis
    found = all_diagnostics(analysis)
    if any(d.severity == "error" for d in found):
        raise CheckFailed(found)
    check_inputs(analysis, request.inputs, request.config)
    ordered = {
        "name": analysis.spec.name,
        "spec": analysis.spec.source.path,
        "bundle": packed.bundle.as_json(),
        "specs": packed.specs,
        "inputs": request.inputs,
        "config": request.config,
        "bind": request.bind,
        "contracts": request.contracts,
        "limits": dict(request.limits),
        "people": request.people.as_json(),
        "lost_after": place.lost_after,
        "longest": place.longest_history,
    }
    wire.check_size(ordered, "the run with its specs and inputs", "pass less, or run it on one machine")
    return ordered


def new_run() -> str:
    """A name for a run, as those of runs on this machine."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


async def submit(
    client: Client, place: Place, ordered: Mapping[str, Any], run: str | None = None, *, again: bool = True
) -> Run:
    """Start a run; it goes on whatever becomes of this process.

    ``again``: also where one of that name has ended. Raises WorkflowAlreadyStartedError when there is one.
    """
    title = next((value for value in ordered["inputs"].values() if isinstance(value, str)), "")
    handle = await client.start_workflow(
        wire.WORKFLOW,
        ordered,
        id=run or new_run(),
        task_queue=place.task_queue,
        task_timeout=timedelta(seconds=max(10.0, min(60.0, place.lost_after))),
        static_summary=_short(f"{ordered['name']}: {title}" if title else ordered["name"]),
        memo={"spec": ordered["name"]},
        id_reuse_policy=(WorkflowIDReusePolicy.ALLOW_DUPLICATE if again else WorkflowIDReusePolicy.REJECT_DUPLICATE),
    )
    return Run(client, handle)


async def join(client: Client, place: Place, ordered: Mapping[str, Any], run: str) -> Run:
    """The run of this name: as it stands, begun again where it failed, or begun now."""
    try:
        return await submit(client, place, ordered, run, again=False)
    except WorkflowAlreadyStartedError:
        there = Run(client, client.get_workflow_handle(run))
        await there.revive({})
        return there


class Run:
    """A run on the engine."""

    def __init__(self, client: Client, handle: WorkflowHandle[Any, Any]):
        self.client = client
        self.handle = handle
        self.name = handle.id

    async def result(self, listener: Listener | None = None, person: Person = nobody) -> Result:
        """Wait for the end, or until nothing but people's answers can let the run go on.

        ``listener`` hears of calls as they begin and end. ``person`` gives who answers here in a service's name; where
        nobody does, the result is that of a paused run, and the run waits on.
        """
        calls = Calls(listener)
        asking = Asking(self, person)
        stream = events(self.client, self.name, wait=True)
        coming: asyncio.Future[HistoryEvent] = asyncio.ensure_future(anext(stream))
        try:
            while True:
                waits: list[asyncio.Future[Any]] = [coming, *asking.tasks]
                await asyncio.wait(waits, timeout=asking.idle(calls.in_flight), return_when=asyncio.FIRST_COMPLETED)
                if coming.done():
                    calls.take(coming.result())
                    asking.take(coming.result())
                    coming = asyncio.ensure_future(anext(stream))
                elif not await asking.goes_on(calls.in_flight):
                    return result_from(await self.show())
        except StopAsyncIteration:
            return result_from(self._whole(await self._end(), calls.calls))
        finally:
            coming.cancel()
            asking.stop()

    async def _end(self) -> dict[str, Any]:
        try:
            told: dict[str, Any] = await self.handle.result()
        except WorkflowFailureError as failure:
            told = self._failed(failure)
        return told

    def _whole(self, told: dict[str, Any], calls: list[dict[str, Any]]) -> dict[str, Any]:
        for entry in told["calls"]:  # of people: they stand in the history as signals only
            calls.insert(entry["at"], {name: value for name, value in entry.items() if name != "at"})
        return {**told, "calls": calls}

    def _failed(self, failure: WorkflowFailureError) -> dict[str, Any]:
        cause = failure.cause
        if isinstance(cause, ApplicationError) and cause.details and "status" in cause.details[0]:
            told: dict[str, Any] = cause.details[0]
            return told
        error: ProseError = EngineError(f"the engine ended the run: {getattr(cause, 'message', cause)}")
        if type(cause).__name__ in ("CancelledError", "TerminatedError"):
            error = Cancelled("the run was stopped")
        return {**_blank(self.name), "status": "cancelled", "error": wire.error_to(error)}

    async def trace(self) -> Trace:
        """What happened and when, as far as the history tells."""
        trace = Trace()
        async for event in events(self.client, self.name):
            trace.take(event)
        trace.add((await self._end()).get("trace", []) if trace.ended else [])
        return trace

    async def revive(self, limits: Mapping[str, Any]) -> None:
        """Begin a run that failed or was stopped again under its name: what was answered is not asked again."""
        described = await self.handle.describe()
        if described.status in (WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.COMPLETED):
            return
        record = Record()
        async for event in events(self.client, self.name):
            record.take(event)
        asked = record.asked
        ordered = {**asked, "settled": None, "earlier": described.run_id, "limits": {**asked["limits"], **limits}}
        ended = (await self._end()).get("error") or {}
        carried = record.carried(ended.get("step"))
        self.handle = await self.client.start_workflow(
            wire.WORKFLOW,
            carried.begun_anew(ordered),
            id=self.name,
            task_queue=described.task_queue,
            memo=dict(await described.memo()) | {"waiting": None},
        )

    async def cancel(self) -> None:
        """Ask the run to stop."""
        await self.handle.cancel()

    async def waiting(self) -> list[dict[str, Any]]:
        """The questions that wait for a person, as ``errors.Paused.waiting``; no worker is needed to tell."""
        memo = await (await self.handle.describe()).memo()
        return list(memo.get("waiting") or [])

    async def questions(self) -> list[dict[str, Any]]:
        """The same with the whole ``request``; a worker has to be there to tell."""
        found: list[dict[str, Any]] = await self.handle.query("questions")
        return found

    async def say(self, step: str, parts: Mapping[str, Any]) -> None:
        """Give what a person has said so far of an answer: whoever goes on is asked for the rest."""
        wire.check_size(parts, "what was said", "write less")
        await self.handle.signal("say", args=[step, parts])

    async def answer(self, step: str, value: Any) -> None:
        """Give a person's answer."""
        wire.check_size(value, "the answer", "write less")
        await self.handle.signal("answer", args=[step, value])

    async def show(self) -> dict[str, Any]:
        """The object of a run; of one that goes on, what is known of it so far."""
        calls = Calls()
        async for event in events(self.client, self.name):
            calls.take(event)
        described = await self.handle.describe()
        if described.status != WorkflowExecutionStatus.RUNNING:
            return result_from(self._whole(await self._end(), calls.calls)).as_json()
        memo = await described.memo()
        waiting = memo.get("waiting") or []
        told = {**_blank(self.name), "spec": memo.get("spec", ""), "calls": calls.calls}
        told["usage"]["calls"] = len(calls.calls)
        return {**told, "status": "paused", "waiting": waiting} if waiting else told


def _blank(run: str) -> dict[str, Any]:
    usage = {"calls": 0, "input_tokens": None, "output_tokens": None, "cost_usd": None}
    return {
        "run": run, "status": "running", "spec": "", "result": None, "error": None, "calls": [], "conditions": [],
        "emitted": [], "invariants": [], "usage": usage,
    }  # fmt: skip


async def listed(client: Client) -> AsyncIterator[tuple[WorkflowExecution, RunRow]]:
    """The runs that the engine knows, newest first."""
    found = [run async for run in client.list_workflows(f"WorkflowType = '{wire.WORKFLOW}'")]
    for run in sorted(found, key=lambda run: run.start_time, reverse=True):  # the engine goes by their end
        if run.status == WorkflowExecutionStatus.CONTINUED_AS_NEW:
            continue
        memo = await run.memo()
        status = _STATUS.get(run.status or WorkflowExecutionStatus.RUNNING, "running")
        if status == "running" and memo.get("waiting"):
            status = "paused"
        started = f"{run.start_time:%Y-%m-%dT%H:%M:%SZ}"
        yield run, RunRow(run.id, memo.get("spec", ""), status, started, memo.get("calls", 0))


async def find(client: Client, prefix: str) -> Run:
    """The run that an unambiguous prefix or ``last`` means.

    Raises:
        UsageError: None or several fit.
    """
    fitting: list[str] = []
    async for _, row in listed(client):
        if prefix in ("last", row.run):
            return Run(client, client.get_workflow_handle(row.run))
        if row.run.startswith(prefix):
            fitting.append(row.run)
    if len(fitting) == 1:
        return Run(client, client.get_workflow_handle(fitting[0]))
    if fitting:
        raise UsageError(f"`{prefix}` is ambiguous: several runs start with it", help=", ".join(fitting[:5]))
    raise UsageError(
        f"no run on the engine starts with `{prefix}`", help="`prose runs list --engine temporal` lists them"
    )


async def has_worker(client: Client, place: Place) -> bool:
    """Whether any worker listens to the queue."""
    from temporalio.api.enums.v1 import TaskQueueType
    from temporalio.api.taskqueue.v1 import TaskQueue
    from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest

    asked = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=place.task_queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    )
    try:
        return bool((await client.workflow_service.describe_task_queue(asked)).pollers)
    except RPCError:
        return True


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else line[:99] + "…"
