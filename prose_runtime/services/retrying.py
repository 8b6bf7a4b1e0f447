"""Asking again when a provider is busy: visible, bounded, and at the provider's own pace."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import replace

from prose_runtime.errors import ServiceError
from prose_runtime.services.api import Reply, Request
from prose_runtime.services.pacing import Pace
from prose_runtime.values import NO_USAGE, Usage

FIRST_WAIT = 0.5
"""Seconds before the second try; doubled before each further one."""
LONGEST_WAIT = 60.0
"""Seconds; a provider that asks for a longer pause has failed for this call."""
PASSING = frozenset({"overloaded", "rate_limit", "unavailable"})
"""The kinds that another try may cure. A call over its time is not among them: it would only take longer still."""


async def with_retries(ask: Callable[[], Awaitable[Reply]], request: Request, *, retries: int) -> Reply:
    """The answer of ``ask``, asked at most ``1 + retries`` times while it fails for a passing reason.

    A request with ``retries`` of its own goes by those, so that retries of a call and of its service never multiply.
    ``request.on_retry`` hears (number of the try that failed, seconds to wait, reason) before each wait; a pause that
    the provider asks for holds for all calls to it. The usage of tries that failed is part of the reply's, and of
    the last ``ServiceError``, which is raised.
    """
    allowed = retries if request.retries is None else request.retries
    pace = request.pace or Pace()
    lost = NO_USAGE
    for attempt in itertools.count(1):
        try:
            reply = await ask()
            return replace(reply, usage=lost + reply.usage)
        except ServiceError as error:
            lost = error.usage = lost + (error.usage or NO_USAGE)
            wait = _wait(attempt, error)
            if wait <= LONGEST_WAIT and error.retry_after is not None:
                pace.hold(error.retry_after)
            if error.kind in PASSING and wait > LONGEST_WAIT:
                error.help = error.help or f"it asks for a pause of {_spoken(wait)}: resume the run after that"
            if error.kind not in PASSING or attempt > allowed or wait > LONGEST_WAIT:
                raise
            reason = error.message
        await _pause(request, pace, attempt, wait, reason)
    raise AssertionError("unreachable: the count has no end")


async def _pause(request: Request, pace: Pace, attempt: int, wait: float, reason: str) -> None:
    def told(seconds: float) -> None:
        if request.on_retry is not None:
            request.on_retry(attempt, seconds, reason)

    wait = max(wait, pace.wait())
    told(wait)
    await asyncio.sleep(wait)
    await pace.turn(told)
    pace.begin()


def _wait(attempt: int, error: ServiceError) -> float:
    """The provider's own figure, else a pause that doubles. No jitter: a run looks the same each time."""
    if error.retry_after is not None:
        return error.retry_after
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (attempt - 1))


def _spoken(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} s"


def spent(error: ServiceError) -> Usage:
    """What a failed call cost: the tokens of its tries that a provider counted."""
    return error.usage if isinstance(error.usage, Usage) else NO_USAGE
