"""Asking again when a provider is busy: visible, bounded, and at the provider's own pace."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import TypeVar

from prose_runtime.errors import ServiceError
from prose_runtime.services.api import RetryListener

T = TypeVar("T")

FIRST_WAIT = 0.5
"""Seconds before the second try; doubled before each further one."""
LONGEST_WAIT = 60.0
"""Seconds; a provider that asks for a longer pause has failed for this call."""
PASSING = frozenset({"overloaded", "rate_limit", "unavailable"})
"""The kinds that another try may cure. A call over its time is not among them: it would only take longer still."""


async def with_retries(ask: Callable[[], Awaitable[T]], *, retries: int, on_retry: RetryListener | None = None) -> T:
    """The answer of ``ask``, asked at most ``1 + retries`` times while it fails for a passing reason.

    ``on_retry`` hears (number of the try that failed, seconds to wait, reason) before each wait. Raises the last
    ``ServiceError``.
    """
    for attempt in itertools.count(1):
        try:
            return await ask()
        except ServiceError as error:
            wait = _wait(attempt, error)
            if error.kind not in PASSING or attempt > retries or wait > LONGEST_WAIT:
                raise
            reason = error.message
        if on_retry is not None:
            on_retry(attempt, wait, reason)
        await asyncio.sleep(wait)
    raise AssertionError("unreachable: the count has no end")


def _wait(attempt: int, error: ServiceError) -> float:
    """The provider's own figure, else a pause that doubles. No jitter: a run looks the same each time."""
    if error.retry_after is not None:
        return error.retry_after
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (attempt - 1))
