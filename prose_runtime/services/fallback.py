"""``fallback`` of a service in prose.yml: who answers instead when it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prose_runtime.errors import ServiceError
from prose_runtime.services.api import Reply, Request, Service
from prose_runtime.services.pacing import Pace, in_time
from prose_runtime.services.retrying import spent
from prose_runtime.values import NO_USAGE, Usage

FAILING = frozenset({"overloaded", "rate_limit", "unavailable", "timeout", "exhausted"})
"""The kinds of failure of a service that another one may make good. A wrong key, a refusal or a reply that was cut says
something about the binding or the request, which has to be seen."""


class FallbackService:
    """A service and those that answer instead, in order; each has its own time and pace."""

    patient = False

    def __init__(self, service: Service, others: Sequence[Service]):
        self.name = service.name
        self.service = service
        self.others = list(others)
        self._paces = {
            id(other): Pace(getattr(other, "max_concurrency", None), getattr(other, "max_requests_per_minute", None))
            for other in others
        }

    async def __call__(self, request: Request) -> Reply:
        """The first answer. Raises the last ``ServiceError`` when nobody has one, or the first of another kind."""
        lost = NO_USAGE
        candidates = [self.service, *self.others]
        for service, following in zip(candidates, [*self.others, None], strict=True):
            try:
                return await self._asked(service, request, lost)
            except ServiceError as error:
                lost += spent(error)
                error.usage = lost
                if error.kind not in FAILING or following is None:
                    raise
                if request.on_retry is not None:
                    request.on_retry(0, 0.0, f"{error.message}; {following.name} is asked instead")
        raise AssertionError("unreachable: the last failure is raised")

    async def _asked(self, service: Service, request: Request, lost: Usage) -> Reply:
        first = service is self.service
        pace = request.pace if first else self._paces[id(service)]
        request = request if first else request.with_(model=None, pace=pace)
        own = getattr(service, "patient", False) or getattr(service, "timeout", None)
        seconds = None if own else request.seconds

        async def at_its_pace(timed: Request) -> Reply:
            if first or pace is None:
                return await service(timed)
            async with pace.place():
                await pace.turn()
                pace.begin()
                return await service(timed)

        reply = await in_time(service.name, seconds, at_its_pace, request, pace)
        return Reply(reply.value, lost + reply.usage, reply.model)

    async def aclose(self) -> None:
        """Nothing: the services are closed by whom they belong to."""

    def __getattr__(self, attribute: str) -> Any:
        """The optional methods and bounds of the service itself."""
        if attribute == "service":
            raise AttributeError(attribute)
        return getattr(self.service, attribute)
