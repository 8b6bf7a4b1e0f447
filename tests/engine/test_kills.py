"""Workers that die in the middle of a run: nothing is wrong, and nothing that was finished is asked again."""

from __future__ import annotations

from engine.kills import disturbed
from support.engine import Team


def test_workers_killed_in_nested_parallel_loops(team: Team) -> None:
    tally = disturbed(team, 3, topics=3, rounds=2, delay=0.5, seed=7)
    assert tally.kills == 3, tally
    assert tally.again > 0, tally
    assert (tally.wrong, tally.repeated_finished) == (0, 0), tally
