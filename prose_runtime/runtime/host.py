"""The local host: answers from the record, or asks a service and records (DESIGN.md sections 6 and 7)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, Literal

from prose_runtime.errors import Paused, ProseError, RecordError, ServiceError
from prose_runtime.events import Event, Listener, Warned
from prose_runtime.journal import Answer, Redactor, RunRecord
from prose_runtime.runtime.admission import Admission
from prose_runtime.runtime.digests import digest_of, parts_of
from prose_runtime.runtime.javascript import wait_in_loop
from prose_runtime.runtime.limits import Meter, exceeded
from prose_runtime.runtime.steering import Steering, note_steps
from prose_runtime.runtime.tape import Tape
from prose_runtime.runtime.turns import HalfTurns
from prose_runtime.services.answers import Answered
from prose_runtime.services.api import Reply, Request, Service
from prose_runtime.services.dialogue import question
from prose_runtime.services.fallback import FallbackService
from prose_runtime.services.pacing import Pace, in_time
from prose_runtime.services.retrying import spent
from prose_runtime.services.shape import shape_of
from prose_runtime.values import Usage, to_json


class AnotherRequest(RecordError):
    """The program asks something else at a recorded step, which was not foreseen before the run went on."""

    kind = "edited"


class LocalHost:
    """Runs in this process. ``record`` may be None: then nothing is kept and nothing can be resumed.

    ``steering``: the wishes of the person watching. ``answers``: by step, what people answer who were asked when the
    run paused; those that are used are taken out. ``reask``: a recorded answer to another request is dropped and
    asked for again, instead of ending the run.
    """

    def __init__(
        self,
        record: RunRecord | None,
        meter: Meter,
        listeners: Sequence[Listener],
        *,
        steering: Steering | None = None,
        answers: dict[str, Any] | None = None,
        tape: Tape | None = None,
        reask: bool = False,
    ):
        self.record = record
        self.meter = meter
        self.listeners = listeners
        self.steering = steering or Steering()
        self.answers = {} if answers is None else answers
        self.tape = tape
        self.reask = reask
        self._notes: dict[str, str] = {}
        self._failed: dict[str, ServiceError] = {}
        self._turns = HalfTurns(record)
        self._admission = Admission(meter)
        self._secrets = Redactor()
        self._keeping = record is not None or tape is not None

    def emit(self, event: Event) -> None:
        """Tell each listener."""
        for listener in self.listeners:
            listener(event)

    async def sleep(self, step: str, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def within(self, seconds: float | None, work: Awaitable[Any]) -> Any:
        """Wait for the whole run, as long as it may take.

        Raises:
            LimitExceeded: It took longer: a limit is reached.
        """
        if seconds is None:
            return await work
        clock = asyncio.timeout(seconds)
        try:
            async with clock:
                return await work
        except TimeoutError:
            if not clock.expired():
                raise
            raise exceeded("run_timeout", seconds, seconds, f"the run took {seconds:g} s") from None

    async def compute(self, doing: Future[Any], overdue: Callable[[], bool]) -> Any:
        """Wait for a computation, while other branches go on.

        Raises:
            TimeoutError: It is overdue.
        """
        return await wait_in_loop(doing, overdue)

    async def witness(self, step: str, happening: Callable[[], Awaitable[Any]]) -> Any:
        """What happened at a step, from the record when it holds it.

        Raises:
            RecordError: It cannot be kept.
        """
        kept = self.record.answer(step) if self.record else None
        taped = self.tape.happened(step) if self.tape and kept is None else None
        happened = kept or taped or Answer(step, "", "event", await happening(), "")
        if kept is None:
            await self._keep(happened)
        self._take(happened)
        return happened.value

    async def ask(self, step: str, service: Service, request: Request) -> Reply:
        """Answer a request, from the record when it holds one for this step.

        Raises:
            ServiceError: The service failed; that is recorded as well.
            LimitExceeded: The call would break a limit.
            AnotherRequest: The record holds the answer to another request.
            RecordError: The answer cannot be kept.
        """
        kept = self.record.answer(step) if self.record else None
        if kept is None or kept.reopened:
            await self.steering.ready()
        request = await self._noted_down(step, request, kept)
        digest = self._digest(service, request)
        if kept is not None and kept.digest == digest:
            _pass_over(kept, service, request)
            if not kept.reopened:
                self._take(kept, request)
                return self._replay(kept)
        elif kept is not None and not kept.reopened and not self.reask:
            raise AnotherRequest(
                f"step {step} was recorded with another request: what it is told has changed",
                help="ask such steps again with `--reask`, or start a new run",
                step=step,
            )
        taped = self._taped(step, digest, service)
        if taped is not None:
            await self._keep(taped)
            self._take(taped, request)
            return self._replay(taped)
        if step in self.answers:
            return await self._live(step, digest, Answered(service.name, self.answers.pop(step)), request)
        return await self._live(step, digest, service, request)

    def _taped(self, step: str, digest: str, service: Service) -> Answer | None:
        """What the cassette answers here. Raises NotOnTape when it does not."""
        found, fits = self.tape.find(step, digest) if self.tape else (None, True)
        if found is None:
            return None
        if not fits:
            self.emit(Warned(step, f"the cassette answers another request at {step}: what is asked has changed"))
        return replace(found, digest=digest, service=service.name)

    def _take(self, answer: Answer, request: Request | None = None) -> None:
        if self.tape is not None:
            self.tape.take(answer, request)

    def _digest(self, service: Service, request: Request) -> str:
        return digest_of(service.name, request, self._secrets) if self._keeping else ""

    async def _noted_down(self, step: str, request: Request, kept: Answer | None) -> Request:
        """The request with the note that the person watching gives it, or gave it when it was first asked."""
        if not (self._keeping or self._notes or self.steering.waiting()):
            return request
        steps = note_steps(step)
        given = next((note for place in steps if (note := self._note_at(place)) is not None), None)
        fresh = kept is None or kept.reopened
        if given is None and fresh and (notes := self.steering.take(request.target)):
            given = self._notes[steps[-1]] = "\n\n".join(note.text for note in notes)
            noted = Answer(steps[-1], "", "event", given, "")
            await self._keep(noted, *(note.kept(step) for note in notes))
            self._take(noted)
        return request if given is None else request.with_(note=given)

    def _note_at(self, step: str) -> str | None:
        kept = self.record.answer(step) if self.record else None
        kept = kept or (self.tape.happened(step) if self.tape else None)
        if kept is not None:
            self._take(kept)
        note = kept.value if kept is not None else self._notes.get(step)
        return note if isinstance(note, str) else None

    def _replay(self, kept: Answer) -> Reply:
        usage = Usage(**{**(kept.usage or {})})
        self.meter.count(usage)
        if kept.kind == "error":
            error = _error_from(kept.value)
            error.usage = usage
            raise self._noted(kept.step, error)
        return Reply(kept.value, usage, kept.model, recorded=True)

    async def _live(self, step: str, digest: str, service: Service, request: Request) -> Reply:
        async def ask(pace: Pace | None) -> Reply:
            await self.steering.ready()
            reply = await self._timed(service, request, pace)
            self._metered(step, service, reply.usage, reply.model)
            return reply

        if getattr(service, "patient", False):
            request = self._turns.begun(step, digest or digest_of(service.name, request), request)
        try:
            reply = await self._admission.pass_by(service, request, ask)
        except Paused as pause:
            pause.waiting = pause.waiting or [open_question(step, request)]
            raise
        except ServiceError as error:
            self._metered(step, service, spent(error), None)
            error.service = error.service or service.name
            self._secrets.error(error)
            await self._write_down(
                "error", Reply(_error_to(error), spent(error)), request, (step, digest, service.name)
            )
            raise self._noted(step, error) from error.__cause__
        value = self._secrets.value(to_json(reply.value))  # now: a run that goes on sees what the record holds
        answer = Reply(value, reply.usage, reply.model)
        await self._write_down("reply", answer, request, (step, digest, service.name))
        return answer

    async def _write_down(
        self, kind: Literal["reply", "error"], reply: Reply, request: Request, place: tuple[str, str, str]
    ) -> None:
        """Make an answer durable, where answers are kept. ``place``: its step, the request's digest, the service."""
        if not self._keeping:
            return
        (step, digest, service), usage = place, _usage_to(reply.usage)
        answer = Answer(step, digest, kind, reply.value, service, usage, reply.model, parts=parts_of(request))
        over = self._turns.over(step) if request.turn is not None and kind == "reply" else ()
        await self._keep(answer, *over)
        self._take(answer, request)

    def _metered(self, step: str, service: Service, usage: Usage, model: str | None) -> None:
        unpriced = self.meter.take(service.name, usage, model)
        if unpriced:
            self.emit(
                Warned(step, f"the price of {unpriced} is unknown: the limit max_cost_usd does not see its calls")
            )

    def _noted(self, step: str, error: ServiceError) -> ServiceError:
        self._failed[step] = error
        return error

    def reopen_after(self, error: ProseError) -> None:
        """Open the answers that ended the run, so that resuming it asks there again.

        These are failures that nothing handled, and the answers at the step of the error, which did not fit.
        """
        if self.record is None:
            return
        handled = {_call(step) for step, failure in self._failed.items() if failure.handled}
        ended = {_call(step) for step in self._failed} - handled
        ended |= {_call(error.step)} if error.step else set()
        self.record.reopen([step for step in list(self.record.answers) if _call(step) in ended])

    async def _timed(self, service: Service, request: Request, pace: Pace | None) -> Reply:
        """Wait for a service as long as a call may take. One that waits for a person, or has a bound of its own,
        is not bounded here.
        """
        bound = self.meter.limits.call_timeout
        if isinstance(service, FallbackService):
            return await service(request.with_(pace=pace, seconds=bound))
        own = getattr(service, "patient", False) or getattr(service, "timeout", None)
        seconds = None if own else bound
        return await in_time(service.name, seconds, service, request, pace)

    async def _keep(self, *answers: Answer) -> None:
        if self.record is not None:
            await self.record.keep(*answers)


