"""The durable record of runs: each answer from outside is kept before the program uses it (DESIGN.md section 6).

One SQLite file holds all runs of a folder. Answers are keyed by the step's place in the program, so that a resumed
run finds them again; a lock file per run admits one writer.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

from prose_runtime.errors import RecordError, UsageError
from prose_runtime.values import clean_text

RECORD_FOLDER = ".prose"
"""The folder of the record, below the working directory."""

SCHEMA_VERSION = 1

_SCHEMA = """
create table run(run text primary key, spec text not null, request text not null, started text not null,
                 status text, calls integer, result text);
create table answer(run text not null, step text not null, digest text not null, kind text not null,
                    value text not null, service text not null, usage text, model text, primary key(run, step));
"""
_TRACE = "create table if not exists trace(run text not null, at real not null, event text not null)"
_TRACED = "insert into trace values(?,?,?)"
_KEEP = "insert or replace into answer values(?,?,?,?,?,?,?,?)"
_NO_RECORD = "run with `--no-record` to go on without a record"
_T = TypeVar("_T")
_Rows = list[tuple[Any, ...]]
_Events = list[dict[str, Any]]  # a name apart, since a method of the journal is called list


@dataclass(frozen=True, slots=True)
class Answer:
    """What came from outside at one step.

    Attributes:
        step: The place in the program: the path of constructs and iterations.
        digest: Of the request's content; another digest at the same step means that the spec or inputs changed.
        kind: ``reply``, or ``error`` when the service failed; ``value`` is then the error as JSON. ``open``: it
            ended the run and has to be asked for again. ``event`` is no
            answer to a request but what happened outside, such as which of several replies came first.
        service: The binding's name.
        usage: What the answer cost, as JSON.
        model: The model that answered, as its provider names it.
    """

    step: str
    digest: str
    kind: Literal["reply", "error", "open", "event"]
    value: Any
    service: str
    usage: dict[str, Any] | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run of the list. ``status`` is the run's own, or ``running``, or ``interrupted`` when its process died.

    ``started`` is UTC in ISO 8601; ``calls`` counts the requests made to services.
    """

    run: str
    spec: str
    status: str
    started: str
    calls: int

    def as_json(self) -> dict[str, Any]:
        """The row of ``prose runs list --json``."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


class Journal:
    """All recorded runs of one folder, ``.prose/`` below the working directory.

    Every method raises RecordError when the folder or the file cannot be used. Reading creates nothing.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.file = folder / "runs.db"

    def create(self, spec: str, request: dict[str, Any]) -> RunRecord:
        """Begin a run. ``request`` is what a resumed run needs, as JSON: names of bindings, never keys."""
        self._make_folder()
        with _told(self.folder), closing(_connect(self.file)) as db:
            run, lock = self._new_run(db, clean_text(spec), redact(request))
        return RunRecord(self, run, request, {}, lock)

    def open(self, run_prefix: str) -> RunRecord:
        """Go on with a run, given as an unambiguous prefix or ``last``.

        Raises UsageError when no run or several fit, RecordError when a living process is at it.
        """
        run = self.resolve(run_prefix)
        lock = _lock(self._lock_file(run))
        try:
            with _told(self.folder), closing(_connect(self.file)) as db:
                (request,) = db.execute("select request from run where run=?", (run,)).fetchone()
                answers = _answers(db, run)
        except BaseException:
            lock.release()
            raise
        return RunRecord(self, run, json.loads(request), answers, lock)

    def list(self) -> list[RunRow]:
        """All runs, newest first; works while one of them is running."""
        asked = """select run, spec, status, started,
                   coalesce(calls, (select count(*) from answer where answer.run = run.run and kind != 'event'))
                   from run order by rowid desc"""
        rows = self._rows(asked)
        return [RunRow(run, spec, self._status(run, status), at, calls) for run, spec, status, at, calls in rows]

    def show(self, run_prefix: str) -> dict[str, Any]:
        """The JSON object of a run; of one that did not end, what is known of it so far."""
        run = self.resolve(run_prefix)
        asked = "select spec, status, result from run where run=?"
        spec, status, result = self._read(lambda db: db.execute(asked, (run,)).fetchone(), None)
        shown: dict[str, Any] = (
            json.loads(result) if result else _unfinished(run, spec, self._read(lambda db: _answers(db, run), {}))
        )
        return {**shown, "status": self._status(run, status)}

    def trace(self, run_prefix: str) -> _Events:
        """What happened in a run, in order: objects of ``trace.as_row`` with ``at``, in seconds since 1970."""
        run = self.resolve(run_prefix)
        asked = "select at, event from trace where run=? order by rowid"
        known = "select 1 from sqlite_master where name = 'trace'"  # a file of an earlier version has none
        rows: _Rows = self._read(
            lambda db: db.execute(asked, (run,)).fetchall() if db.execute(known).fetchone() else [], []
        )
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
        with _told(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            ignore = self.folder / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")

    def _new_run(self, db: sqlite3.Connection, spec: str, request: dict[str, Any]) -> tuple[str, _Lock]:
        while True:
            now = datetime.now(UTC)
            run = f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
            row = (run, spec, _dump(request), f"{now:%Y-%m-%dT%H:%M:%SZ}")
            lock = _lock(self._lock_file(run))
            try:
                db.execute("insert into run(run, spec, request, started) values(?,?,?,?)", row)
            except BaseException as error:
                lock.release()
                if isinstance(error, sqlite3.IntegrityError):
                    continue
                raise
            return run, lock

    def _read(self, ask: Callable[[sqlite3.Connection], _T], nothing: _T) -> _T:
        with _told(self.folder):
            if not self.file.exists():
                return nothing
            with closing(_connect(self.file, read_only=True)) as db:
                begun = db.execute("PRAGMA user_version").fetchone() != (0,)  # else another process is at it
                return ask(db) if begun else nothing

    def _rows(self, asked: str) -> _Rows:
        return self._read(lambda db: db.execute(asked).fetchall(), [])

    def _status(self, run: str, stored: str | None) -> str:
        return "running" if _is_locked(self._lock_file(run)) else stored or "interrupted"

    def _lock_file(self, run: str) -> Path:
        return self.folder / f"{run}.lock"


class RunRecord:
    """The record of one run, held by one process until ``close``.

    Attributes:
        run: The run's identifier.
        request: What was asked, as given to ``Journal.create``.
        answers: The durable answers by step.
    """

    def __init__(self, journal: Journal, run: str, request: dict[str, Any], answers: dict[str, Answer], lock: _Lock):
        self.run = run
        self.request = request
        self.answers = answers
        self._folder = journal.folder
        self._file = journal.file
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
        self._traced.append((self.run, at, _dump(redact(event))))
        self._write()

    def _write(self) -> None:
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._drain())

    async def finish(self, status: str, result_json: dict[str, Any]) -> None:
        """Store how the run ended. Raises RecordError."""
        if self._writer is not None and not self._writer.done():
            await asyncio.wait([self._writer])
        calls = result_json.get("usage", {}).get("calls")
        row = (status, calls, _dump(redact(result_json)), self.run)
        await self._do(_commit_later("update run set status=?, calls=?, result=? where run=?", [row]))

    def reopen(self, steps: Iterable[str]) -> None:
        """Mark the answers of these steps as ``open``, so that they are asked for again. Raises RecordError."""
        kept = [step for step in steps if step in self.answers]
        for step in kept:
            self.answers[step] = replace(self.answers[step], kind="open")
        rows = [(self.run, clean_text(step)) for step in kept]
        change = "update answer set kind='open' where run=? and step=?"
        self._thread.submit(self._run, _commit_later(change, rows)).result()

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
        usage = None if answer.usage is None else _dump(answer.usage)
        step, value = clean_text(answer.step), _dump(redact(answer.value))
        return (self.run, step, answer.digest, answer.kind, value, answer.service, usage, answer.model)

    async def _do(self, work: Callable[[sqlite3.Connection], None]) -> None:
        # shielded: a cancelled branch must not leave a commit half reported
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, self._run, work))

    def _run(self, work: Callable[[sqlite3.Connection], None]) -> None:
        with _told(self._folder):
            if self._db is None:
                self._db = _connect(self._file)
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


