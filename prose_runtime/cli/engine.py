"""``prose worker``, ``prose submit`` and the options ``--engine ...`` of other commands: runs on many machines."""

from __future__ import annotations

import asyncio
import shlex
import signal
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from prose_runtime.errors import EngineError, UsageError

if TYPE_CHECKING:
    from prose_runtime.cli.options import Words
    from prose_runtime.engine.client import Run
    from prose_runtime.engine.connection import Place
    from prose_runtime.journal import Journal, RunRow
    from prose_runtime.report.story import Recorded
    from prose_runtime.runtime.result import Result
    from prose_runtime.services.api import Service

_T = TypeVar("_T")

_ENGINE = click.Choice(["temporal"])

_PLACE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("--address", {"metavar": "HOST:PORT", "help": "Where the engine is; default: prose.yml, then TEMPORAL_ADDRESS."}),
    (
        "--namespace",
        {"metavar": "NAME", "help": "The engine's namespace; default: prose.yml, then TEMPORAL_NAMESPACE."},
    ),
    ("--task-queue", {"metavar": "NAME", "help": "The queue of the workers; default: prose.yml, then prose."}),
)

NAMES = ("--engine", *(name for name, _ in _PLACE))
"""The options that say where a run goes; each takes a value."""


def engine_options() -> list[click.Option]:
    """Options of ``prose run``."""
    told = "Run it on many machines, by the workers of an engine."
    return [
        click.Option(["--engine"], type=_ENGINE, help=told),
        *(click.Option([name], **more) for name, more in _PLACE),
    ]


