"""The engine's host: what the interpreter wants from outside becomes activities, timers and signals of its workflow."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from temporalio import workflow

from prose_runtime.engine import wire
from prose_runtime.engine.carried import Carried
from prose_runtime.engine.errands import Errands, short
from prose_runtime.engine.words import Elsewhere
from prose_runtime.errors import ServiceError
from prose_runtime.events import Event, Listener, Warned
from prose_runtime.journal.cassette import natural
from prose_runtime.runtime.host import open_question
from prose_runtime.runtime.javascript import PATIENCE
from prose_runtime.runtime.limits import Meter, exceeded
from prose_runtime.services.api import Reply, Request, Service, Turn
from prose_runtime.values import Usage


@dataclass(slots=True)
class Waiting:
    """The questions of a run that wait for people, by step, and the answers that signals brought.

    ``asked`` holds all steps at which a person was asked, ``said`` what people have said in turns that are not over;
    ``changed`` is called when a question opens or closes.
    """

    open: dict[str, dict[str, Any]] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    said: dict[str, Any] = field(default_factory=dict)
    changed: Callable[[], None] = lambda: None

    def ordered(self) -> list[dict[str, Any]]:
        """The open questions as they stand in the program; the order in which branches come to ask is any."""
        return sorted(self.open.values(), key=lambda question: (question["line"] or 0, natural(question["step"])))


class EngineHost:
    """Runs in a workflow. ``longest``: events after which the history is to be cut; ``hide``: variables with secrets.

    ``record`` holds what was answered before the history was cut last, and takes in what is answered now.
    """

    def __init__(
        self,
        meter: Meter,
        listeners: Sequence[Listener],
        people: Waiting,
        errands: Errands,
        record: Carried,
        *,
        longest: int,
        hide: Sequence[str] = (),
    ):
        self.meter = meter
        self.listeners = listeners
        self.people = people
        self.errands = errands
        self.record = record
        self._longest = longest
        self._hide = list(hide)
        self._clock: asyncio.Timeout | None = None
        self._turns: Counter[str] = Counter()
        self._places = asyncio.Semaphore(meter.limits.max_concurrency)

    def emit(self, event: Event) -> None:
        """Tell each listener."""
        for listener in self.listeners:
            listener(event)

    async def sleep(self, step: str, seconds: float) -> None:
        """Wait by a timer of the engine."""
        left = self.record.until.setdefault(step, workflow.time() + seconds) - workflow.time()
        if left > 0:
            await workflow.sleep(left, summary=short(step))

    async def witness(self, step: str, happening: Callable[[], Awaitable[Any]]) -> Any:
        """What happens at a step. The engine's history decides what that is, here and wherever it is replayed."""
        if step not in self.record.events:
            self.record.events[step] = await happening()
        return self.record.events[step]

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

    # time

    async def within(self, seconds: float | None, work: Awaitable[Any]) -> Any:
        """Wait for the whole run, as long as it may take; time in which a person is waited for does not count.

        Raises:
            LimitExceeded: It took longer: a limit is reached.
        """
        if seconds is None:
            return await work
        left = seconds if self.record.left is None else self.record.left
        try:
            async with asyncio.timeout(left) as self._clock:
                return await work
        except TimeoutError:
            if self._clock is None or not self._clock.expired():
                raise
            raise exceeded("run_timeout", seconds, seconds, f"the run took {seconds:g} s") from None
        finally:
            self._clock = None

    def _stop_clock(self) -> None:
        """Let the time of the run stand still while a person is waited for."""
        if self._clock is not None and len(self.people.open) == 1:
            self.record.left = self._left(self._clock)
            self._clock.reschedule(None)

    def _start_clock(self) -> None:
        clock = self._clock
        if clock is not None and not self.people.open and not clock.expired() and self.record.left is not None:
            clock.reschedule(asyncio.get_running_loop().time() + self.record.left)

    def _left(self, clock: asyncio.Timeout) -> float:
        now = asyncio.get_running_loop().time()
        when = clock.when()
        return (self.record.left or 0.0) if when is None else max(when - now, 0.001)

    # cutting the history

    @property
    def drained(self) -> bool:
        """Whether the history is to be cut, and nothing is in flight any more: what is answered is in the record."""
        return self.errands.in_flight == 0 and self._long

    @property
    def _long(self) -> bool:
        info = workflow.info()
        return info.get_current_history_length() > self._longest or info.get_current_history_size() > wire.LARGEST * 20

    def carry(self) -> Carried:
        """The record for the next part of the run."""
        if self._clock is not None:
            self.record.left = self._left(self._clock)
        return self.record

    async def _go_on(self) -> None:
        """Let a request go out, or wait until the history has been cut, which ends this part of the run."""
        if self._long:
            await workflow.wait_condition(lambda: False)

    # asking

    async def ask(self, step: str, service: Service, request: Request) -> Reply:
        """Answer a request: from the record, by an activity, or a person's by a signal.

        Raises:
            ServiceError: The service failed.
            LimitExceeded: The call would break a limit.
            EngineError: The request is larger than the engine takes.
        """
        assert isinstance(service, Elsewhere)
        turn = self._turns[service.name]
        self._turns[service.name] += 1
        if step in self.record.replies or step in self.record.failures:
            return self._recorded(step, service)
        if service.person:
            return await self._person(step, service, request)
        async with self._places:
            await self.meter.enter(service.name)
            try:
                await self._go_on()
                return await self._worker(step, service, request, turn)
            finally:
                self.meter.leave(service.name)

    def _recorded(self, step: str, service: Elsewhere) -> Reply:
        failed = self.record.failures.get(step)
        row = failed or self.record.replies[step]
        usage = Usage(**row["usage"])
        if self.record.resumed:
            self.meter.count(usage)
        else:
            self.meter.begin()
            self.meter.take(service.name, usage)
        if failed is not None:
            raise wire.failure_from(failed)
        return wire.reply_from(row, recorded=self.record.resumed)

    async def _worker(self, step: str, service: Elsewhere, request: Request, turn: int) -> Reply:
        asked = {
            "service": service.name,
            "step": step,
            "line": request.line,
            "turn": turn,
            "timeout": self.meter.limits.call_timeout,
            "hide": self._hide,
            "request": wire.request_to(request),
        }
        try:
            row = await self.errands.run(wire.ASK, step, asked, f"{service.name} · {request.label}")
        except ServiceError as error:
            self.record.keep_failure(step, error)
            self._metered(step, service, error.usage or Usage(), None)
            raise
        self.record.replies[step] = row
        reply = wire.reply_from(row)
        self._metered(step, service, reply.usage, reply.model)
        return reply

    def _metered(self, step: str, service: Service, usage: Usage, model: str | None) -> None:
        unpriced = self.meter.take(service.name, usage, model)
        if unpriced:
            told = f"the price of {unpriced} is unknown: the limit max_cost_usd does not see its calls"
            self.emit(Warned(step, told))

    async def _person(self, step: str, service: Elsewhere, request: Request) -> Reply:
        """Wait for the signal with the answer, for days if need be; no worker is held meanwhile."""
        self.meter.check()
        self.meter.begin()
        self.people.asked.add(step)
        said = request.with_(turn=Turn(self.people.said.get(step)))
        self.people.open[step] = {**open_question(step, said), "request": wire.request_to(request)}
        self._stop_clock()
        self.people.changed()
        try:
            await workflow.wait_condition(lambda: step in self.people.answers)
        except asyncio.CancelledError:  # nothing else: where a worker lets go of a run, the question stays open
            self._closed(step)
            raise
        self._closed(step)
        reply = Reply(self.people.answers[step])
        self.record.replies[step] = wire.reply_to(reply)
        self.meter.take(service.name, reply.usage)
        return reply

    def _closed(self, step: str) -> None:
        del self.people.open[step]
        self.people.said.pop(step, None)
        self.people.changed()
        self._start_clock()
