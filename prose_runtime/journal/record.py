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

_TRACED = "insert into trace values(?,?,?)"
_KEEP = "insert or replace into answer values(?,?,?,?,?,?,?,?,?,?)"
_Rows = list[tuple[Any, ...]]


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
        self._db: sqlite3.Connection | None = None
        self._queue: list[tuple[Answer, tuple[Any, ...], asyncio.Future[None]]] = []
        self._traced: _Rows = []
        self._writer: asyncio.Task[None] | None = None

    def answer(self, step: str) -> Answer | None:
        """The answer kept for a step, if any."""
        return self.answers.get(step)

    async def keep(self, answer: Answer) -> None:
        """Write an answer; returns when it is durable.

        Answers that queue while one commit runs go into the next one together. Raises RecordError.
        """
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append((answer, self._row(answer), done))
        self._write()
        await done

    def trace(self, at: float, event: dict[str, Any]) -> None:
        """Write down what happened, for people who read the run later; nothing waits for it or depends on it."""
        self._traced.append((self.run, at, self._secrets.dump(event)))
        self._write()

    def _write(self) -> None:
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._drain())

    async def finish(self, status: str, result_json: dict[str, Any]) -> None:
        """Store how the run ended. Raises RecordError."""
        if self._writer is not None and not self._writer.done():
            await asyncio.wait([self._writer])
        calls = result_json.get("usage", {}).get("calls")
        row = (status, calls, self._secrets.dump(result_json), self.run)
        await self._do(_commit_later("update run set status=?, calls=?, result=? where run=?", [row]))

    def reopen(self, steps: Iterable[str]) -> None:
        """Mark the answers of these steps, so that they are asked for again. Raises RecordError."""
        kept = [step for step in steps if step in self.answers]
        for step in kept:
            self.answers[step] = replace(self.answers[step], reopened=True)
        rows = [(self.run, clean_text(step)) for step in kept]
        change = "update answer set reopened=1 where run=? and step=?"
        self._thread.submit(self._run, _commit_later(change, rows)).result()

    def adopt(self, sources: str) -> None:
        """Note that the run goes on with edited texts. Raises RecordError."""
        self.sources = sources
        change = _commit_later("update run set sources=? where run=?", [(sources, self.run)])
        self._thread.submit(self._run, change).result()

    def close(self) -> None:
        """Write what is still queued, when the run ended by a fault of ours, and let go; harmless when called again."""
        rows, traced = [row for _, row, _ in self._queue], self._traced
        self._queue, self._traced = [], []
        if rows or traced:
            with suppress(RecordError):
                self._thread.submit(self._run, _commit_later(_KEEP, rows, traced=traced)).result()
        if self._db is not None:
            self._thread.submit(self._db.close).result()
            self._db = None
        self._thread.shutdown()
        self._lock.release()

    async def _drain(self) -> None:
        while self._queue or self._traced:
            batch, self._queue = self._queue, []
            traced, self._traced = self._traced, []
            rows = [row for _, row, _ in batch]
            fault: Exception | None = None
            try:
                await self._do(_commit_later(_KEEP, rows, reopened=self.run if rows else None, traced=traced))
            except Exception as error:
                fault = error
            for answer, _, done in batch:
                if fault is None:
                    self.answers[answer.step] = answer
                _settle(done, fault)

    def _row(self, answer: Answer) -> tuple[Any, ...]:
        usage, parts = (given and json.dumps(given, separators=(",", ":")) for given in (answer.usage, answer.parts))
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
