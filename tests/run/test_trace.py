"""What happened in a run and when stands beside its answers, for people who read it later."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import prose_runtime as prose
from prose_runtime.errors import ServiceError
from prose_runtime.journal import Journal
from tests.support.programs import pattern

BODY = """
emit "begun"
parallel:
  let x = call a
    n: 1
  let y = call a
    n: 2
if x == "quick":
  return y
return x
"""


async def answer(request: Any) -> str:
    await asyncio.sleep(0.05 * request.inputs["n"])
    return "quick"


def run(path: Path, service: Any, journal: Journal) -> None:
    record = journal.open("last") if journal.list() else journal.create("probe", {"spec": "probe"})
    try:
        asyncio.run(prose.arun(path, bind={"a": service}, record=record))
    finally:
        record.close()


def test_each_call_has_its_start_and_end_and_parallel_ones_overlap(tmp_path: Path) -> None:
    path = pattern(tmp_path, BODY)
    journal = Journal(tmp_path / ".prose")
    run(path, answer, journal)
    rows = journal.trace("last")
    kinds = [row["event"] for row in rows]
    assert kinds[:3] == ["source", "run_started", "emitted"]
    assert kinds[-1] == "run_finished"
    begun = {row["step"]: row["at"] for row in rows if row["event"] == "call_started"}
    ended = {row["step"]: row["at"] for row in rows if row["event"] == "call_finished"}
    assert len(begun) == 2
    assert max(begun.values()) < min(ended.values())
    (condition,) = [row for row in rows if row["event"] == "condition"]
    assert (condition["verdict"], condition["where"]["file"]) == (True, str(path))
    assert rows[0]["text"] == path.read_text()
    assert journal.request("last") == {"spec": "probe"}


def test_what_a_resumed_run_reads_from_the_record_is_marked(tmp_path: Path) -> None:
    path = pattern(tmp_path, "let x = call a\n  n: 0\nlet y = call a\n  n: 1\nreturn [x, y]")
    journal = Journal(tmp_path / ".prose")

    async def down(request: Any) -> str:
        if request.inputs["n"]:
            raise ServiceError("is down", kind="unavailable")
        return "one"

    down.__name__ = answer.__name__  # the same service, mended
    with pytest.raises(ServiceError):
        run(path, down, journal)
    run(path, answer, journal)
    ends = [row for row in journal.trace("last") if row["event"] == "call_finished"]
    assert [(row["recorded"], row["error"] is None) for row in ends] == [
        (False, True), (False, False), (True, True), (False, True)
    ]  # fmt: skip


def test_a_secret_does_not_reach_the_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "0123456789abc")
    path = pattern(tmp_path, 'emit "it is 0123456789abc"\nreturn call a\n  n: 0')
    journal = Journal(tmp_path / ".prose")
    run(path, answer, journal)
    assert "0123456789abc" not in str(journal.trace("last"))
