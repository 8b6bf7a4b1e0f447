"""The activities: what a worker does for workflows. Its own prose.yml and environment say how, and keys stay there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from prose_runtime.depth import make_room
from prose_runtime.engine import wire
from prose_runtime.engine.bundle import Bundle
from prose_runtime.engine.wiring import settle
from prose_runtime.engine.words import service_named
from prose_runtime.errors import EngineError, Paused, ProseError, ServiceError
from prose_runtime.journal import protect, redact
from prose_runtime.runtime.people import People
from prose_runtime.runtime.session import RunRequest
from prose_runtime.runtime.wiring import LocalWiring
from prose_runtime.services import registry
from prose_runtime.services.api import Reply, Request, Service
from prose_runtime.services.bindings import Bindings
from prose_runtime.services.pacing import Pace, in_time
from prose_runtime.values import to_json

TRIES = 5
"""How often something that no service and no spec can have caused is tried before the run is told of it."""


class Activities:
    """What one worker, that stands in a folder with its prose.yml, does."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.bindings = Bindings.load(None, folder)
        self._paces: dict[str, Pace] = {}

    def all(self) -> list[Callable[..., Any]]:
        """The functions to register."""
        return [self.settle, self.ask, self.recall, self.remember]

    @activity.defn(name=wire.SETTLE)
    async def settle(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Find out what the words of a run mean here."""
        make_room()
        request = RunRequest(
            asked["spec"],
            asked["inputs"],
            asked["config"],
            asked["bind"],
            self.folder,
            limits=asked["limits"],
            people=People.from_json(asked["people"]),
        )
        async with _telling():
            settled = await asyncio.to_thread(settle, request, Bundle(**asked["bundle"]), asked["specs"], self.folder)
            wire.check_size(settled, "what the worker adds to the run", "make the specs of its prose.yml smaller")
            return settled

    @activity.defn(name=wire.ASK)
    async def ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Ask a service."""
        async with _telling(), _alive():
            protect(asked["hide"])
            service = self._service(asked["service"])
            request = wire.request_from(
                asked["request"],
                lambda n, seconds, reason: activity.heartbeat({"retry": n, "in": seconds, "reason": reason}),
            )
            for _ in range(asked["turn"] if hasattr(service, "skip") else 0):
                service.skip(request)
            reply = await self._timed(service, request, asked["timeout"])
            row = wire.reply_to(Reply(redact(to_json(reply.value)), reply.usage, reply.model))
            wire.check_size(row, f"the reply of {service.name}", "ask for less, or run it on one machine")
            return row

    def _service(self, name: str) -> Any:
        """A service of this worker. A script begins anew each time: its turn comes with the request."""
        binding = service_named(self.bindings, name)
        service = self.bindings.service(binding)
        if hasattr(service, "skip") and binding.settings is not None:
            return registry.create(binding.name, binding.settings)
        return service

    async def _timed(self, service: Service, request: Request, seconds: float | None) -> Reply:
        own = getattr(service, "patient", False) or getattr(service, "timeout", None)
        pace = self._pace(service)
        async with pace.place():
            await pace.turn(lambda wait: request.on_retry and request.on_retry(0, wait, "its pace"))
            pace.begin()
            return await in_time(service.name, None if own else seconds, service, request, pace)

    def _pace(self, service: Service) -> Pace:
        """How fast this worker may ask a service, whichever runs want to."""
        if service.name not in self._paces:
            limits = self.bindings.config.limits
            self._paces[service.name] = Pace(
                getattr(service, "max_concurrency", None) or limits.max_concurrency_per_service,
                getattr(service, "max_requests_per_minute", None) or limits.max_requests_per_minute,
            )
        return self._paces[service.name]

    @activity.defn(name=wire.RECALL)
    async def recall(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Read an agent's memory."""
        async with _telling():
            found: dict[str, Any] = await self._store(asked).recall()
            return found

    @activity.defn(name=wire.REMEMBER)
    async def remember(self, asked: dict[str, Any]) -> None:
        """Write an exchange into an agent's memory."""
        async with _telling():
            await self._store(asked).remember(asked["exchange"], asked["key"])

    def _store(self, asked: dict[str, Any]) -> Any:
        from prose_runtime.check.project import Project

        store = LocalWiring(self.bindings, Project.around(self.folder)).memory(asked["kept"], asked["agent"])
        assert store is not None
        return store

    async def aclose(self) -> None:
        """Let go of the services."""
        await self.bindings.aclose()


@asynccontextmanager
async def _alive() -> AsyncIterator[None]:
    """Tell the engine again and again that this worker is there."""

    async def beat() -> None:
        timeout = activity.info().heartbeat_timeout
        pause = timeout.total_seconds() / 4 if timeout else 5.0
        while True:
            activity.heartbeat()
            await asyncio.sleep(pause)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()


@asynccontextmanager
async def _telling() -> AsyncIterator[None]:
    """Turn what goes wrong into failures of the activity: final ones, and those that another try may mend."""
    try:
        yield
    except ServiceError as error:
        raise _failure(error, redact(wire.failure_to(error))) from None
    except Paused as error:
        raise _failure(error) from None
    except ProseError as error:
        raise _failure(error, redact(wire.error_to(error))) from None
    except Exception as error:
        if activity.info().attempt < TRIES:
            raise
        fault = EngineError(f"a worker failed {TRIES} times: {type(error).__name__}: {error}")
        raise _failure(fault, redact(wire.error_to(fault))) from error


def _failure(error: ProseError, told: dict[str, Any] | None = None) -> ApplicationError:
    """The failure of an activity; one that tells what happened is final. It is no fault of the worker."""
    details = [] if told is None else [told]
    message = error.message if told is None else told["message"]
    benign = ApplicationErrorCategory.BENIGN
    return ApplicationError(message, *details, type=error.kind, non_retryable=told is not None, category=benign)
