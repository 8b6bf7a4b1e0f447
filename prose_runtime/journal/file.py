"""The database file of the record: its tables, older formats, and what the system says about it in one sentence."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prose_runtime.errors import RecordError

SCHEMA_VERSION = 2
"""The format of the file. A file of an earlier format is brought to this one when it is first used."""

NO_RECORD = "run with `--no-record` to go on without a record"
"""What can be done when the record cannot be used."""

_SCHEMA = """
create table run(run text primary key, spec text not null, request text not null, started text not null,
                 status text, calls integer, result text, sources text);
create table answer(run text not null, step text not null, digest text not null, kind text not null,
                    value text not null, service text not null, usage text, model text,
                    reopened integer not null default 0, parts text, primary key(run, step));
create table trace(run text not null, at real not null, event text not null);
create index trace_of_run on trace(run);
"""


def connect(file: Path, *, read_only: bool = False, patience: float = 30) -> sqlite3.Connection:
    """Open the file, making its tables when it is new. Raises sqlite3.Error, OSError or RecordError.

    ``patience``: seconds to wait for another connection that is writing.
    """
    address = f"{file.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    db = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, timeout=patience)
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
    version = _version(db)
    if version > SCHEMA_VERSION:
        raise RecordError(
            f"the record {file} was written by a newer version of prose (format {version}, "
            f"this version knows {SCHEMA_VERSION})",
            help=f"upgrade prose-runtime, or {NO_RECORD}",
        )
    if version == SCHEMA_VERSION or (version == 0 and read_only):  # of a new file nothing is asked
        return
    if read_only:
        connect(file).close()
        return
    db.execute("begin immediate")
    try:
        version = _version(db)  # another process may have been first
        if version == 0:
            for statement in _SCHEMA.split(";"):
                db.execute(statement)
        elif version == 1:
            _from_1(db)
        db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        db.execute("commit")
    except BaseException:
        if db.in_transaction:
            db.execute("rollback")
        raise


def _version(db: sqlite3.Connection) -> int:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return int(version)


def _from_1(db: sqlite3.Connection) -> None:
    """The first format had no column for reopened answers, whose kind was lost, and at first no trace."""
    db.execute("alter table run add column sources text")
    db.execute("alter table answer add column reopened integer not null default 0")
    db.execute("alter table answer add column parts text")
    db.execute("create table if not exists trace(run text not null, at real not null, event text not null)")
    db.execute("create index trace_of_run on trace(run)")
    reopened = db.execute("select rowid, value from answer where kind='open'").fetchall()
    rows = [("error" if _is_failure(json.loads(value)) else "reply", rowid) for rowid, value in reopened]
    db.executemany("update answer set kind=?, reopened=1 where rowid=?", rows)


def _is_failure(value: object) -> bool:
    return isinstance(value, dict) and value.keys() == {"message", "kind", "service", "retry_after"}


@contextmanager
def told(folder: Path) -> Iterator[None]:
    """Turn what the system says about the record into one sentence."""
    try:
        yield
    except sqlite3.Error as error:
        raise _sqlite_fault(folder, error) from error
    except OSError as error:
        raise RecordError(_os_fault(folder, error), help=NO_RECORD) from error


def _sqlite_fault(folder: Path, error: sqlite3.Error) -> RecordError:
    name, file = getattr(error, "sqlite_errorname", ""), folder / "runs.db"
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")) or "no such table" in str(error):
        return RecordError(
            f"the record {file} is damaged ({error})",
            help=f"move the file away and a new one is begun, or {NO_RECORD}",
        )
    if name == "SQLITE_FULL" or (name.startswith("SQLITE_IOERR") and _space(folder) < 1 << 20):
        return RecordError(
            f"the record {file} cannot be written: the disk is full", help=f"free some space, or {NO_RECORD}"
        )
    if name.startswith("SQLITE_BUSY"):
        return RecordError(f"the record {file} is in use by another process", help=f"try again, or {NO_RECORD}")
    return RecordError(
        f"the record {file} cannot be used: {error}",
        help=f"make {folder} a folder that you may write to, with space left on its disk, or {NO_RECORD}",
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
