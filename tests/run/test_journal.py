"""The record of runs: durable, one writer, clear about what is wrong with it."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from datetime import datetime, tzinfo
from pathlib import Path

import pytest

from prose_runtime.errors import ProseError, RecordError, UsageError
from prose_runtime.journal import Answer, Journal, RunRecord, runs


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / ".prose")


def answer(step: str, value: object = "x") -> Answer:
    return Answer(step, f"digest of {step}", "reply", value, "s", {"input_tokens": 1}, "m")


def keep(record: RunRecord, *answers: Answer) -> None:
    async def together() -> None:
        await asyncio.gather(*map(record.keep, answers))

    asyncio.run(together())


def finish(record: RunRecord, status: str, **result: object) -> None:
    asyncio.run(record.finish(status, {"run": record.run, "status": status, **result}))
    record.close()


def test_answers_are_there_when_the_run_is_opened_again(journal: Journal) -> None:
    record = journal.create("spec.prose.md", {"inputs": {"a": [1, None]}})
    kept = [answer("call a", {"score": 0.5}), answer("repeat[1]/call b", "lone \ud800 surrogate"), answer("call c")]
    keep(record, *kept)
    record.close()
    again = journal.open(record.run)
    assert again.request == {"inputs": {"a": [1, None]}}
    assert [again.answer(a.step) for a in kept] == kept
    assert again.answer("call d") is None
    again.close()


def test_while_another_process_writes_the_others_go_on(journal: Journal) -> None:
    record = journal.create("s", {})

    async def run() -> None:
        with closing(sqlite3.connect(journal.file, isolation_level=None)) as other:
            other.execute("begin immediate")
            kept = [asyncio.ensure_future(record.keep(answer(step))) for step in ("a", "b")]
            await asyncio.sleep(0.05)
            kept.append(asyncio.ensure_future(record.keep(answer("c"))))
            await asyncio.sleep(0.05)
            assert not record.answers
            other.execute("commit")
        await asyncio.wait_for(asyncio.gather(*kept), 10)

    asyncio.run(run())
    record.close()
    assert list(journal.answers(record.run)) == ["a", "b", "c"]


def test_reopened_answers_stay_open(journal: Journal) -> None:
    record = journal.create("s", {})
    keep(record, answer("a"), answer("b"))
    record.reopen(["a", "never kept"])
    record.close()
    again = journal.open("last")
    assert {step: kept.reopened for step, kept in again.answers.items()} == {"a": True, "b": False}
    assert again.answers["a"].kind == "reply"
    again.close()


def test_a_later_answer_of_a_step_takes_the_place_of_the_first(journal: Journal) -> None:
    record = journal.create("s", {})
    keep(record, answer("a", 1))
    keep(record, answer("a", 2))
    record.close()
    assert [c["output"] for c in journal.show("last")["calls"]] == [2]


def test_a_cancelled_branch_does_not_stop_the_writer(journal: Journal) -> None:
    record = journal.create("s", {})

    async def cancel_one() -> None:
        tasks = [asyncio.create_task(record.keep(answer(str(n)))) for n in range(20)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(cancel_one())
    assert set(record.answers) == {str(n) for n in range(20)}
    record.close()


def test_what_is_no_json_fails_at_once(journal: Journal) -> None:
    record = journal.create("s", {})
    with pytest.raises(TypeError):
        keep(record, answer("a", object()))
    record.close()


def test_list_is_newest_first_and_tells_running_from_interrupted(journal: Journal) -> None:
    assert journal.list() == []
    assert not journal.folder.exists()
    done, dead, live = (journal.create(name, {}) for name in ("one", "two", "three"))
    finish(done, "completed", usage={"calls": 7})
    keep(dead, answer("a"))
    os.close(dead._lock.handle or 0)  # as if its process had died
    rows = journal.list()
    assert [(r.spec, r.status, r.calls) for r in rows] == [
        ("three", "running", 0),
        ("two", "interrupted", 1),
        ("one", "completed", 7),
    ]
    assert rows[0].started.endswith("Z")
    live.close()


def test_show_gives_the_result_as_it_was_printed(journal: Journal) -> None:
    record = journal.create("s", {})
    finish(record, "failed", result=None, error={"kind": "thrown"})
    assert journal.show("last") == {"run": record.run, "status": "failed", "result": None, "error": {"kind": "thrown"}}


def test_new_answers_of_a_resumed_run_outdate_its_earlier_end(journal: Journal) -> None:
    record = journal.create("s", {})
    finish(record, "paused", result=None)
    again = journal.open("last")
    keep(again, answer("a"))
    again.close()
    assert journal.show("last")["status"] == "interrupted"


def test_a_run_is_found_by_prefix_or_last(journal: Journal) -> None:
    with pytest.raises(UsageError, match="no run is recorded"):
        journal.resolve("last")
    runs = []
    for _ in range(3):
        record = journal.create("s", {})
        record.close()
        runs.append(record.run)
    assert journal.resolve("last") == runs[-1]
    assert journal.resolve(runs[0]) == runs[0]
    with pytest.raises(UsageError, match="ambiguous") as ambiguous:
        journal.resolve("2")
    with pytest.raises(UsageError, match="nope") as unknown:
        journal.resolve("nope")
    assert all(run in str(caught.value.help) for run in runs for caught in (ambiguous, unknown))


def test_one_writer_a_run(journal: Journal) -> None:
    record = journal.create("s", {})
    with pytest.raises(RecordError, match=f"running in process {os.getpid()}"):
        journal.open(record.run)
    record.close()
    record.close()
    journal.open(record.run).close()


def test_a_lock_that_outlives_its_process_for_a_moment_does_not_matter(journal: Journal) -> None:
    record = journal.create("s", {})
    handle = record._lock.handle
    assert handle is not None
    os.ftruncate(handle, 0)
    os.pwrite(handle, b"999999999", 0)  # no such process: a child that is just starting holds the lock
    let_go = threading.Timer(0.2, os.close, [handle])
    let_go.start()
    assert journal.list()[0].status == "interrupted"
    let_go.join()
    journal.open("last").close()


def test_git_ignores_the_record(journal: Journal) -> None:
    journal.create("s", {}).close()
    assert (journal.folder / ".gitignore").read_text() == "*\n"
    assert not list(journal.folder.glob("*.lock"))


def test_secrets_of_the_environment_are_never_stored(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-very-secret")
    monkeypatch.setenv("SHORT_TOKEN", "none")
    record = journal.create("s", {"inputs": {"x": "use sk-very-secret"}})
    keep(record, answer("a", {"sk-very-secret": ["Bearer sk-very-secret", "none"]}))
    finish(record, "failed", error={"message": "sk-very-secret refused"})
    assert not any(b"very-secret" in f.read_bytes() for f in journal.folder.iterdir())
    again = journal.open("last")
    assert again.answers["a"].value == {"***": ["Bearer ***", "none"]}
    again.close()


def test_a_newer_format_is_refused_with_the_reason(journal: Journal) -> None:
    journal.create("s", {}).close()
    with closing(sqlite3.connect(journal.file)) as db:
        db.execute("PRAGMA user_version=9")
    for use in (lambda: journal.create("s", {}), journal.list):
        with pytest.raises(RecordError, match="newer version") as caught:
            use()
        assert "upgrade" in str(caught.value.help)


def test_a_file_of_the_first_format_is_brought_to_this_one(journal: Journal) -> None:
    journal.folder.mkdir()
    with closing(sqlite3.connect(journal.file)) as db:
        db.executescript(FIRST_FORMAT)
    assert [(row.run, row.calls) for row in journal.list()] == [("20260101-000000-aaaa", 3)]
    assert journal.trace("last") == []
    record = journal.open("last")
    assert [(a.step, a.kind, a.value, a.reopened) for a in record.answers.values()] == [
        ("a", "reply", "x", False),
        ("b", "error", {"message": "m", "kind": "k", "service": "s", "retry_after": None}, True),
        ("c", "reply", {"n": 1}, True),
    ]
    keep(record, answer("d"))
    record.close()


def test_runs_are_in_the_order_of_their_making_though_the_clock_was_set_back(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Back(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime(2001, 1, 1, tzinfo=tz)

    journal.create("first", {}).close()
    monkeypatch.setattr(runs, "datetime", Back)
    record = journal.create("second", {})
    keep(record, answer("a"))
    record.close()
    assert [row.spec for row in journal.list()] == ["second", "first"]
    assert journal.open("last").run == record.run


def test_the_record_is_private_to_the_user(journal: Journal) -> None:
    before = os.umask(0)
    try:
        journal.folder.mkdir()
        record = journal.create("s", {})
        keep(record, answer("a"))
        modes = {path.name: path.stat().st_mode & 0o777 for path in journal.folder.iterdir()}
        record.close()
    finally:
        os.umask(before)
    assert journal.folder.stat().st_mode & 0o777 == 0o700
    assert {mode for name, mode in modes.items() if name != ".gitignore"} == {0o600}


@pytest.mark.parametrize("cut", range(0, 101, 10))
def test_a_torn_write_loses_no_more_than_itself(journal: Journal, tmp_path: Path, cut: int) -> None:
    record = journal.create("s", {})
    for step in "abcdef":
        keep(record, answer(step, "x" * 3000))
    torn = tmp_path / "torn"
    torn.mkdir()
    for name in ("runs.db", "runs.db-wal"):  # without the index in shared memory, as after a loss of power
        data = (journal.folder / name).read_bytes()
        length = len(data) * cut // 100 if name.endswith("wal") else len(data)
        (torn / name).write_bytes(data[:length])
    record.close()
    after = Journal(torn)
    if after.list():
        again = after.open("last")
        assert "abcdef".startswith("".join(again.answers))
        keep(again, answer("z"))
        again.close()
    after.create("next", {}).close()


def test_a_file_that_is_being_made_holds_nothing_yet(journal: Journal) -> None:
    journal.folder.mkdir()
    journal.file.touch()
    assert journal.list() == []
    journal.create("s", {}).close()
    assert len(journal.list()) == 1


def test_a_damaged_file_is_named(journal: Journal) -> None:
    journal.folder.mkdir()
    journal.file.write_bytes(b"this is no database at all" * 100)
    for use in (lambda: journal.create("s", {}), journal.list, lambda: journal.open("last")):
        with pytest.raises(RecordError, match=r"runs\.db is damaged") as caught:
            use()
        assert "--no-record" in str(caught.value.help)


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / ".prose", Path("/proc/.prose")):
        with pytest.raises(RecordError, match="recorded") as caught:
            Journal(folder).create("s", {})
        assert "--no-record" in str(caught.value.help)


FIRST_FORMAT = """
PRAGMA user_version=1;
create table run(run text primary key, spec text not null, request text not null, started text not null,
                 status text, calls integer, result text);
