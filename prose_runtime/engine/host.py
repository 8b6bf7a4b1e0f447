"""The engine's host: what the interpreter wants from outside becomes activities, timers and signals of its workflow."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

from prose_runtime.engine import wire
from prose_runtime.engine.words import Elsewhere
from prose_runtime.errors import ServiceError
from prose_runtime.events import CallStarted, Event, Listener, Warned
from prose_runtime.runtime.javascript import PATIENCE
from prose_runtime.runtime.limits import Meter, exceeded
from prose_runtime.services.api import Reply, Request, Service
from prose_runtime.values import Usage

ATTEMPT_TIME = timedelta(days=30)
"""How long one attempt at an activity may take at most; a worker that is gone shows by its missing heartbeat."""

AT_ONCE = 3_000_000
"""Bytes that go to the engine in one message at most; it takes 4 MiB."""

SUMMARY = 190
"""Characters of a summary; the engine takes 400 bytes."""


@dataclass(slots=True)
class Question:
    """What a person is asked at a step: the request as JSON, and its label."""

    step: str
    label: str
    service: str
    request: dict[str, Any]


@dataclass(slots=True)
class Waiting:
    """The questions of a run that wait for a person, the answers that signals brought, and all steps asked."""

    open: dict[str, Question] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    changed: Callable[[], None] = lambda: None


class EngineHost:
    """Runs in a workflow. ``lost_after``: seconds without a sign of life after which a worker counts as lost."""

    def __init__(self, meter: Meter, listeners: Sequence[Listener], people: Waiting, lost_after: float):
        self.meter = meter
        self.listeners = listeners
        self.people = people
        self.errands = Errands(lost_after)
        self._clock: asyncio.Timeout | None = None
        self._left: float | None = None
        self._turns: Counter[str] = Counter()
        self._lines: dict[str, int] = {}
        self._places = asyncio.Semaphore(meter.limits.max_concurrency)

    def emit(self, event: Event) -> None:
        """Tell each listener."""
        if isinstance(event, CallStarted):
            self._lines[event.step] = event.where.line
        for listener in self.listeners:
            listener(event)

    async def sleep(self, step: str, seconds: float) -> None:
        """Wait by a timer of the engine."""
        if seconds > 0:
            await workflow.sleep(seconds, summary=_short(step))

    async def witness(self, step: str, happening: Callable[[], Awaitable[Any]]) -> Any:
        """What happens at a step. The engine's history decides what that is, here and wherever it is replayed."""
        return await happening()

    async def compute(self, doing: Future[Any], overdue: Callable[[], bool]) -> Any:
        """Wait for a computation; nothing else of the workflow goes on meanwhile, so that the order stays the same.

        Raises:
            TimeoutError: It is overdue.
        """
        while not overdue():
            try:
                return doing.result(PATIENCE)
            except TimeoutError:
                if doing.done():
                    raise
        raise TimeoutError

    async def within(self, seconds: float | None, work: Awaitable[Any]) -> Any:
        """Wait for the whole run, as long as it may take; time in which a person is waited for does not count.

        Raises:
            LimitExceeded: It took longer: a limit is reached.
        """
        if seconds is None:
            return await work
        try:
            async with asyncio.timeout(seconds) as self._clock:
                return await work
        except TimeoutError:
            if self._clock is None or not self._clock.expired():
                raise
            raise exceeded("run_timeout", seconds, seconds, f"the run took {seconds:g} s") from None
        finally:
            self._clock = None

    async def ask(self, step: str, service: Service, request: Request) -> Reply:
        """Answer a request: by an activity, or a person's by a signal.

        Raises:
            ServiceError: The service failed.
            LimitExceeded: The call would break a limit.
            EngineError: The request is larger than the engine takes.
        """
        assert isinstance(service, Elsewhere)
        if service.person:
            self.meter.check()
            self.meter.begin()
            reply = Reply(await self._person(step, service, request))
            self.meter.take(service.name, reply.usage)
            return reply
        async with self._places:
            await self.meter.enter(service.name)
            try:
                return await self._worker(step, service, request)
            finally:
                self.meter.leave(service.name)

    async def _worker(self, step: str, service: Elsewhere, request: Request) -> Reply:
        turn = self._turns[service.name]
        self._turns[service.name] += 1
        asked = {
            "service": service.name,
            "step": step,
            "line": self._lines.pop(step, None),
            "turn": turn,
            "timeout": self.meter.limits.call_timeout,
            "request": wire.request_to(request),
        }
        try:
            row = await self.errands.run(wire.ASK, step, asked, f"{service.name} · {request.label}")
        except ServiceError as error:
            self._metered(step, service, error.usage or Usage(), None)
            raise
        reply = wire.reply_from(row)
        self._metered(step, service, reply.usage, reply.model)
        return reply

    def _metered(self, step: str, service: Service, usage: Usage, model: str | None) -> None:
        unpriced = self.meter.take(service.name, usage, model)
        if unpriced:
            told = f"the price of {unpriced} is unknown: the limit max_cost_usd does not see its calls"
            self.emit(Warned(step, told))

    # people

    async def _person(self, step: str, service: Elsewhere, request: Request) -> Any:
        """Wait for the signal with the answer, for days if need be; no worker is held meanwhile."""
        self.people.asked.add(step)
        self.people.open[step] = Question(step, request.label, service.name, wire.request_to(request))
        async with self._out_of_time():
            try:
                self.people.changed()
                await workflow.wait_condition(lambda: step in self.people.answers)
            finally:
                del self.people.open[step]
                self.people.changed()
        return self.people.answers[step]

    @asynccontextmanager
    async def _out_of_time(self) -> Any:
        """Stop the clock of the run while a person is waited for."""
        now = asyncio.get_running_loop().time
        clock = self._clock
        if clock is not None and len(self.people.open) == 1:
            self._left = (clock.when() or now()) - now()
            clock.reschedule(None)
        try:
            yield
        finally:
            if clock is not None and not self.people.open and not clock.expired() and self._left is not None:
                clock.reschedule(now() + self._left)
                self._left = None


class Errands:
    """Activities of a workflow, paced so that no message to the engine is too large."""

    def __init__(self, lost_after: float):
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
        try:
            return await workflow.execute_activity(
                kind,
                argument,
                activity_id=wire.activity_id(step),
                summary=_short(summary),
                start_to_close_timeout=ATTEMPT_TIME,
                heartbeat_timeout=self._lost_after,
                retry_policy=RetryPolicy(maximum_interval=timedelta(minutes=1)),
            )
        except ActivityError as error:
            raise _told(error) from None

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
        return wire.error_from(row) if "exit_code" in row else wire.failure_from(row)
    message = getattr(cause, "message", None) or error.message
    return wire.EngineError(f"the engine gave the call up: {message}")


def _short(text: str) -> str:
    return text if len(text) <= SUMMARY else text[: SUMMARY - 1] + "…"
