"""A recorded history can be replayed by this version; a version that would go another way is noticed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory

from prose_runtime.engine.replay import replayed
from prose_runtime.runtime import asking, program
from support.commands import run

HISTORY = Path(__file__).with_name("history.json").read_text(encoding="utf-8")
"""Nested loops, a race, a pause and a failure that is caught; ``tests/engine/record.py`` makes it anew."""


def replay(history: str = HISTORY) -> str | None:
    return asyncio.run(replayed(WorkflowHistory.from_json("recorded", history)))


def test_a_recorded_history_is_replayed() -> None:
    assert replay() is None


def test_changed_steps_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = program._keyword
    monkeypatch.setattr(program, "_keyword", lambda node: plain(node) and f"the {plain(node)}")
    assert "ondeterminism" in (replay() or "")


def test_a_call_more_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = asking._attempt

    async def twice(*given: object) -> object:
        await plain(*given)
        return await plain(*given)

    monkeypatch.setattr(asking, "_attempt", twice)
    assert "ondeterminism" in (replay() or "")


def test_the_order_of_sets_makes_no_difference(tmp_path: Path) -> None:
    """Python orders sets of texts by chance, in each process another way: workers must not go by it."""
    file = Path(__file__).with_name("history.json")
    script = (
        "import asyncio, os; from pathlib import Path; from temporalio.client import WorkflowHistory\n"
        "from prose_runtime.engine.replay import replayed\n"
        f"history = WorkflowHistory.from_json('recorded', Path({str(file)!r}).read_text())\n"
        "print(asyncio.run(replayed(history)), flush=True)\n"
        "os._exit(0)"  # as the command does: threads of the engine's package may crash an interpreter that ends
    )
    for seed in ("1", "2", "3"):
        done = run([sys.executable, "-c", script], tmp_path, tmp_path, PYTHONHASHSEED=seed)
        assert (done.exit, done.stdout) == (0, "None\n"), done.stderr
