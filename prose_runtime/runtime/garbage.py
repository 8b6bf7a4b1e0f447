"""How often Python looks for garbage while a run is on.

Thousands of calls in flight are many objects that live for long; with the collector's defaults, most of the time of
starting and stopping them went into walking all of them again and again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

SELDOM = 50_000
"""Objects made before the collector looks: about 10 MB of garbage at the most."""


@dataclass(slots=True)
class _Runs:
    """The runs of this process that are on, and what held before the first of them."""

    count: int = 0
    before: tuple[int, int, int] = (0, 0, 0)


_runs = _Runs()


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Let the collector look less often until the last run has ended; where it is off or lazier already, as it is."""
    if _runs.count == 0:
        _runs.before = gc.get_threshold()
        if 0 < _runs.before[0] < SELDOM:
            gc.set_threshold(SELDOM, *_runs.before[1:])
    _runs.count += 1
    try:
        yield
    finally:
        _runs.count -= 1
        if _runs.count == 0:
            gc.set_threshold(*_runs.before)
