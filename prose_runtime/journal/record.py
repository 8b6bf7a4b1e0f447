"""The record of one run: its answers, each durable before the program uses it, and what happened when."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from prose_runtime.errors import RecordError
from prose_runtime.journal.answers import Answer
from prose_runtime.journal.file import connect, told
from prose_runtime.journal.lock import Lock
from prose_runtime.journal.redaction import Redactor
from prose_runtime.values import clean_text

_ENCODER = json.JSONEncoder(separators=(",", ":"))
_TRACED = "insert into trace values(?,?,?)"
_KEEP = "insert or replace into answer values(?,?,?,?,?,?,?,?,?,?)"
_Rows = list[tuple[Any, ...]]
_Queued = tuple[Answer, tuple[Any, ...], asyncio.Future[None]]

SOON = 0.05
"""Seconds that lines of the trace wait for others, to be written together."""
_COMMITS_A_CHECKPOINT = 200
"""Of about as many pages as SQLite itself lets come together before it moves them into the file."""


class Begun(NamedTuple):
    """What is known of a run when it begins or goes on: its request, its answers, the digest of its texts."""

    request: dict[str, Any]
    answers: dict[str, Answer]
    sources: str | None


class RunRecord:
    """The record of one run, held by one process until ``close``.

    Attributes:
        run: The run's identifier.
        request: What was asked, as given to ``Journal.create``.
        answers: The durable answers by step.
        sources: A digest of the texts that decided what was asked, or None when it is not known.
    """

    def __init__(self, folder: Path, run: str, lock: Lock, begun: Begun):
        self.run = run
        self.request = begun.request
        self.answers = begun.answers
        self.sources = begun.sources
        self._folder = folder
        self._file = folder / "runs.db"
        self._secrets = Redactor()
        self._lock = lock
        self._thread = ThreadPoolExecutor(1, "journal")
        self._near: sqlite3.Connection | None = None
        self._db: sqlite3.Connection | None = None
        self._commits = 0
        self._timer: asyncio.Handle | None = None
        self._queue: list[_Queued] = []
        self._traced: _Rows = []
        self._writer: asyncio.Task[None] | None = None

    def answer(self, step: str) -> Answer | None:
        """The answer kept for a step, if any."""
        return self.answers.get(step)

    async def keep(self, *answers: Answer) -> None:
        """Write answers, all or none; returns when they are durable.

        Answers that come in one turn of the loop, or while the file is busy, go into one commit. Raises RecordError.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        if not self._queue:
            loop.call_soon(self._write)
        self._queue += [(answer, self._row(answer), done) for answer in answers]
        await done

    def keep_now(self, answer: Answer) -> None:
        """Write one answer and wait for it; for what comes seldom. Raises RecordError."""
        self._change(_commit_later(_KEEP, [self._row(answer)]))
        self.answers[answer.step] = answer

    def trace(self, at: float, event: dict[str, Any]) -> None:
        """Write down what happened soon, for people who read the run later; nothing waits for it or depends on it."""
        self._traced.append((self.run, at, self._secrets.dump(event)))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SOON, self._write_traced)

    def _write_traced(self) -> None:
        self._timer = None
        self._write(self._traced)

    def _write(self, traced: Sequence[tuple[Any, ...]] = ()) -> None:
        """Commit what is queued here and now, in a fraction of what a change of threads costs; on the thread when the
        file is busy. Without an fsync, which the thread does at times, it waits for no disk.
        """
        if self._writer is not None and not self._writer.done():
            return
        batch = self._queue
        if not batch and not traced:
            return
        fault: Exception | None = None
        try:
            if not self._at_once(self._answers_later(batch, traced)):
                self._writer = asyncio.create_task(self._drain())
                return
        except Exception as error:
            fault = error
        self._queue = []
        if traced:
            self._traced = []
        self._settle(batch, fault)

    async def finish(self, status: str, result_json: dict[str, Any]) -> None:
        """Store how the run ended. Raises RecordError."""
        self._write(self._traced)
        if self._writer is not None and not self._writer.done():
            await asyncio.wait([self._writer])
        calls = result_json.get("usage", {}).get("calls")
        row = (status, calls, self._secrets.dump(result_json), self.run)
        ended = _commit_later("update run set status=?, calls=?, result=? where run=?", [row])
        if not self._at_once(ended):
            await self._do(ended)

    def reopen(self, steps: Iterable[str]) -> None:
        """Mark the answers of these steps, so that they are asked for again. Raises RecordError."""
        kept = [step for step in steps if step in self.answers]
        for step in kept:
            self.answers[step] = replace(self.answers[step], reopened=True)
        rows = [(self.run, clean_text(step)) for step in kept]
        if rows:
            self._change(_commit_later("update answer set reopened=1 where run=? and step=?", rows))

    def adopt(self, sources: str) -> None:
        """Note that the run goes on with edited texts. Raises RecordError."""
        self.sources = sources
        self._change(_commit_later("update run set sources=? where run=?", [(sources, self.run)]))

    def _change(self, change: Callable[[sqlite3.Connection], None]) -> None:
        if not self._at_once(change):
            self._thread.submit(self._run, change).result()

    def close(self) -> None:
        """Write what is still queued, when the run ended by a fault of ours, and let go; harmless when called again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        batch, traced = self._take()
        if batch or traced:
            with suppress(RecordError):
                self._thread.submit(
                    self._run, _commit_later(_KEEP, [row for _, row, _ in batch], traced=traced)
                ).result()
        self._thread.shutdown()
        for db in (self._near, self._db):
            if db is not None:
                db.close()
        self._near = self._db = None
        self._lock.release()

    async def _drain(self) -> None:
        while self._queue or self._traced:
            batch, traced = self._take()
            fault: Exception | None = None
            try:
                await self._do(self._answers_later(batch, traced))
            except Exception as error:
                fault = error
            self._settle(batch, fault)

    def _take(self) -> tuple[list[_Queued], _Rows]:
        batch, self._queue = self._queue, []
        traced, self._traced = self._traced, []
        return batch, traced

    def _answers_later(
        self, batch: Sequence[_Queued], traced: Sequence[tuple[Any, ...]]
    ) -> Callable[[sqlite3.Connection], None]:
        rows = [row for _, row, _ in batch]
        return _commit_later(_KEEP, rows, reopened=self.run if rows else None, traced=traced)

    def _settle(self, batch: Sequence[_Queued], fault: Exception | None) -> None:
        for answer, _, done in batch:
            if fault is None:
                self.answers[answer.step] = answer
            _settle(done, fault)

    def _at_once(self, work: Callable[[sqlite3.Connection], None]) -> bool:
        """Do it here, unless somebody else is writing. The connection waits for nobody."""
        with told(self._folder):
            try:
                if self._near is None:
                    self._near = connect(self._file, patience=0)
                    self._near.execute("PRAGMA wal_autocheckpoint=0")
                work(self._near)
            except sqlite3.OperationalError as error:
                if not error.sqlite_errorname.startswith("SQLITE_BUSY"):
                    raise
                return False
        self._commits += 1
        if self._commits % _COMMITS_A_CHECKPOINT == 0:
            self._thread.submit(self._run, _checkpoint)
        return True

    def _row(self, answer: Answer) -> tuple[Any, ...]:
        usage, parts = (given and _ENCODER.encode(given) for given in (answer.usage, answer.parts))
        step, value = clean_text(answer.step), self._secrets.dump(answer.value)
        head = (self.run, step, answer.digest, answer.kind, value, answer.service)
        return (*head, usage, answer.model, int(answer.reopened), parts)

    async def _do(self, work: Callable[[sqlite3.Connection], None]) -> None:
        # shielded: a cancelled branch must not leave a commit half reported
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, self._run, work))

    def _run(self, work: Callable[[sqlite3.Connection], None]) -> None:
        with told(self._folder):
            if self._db is None:
                self._db = connect(self._file)
            work(self._db)


def _commit_later(
    sql: str, rows: _Rows, *, reopened: str | None = None, traced: Sequence[tuple[Any, ...]] = ()
) -> Callable[[sqlite3.Connection], None]:
    """One transaction. ``reopened``: the run whose earlier end is out of date once it has new answers."""

    def work(db: sqlite3.Connection) -> None:
        db.execute("begin immediate")
        try:
            db.executemany(sql, rows)
            if traced:
                db.executemany(_TRACED, traced)
            if reopened is not None:
                again = "update run set status=null, calls=null, result=null where run=? and status is not null"
                db.execute(again, (reopened,))
            db.execute("commit")
        except BaseException:
            if db.in_transaction:
                db.execute("rollback")
            raise

    return work


def _checkpoint(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA wal_checkpoint(PASSIVE)")


def _settle(done: asyncio.Future[None], fault: Exception | None) -> None:
    if done.done():  # the branch that waited was cancelled
        return
    if fault is None:
        done.set_result(None)
    else:
        done.set_exception(fault)


def read_answers(db: sqlite3.Connection, run: str) -> dict[str, Answer]:
    """The answers of a run by step, in the order in which they were first kept."""
    asked = """select step, digest, kind, service, model, value, usage, parts, reopened from answer where run=?
               order by rowid"""
    return {row[0]: _answer(row) for row in db.execute(asked, (run,))}


def _answer(row: tuple[Any, ...]) -> Answer:
    step, digest, kind, service, model, *dumped, reopened = row
    value, usage, parts = (None if text is None else json.loads(text) for text in dumped)
    return Answer(step, digest, kind, value, service, usage, model, bool(reopened), parts)
