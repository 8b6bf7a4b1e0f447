"""``prose runs`` and ``prose resume``: what was run here, and going on with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from prose_runtime.cli.engine import engined, is_there, list_there, recorded_there, resume_there, show_there
from prose_runtime.cli.export import FORMATS, export_run, recorded_here
from prose_runtime.cli.limits import given_limits, limited
from prose_runtime.journal import RECORD_FOLDER, Journal, RunRow


def journal(base: Path | None = None) -> Journal:
    """The record below a folder, by default the working directory."""
    return Journal((base or Path.cwd()) / RECORD_FOLDER)


@click.group(invoke_without_command=True, short_help="List, show, export and compare recorded runs.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@engined
@click.pass_context
def runs(ctx: click.Context, /, as_json: bool, **given: Any) -> None:
    """List, show, export and compare the runs recorded in this folder, and those of an engine."""
    if ctx.invoked_subcommand is None:
        _print_list(as_json, given)


@runs.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@engined
def list_(as_json: bool, **given: Any) -> None:
    """List the recorded runs, newest first."""
    _print_list(as_json, given)


@runs.command()
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print the object of `prose run --json`.")
@engined
def show(run: str, as_json: bool, **given: Any) -> None:
    """Show a run. RUN is the beginning of its name, or `last`."""
    shown = _shown(run, given)
    if as_json:
        from prose_runtime.report.run_json import dumps

        click.echo(dumps(shown))
    else:
        from prose_runtime.report.run_text import run_text
        from prose_runtime.text import printable

        click.echo("\n".join(map(printable, run_text(shown).split("\n"))))


@runs.command(short_help="Show what differs between two runs or cassettes.")
@click.argument("a")
@click.argument("b")
@click.option("--json", "as_json", is_flag=True, help="Print the differences as JSON.")
def diff(a: str, b: str, as_json: bool) -> int:
    """Show what differs between two runs or cassettes: inputs, calls, answers, conditions, result.

    A and B are runs, by the beginnings of their names or `last`, or files of cassettes. Exit code: 0 nothing differs,
    1 something does.
    """
    from prose_runtime.report.run_diff import diff_text, differences, told
    from prose_runtime.report.run_json import dumps

    sides = told(a, journal(), Path.cwd()), told(b, journal(), Path.cwd())
    found = differences(*sides)
    if as_json:
        click.echo(dumps(found))
    elif found:
        click.echo(diff_text(*sides))
    return int(bool(found))


@runs.command()
@click.argument("run")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="What to write; by default as the file's name ends, else Markdown.",
)
@click.option("--output", "-o", metavar="FILE", help="Write to a file instead of standard output.")
@engined
def export(run: str, form: str | None, output: str | None, **given: Any) -> None:
    """Export a run as a page, a transcript, or all that was recorded. RUN is the beginning of its name, or `last`."""
    there = is_there(run, given, journal())
    export_run(recorded_there(run, given) if there else recorded_here(journal(), run), form, output)


@click.command()
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with everything that happened.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="[WHOSE=]TEXT",
    help="Answer what the run waits for; WHOSE is a field, or the slot or step where several wait. "
    "@FILE and - read the text.",
)
@click.option("--reask", is_flag=True, help="Ask again where the spec or the inputs changed since.")
@engined
@limited
def resume(run: str, as_json: bool, quiet: bool, answers: tuple[str, ...], reask: bool, **more: Any) -> int:
    """Go on with a run without asking anything again. RUN is the beginning of its name, or `last`."""
    if is_there(run, more, journal()):
        return resume_there(run, more, given_limits(more), answers, as_json=as_json, quiet=quiet)
    from prose_runtime.cli.run import resume_run

    return resume_run(journal(), run, given_limits(more), answers=answers, as_json=as_json, quiet=quiet, reask=reask)


def _shown(run: str, given: dict[str, Any]) -> dict[str, Any]:
    if is_there(run, given, journal()):
        return show_there(run, given)
    return journal().show(run)


def _print_list(as_json: bool, given: dict[str, Any]) -> None:
    rows = list_there(given, [] if given["engine"] else journal().list())
    if as_json:
        from prose_runtime.report.run_json import dumps

        click.echo(dumps([row.as_json() for row in rows]))
    elif rows:
        click.echo("\n".join(_table(rows)))
    else:
        click.echo(f"no run is recorded in {RECORD_FOLDER}/; `prose run SPEC` records one", err=True)


def _table(rows: list[RunRow]) -> list[str]:
    cells: list[list[Any]] = [["RUN", "STARTED", "STATUS", "CALLS", "SPEC"]]
    cells += [[row.run, row.started.replace("T", " "), row.status, row.calls, row.spec] for row in rows]
    widths = [max(len(str(line[column])) for line in cells) for column in range(len(cells[0]))]
    return [
        "  ".join(str(cell).ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells
    ]
