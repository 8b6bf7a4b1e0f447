"""When a request may go out: the places and pace of its service, the places of the run, what its limits leave."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from prose_runtime.runtime.limits import Meter
from prose_runtime.services.api import Request, Service
from prose_runtime.services.pacing import Pace

T = TypeVar("T")


class Admission:
    """What all calls of a run pass before they go out."""

    def __init__(self, meter: Meter):
        self._meter = meter
        self._places = asyncio.Semaphore(meter.limits.max_concurrency)
        self._paces: dict[str, Pace] = {}

    async def pass_by(self, service: Service, request: Request, ask: Callable[[Pace | None], Awaitable[T]]) -> T:
        """Wait for room and ask, at the pace of the service; what it cost is told to the meter by who asks.

        A service that waits for a person takes no room.

        Raises:
            LimitExceeded: The request would break a limit.
        """
        if getattr(service, "patient", False):
            self._meter.check()
            self._meter.begin()
            return await ask(None)
        pace = self._pace(service)
        async with pace.place():
            await self._place(pace, service, request)
            try:
                await self._meter.enter(service.name)
                try:
                    return await ask(pace)
                finally:
                    self._meter.leave(service.name)
            finally:
                self._places.release()

    async def _place(self, pace: Pace, service: Service, request: Request) -> None:
        """One of the run's places, at a time when the service may be asked."""

        def told(seconds: float) -> None:
            if request.on_retry is not None:
                request.on_retry(0, seconds, f"{service.name} is asked no faster than it may be")

        while True:
            if pace.wait() > 0:
                await pace.turn(told)
            await self._places.acquire()
            if pace.wait() == 0:
                pace.begin()
                return
            self._places.release()

    def _pace(self, service: Service) -> Pace:
        """How fast a service may be asked: as it says itself, else as the limits of the run say."""
        if service.name not in self._paces:
            limits = self._meter.limits
            at_once = getattr(service, "max_concurrency", None) or limits.max_concurrency_per_service
            a_minute = getattr(service, "max_requests_per_minute", None) or limits.max_requests_per_minute
            self._paces[service.name] = Pace(at_once, a_minute)
        return self._paces[service.name]
