"""How fast a service is asked: so many requests at once, so many a minute, none while it wants to be left alone."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext

from prose_runtime.errors import ServiceError
from prose_runtime.services.api import Reply, Request

MINUTE = 60.0
"""Seconds in which the requests of a minute are counted."""


class Pace:
    """What all calls to one service share: its places, the requests of the last minute, a pause that it asked for.

    ``at_once`` and ``a_minute`` are the most requests in flight and in any minute; None is no bound.
    """

    def __init__(self, at_once: int | None = None, a_minute: int | None = None):
        self._places = asyncio.Semaphore(at_once) if at_once else None
        self._a_minute = a_minute
        self._begun: deque[float] = deque()
        self._until = 0.0

    def place(self) -> AbstractAsyncContextManager[None]:
        """One of the requests that may be in flight; entering it waits until there is room."""
        return _NO_BOUND if self._places is None else self._places

    def hold(self, seconds: float) -> None:
        """Ask nothing for so long: what one call was told holds for all."""
        self._until = max(self._until, _now() + seconds)

    def wait(self) -> float:
        """Seconds until a request may go out; 0 when it may now."""
        if not self._until and not self._begun:
            return 0.0
        now = _now()
        while self._begun and self._begun[0] <= now - MINUTE:
            self._begun.popleft()
        full = self._a_minute is not None and len(self._begun) >= self._a_minute
        room = self._begun[len(self._begun) - (self._a_minute or 0)] + MINUTE - now if full else 0.0
        return max(0.0, self._until - now, room)

    def begin(self) -> None:
        """Count a request that goes out now."""
        if self._a_minute is not None:
            self._begun.append(_now())

    async def turn(self, on_wait: Callable[[float], None] | None = None) -> None:
        """Wait until a request may go out. ``on_wait`` hears the seconds before each wait."""
        while (seconds := self.wait()) > 0:
            if on_wait is not None:
                on_wait(seconds)
            await asyncio.sleep(seconds)


_NO_BOUND: AbstractAsyncContextManager[None] = nullcontext()


def _now() -> float:
    return asyncio.get_running_loop().time()


async def in_time(
    name: str,
    seconds: float | None,
    ask: Callable[[Request], Awaitable[Reply]],
    request: Request,
    pace: Pace | None = None,
) -> Reply:
    """Ask a service, which may take so long; None is any time. ``pace`` is told with the request.

    Pauses before another try do not count: they are the server's or our own doing, and visible. Raises
    ``ServiceError`` of kind ``timeout``.
    """
    if seconds is None:
        return await ask(request if pace is None else request.with_(pace=pace))
    clock = asyncio.timeout(seconds)

    def waiting(attempt: int, delay: float, reason: str) -> None:
        clock.reschedule((clock.when() or 0.0) + delay)
        if request.on_retry is not None:
            request.on_retry(attempt, delay, reason)

    try:
        async with clock:
            return await ask(request.with_(on_retry=waiting, pace=pace or request.pace))
    except TimeoutError as error:
        if not clock.expired():
            raise
        message = f"{name} did not answer within {seconds:g} s"
        raise ServiceError(message, kind="timeout", service=name) from error
