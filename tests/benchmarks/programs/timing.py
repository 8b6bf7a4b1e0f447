"""What every file of programs shares: sizes, timing, and how it says what it measured. It needs Python alone."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

ROUNDS, SHRINK = (int(word) for word in (sys.argv[1:3] + ["5", "1"][len(sys.argv[1:3]) :]))
TURNS, ITEMS, BRANCHES = 100 // SHRINK, 1000 // SHRINK, max(2, 20 // SHRINK)
CALLS = {"dialectic": 2 * TURNS, "fan-out": ITEMS, "loop": 2 * TURNS, "nested": BRANCHES * BRANCHES}
"""How many calls a run of each program makes."""


def measured(programs: dict[str, Callable[[], object]]) -> None:
    """Time each program and print the medians."""
    print(json.dumps({name: statistics.median(_taken(work) for _ in range(ROUNDS)) for name, work in programs.items()}))


def measured_async(programs: dict[str, Callable[[], Awaitable[object]]]) -> None:
    """As ``measured``, for programs that run in an event loop, which is there already when the clock starts."""
    with asyncio.Runner() as runner:

        async def run(work: Callable[[], Awaitable[object]]) -> object:
            return await work()

        measured({name: lambda work=work: runner.run(run(work)) for name, work in programs.items()})


def _taken(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
