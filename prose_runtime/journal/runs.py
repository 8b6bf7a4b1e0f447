"""All recorded runs of a folder: making, finding, listing and showing them."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from prose_runtime.errors import UsageError
from prose_runtime.journal.answers import Answer, RunRow
from prose_runtime.journal.file import connect, told
from prose_runtime.journal.lock import Lock, is_locked, take_lock
from prose_runtime.journal.record import Begun, RunRecord, read_answers
from prose_runtime.journal.redaction import Redactor
from prose_runtime.values import clean_text

_T = TypeVar("_T")
Requests = list[tuple[RunRow, dict[str, Any]]]
"""Runs with what they were started with."""
_Rows = list[tuple[Any, ...]]
_Events = list[dict[str, Any]]  # a name apart, since a method of the journal is called list


class Journal:
    """All recorded runs of one folder, ``.prose/`` below the working directory.

    Every method raises RecordError when the folder or the file cannot be used. Reading creates nothing.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.file = folder / "runs.db"

    def create(self, spec: str, request: dict[str, Any], sources: str | None = None) -> RunRecord:
        """Begin a run. ``request`` is what a resumed run needs, as JSON: names of bindings, never keys.

        ``sources`` is a digest of the texts that decide what is asked: as long as it is the same, nothing was edited.
        """
        self._make_folder()
        with told(self.folder), closing(connect(self.file)) as db:
            run, lock = self._new_run(db, clean_text(spec), Redactor().dump(request), sources)
        return RunRecord(self.folder, run, lock, Begun(request, {}, sources))

    def open(self, run_prefix: str) -> RunRecord:
        """Go on with a run, given as an unambiguous prefix or ``last``.

        Raises UsageError when no run or several fit, RecordError when a living process is at it.
        """
        run = self.resolve(run_prefix)
        lock = take_lock(self._lock_file(run))
        try:
            with told(self.folder), closing(connect(self.file)) as db:
                asked = "select request, sources from run where run=?"
                request, sources = db.execute(asked, (run,)).fetchone()
                answers = read_answers(db, run)
        except BaseException:
            lock.release()
            raise
        return RunRecord(self.folder, run, lock, Begun(json.loads(request), answers, sources))

    def list(self) -> list[RunRow]:
        """All runs, newest first; works while one of them is running."""
        asked = """select run, spec, status, started,
                   coalesce(calls, (select count(*) from answer where answer.run = run.run and kind != 'event'))
                   from run order by rowid desc"""
        rows = self._rows(asked)
        return [RunRow(run, spec, self._status(run, status), at, calls) for run, spec, status, at, calls in rows]

    def requests(self) -> Requests:
        """All runs, newest first, each with what it was started with."""
        asked = {run: json.loads(request) for run, request in self._rows("select run, request from run")}
        return [(row, asked[row.run]) for row in self.list() if row.run in asked]

    def show(self, run_prefix: str) -> dict[str, Any]:
        """The JSON object of a run; of one that did not end, what is known of it so far."""
        run = self.resolve(run_prefix)
        asked = "select spec, status, result from run where run=?"
        spec, status, result = self._read(lambda db: db.execute(asked, (run,)).fetchone(), None)
        shown: dict[str, Any] = (
            json.loads(result) if result else _unfinished(run, spec, self._read(lambda db: read_answers(db, run), {}))
        )
        return {**shown, "status": self._status(run, status)}

    def answers(self, run_prefix: str) -> dict[str, Answer]:
        """The answers of a run by step."""
        run = self.resolve(run_prefix)
        return self._read(lambda db: read_answers(db, run), {})

    def trace(self, run_prefix: str) -> _Events:
        """What happened in a run, in order: objects of ``trace.as_row`` with ``at``, in seconds since 1970."""
        run = self.resolve(run_prefix)
        asked = "select at, event from trace where run=? order by rowid"
        rows: _Rows = self._read(lambda db: db.execute(asked, (run,)).fetchall(), [])
        return [{"at": at, **json.loads(event)} for at, event in rows]

    def request(self, run_prefix: str) -> dict[str, Any]:
        """What a run was started with, as given to ``create``."""
        asked = "select request from run where run=?"
        run = self.resolve(run_prefix)
        (request,) = self._read(lambda db: db.execute(asked, (run,)).fetchone(), ("{}",))
        found: dict[str, Any] = json.loads(request)
        return found

    def resolve(self, run_prefix: str) -> str:
        """The run that a prefix or ``last`` means. Raises UsageError when none or several fit."""
        runs: list[str] = [run for (run,) in self._rows("select run from run order by rowid desc")]
        if not runs:
            raise UsageError(f"no run is recorded in {self.folder}", help="`prose run SPEC` records one")
        if run_prefix == "last":
            return runs[0]
        fitting = [run for run in runs if run == run_prefix] or [r for r in runs if r.startswith(run_prefix)]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise UsageError(f"`{run_prefix}` is ambiguous: several runs start with it", help=_some(fitting))
        raise UsageError(f"no recorded run starts with `{run_prefix}`", help=_some(runs))

    def _make_folder(self) -> None:
        with told(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            if self.folder.stat().st_mode & 0o077:
                self.folder.chmod(0o700)  # what was asked and answered is nobody else's
            os.close(os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600))
            ignore = self.folder / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")

    def _new_run(self, db: sqlite3.Connection, spec: str, request: str, sources: str | None) -> tuple[str, Lock]:
        while True:
            now = datetime.now(UTC)
            run = f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
            row = (run, spec, request, f"{now:%Y-%m-%dT%H:%M:%SZ}", sources)
            lock = take_lock(self._lock_file(run))
            try:
                db.execute("insert into run(run, spec, request, started, sources) values(?,?,?,?,?)", row)
            except BaseException as error:
                lock.release()
                if isinstance(error, sqlite3.IntegrityError):
                    continue
                raise
            return run, lock

    def _read(self, ask: Callable[[sqlite3.Connection], _T], nothing: _T) -> _T:
        with told(self.folder):
            if not self.file.exists():
                return nothing
            with closing(connect(self.file, read_only=True)) as db:
                begun = db.execute("PRAGMA user_version").fetchone() != (0,)  # else another process is at it
                return ask(db) if begun else nothing

    def _rows(self, asked: str) -> _Rows:
        return self._read(lambda db: db.execute(asked).fetchall(), [])

    def _status(self, run: str, stored: str | None) -> str:
        return "running" if is_locked(self._lock_file(run)) else stored or "interrupted"

    def _lock_file(self, run: str) -> Path:
        return self.folder / f"{run}.lock"


def _unfinished(run: str, spec: str, answers: dict[str, Answer]) -> dict[str, Any]:
    calls = [
        {"step": a.step, "target": None, "service": a.service, "inputs": None, "prompt": None,
         "output": a.value, "line": None, "usage": a.usage}
        for a in answers.values() if a.kind != "event"
    ]  # fmt: skip
    usage = {"calls": len(calls), "input_tokens": None, "output_tokens": None, "cost_usd": None}
    return {
        "run": run, "status": "interrupted", "spec": spec, "result": None, "error": None, "calls": calls,
        "conditions": [], "emitted": [], "invariants": [], "usage": usage,
    }  # fmt: skip


def _some(runs: list[str]) -> str:
    more = f" and {len(runs) - 5} more (`prose runs list`)" if len(runs) > 5 else ""
    return f"recorded runs: {', '.join(runs[:5])}{more}"
