"""A recorded run goes on where it ended, asking nothing twice: DESIGN.md section 6."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import prose_runtime as prose
from prose_runtime.errors import ContractError, ProseError, RecordError, ServiceError
from prose_runtime.journal import Journal
from prose_runtime.runtime.rewalk import Changes, EditedError
from prose_runtime.runtime.session import RunRequest, execute, prepare
from prose_runtime.services.api import Request
from prose_runtime.services.registry import adapt
from prose_runtime.testing import script
from tests.support.programs import pattern

BODY = """
let log = []
let all = parallel for x, i in ["p", "q", "r"]:
  repeat 2 as n:
    let got = call a
      x: x
      n: n
    record got in log
    got
try:
  call b
    n: 0
catch as e:
  record e.kind in log
if the moon is full:
  record "full" in log
let last = call a
  x: log
  n: 9
return { all, log, last }
"""


class Stop(BaseException):
    """Ends a run as a crash would: nothing of the program sees it."""


class Counted:
    """Answers by content, counts what it was asked, and crashes at a given request."""

    def __init__(self, name: str, crash_at: int | None = None):
        self.name = name
        self.crash_at = crash_at
        self.asked: list[str] = []

    async def __call__(self, request: Request) -> Any:
        from prose_runtime.services.api import Reply

        if self.crash_at is not None and len(self.asked) >= self.crash_at:
            raise Stop
        key = str(dict(request.inputs)) if request.purpose == "call" else str(request.prompt)
        self.asked.append(key)
        await asyncio.sleep(0)
        if self.name == "down":
            raise ServiceError("down", kind="unavailable")
        if request.purpose == "judge":
            return Reply({"verdict": True, "reason": "r"})
        return Reply(f"<{key}>")


def _run(path: Path, journal: Journal, run: str | None, a: Any, b: Any) -> Any:
    record = journal.create("probe", {}) if run is None else journal.open(run)
    try:
        result = asyncio.run(prose.arun(path, bind={"a": a, **({"b": b} if b else {})}, record=record))
    finally:
        record.close()
    return result.value


def _folder(tmp_path: Path) -> Path:
    (tmp_path / "prose.yml").write_text(
        "judge: j\nservices:\n  j: {provider: script, rules: [{reply: {verdict: true, reason: r}}]}\n", encoding="utf-8"
    )
    return pattern(tmp_path, BODY, slots="a b")


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(crash_at=st.integers(0, 7))
def test_resuming_any_prefix_equals_the_full_run(tmp_path_factory: pytest.TempPathFactory, crash_at: int) -> None:
    folder = tmp_path_factory.mktemp("run")
    path = _folder(folder)
    whole_a, whole_b = Counted("a"), Counted("down")
    whole = _run(path, Journal(folder / "whole"), None, whole_a, whole_b)
    journal = Journal(folder / ".prose")
    first_a, first_b = Counted("a", crash_at), Counted("down")
    with pytest.raises((Stop, ProseError)) if crash_at < 7 else nullcontext():
        _run(path, journal, None, first_a, first_b)
    second_a, second_b = Counted("a"), Counted("down")
    assert _run(path, journal, "last", second_a, second_b) == whole
    assert sorted(first_a.asked + second_a.asked) == sorted(whole_a.asked)
    assert len(first_b.asked + second_b.asked) == 1


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kept=st.integers(0, 9), seed=st.randoms(use_true_random=False), cut=st.booleans())
def test_any_part_of_a_record_leads_to_the_full_run(
    tmp_path_factory: pytest.TempPathFactory, kept: int, seed: random.Random, cut: bool
) -> None:
    """A prefix of the record, or any answers of it: what is there is not asked for, the result is the same."""
    folder = tmp_path_factory.mktemp("run")
    path, journal = _folder(folder), Journal(folder / ".prose")
    whole_a, whole_b = Counted("a"), Counted("down")
    whole = _run(path, journal, None, whole_a, whole_b)
    with closing(sqlite3.connect(journal.file)) as db:
        rows = [row for (row,) in db.execute("select rowid from answer order by rowid")]
        left = rows[:kept] if not cut else seed.sample(rows, min(kept, len(rows)))
        db.executemany("delete from answer where rowid=?", [(row,) for row in rows if row not in left])
        db.commit()
        asked = "select count(*) from answer where kind != 'event' and service in ('a', 'down')"
        (there,) = db.execute(asked).fetchone()
    again_a, again_b = Counted("a"), Counted("down")
    assert _run(path, journal, "last", again_a, again_b) == whole
    assert len(again_a.asked + again_b.asked) == len(whole_a.asked + whole_b.asked) - there


def test_a_failure_that_ended_the_run_is_asked_again(tmp_path: Path) -> None:
    path = pattern(tmp_path, "let x = call a\n  n: 1\nlet y = call b\n  n: 2\nreturn [x, y]", slots="a b")
    journal = Journal(tmp_path / ".prose")
    first = Counted("a")
    with pytest.raises(ServiceError):
        _run(path, journal, None, first, Counted("down"))
    again, b = Counted("a"), Counted("down")
    b.name = "b"
    assert _run(path, journal, "last", again, b) == ["<{'n': 1}>", "<{'n': 2}>"]
    assert (len(first.asked), len(again.asked), len(b.asked)) == (1, 0, 1)


def test_an_answer_that_did_not_fit_is_asked_for_again(tmp_path: Path) -> None:
    path = pattern(tmp_path, "let x = call a\n  n: 1\nlet y = call b\n  n: 2\nreturn y.score + 1", slots="a b")
    journal = Journal(tmp_path / ".prose")
    with pytest.raises(ContractError):
        _run(path, journal, None, Counted("a"), Counted("b"))
    again = Counted("a")

    async def better(_: Request) -> Any:
        return {"score": 4}

    assert _run(path, journal, "last", again, adapt("b", better)) == 5
    assert again.asked == []


def test_a_resumed_script_goes_on_behind_the_replies_that_it_gave(tmp_path: Path) -> None:
    path = pattern(tmp_path, "let x = call a\n  n: 1\nlet y = call a\n  n: 2\nreturn [x, y]")
    journal = Journal(tmp_path / ".prose")
    replies = ("one", {"error": "down"}, "two")
    with pytest.raises(ServiceError):
        _run(path, journal, None, script(*replies), None)
    assert _run(path, journal, "last", script(*replies), None) == ["one", "two"]


STEPS = """
let x = call a
  text: "one"