create table answer(run text not null, step text not null, digest text not null, kind text not null,
                    value text not null, service text not null, usage text, model text, primary key(run, step));
insert into run values('20260101-000000-aaaa', 's', '{}', '2026-01-01T00:00:00Z', 'failed', null, null);
insert into answer values('20260101-000000-aaaa', 'a', 'd', 'reply', '"x"', 's', null, null);
insert into answer values('20260101-000000-aaaa', 'b', 'd', 'open',
                          '{"message":"m","kind":"k","service":"s","retry_after":null}', 's', null, null);
insert into answer values('20260101-000000-aaaa', 'c', 'd', 'open', '{"n":1}', 's', null, null);
"""
PROLOGUE = """
import asyncio, os, sys
from pathlib import Path
from prose_runtime.errors import RecordError
from prose_runtime.journal import Answer, Journal
record = Journal(Path(sys.argv[1])).create("s", {})
def answer(step): return Answer(step, "d", "reply", {"text": "x" * 300}, "s")
"""
ENDLESS = """
async def work(branch):
    for n in range(10**9):
        await record.keep(answer(f"{branch}/{n}"))
        os.write(1, f"{branch}/{n}\\n".encode())
async def main(): await asyncio.gather(*(work(b) for b in range(8)))
asyncio.run(main())
"""
FILL_DISK = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
async def main():
    for n in range(100_000):
        await record.keep(answer(str(n)))
try: asyncio.run(main())
except RecordError as error: print(error.message, "|", error.help)
record.close()
"""


