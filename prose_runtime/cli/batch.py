"""``prose batch``: a spec for many rows of inputs, here or on an engine; what is done is not done again."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import secrets
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from prose_runtime.cli import options
from prose_runtime.cli.cassettes import NAMES as CASSETTES
from prose_runtime.cli.run import RawCommand, say, with_spec
from prose_runtime.errors import Cancelled, ProseError, UsageError

if TYPE_CHECKING:
    from prose_runtime.check.project import Project
    from prose_runtime.check.tables import Analysis
    from prose_runtime.journal import Journal
    from prose_runtime.runtime.result import Result

Runner = Callable[["Row"], Awaitable["Result"]]
"""Runs a row, or gives the result that it has already. Raises ProseError when it cannot begin."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the file: its number from 1 on, what is asked, and what tells it from other rows of other batches."""

    number: int
    asked: dict[str, Any]
    digest: str


def batch_options() -> list[click.Option]:
    """The options beside those of ``prose run``."""
    return [
        click.Option(["--inputs", "rows"], metavar="ROWS.jsonl",
                     help="A JSON object with inputs and config in each line; - is standard input. Required."),
        click.Option(["--output", "-o"], metavar="FILE", help="Write the results there; default: standard output."),
        click.Option(["--at-once"], type=click.IntRange(min=1), default=4, show_default=True, metavar="N",
                     help="Have at most N rows running."),
        click.Option(["--fresh"], is_flag=True, help="Run all rows, also those that are done."),
    ]  # fmt: skip


@click.command(cls=RawCommand, short_help="Run a spec for each line of a file of inputs.", add_help_option=False)
def batch(words: tuple[str, ...]) -> int:
    """Run a spec for each line of a file, and print a line of JSON for each, in their order."""
    does = "Run SPEC for each line of a file of inputs, and print a line of JSON for each, in their order."
    return with_spec(words, _batch, options.Verb("batch", does, batch_options(), ("--json", "--strict", *CASSETTES)))


def _batch(asked: dict[str, Any], said: options.Words) -> int:
    from prose_runtime.check.checker import check_path
    from prose_runtime.check.locate import found
    from prose_runtime.check.project import Project

    spec = found(asked["spec"], Path(asked["base"]))
    project = Project.around(spec)
    rows = _rows(asked, said, check_path(spec, project))
    place = _there(said) if said.engine is not None else _here(said, project)
    with _output(said.more["output"]) as file:
        sheet = _Sheet(rows, file, quiet=said.quiet)
        try:
            asyncio.run(_all(rows, place, said.more["at_once"], sheet))
        except KeyboardInterrupt:
            raise Cancelled(
                f"{sheet.done} of {len(rows)} rows are done", help="the same command goes on with the others"
            ) from None
    return sheet.exit_code


async def _all(rows: Sequence[Row], place: AbstractAsyncContextManager[Runner], at_once: int, sheet: _Sheet) -> None:
    """Run the rows, no more than so many at once; the sheet takes each result as it comes."""
    places = asyncio.Semaphore(at_once)
    async with place as run:

        async def one(row: Row) -> None:
            async with places:
                try:
                    sheet.take(row, await run(row))
                except ProseError as error:
                    sheet.take(row, error)

        await asyncio.gather(*(one(row) for row in rows))


# rows


def _rows(asked: Mapping[str, Any], said: options.Words, analysis: Analysis) -> list[Row]:
    """The rows of the file.

    Raises:
        UsageError: A line is no JSON object, or names what the spec does not take.
    """
    from prose_runtime.check.checker import reachable

    if said.more["rows"] is None:
        raise UsageError("no rows are given", help="write `--inputs ROWS.jsonl`, a JSON object in each line")
    base = Path(asked["base"])
    specs = [part.spec.source.raw for part in reachable(analysis)]
    nonce = secrets.token_hex(8) if said.more["fresh"] else ""
    rows: list[Row] = []
    for number, line in enumerate(options.Reader(base).text(said.more["rows"]).splitlines(), 1):
        if line.strip():
            one = {**asked, **options.with_row(analysis, said, _object(line, number), number)}
            content = json.dumps([specs, nonce, number, one], sort_keys=True)
            rows.append(Row(len(rows) + 1, one, hashlib.sha256(content.encode()).hexdigest()[:16]))
    return rows


