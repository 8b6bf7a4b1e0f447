"""Limits of a run (DESIGN.md section 4): only requests that really go out count; one that would break a limit stops.

Nested units share the meter of the run, so that they share its limits.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field

from prose_runtime.errors import LimitExceeded
from prose_runtime.values import NO_USAGE, Usage


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a run; None is no bound. Times are in seconds.

    The last two hold for each service by itself, unless it has its own.
    """

    max_calls: int | None = 200
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    max_cost_usd: float | None = None
    max_concurrency: int = 8
    call_timeout: float | None = 300.0
    run_timeout: float | None = 3600.0
    max_concurrency_per_service: int | None = None
    max_requests_per_minute: int | None = None


@dataclass(slots=True)
class _Budget:
    """What may be spent of one thing. ``largest`` is the most that a call to each service took of it so far."""

    limit: str
    measure: str
    bound: float
    spent: float = 0.0
    largest: dict[str, float] = field(default_factory=dict)

    def check(self) -> None:
        """Raise LimitExceeded when nothing is left."""
        if self.spent >= self.bound:
            raise exceeded(self.limit, self.spent, self.bound, f"{self._said(self.spent)} are used")

    def doubtful(self, in_flight: Counter[str]) -> bool:
        """Whether the calls in flight may use up what is left; one to a service that is not known yet may."""
        if any(service not in self.largest for service in in_flight):
            return True
        expected = sum(count * self.largest[service] for service, count in in_flight.items())
        return self.spent + expected >= self.bound

    def add(self, service: str, usage: Usage) -> None:
        """Add what a call took."""
        taken = getattr(usage, self.measure) or 0
        self.spent += taken
        self.largest[service] = max(taken, self.largest.get(service, 0))

    def _said(self, spent: float) -> str:
        if self.measure == "cost_usd":
            return f"${spent:.4f} of ${self.bound:.2f}"
        return f"{spent:g} of {self.bound:g} {self.measure.replace('_', ' ')}"


_MEASURES = {
    "max_input_tokens": "input_tokens",
    "max_output_tokens": "output_tokens",
    "max_cost_usd": "cost_usd",
}


class Meter:
    """Counts what a run has used, nested units included, against its limits.

    ``calls`` and ``usage`` are of the whole run, recorded answers included; the bounds hold for what is asked now.
    ``unpriced`` are the models whose price is unknown although the cost is limited.
    ``bound`` is how many requests the analysis of the program allows; None is no bound.
    """

    def __init__(self, limits: Limits, bound: int | None = None):
        self.limits = limits
        self.bound = bound
        self.calls = 0
        self.usage = NO_USAGE
        self.unpriced: list[str] = []
        self._live_calls = 0
        self._in_flight: Counter[str] = Counter()
        self._changed = asyncio.Event()
        self._budgets = [
            _Budget(limit, measure, most)
            for limit, measure in _MEASURES.items()
            if (most := getattr(limits, limit)) is not None
        ]

    async def enter(self, service: str) -> None:
        """Count a request that goes out now, and is in flight until ``leave``.

        When tokens or money may be used up by what is in flight, it waits for that: so the limit is not passed by
        calls that go out side by side. What a service takes is known from its first call on.

        Raises:
            LimitExceeded: It is one too many, or nothing is left.
        """
        self.check()
        while self._budgets and self._in_flight and any(budget.doubtful(self._in_flight) for budget in self._budgets):
            self._changed.clear()
            await self._changed.wait()
            self.check()
        self.begin()
        self._in_flight[service] += 1

    def leave(self, service: str) -> None:
        """A request is no longer in flight; before, ``take`` tells what it cost."""
        self._in_flight[service] -= 1
        if not self._in_flight[service]:
            del self._in_flight[service]
        self._changed.set()

    def begin(self) -> None:
        """Count a request that goes out."""
        self._live_calls += 1

    def check(self) -> None:
        """Raise LimitExceeded when one more request is one too many, or nothing is left."""
        bound = self.limits.max_calls
        if bound is not None and self._live_calls >= bound:
            raise exceeded("max_calls", self._live_calls, bound, f"{bound} calls were made")
        if self.bound is not None and self._live_calls >= self.bound:
            raise _beyond(self._live_calls, self.bound)
        for budget in self._budgets:
            budget.check()

    def take(self, service: str, usage: Usage, model: str | None = None) -> str | None:
        """Add what a request cost. Returns the model when its price is not known but limited, the first time."""
        for budget in self._budgets:
            budget.add(service, usage)
        self.count(usage)
        unpriced = self.limits.max_cost_usd is not None and usage.cost_usd is None and usage.output_tokens is not None
        name = model or service
        if not unpriced or name in self.unpriced:
            return None
        self.unpriced.append(name)
        return name

    def count(self, usage: Usage) -> None:
        """Add a call of the run, which may come from its record."""
        self.calls += 1
        self.usage += usage


def _beyond(value: int, bound: int) -> LimitExceeded:
    """The error for more requests than the analysis allows: one of the two is wrong, and nothing more is spent."""
    return LimitExceeded(
        f"the run wants more than the {bound} requests that its program was found to make at most",
        limit="bound",
        value=value,
        bound=bound,
        help="this is a fault of prose-runtime, not of the spec: please report it with the spec",
    )


def exceeded(limit: str, value: float, bound: float, sentence: str) -> LimitExceeded:
    """The error for a reached limit: it names the limit and how to go on."""
    option = f"--{limit.replace('_', '-')}"
    return LimitExceeded(
        f"the limit {limit} is reached: {sentence}",
        limit=limit,
        value=value,
        bound=bound,
        help=f"resume the run with a higher `{option}`, or raise `{limit}` under `limits` in prose.yml",
    )