def child(code: str, folder: Path) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", PROLOGUE + code, str(folder)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("seed", range(4))
def test_what_was_reported_durable_survives_sigkill(journal: Journal, seed: int) -> None:
    process = child(ENDLESS, journal.folder)
    assert process.stdout is not None
    first = process.stdout.readline()
    time.sleep(random.Random(seed).uniform(0, 0.2))
    process.send_signal(signal.SIGKILL)
    reported = [first.strip(), *process.stdout.read().split()]
    process.wait()
    process.stdout.close()
    assert journal.list()[0].status == "interrupted"
    record = journal.open("last")
    assert set(reported) <= set(record.answers)
    assert len(record.answers) - len(reported) <= 8
    keep(record, answer("after"))
    record.close()


def test_a_disk_that_fills_up_ends_in_one_sentence(journal: Journal) -> None:
    process = child(FILL_DISK, journal.folder)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "runs.db cannot be" in said
    assert "--no-record" in said


def test_the_list_can_be_read_while_a_run_writes(journal: Journal) -> None:
    process = child(ENDLESS, journal.folder)
    assert process.stdout is not None
    process.stdout.readline()
    seen = []
    for _ in range(10):
        (row,) = journal.list()
        seen.append(row.calls)
        assert row.status == "running"
    shown = journal.show("last")
    with pytest.raises(ProseError, match=f"process {process.pid}"):
        journal.open("last")
    process.kill()
    process.stdout.close()
    process.wait()
    assert seen == sorted(seen)
    assert len(shown["calls"]) >= seen[-1] > 0
    assert json.dumps(shown)