def _dump(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))  # ASCII, so that a lone surrogate cannot fail to be stored


def _answers(db: sqlite3.Connection, run: str) -> dict[str, Answer]:
    asked = "select step, digest, kind, value, service, usage, model from answer where run=? order by rowid"
    return {
        step: Answer(step, digest, kind, json.loads(value), service, usage and json.loads(usage), model)
        for step, digest, kind, value, service, usage, model in db.execute(asked, (run,))
    }


# the database file


def _connect(file: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Open the file, making its tables when it is new. Raises sqlite3.Error, OSError or RecordError."""
    address = f"{file.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    db = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, timeout=30)
    try:
        if not read_only:
            _use_wal(db)
            db.execute("PRAGMA synchronous=NORMAL")
        _match_schema(db, file, read_only=read_only)
    except BaseException:
        db.close()
        raise
    return db


def _use_wal(db: sqlite3.Connection) -> None:
    for attempt in range(100):  # the switch itself ignores the busy timeout
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or attempt == 99:
                raise
            time.sleep(0.02)


def _match_schema(db: sqlite3.Connection, file: Path, *, read_only: bool) -> None:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version == 0 and not read_only:
        db.execute("begin immediate")
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version == 0:
            for statement in _SCHEMA.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
            version = SCHEMA_VERSION
        db.execute("commit")
    if version == SCHEMA_VERSION and not read_only:
        db.execute(_TRACE)
    if version > SCHEMA_VERSION:
        raise RecordError(
            f"the record {file} was written by a newer version of prose (format {version}, "
            f"this version knows {SCHEMA_VERSION})",
            help=f"upgrade prose-runtime, or {_NO_RECORD}",
        )


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """Turn what the system says about the record into one sentence."""
    try:
        yield
    except sqlite3.Error as error:
        raise _sqlite_fault(folder, error) from error
    except OSError as error:
        raise RecordError(_os_fault(folder, error), help=_NO_RECORD) from error


def _sqlite_fault(folder: Path, error: sqlite3.Error) -> RecordError:
    name, file = getattr(error, "sqlite_errorname", ""), folder / "runs.db"
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")) or "no such table" in str(error):
        return RecordError(
            f"the record {file} is damaged ({error})",
            help=f"move the file away and a new one is begun, or {_NO_RECORD}",
        )
    if name == "SQLITE_FULL" or (name.startswith("SQLITE_IOERR") and _space(folder) < 1 << 20):
        return RecordError(
            f"the record {file} cannot be written: the disk is full", help=f"free some space, or {_NO_RECORD}"
        )
    if name.startswith("SQLITE_BUSY"):
        return RecordError(f"the record {file} is in use by another process", help=f"try again, or {_NO_RECORD}")
    return RecordError(
        f"the record {file} cannot be used: {error}",
        help=f"make {folder} a folder that you may write to, with space left on its disk, or {_NO_RECORD}",
    )


def _space(folder: Path) -> int:
    try:
        disk = os.statvfs(folder)
    except OSError:
        return 1 << 30
    return disk.f_bavail * disk.f_frsize


def _os_fault(folder: Path, error: OSError) -> str:
    if folder.exists() and not folder.is_dir():
        return f"runs cannot be recorded: {folder} is a file, where a folder is needed"
    return f"runs cannot be recorded in {folder}: {error.strerror or error}"


# one writer a run


@dataclass(slots=True)
class _Lock:
    path: Path
    handle: int | None = field(default=None)

    def release(self) -> None:
        if self.handle is not None:
            self.path.unlink(missing_ok=True)  # while it is held: nobody can mistake the file for a free one
            os.close(self.handle)
            self.handle = None


def _lock(path: Path) -> _Lock:
    """Take the lock of a run. Raises RecordError when a living process holds it."""
    holder = ""
    for attempt in range(_TRIES):
        with _told(path.parent):
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _same_file(handle, path):
                os.ftruncate(handle, 0)
                os.pwrite(handle, str(os.getpid()).encode(), 0)
                return _Lock(path, handle)
        except BlockingIOError:
            holder = os.pread(handle, 20, 0).decode()
            if _is_alive(holder) and attempt >= _TRIES_OF_THE_LIVING:  # before: only somebody who looked, perhaps
                os.close(handle)
                break
            time.sleep(_PAUSE)
        os.close(handle)
    raise RecordError(
        f"run {path.stem} is running in process {holder}", help="wait until it ends, or stop it with Ctrl-C there"
    )


# A process that was killed while it started a program leaves its lock for a moment to that child, until the child is
# the other program. So a lock whose holder is dead is looked at again for a while.
_TRIES = 40
_TRIES_OF_THE_LIVING = 4
_PAUSE = 0.025


def _is_locked(path: Path) -> bool:
    for _ in range(_TRIES):
        try:
            handle = os.open(path, os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            if _is_alive(os.pread(handle, 20, 0).decode()):
                return True
        else:
            return False
        finally:
            os.close(handle)
        time.sleep(_PAUSE)
    return True


def _is_alive(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:  # somebody else's
        return True
    return True


def _same_file(handle: int, path: Path) -> bool:
    try:
        return os.fstat(handle).st_ino == path.stat().st_ino
    except FileNotFoundError:
        return False


# secrets


def redact(value: Any) -> Any:
    """A JSON value without secrets: the values of ``*_KEY``, ``*_TOKEN`` and ``*_SECRET`` variables become ``***``."""
    hidden = sorted(_secrets(), key=len, reverse=True)
    return _without(value, hidden) if hidden else value


def _secrets() -> set[str]:
    # shorter values are words such as "none", whose removal would spoil answers and protect nothing
    return {v for k, v in os.environ.items() if k.endswith(("_KEY", "_TOKEN", "_SECRET")) and len(v) >= 8}


def _without(value: Any, hidden: list[str]) -> Any:
    if isinstance(value, str):
        for secret in hidden:
            value = value.replace(secret, "***")
        return value
    if isinstance(value, dict):
        return {_without(key, hidden): _without(item, hidden) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without(item, hidden) for item in value]
    return value