def given_engine(params: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the options say about an engine; None when the run stays on this machine."""
    given = {key: params.get(key) for key in ("engine", "address", "namespace", "task_queue")}
    return given if any(value is not None for value in given.values()) else None


def engined(command: Callable[..., _T]) -> Callable[..., _T]:
    """Adds the options to a command that click makes of a function."""
    for name, more in reversed(_PLACE):
        command = click.option(name, **more)(command)
    return click.option("--engine", type=_ENGINE, help="Look at the runs of an engine.")(command)


def place(given: Mapping[str, Any], spec_path: Path | None = None) -> Place:
    """The engine that options mean, and prose.yml where they say nothing.

    Raises:
        UsageError: prose.yml has faults.
    """
    from prose_runtime.engine.connection import Place
    from prose_runtime.services.config import EngineSettings, find_config, load_config

    config = find_config(spec_path, Path.cwd())
    settings = (load_config(config).engine if config else EngineSettings()).temporal
    said = {key: given[key] for key in ("address", "namespace", "task_queue", "lost_after") if given.get(key)}
    return Place(**{**settings.model_dump(exclude_none=True), **said})


# sending off and waiting


def run_there(asked: Mapping[str, Any], given: Mapping[str, Any], *, as_json: bool, quiet: bool) -> int:
    """Run what is asked on the engine, and print how it ended as if it had run here; returns the exit code."""
    from prose_runtime.cli.run import print_result, say

    async def work() -> Result:
        run = await _sent(asked, given, quiet=quiet)
        if not quiet:
            say(f"run {run.name} goes on whatever becomes of this command")
        return await _awaited(run, quiet=quiet)

    result = called(work())
    print_result(result, None, as_json=as_json, quiet=quiet, where=_written(given))
    return result.exit_code


def submit_there(asked: Mapping[str, Any], given: Mapping[str, Any], *, as_json: bool, quiet: bool) -> int:
    """Start what is asked on the engine and print its name."""
    from prose_runtime.report.run_json import dumps

    run = called(_sent(asked, given, quiet=quiet))
    click.echo(dumps({"run": run.name}) if as_json else run.name)
    return 0


def fits_engine(said: Words) -> None:
    """Refuse what a run on the engine has no use for.

    Raises:
        UsageError: A cassette or a run without a record is asked for.
    """
    if said.cassettes:
        raise UsageError("cassettes are for runs on this machine", help="leave out `--record` and `--replay`")
    if not said.record:
        raise UsageError("an engine keeps a record of each run", help="leave out `--no-record`")


async def _sent(asked: Mapping[str, Any], given: Mapping[str, Any], *, quiet: bool) -> Run:
    from prose_runtime.cli.run import request_of, say
    from prose_runtime.engine.connection import connect

    request = request_of(asked)
    there = place(given, request.base / request.spec_path)
    client = await connect(there)
    from prose_runtime.engine.client import has_worker, order, submit

    run = await submit(client, there, order(request, there))
    if not quiet and not await has_worker(client, there):
        say(f"warning: no worker listens to the queue {there.task_queue}; start one with `prose worker`")
    return run


async def _awaited(run: Run, *, quiet: bool) -> Result:
    """Wait for the end. The first Ctrl-C stops the run."""
    from prose_runtime.cli.interrupt import on_interrupt
    from prose_runtime.cli.terminal import progress

    cancelling: list[asyncio.Task[None]] = []
    on_interrupt(lambda: cancelling.append(asyncio.ensure_future(run.cancel())))
    return await run.result(None if quiet else progress(), _person)


def _written(given: Mapping[str, Any]) -> str:
    """The options that said which engine is meant, as they stand behind ``prose resume RUN``."""
    names = zip(NAMES, ("engine", "address", "namespace", "task_queue"), strict=True)
    return "".join(f" {name} {shlex.quote(given[key])}" for name, key in names if given.get(key))


def _person() -> Service | None:
    """Who can be asked here and now: the person at the terminal, if there is one."""
    from prose_runtime.services.human import HumanService, at_terminal

    return HumanService("human") if at_terminal() else None


# looking at runs


def is_there(run: str, given: Mapping[str, Any], journal: Journal) -> bool:
    """Whether RUN means one on the engine: so it is said, or it is not recorded here and prose.yml knows an engine.

    ``last`` is the newest of both, the first that ``prose runs list`` shows.
    """
    if given["engine"] is not None:
        return True
    here = journal.list()
    if run == "last":
        rows = list_there(given, here)
        return bool(rows) and rows[0] not in here
    return not any(row.run.startswith(run) for row in here) and _configured(given)


def _configured(given: Mapping[str, Any]) -> bool:
    return any(given[key] for key in ("engine", "address")) or place(given).address is not None


def list_there(given: Mapping[str, Any], rows: list[RunRow]) -> list[RunRow]:
    """The rows of this machine with those of the engine, newest first."""
    if not _configured(given):
        return rows

    async def work() -> list[RunRow]:
        from prose_runtime.engine.connection import connect

        client = await connect(place(given))
        from prose_runtime.engine.client import listed

        return [row async for _, row in listed(client)]

    try:
        there = called(work())
    except EngineError as error:
        if given["engine"]:
            raise
        from prose_runtime.cli.run import say

        say(f"warning: {error.message}")
        there = []
    return sorted([*rows, *there], key=lambda row: row.started, reverse=True)


async def _found(run: str, given: Mapping[str, Any]) -> Run:
    from prose_runtime.engine.connection import connect

    client = await connect(place(given))
    from prose_runtime.engine.client import find

    return await find(client, run)


def show_there(run: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The object of a run on the engine."""

    async def work() -> dict[str, Any]:
        return await (await _found(run, given)).show()

    return called(work())


def recorded_there(run: str, given: Mapping[str, Any]) -> Recorded:
    """What the engine's history holds of a run."""
    from prose_runtime.report.story import Recorded

    async def work() -> Recorded:
        found = await _found(run, given)
        trace = await found.trace()
        return Recorded(await found.show(), trace.rows, trace.record.asked, trace.record.answers())

    return called(work())


def resume_there(
    prefix: str,
    given: Mapping[str, Any],
    limits: Mapping[str, Any],
    answers: Sequence[str],
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    """Give a run on the engine people's answers and wait for it; one that failed is begun again with its record."""
    from prose_runtime.cli.answers import given_answers
    from prose_runtime.cli.run import print_result

    async def work() -> Result:
        run = await _found(prefix, given)
        for step, value in given_answers(answers, await run.waiting() if answers else [], Path.cwd()).items():
            await run.answer(step, value)
        await run.revive(limits)
        return await _awaited(run, quiet=quiet)

    result = called(work())
    print_result(result, None, as_json=as_json, quiet=quiet, where=_written(given))
    return result.exit_code


# workers


@click.command(short_help="Work for runs on an engine.")
@click.option("--engine", type=_ENGINE, default="temporal", show_default=True, help="The engine.")
@click.option("--address", **_PLACE[0][1])
@click.option("--namespace", **_PLACE[1][1])
@click.option("--task-queue", **_PLACE[2][1])
@click.option("--at-once", type=click.IntRange(min=1), default=100, show_default=True, metavar="N",
              help="Have at most N calls in flight at this worker.")  # fmt: skip
@click.option("--per-second", type=click.FloatRange(min=0, min_open=True), metavar="N",
              help="Let all workers of the queue begin at most N calls a second.")  # fmt: skip
@click.option("--lost-after", type=click.FloatRange(min=1), metavar="SECONDS",
              help="How soon others take over when this worker is gone.")  # fmt: skip
@click.option("--replay", is_flag=True, help="Only tell whether this version can go on with the runs of the queue.")
def worker(at_once: int, per_second: float | None, replay: bool, **given: Any) -> int:
    """Work for runs on an engine, until Ctrl-C: walk their programs and ask services.

    The services are those of the prose.yml that holds in this folder, with the keys of this environment.
    """
    there = place(given)
    if replay:
        return called(_replay(there))
    from prose_runtime.cli.run import say
    from prose_runtime.engine.connection import connect

    async def run() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await connect(there)  # tells that the extra is missing before the worker's module needs it
        from prose_runtime.engine.worker import work

        def ready() -> None:
            say(f"working for the queue {there.task_queue}; Ctrl-C stops")

        await work(there, Path.cwd(), stop, at_once=at_once, per_second=per_second, ready=ready)

    called(run())
    return 0


async def _replay(there: Place) -> int:
    """Tell of each run that goes on whether it could go on here; 1 when one could not."""
    from prose_runtime.engine.connection import connect

    client = await connect(there)
    from prose_runtime.engine.replay import replay_running

    faults = 0
    async for run, fault in replay_running(client, there.task_queue):
        faults += fault is not None
        click.echo(f"{run}: {'can go on' if fault is None else f'cannot go on: {fault.splitlines()[0]}'}")
    return min(faults, 1)


def called(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine, telling of the engine's refusals as of other errors.

    Raises:
        EngineError: The engine refuses.
    """
    try:
        return asyncio.run(work)
    except Exception as error:
        from prose_runtime.engine.connection import refusal

        told = refusal(error)
        if told is None:
            raise
        raise told from None
