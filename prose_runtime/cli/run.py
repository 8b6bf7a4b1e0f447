"""``prose run``: from the words of a command line to a result on standard output."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prose_runtime.cli import options
from prose_runtime.cli.cassettes import NAMES as CASSETTES
from prose_runtime.cli.cassettes import tape_words
from prose_runtime.cli.limits import raised
from prose_runtime.errors import CheckFailed, Paused, ProseError, RecordError, UsageError
from prose_runtime.journal import Journal, RunRecord

if TYPE_CHECKING:
    from prose_runtime.runtime.session import Prepared, Result, RunRequest

EDITED = "edited"
"""The kind of error of a resumed run that asks something else than it did before."""


class RawCommand(click.Command):
    """A command that takes its words as they stand: what they mean depends on the spec that one of them names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Hand all words to the callback."""
        ctx.params = {"words": tuple(args)}
        ctx.args = []
        return []


@click.command(cls=RawCommand, short_help="Run a spec.", add_help_option=False)
def run(words: tuple[str, ...]) -> int:
    """Run a spec; its slots, config and inputs are options of the command."""
    return with_spec(words, _run)


def _run(asked: dict[str, Any], said: options.Words) -> int:
    if said.engine is not None:
        from prose_runtime.cli.engine import fits_engine, run_there

        fits_engine(said)
        return run_there(asked, said.engine, as_json=said.json, quiet=said.quiet)
    from prose_runtime.cli.runs import journal

    return perform(asked, journal() if said.record else None, as_json=said.json, quiet=said.quiet)


@click.command(cls=RawCommand, short_help="Start a run on an engine.", add_help_option=False)
def submit(words: tuple[str, ...]) -> int:
    """Start a run on an engine and print its name; the options are those of ``prose run``."""

    def send(asked: dict[str, Any], said: options.Words) -> int:
        from prose_runtime.cli.engine import submit_there

        return submit_there(asked, said.engine or {}, as_json=said.json, quiet=said.quiet)

    does = "Start a run of SPEC on an engine, and print the name of the run."
    return with_spec(words, send, options.Verb("submit", does, without=("--no-record", "--strict", *CASSETTES)))


def with_spec(
    words: tuple[str, ...], use: Callable[[dict[str, Any], options.Words], int], verb: options.Verb = options.RUN
) -> int:
    """Read the words behind a command that takes a spec, and use what they ask for; returns the exit code."""
    from prose_runtime.check.locate import locate

    base = Path.cwd()
    at = options.spec_word(words, lambda word: locate(word, base) is not None)
    if at is None:
        return _help_without_spec(words, verb)
    spec, rest = words[at], [*words[:at], *words[at + 1 :]]
    said = _said(spec, rest, base, verb)
    if isinstance(said, str):
        click.echo(said)
        return 0
    request = {
        "spec": spec, "inputs": said.inputs, "config": said.config, "bind": said.bind, "base": str(base),
        "limits": said.limits, "people": said.people, "cassettes": said.cassettes,
    }  # fmt: skip
    return use(request, said)


def _help_without_spec(words: Sequence[str], verb: options.Verb) -> int:
    if words and not options.has_flag(words, "--help", "-h"):
        written = f"write `prose {verb.name} SPEC`, where SPEC is a file or a library pattern"
        raise UsageError("no SPEC is given", help=written)
    from prose_runtime.check.project import library_names

    click.echo(options.general_help(library_names(), verb), err=not words)
    return 0 if words else 2


def _said(spec: str, rest: list[str], base: Path, verb: options.Verb) -> options.Words | str:
    from prose_runtime.check.checker import check_path
    from prose_runtime.check.locate import found

    analysis = check_path(found(spec, base))
    if not options.has_flag(rest, "--help", "-h") and any(d.severity == "error" for d in analysis.diagnostics):
        raise CheckFailed(analysis.diagnostics)
    return options.parse(analysis, spec, rest, base, verb)


# running


def resume_run(
    journal: Journal,
    run_prefix: str,
    limits: dict[str, Any],
    *,
    answers: Sequence[str] = (),
    as_json: bool,
    quiet: bool,
    reask: bool,
) -> int:
    """Go on with a recorded run, with its limits unless others are given; returns the exit code.

    ``answers`` are the words of ``--answer``.
    """
    from prose_runtime.cli.answers import given_answers

    said = given_answers(answers, journal.show(run_prefix).get("waiting", []), Path.cwd()) if answers else {}
    record = journal.open(run_prefix)
    asked = {**record.request, "limits": {**record.request.get("limits", {}), **limits}}
    try:
        return perform(asked, None, record=record, answers=said, as_json=as_json, quiet=quiet, reask=reask)
    finally:
        record.close()


def perform(
    asked: dict[str, Any],
    journal: Journal | None,
    *,
    record: RunRecord | None = None,
    answers: dict[str, Any] | None = None,
    as_json: bool,
    quiet: bool,
    reask: bool = False,
) -> int:
    """Run what is asked and print how it ended; returns the exit code.

    ``asked`` is the record's request. ``journal`` is where a new run is recorded, ``record`` an earlier one to go on
    with, ``answers`` those of people by step. Raises ProseError for what is wrong before anything is called.
    """
    from prose_runtime.runtime.session import prepare

    try:
        prepared = prepare(request_of(asked, record is not None or journal is not None))
    except UsageError as error:
        error.help = error.help or f"`prose run {asked['spec']} --help` lists what the spec takes"
        raise
    if not quiet:
        _tell_before(prepared)
    if journal is not None:
        record = journal.create(prepared.analysis.spec.name, asked)
    try:
        result = run_to_end(prepared, record, quiet=quiet, answers=answers, reask=reask)
    finally:
        if record is not None:
            record.close()
    print_result(result, record, as_json=as_json, quiet=quiet)
    for step in answers or ():
        say(f"warning: the answer for {step} was not used: the run did not ask there again")
    return result.exit_code


def request_of(asked: Mapping[str, Any], record: bool = True) -> RunRequest:
    """The run that the request of a record means."""
    from prose_runtime.check.locate import found
    from prose_runtime.runtime.people import People
    from prose_runtime.runtime.session import RunRequest

    base = Path(asked["base"])
    spec = found(asked["spec"], base)
    return RunRequest(
        spec,
        asked["inputs"],
        asked["config"],
        asked["bind"],
        base,
        record,
        limits=asked.get("limits", {}),
        people=People.from_json(asked.get("people")),
        cassettes=tape_words(asked.get("cassettes", {}), base),
    )


def run_to_end(
    prepared: Prepared, record: RunRecord | None, *, quiet: bool, answers: dict[str, Any] | None = None, reask: bool
) -> Result:
    """Execute a run, shown while it happens unless ``quiet``. Ctrl-C: see ``cli.interrupt``."""
    from prose_runtime.cli.watch import Watcher

    gc.freeze()  # what is loaded by now stays until the end: nothing in it has to be looked at for garbage

    async def work() -> Result:
        result = await Watcher(prepared, quiet=quiet).execute(record, answers=answers, reask=reask)
        if record is not None:
            await _finish(record, result)
        return result

    return asyncio.run(work())


async def _finish(record: RunRecord, result: Result) -> None:
    if result.error is not None and result.error.kind == EDITED:  # nothing was run: what is stored of it stays
        return
    try:
        await record.finish(result.status, result.as_json())
    except RecordError as error:  # the result is there all the same
        if not isinstance(result.error, RecordError):
            say(f"warning: {error.message}")


# printing


def _tell_before(prepared: Prepared) -> None:
    from prose_runtime.report.bounds_text import run_line

    if prepared.note:
        say(prepared.note)
    warnings = [d for d in prepared.warnings if d.severity == "warning"]
    if warnings:
        from prose_runtime.report.text import render

        say(render(warnings))
    if prepared.limits.max_cost_usd is not None:
        from prose_runtime.report.bounds_estimate import unpriced

        for model in unpriced(prepared.bounds, prepared.wiring.bindings):
            say(f"warning: the price of {model} is unknown, so the limit max_cost_usd will not see its calls")
            say(f"help: write what it costs in prose.yml: prices: {{{model}: {{input: 1.0, output: 5.0}}}}")
    say(run_line(prepared.bounds, prepared.limits.max_calls, beside=prepared.beside))


def print_result(
    result: Result, record: RunRecord | None, *, as_json: bool, quiet: bool, where: str | None = None
) -> None:
    """Print how a run ended, and how a recorded one goes on: here, or on the engine that the options ``where`` mean."""
    from prose_runtime.report.run_json import dumps
    from prose_runtime.report.run_text import broken_text, error_text, usage_text, value_text
    from prose_runtime.report.waiting_text import waiting_text
    from prose_runtime.runtime.rewalk import EditedError

    if as_json:
        click.echo(dumps(result.as_json()))
    elif result.status == "completed" and result.value is not None:
        _print_result(value_text(result.value))
    sys.stdout.flush()
    if not quiet:
        say(usage_text(result.as_json()["usage"]))
    for model in result.unpriced:
        say(f"warning: the price of {model} is unknown; the limit max_cost_usd did not see its calls")
    for line in broken_text(result.as_json()["invariants"]):
        say(line)
    error: ProseError | None = result.error
    if isinstance(error, Paused):
        say(f"paused: {error.message}" if not error.waiting else "paused: a person's answer is needed")
        for line in waiting_text(error.waiting, result.run and result.run + (where or "")):
            say(line)
    elif error is not None:
        say(error_text(error))
    if error is not None and (record is not None or where is not None):
        for line in error.changes.lines() if isinstance(error, EditedError) else ():
            say(line)
        again = " --reask" if error.kind == EDITED else raised(error)
        say(f"go on with:  prose resume {record.run if record else result.run}{where or ''}{again}")


def _print_result(text: str) -> None:
    """Byte for byte into a file or pipe; on a terminal without what would steer it."""
    if sys.stdout.isatty():
        from prose_runtime.text import printable

        text = "\n".join(map(printable, text.split("\n")))
    click.echo(text, color=True)


def say(text: str) -> None:
    """Tell the person, beside the result."""
    from prose_runtime.text import printable

    click.echo("\n".join(map(printable, text.split("\n"))), err=True)