def _object(line: str, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise UsageError(f"line {number} of --inputs is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError(f"line {number} of --inputs is no JSON object", help='write {"input name": value, ...}')
    return value


# where rows run


@asynccontextmanager
async def _here(said: options.Words, project: Project) -> AsyncIterator[Runner]:
    """On this machine; the record of runs knows which rows are done, and what the others were answered.

    ``project`` holds the spec, which is read and checked once for all rows.
    """
    from prose_runtime.cli.run import request_of
    from prose_runtime.cli.runs import journal
    from prose_runtime.runtime.session import execute, prepare
    from prose_runtime.runtime.told import result_from

    kept = journal() if said.record else None
    known = _known(kept)

    async def run(row: Row) -> Result:
        status, name = known.get(row.digest, ("", ""))
        if kept is not None and status == "completed":
            return result_from(kept.show(name))
        prepared = prepare(replace(request_of(row.asked, kept is not None), project=project))
        if kept is None:
            return await execute(prepared)
        spec = prepared.analysis.spec.name
        record = kept.open(name) if name else kept.create(spec, {**row.asked, "row": row.digest})
        try:
            result = await execute(prepared, journal=record)
            await record.finish(result.status, result.as_json())
        finally:
            record.close()
        return result

    yield run


def _known(journal: Journal | None) -> dict[str, tuple[str, str]]:
    """Status and name of the latest run of each row, by the row's digest."""
    found: dict[str, tuple[str, str]] = {}
    for row, request in journal.requests() if journal is not None else ():
        if "row" in request:
            found.setdefault(request["row"], (row.status, row.run))
    return found


@asynccontextmanager
async def _there(said: options.Words) -> AsyncIterator[Runner]:
    """On an engine; it knows which rows are done by the names of their runs."""
    from prose_runtime.cli.engine import fits_engine, place
    from prose_runtime.cli.run import request_of
    from prose_runtime.engine.connection import connect

    fits_engine(said)
    there = place(said.engine or {})
    client = await connect(there)
    from prose_runtime.engine.client import join, order

    async def run(row: Row) -> Result:
        ordered = await asyncio.to_thread(order, request_of(row.asked), there)
        return await (await join(client, there, ordered, f"row-{row.digest}")).result()

    yield run


# results


@contextlib.contextmanager
def _output(path: str | None) -> Any:
    if path is None:
        yield sys.stdout
        return
    try:
        with Path(path).open("w", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise UsageError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None


class _Sheet:
    """Writes the line of each row as soon as those before it are written, and tells how far it is."""

    def __init__(self, rows: Sequence[Row], file: IO[str], *, quiet: bool):
        self.rows = rows
        self.file = file
        self.quiet = quiet
        self.done = 0
        self.failed = 0
        self.paused = 0
        self._lines: dict[int, dict[str, Any]] = {}
        self._next = 1

    def take(self, row: Row, outcome: Result | ProseError) -> None:
        """Take what came of a row."""
        line = _line(row, outcome)
        self._lines[row.number] = line
        self.done += 1
        self.paused += line["status"] == "paused"
        self.failed += line["status"] not in ("completed", "paused")
        if not self.quiet:
            self._tell(row, line)
        while self._next in self._lines:
            print(json.dumps(self._lines.pop(self._next), ensure_ascii=False), file=self.file, flush=True)
            self._next += 1

    def _tell(self, row: Row, line: Mapping[str, Any]) -> None:
        why = f": {line['error']['message']}" if line["error"] else ""
        say(f"row {row.number}: {line['status']}{why} ({self.done} of {len(self.rows)} done, {self.failed} failed)")

    @property
    def exit_code(self) -> int:
        """0 when all rows completed, 5 when some only wait for a person, else 1."""
        return 1 if self.failed else 5 if self.paused else 0


def _line(row: Row, outcome: Result | ProseError) -> dict[str, Any]:
    if isinstance(outcome, ProseError):
        return {"row": row.number, "run": None, "status": "failed", "result": None, "error": outcome.as_json()}
    whole = outcome.as_json()
    return {"row": row.number, **{name: whole[name] for name in ("run", "status", "result", "error", "usage")}}
