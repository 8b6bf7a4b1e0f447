"""Limits of a run (DESIGN.md section 4): only requests that really go out count; one that would break a limit stops."""

from __future__ import annotations

from dataclasses import dataclass

from prose_runtime.errors import LimitExceeded
from prose_runtime.values import NO_USAGE, Usage


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a run; None is no bound. Times are in seconds."""

    max_calls: int | None = 200
    max_cost_usd: float | None = None
    max_concurrency: int = 8
    call_timeout: float | None = 300.0
    run_timeout: float | None = 3600.0


class Meter:
    """Counts what a run has used, nested units included, against its limits.

    ``calls`` and ``usage`` are of the whole run, recorded answers included; the bounds hold for what is asked now.
    """

    def __init__(self, limits: Limits):
        self.limits = limits
        self.calls = 0
        self.usage = NO_USAGE
        self._live_calls = 0
        self._live_cost = 0.0

    def before_call(self) -> None:
        """Count a request that is about to go out.

        Raises:
            LimitExceeded: It is one too many, or the money is spent.
        """
        limits = self.limits
        if limits.max_calls is not None and self._live_calls >= limits.max_calls:
            raise exceeded("max_calls", self._live_calls, limits.max_calls, f"{limits.max_calls} calls were made")
        if limits.max_cost_usd is not None and self._live_cost >= limits.max_cost_usd:
            spent = f"${self._live_cost:.4f} of ${limits.max_cost_usd:.2f} are spent"
            raise exceeded("max_cost_usd", self._live_cost, limits.max_cost_usd, spent)
        self._live_calls += 1

    def after_call(self, usage: Usage, *, live: bool) -> None:
        """Add what an answer cost."""
        self.calls += 1
        self.usage += usage
        if live and usage.cost_usd is not None:
            self._live_cost += usage.cost_usd


def exceeded(limit: str, value: float, bound: float, sentence: str) -> LimitExceeded:
    """The error for a reached limit: it names the limit and how to go on."""
    return LimitExceeded(
        f"the limit {limit} is reached: {sentence}",
        limit=limit,
        value=value,
        bound=bound,
        help=f"raise `{limit}` under `limits` in prose.yml, then resume the run",
    )
