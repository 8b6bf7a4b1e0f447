"""A run that is killed while it writes: nothing is lost, nothing is asked twice. All places: tests/crash_matrix.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from crash_matrix import BAD, measure


@pytest.mark.parametrize(("every", "again", "taped"), [(7, 0, False), (17, 7, False), (17, 0, True)])
def test_a_killed_run_goes_on_as_if_nothing_had_been(tmp_path: Path, every: int, again: int, taped: bool) -> None:
    counts = measure(tmp_path, every, [(again, taped)])
    assert counts["kills"] >= counts["lives"] // 2  # how many places there are depends on what is written together
    assert counts["lives"] >= 3
    assert [counts[what] for what in BAD] == [0, 0, 0, 0]
