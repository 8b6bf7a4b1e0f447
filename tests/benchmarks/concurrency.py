"""What ten thousand calls in flight at once cost: time beyond the one second that each takes, memory, cancellation."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.measure import Row, Scale

CROWD = Path(__file__).with_name("programs") / "crowd.py"
CALLS = 10_000


def rows(scale: Scale) -> Iterator[Row]:
    """Time over the second, memory a pending call, and how long it takes to stop all of them. Wall-clock time."""
    calls = CALLS // scale.shrink
    rounds = 3 if scale.shrink == 1 else 1
    run = [_crowd(calls) for _ in range(rounds)]
    stopped = [_crowd(calls, "--cancel") for _ in range(rounds)]
    named = f"{calls:,} calls of 1 s at once"
    yield Row(f"{named}: time over 1 s", 1000 * median(one["over"] for one in run), "ms", note="wall clock")
    yield Row(f"{named}: a waiting call", median(one["kib"] for one in run), "KB", goal=12)
    yield Row(f"{named}: stop all", median(one["cancel"] for one in stopped), "s", goal=0.5, note="wall clock")


def _crowd(calls: int, *flags: str) -> dict[str, float]:
    words = [sys.executable, str(CROWD), str(calls), *flags]
    measured: dict[str, float] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return measured
