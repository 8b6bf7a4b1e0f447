"""Structured concurrency in one place: start branches, stop the rest when it is decided, never leave one behind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from prose_runtime.errors import LimitExceeded, Paused, ProseError
from prose_runtime.runtime.failures import catchable, handled

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """How a branch ended: with a value, an error, or neither because it was cancelled."""

    status: Literal["done", "failed", "cancelled"]
    value: T | None = None
    error: ProseError | None = None


async def run_all(branches: Sequence[Callable[[], Awaitable[T]]], *, tolerant: bool) -> list[Outcome[T]]:
    """Run all branches to their end.

    The first failure cancels the rest and is raised, unless ``tolerant``: then failures that a program may catch are
    outcomes. A pause or a limit lets the others finish first, for their answers are paid for.
    """
    return await _Group(branches, wanted=None, tolerant=tolerant).run()


async def run_until(branches: Sequence[Callable[[], Awaitable[T]]], wanted: int) -> list[Outcome[T]]:
    """Run until ``wanted`` branches succeeded, then cancel the rest.

    Failures are disregarded; the last one is raised when too few branches succeed.
    """
    return await _Group(branches, wanted=wanted, tolerant=True).run()


class _Group(Generic[T]):
    def __init__(self, branches: Sequence[Callable[[], Awaitable[T]]], wanted: int | None, tolerant: bool):
        self.branches = branches
        self.wanted = wanted
        self.tolerant = tolerant
        self.outcomes: list[Outcome[T]] = [Outcome("cancelled")] * len(branches)
        self.successes = 0
        self.stops: list[tuple[int, Paused | LimitExceeded]] = []
        self.last: ProseError | None = None

    async def run(self) -> list[Outcome[T]]:
        tasks = [asyncio.ensure_future(branch()) for branch in self.branches]
        landed = _landings(tasks)
        try:
            taken = 0
            while taken < len(tasks) and not self._satisfied:
                for i in await _together(landed):
                    self._take(i, tasks[i])
                    taken += 1
        finally:
            await _end(tasks)
        return self._settled()

    @property
    def _satisfied(self) -> bool:
        return self.wanted is not None and self.successes >= self.wanted

    def _take(self, index: int, task: asyncio.Future[T]) -> None:
        if self._satisfied:
            return
        error = task.exception()
        if error is None:
            self.outcomes[index] = Outcome("done", task.result())
            self.successes += 1
        elif isinstance(error, Paused | LimitExceeded):
            self.stops.append((index, error))
        elif isinstance(error, ProseError) and self.tolerant and catchable(error):
            self.outcomes[index] = Outcome("failed", error=error)
            self.last = error
        else:
            raise error

    def _settled(self) -> list[Outcome[T]]:
        short = self.wanted is not None and self.successes < min(self.wanted, len(self.branches))
        if self.stops and (self.wanted is None or short):
            raise self._stopped()
        if short and self.last is not None:
            raise self.last
        for outcome in self.outcomes:
            if outcome.error is not None:
                handled(outcome.error)
        return self.outcomes

    def _stopped(self) -> Paused | LimitExceeded:
        """What ends the group: a limit before pauses, which are one together."""
        stops = [error for _, error in sorted(self.stops, key=lambda entry: entry[0])]
        limit = next((error for error in stops if isinstance(error, LimitExceeded)), None)
        return limit or Paused.together([error for error in stops if isinstance(error, Paused)])


def _landings(tasks: Sequence[asyncio.Future[Any]]) -> asyncio.Queue[int]:
    """The indexes of tasks as they end."""
    landed: asyncio.Queue[int] = asyncio.Queue()
    for i, task in enumerate(tasks):
        task.add_done_callback(lambda _, i=i: landed.put_nowait(i))  # type: ignore[misc]
    return landed


async def _together(landed: asyncio.Queue[int]) -> list[int]:
    """Wait for the next task to end. Those that ended by then come in their order: the same answers, the same run."""
    ended = [await landed.get()]
    while not landed.empty():
        ended.append(landed.get_nowait())
    return sorted(ended)


async def _end(tasks: Collection[asyncio.Future[Any]]) -> None:
    """Cancel what still runs and wait until it has ended; what a finished one raised is looked at, not lost."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