let ys = parallel for i in range(1, 4):
  call a
    i: i
let z = call a
  all: ys
return call b
  z: z
"""


def _edit(tmp_path: Path, body: str, *, reask: bool = False) -> tuple[Any, list[str]]:
    """What comes of a run that failed at its last call, when it goes on with another program; what was asked anew."""
    first, b = Counted("a"), Counted("down")
    journal = Journal(tmp_path / ".prose")
    with pytest.raises(ServiceError):
        _run(pattern(tmp_path, STEPS, slots="a b"), journal, None, first, b)
    again, b = Counted("a"), Counted("b")
    record = journal.open("last")
    request = RunRequest(pattern(tmp_path, body, slots="a b"), bind={"a": again, "b": b}, base=tmp_path)
    try:
        result = asyncio.run(execute(prepare(request), journal=record, reask=reask))
    finally:
        record.close()
    return result.error or result.value, again.asked + b.asked


def _changes(tmp_path: Path, body: str) -> Changes:
    error, asked = _edit(tmp_path, body)
    assert isinstance(error, EditedError)
    assert "--reask" in str(error.help)
    assert asked == []
    return error.changes


def test_an_edit_that_changes_a_request_is_told_with_the_reason_before_anybody_is_asked(tmp_path: Path) -> None:
    changes = _changes(tmp_path, STEPS.replace('"one"', '"two"').replace("all: ys", "every: ys"))
    assert changes.again.keys() == {"call a", "call a~2"}
    assert "`text` is changed" in changes.again["call a"]
    assert "`every` is new" in changes.again["call a~2"]
    assert len(changes.reused) == 3
    assert "asked again: 2 answers" in "\n".join(changes.lines())


def test_an_edit_that_leaves_answers_over_is_told(tmp_path: Path) -> None:
    changes = _changes(tmp_path, STEPS.replace("range(1, 4)", "range(1, 3)"))
    assert changes.orphaned.keys() == {"parallel for[3]/call a"}
    changes = _changes(tmp_path, STEPS.replace("call b\n  z: z", "z"))
    assert changes.orphaned.keys() == {"call b"}


def test_a_call_that_is_added_in_front_is_asked_and_the_rest_is_reused(tmp_path: Path) -> None:
    _, asked = _edit(tmp_path, 'call b\n  fresh: "x"\n' + STEPS)
    assert [question[:8] for question in asked] == ["{'fresh'", "{'z': '<"]


def test_an_edit_that_changes_no_request_needs_no_consent(tmp_path: Path) -> None:
    value, asked = _edit(tmp_path, "# only a remark\n" + STEPS)
    assert len(asked) == 1
    assert str(value).startswith("<")


def test_with_consent_what_changed_is_asked_again_and_the_rest_is_not(tmp_path: Path) -> None:
    value, asked = _edit(tmp_path, STEPS.replace("all: ys", "every: ys"), reask=True)
    assert [question[:8] for question in asked] == ["{'every'", "{'z': '<"]
    record = Journal(tmp_path / ".prose").open("last")
    record.close()
    path = pattern(tmp_path, STEPS.replace("all: ys", "every: ys"), slots="a b")
    again, b = Counted("a"), Counted("b")
    assert _run(path, Journal(tmp_path / ".prose"), "last", again, b) == value
    assert again.asked + b.asked == []


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    journal = Journal(tmp_path / ".prose")
    record = journal.create("probe", {})
    try:
        with pytest.raises(RecordError, match="running"):
            journal.open(record.run)
    finally:
        record.close()