def _call(step: str) -> str:
    """The step of a call without the number of the attempt."""
    return step.partition("#")[0]


def open_question(step: str, request: Request) -> dict[str, Any]:
    """An open question as the run's result tells of it, and as ``Answers`` reads it when the run goes on."""
    schema, said = shape_of(request), request.turn.parts if request.turn else {}
    return {
        "step": step,
        "target": request.who,
        "line": request.line,
        "question": question(request),
        "schema": None if schema is None else to_json(dict(schema)),
        **({"said": to_json(said)} if said else {}),
    }


def _pass_over(kept: Answer, service: Service, request: Request) -> None:
    """A script has given this answer already; what has to be asked for again may have been mended in it."""
    skip = getattr(service, "skip", None)
    if skip is not None:
        skip(request, _answer_of(kept) if kept.reopened else None)


def _answer_of(kept: Answer) -> Reply | ServiceError:
    return _error_from(kept.value) if kept.kind == "error" else Reply(kept.value)


def _usage_to(usage: Usage) -> dict[str, Any]:
    return {name: getattr(usage, name) for name in Usage.__dataclass_fields__}


def _error_to(error: ServiceError) -> dict[str, Any]:
    return {"message": error.message, "kind": error.kind, "service": error.service, "retry_after": error.retry_after}


def _error_from(kept: dict[str, Any]) -> ServiceError:
    return ServiceError(
        kept["message"], kind=kept["kind"], service=kept["service"], retry_after=kept.get("retry_after")
    )
