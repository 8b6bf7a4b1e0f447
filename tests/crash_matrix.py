"""Kills a run at every place of writing and counts what became of it. Run it with python; it fails if a thing was lost.

The run has nested parallel loops, a race, a caught failure, a judge, a composite and a person's turn. Each life is
killed with SIGKILL before a transaction of the record, before its commit or behind it, goes on in a new process, and
is compared with an undisturbed one. A second and a third round kill each life twice, a fourth answers half of the
calls from a cassette and records a new one.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

if __package__ is None or __package__ == "":
    sys.path.insert(0, str(Path(__file__).parent))

from support.crashes import lives

BAD = ("wrong results", "repeated finished calls", "calls begun too early", "faults")
ROUNDS = ((0, False), (7, False), (3, False), (0, True))
"""Of each round, after how many places lives are killed again, and whether they have cassettes."""


def measure(folder: Path, every: int = 1, rounds: Sequence[tuple[int, bool]] = ROUNDS) -> dict[str, int]:
    """Counts over all lives. ``every``: kill at each so-manieth place only."""
    counts = dict.fromkeys(("lives", "kills", *BAD, "in flight"), 0)
    for again, taped in rounds:
        for deaths, life, calm in lives(folder / f"round{again}{taped}", every, again, taped):
            counts["lives"] += 1
            counts["kills"] += life.kills
            counts["wrong results"] += life.value != calm.value or calm.value is None
            counts["repeated finished calls"] += len(life.repeated)
            counts["calls begun too early"] += len(life.early)
            counts["faults"] += len(life.faults)
            counts["in flight"] = max(counts["in flight"], life.in_flight)
            if life.faults or life.repeated or life.value != calm.value:
                print(f"killed at {deaths}: {life}", file=sys.stderr)
    return counts


def main() -> int:
    """Print the counts; 1 when a life was not as it should be."""
    with tempfile.TemporaryDirectory() as folder:
        counts = measure(Path(folder))
    for what, number in counts.items():
        print(f"{number:6} {'calls in flight at most when killed' if what == 'in flight' else what}")
    return int(any(counts[what] for what in BAD))


if __name__ == "__main__":
    sys.exit(main())
