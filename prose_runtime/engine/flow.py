"""The workflow: the interpreter walks the program, and the engine's history is the record of its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from prose_runtime.depth import make_room
from prose_runtime.engine import wire
from prose_runtime.engine.bundle import Bundle
from prose_runtime.engine.carried import Carried
from prose_runtime.engine.errands import Errands
from prose_runtime.engine.host import EngineHost, Waiting
from prose_runtime.engine.wiring import WorkflowWiring, prepared_from
from prose_runtime.errors import Cancelled, EngineError, ProseError
from prose_runtime.events import ConditionDecided, Emitted, Event, Warned
from prose_runtime.runtime.invariants import Watch
from prose_runtime.runtime.memory import Exchange, Store
from prose_runtime.runtime.people import People
from prose_runtime.runtime.result import Result, ResultListener
from prose_runtime.runtime.session import Prepared, RunRequest, close, conduct, given_values, meter_of
from prose_runtime.trace import as_row


@workflow.defn(name=wire.WORKFLOW)
class ProseRun:
    """One run of a spec."""

    def __init__(self) -> None:
        self.people = Waiting(changed=self._ask)
        self.lines: list[str] = []
        self.told: list[dict[str, Any]] = []

    @workflow.run
    async def run(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Run what ``client.order`` asked for; gives the object of ``--json`` without the calls.

        They stand in the history. A run that failed fails the workflow, with that object in the failure's details.
        """
        make_room()
        self.people.answers.update(asked.get("answers", {}))
        self.people.said.update(asked.get("said", {}))
        request = RunRequest(
            asked["spec"], asked["inputs"], asked["config"], asked["bind"], Path(), contracts=asked["contracts"],
            limits=asked["limits"], people=People.from_json(asked["people"]),
        )  # fmt: skip
        errands = Errands(asked["lost_after"])
        result = Result(asked["name"], run=workflow.info().workflow_id)
        try:
            asked["settled"] = asked.get("settled") or await errands.run(
                wire.SETTLE,
                "settle",
                {**asked, "record": None, "answers": {}, "said": {}},
                "what names mean, at a worker",
            )
            prepared = prepared_from(
                request, Bundle(**asked["bundle"]), _wiring(errands), asked["settled"], asked["specs"]
            )
        except ProseError as error:
            result.error, result.status = error, "failed"
        else:
            await self._walk(prepared, result, errands, asked)
        workflow.upsert_memo({"calls": result.requests})
        calls = [{"at": i, **call} for i, call in enumerate(result.calls) if call["step"] in self.people.asked]
        return _ended(result, calls, self.told)

    async def _walk(self, prepared: Prepared, result: Result, errands: Errands, asked: dict[str, Any]) -> None:
        meter = meter_of(prepared)
        collector = ResultListener(result)
        strict = prepared.request.contracts != "off"
        watch = Watch(prepared.program, given_values(prepared), prepared.slots, strict=strict)
        assert isinstance(prepared.wiring, WorkflowWiring)
        host = EngineHost(
            meter, [watch, collector, self._tell], self.people, errands, Carried.unpacked(asked.get("record")),
            longest=asked["longest"], hide=prepared.wiring.hidden,
        )  # fmt: skip
        await self._conducted(prepared, host, result, asked)
        close(prepared, result, watch)
        collector.close(meter)

    async def _conducted(self, prepared: Prepared, host: EngineHost, result: Result, asked: dict[str, Any]) -> None:
        """Walk the program, in a further workflow with a new history when this one gets too long."""
        walk = asyncio.ensure_future(conduct(prepared, host, result))
        try:
            await workflow.wait_condition(lambda: walk.done() or host.drained)
        except asyncio.CancelledError:
            walk.cancel()
        if walk.done() or walk.cancelling():
            return await walk
        try:
            ordered = host.carry().begun_anew({**asked, "answers": self.people.answers, "said": self.people.said})
        except ProseError as error:
            walk.cancel()
            await walk
            result.error = error
        else:
            workflow.continue_as_new(ordered)

    @workflow.signal
    def answer(self, step: str, value: Any) -> None:
        """A person's answer at a step; the first one counts."""
        self.people.answers.setdefault(step, value)

    @workflow.signal
    def say(self, step: str, parts: dict[str, Any]) -> None:
        """What a person has said so far of the answer at a step."""
        self.people.said[step] = parts
        if step in self.people.open:
            self.people.open[step]["said"] = parts
            self._ask()

    @workflow.query
    def questions(self) -> list[dict[str, Any]]:
        """What waits for a person."""
        return self.people.ordered()

    def _tell(self, event: Event) -> None:
        """Keep what the history does not show by itself, and the latest lines for people in the engine's web page."""
        if isinstance(event, ConditionDecided | Emitted | Warned):
            self.told.append({"at": workflow.time(), **as_row(event)})
        if isinstance(event, Emitted):
            self.lines = [*self.lines, str(event.value)][-5:]
            self._show()

    def _show(self) -> None:
        waiting = [f"waiting for a person: {question['question']}" for question in self.people.ordered()]
        workflow.set_current_details("\n\n".join([*self.lines, *waiting]))

    def _ask(self) -> None:
        """Tell the questions that wait, in a place that needs no worker to be read."""
        workflow.upsert_memo({"waiting": [_brief(question) for question in self.people.ordered()] or None})
        self._show()


_LONGEST_QUESTION = 20_000
"""Characters of a question that are shown beside a run; a person who is asked by a command sees all of it."""


def _brief(question: dict[str, Any]) -> dict[str, Any]:
    shown = {name: value for name, value in question.items() if name != "request"}
    return {**shown, "question": shown["question"][:_LONGEST_QUESTION]}


_BENIGN = ApplicationErrorCategory.BENIGN
"""A run that fails is no fault of the worker."""


def _ended(result: Result, calls: list[dict[str, Any]], trace: list[dict[str, Any]]) -> dict[str, Any]:
    """Complete, fail or cancel the workflow as the run ended.

    ``calls`` and ``trace`` are what the history does not show by itself; the trace is left out where it is too large.
    """
    if isinstance(result.error, Cancelled):
        raise asyncio.CancelledError
    told = {**result.as_json(), "calls": calls, "trace": trace}
    if wire.size_of(told) > wire.LARGEST:
        told["trace"] = []
    try:
        wire.check_size(told, "what the run came to", "return less, or run it on one machine")
    except EngineError as error:
        result.error = error
        told = {**told, "status": "failed", "result": None, "calls": [], "conditions": [], "emitted": []}
    if result.error is None:
        return told
    told["error"] = wire.error_to(result.error)
    raise ApplicationError(result.error.message, told, type=result.error.kind, non_retryable=True, category=_BENIGN)


def _wiring(errands: Errands) -> type[WorkflowWiring]:
    class Wiring(WorkflowWiring):
        def store(self, kept: str, agent: str) -> Store:
            return _Memory(errands, kept, agent)

    return Wiring


class _Memory:
    """An agent's memory where the workers keep it."""

    def __init__(self, errands: Errands, kept: str, agent: str):
        self.errands = errands
        self.told: Mapping[str, Any] = {"kept": kept, "agent": agent}

    async def recall(self) -> dict[str, Any]:
        step = f"memory {self.told['agent']}"
        found: dict[str, Any] = await self.errands.run(wire.RECALL, step, self.told, step)
        return found

    async def remember(self, exchange: Exchange, key: str) -> None:
        told = {**self.told, "exchange": dict(exchange), "key": key}
        await self.errands.run(wire.REMEMBER, f"{key}/remembered", told, f"memory {self.told['agent']}")
