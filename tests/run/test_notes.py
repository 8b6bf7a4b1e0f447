"""A note from the person watching reaches the next call of its slot, once, and stays there when the run is resumed."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from prose_runtime.errors import ServiceError
from prose_runtime.journal import Journal, record
from prose_runtime.runtime.session import Result, RunRequest, execute, prepare
from prose_runtime.runtime.steering import Steering
from prose_runtime.services.api import Reply, Request
from prose_runtime.services.prompt import render
from tests.support.crashes import Death, Mortal
from tests.support.programs import pattern

BODY = """
let one = call a
  n: 1
let two = call b
  n: 2
let three = call a
  n: 3
return [one, two, three]
"""


class Noted:
    """Answers with the note that it was given; at its ``fails``-th request it is down, or answers with no number."""

    def __init__(self, name: str, fails: int = 0):
        self.name = name
        self.fails = fails
        self.notes: list[str | None] = []

    async def __call__(self, request: Request) -> Reply:
        self.notes.append(request.note)
        if len(self.notes) == self.fails:
            raise ServiceError("is down", kind="unavailable")
        return Reply(request.note or "no note")


def carry_out(
    path: Path, bind: dict[str, Any], steering: Steering | None = None, journal: Journal | None = None
) -> Any:
    record = None
    if journal is not None:
        record = journal.open("last") if journal.list() else journal.create("probe", {})

    async def whole() -> Result:
        result = await execute(prepare(RunRequest(path, bind=bind)), journal=record, steering=steering)
        if record is not None:
            await record.finish(result.status, result.as_json())
        return result

    try:
        return asyncio.run(whole())
    finally:
        if record is not None:
            record.close()


def test_a_note_goes_to_the_next_call_of_its_slot_and_to_no_other(tmp_path: Path) -> None:
    path = pattern(tmp_path, BODY, slots="a b")
    a, b = Noted("a"), Noted("b")
    steering = Steering()
    steering.redirect("a", "be brief")
    steering.redirect("a", "and kind")
    assert carry_out(path, {"a": a, "b": b}, steering).value == ["be brief\n\nand kind", "no note", "no note"]
    assert steering.waiting() == {}


def test_a_resumed_run_gives_the_same_note_at_the_same_step_and_asks_nothing_twice(tmp_path: Path) -> None:
    path = pattern(tmp_path, BODY, slots="a b")
    journal = Journal(tmp_path / ".prose")
    first, steering = Noted("a", fails=2), Steering()
    steering.redirect("a", "be brief")
    assert carry_out(path, {"a": first, "b": Noted("b")}, steering, journal).status == "failed"
    again, b = Noted("a"), Noted("b")
    assert carry_out(path, {"a": again, "b": b}, None, journal).value == ["be brief", "no note", "no note"]
    assert (again.notes, b.notes) == ([None], [])


def test_a_note_stays_with_the_call_that_failed_and_is_asked_again(tmp_path: Path) -> None:
    path = pattern(tmp_path, BODY, slots="a b")
    journal = Journal(tmp_path / ".prose")
    steering = Steering()
    steering.redirect("a", "be brief")
    carry_out(path, {"a": Noted("a", fails=1), "b": Noted("b")}, steering, journal)
    again = Noted("a")
    assert carry_out(path, {"a": again, "b": Noted("b")}, None, journal).status == "completed"
    assert again.notes == ["be brief", None]


@pytest.mark.parametrize("given_at", [1, 2])
def test_a_retry_keeps_the_note_of_its_call_and_an_earlier_attempt_never_had_a_later_one(
    tmp_path: Path, given_at: int
) -> None:
    path = pattern(tmp_path, "let one = call a\n  retry: 2\n  n: 1\nreturn one", slots="a")
    journal = Journal(tmp_path / ".prose")
    steering = Steering()

    class Failing(Noted):
        async def __call__(self, request: Request) -> Reply:
            if len(self.notes) + 1 == given_at:
                steering.redirect("a", "late")
            self.notes.append(request.note)
            if len(self.notes) < 3:
                raise ServiceError("is down", kind="unavailable")
            return Reply(request.note or "")

    first = Failing("a")
    whole = carry_out(path, {"a": first}, steering, journal)
    assert first.notes == [None] * given_at + ["late"] * (3 - given_at)
    again = Noted("a")
    assert carry_out(path, {"a": again}, None, journal).value == whole.value == "late"
    assert again.notes == []


def test_a_note_that_waits_when_the_run_ends_waits_when_it_goes_on(tmp_path: Path) -> None:
    path = pattern(tmp_path, BODY, slots="a b")
    journal = Journal(tmp_path / ".prose")
    steering = Steering()
    steering.redirect("b", "be brief")
    carry_out(path, {"a": Noted("a", fails=1), "b": Noted("b")}, steering, journal)
    again = Steering()
    b = Noted("b")
    assert carry_out(path, {"a": Noted("a"), "b": b}, again, journal).status == "completed"
    assert b.notes == ["be brief"]
    assert again.waiting() == {}


def test_a_note_waits_once_however_often_its_record_is_taken(tmp_path: Path) -> None:
    record = Journal(tmp_path / ".prose").create("probe", {})
    steering = Steering()
    steering.redirect("a", "be brief")
    for _ in range(2):
        steering.keep_in(record)
    other = Steering()
    other.keep_in(record)
    record.close()
    assert steering.waiting() == other.waiting() == {"a": "be brief"}


@pytest.mark.parametrize("place", range(5, 25))
def test_a_killed_run_neither_loses_a_note_nor_gives_it_twice(tmp_path: Path, place: int) -> None:
    """The person gives a note while b is asked; the process dies before or behind any one of its commits."""
    path = pattern(tmp_path, BODY, slots="a b")
    prepared_for = {"path": path, "journal": Journal(tmp_path / ".prose")}
    first = _life(place, **prepared_for)
    second = first or _life(0, **prepared_for)
    assert second == ["no note", "no note", "be brief"]


def _life(place: int, path: Path, journal: Journal) -> Any:
    """The value of a process's run, or None when it was killed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        steering = Steering()
        whole = record.connect
        count = Death(place)
        record.connect = lambda file, **more: Mortal(whole(file, **more), count)  # type: ignore[assignment,return-value]

        class Watched(Noted):
            async def __call__(self, request: Request) -> Reply:
                if not any(step.startswith("~note/") for step in journal.answers("last")):
                    steering.redirect("a", "be brief")
                return await super().__call__(request)

        result = carry_out(path, {"a": Noted("a"), "b": Watched("b")}, steering, journal)
        os.write(writer, json.dumps(result.value).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return json.loads(said) if said else None


def test_no_call_goes_out_while_the_person_decides(tmp_path: Path) -> None:
    path = pattern(tmp_path, BODY, slots="a b")
    a = Noted("a")
    steering = Steering()

    async def whole() -> Result:
        with steering.hold():
            run = asyncio.ensure_future(
                execute(prepare(RunRequest(path, bind={"a": a, "b": Noted("b")})), steering=steering)
            )
            await asyncio.sleep(0.05)
            assert a.notes == []
            steering.redirect("a", "so")
        return await run

    assert asyncio.run(whole()).value[0] == "so"


def test_a_model_is_told_the_note_apart_from_the_inputs() -> None:
    prompt = render(Request(job="j", inputs={"x": "1"}, note="mind </x> the gap"))
    assert "mind </x> the gap" in prompt.user
    assert "\n</x-2>" in prompt.user
    assert "note" not in render(Request(job="j")).user
