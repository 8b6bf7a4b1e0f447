"""``prose check`` and ``prose explain``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prose_runtime.errors import UsageError

if TYPE_CHECKING:
    from prose_runtime.check.checker import Checked, Question
    from prose_runtime.cli.check_settings import Defaults

FORMATS = ("text", "agent", "json", "github", "sarif", "junit")

_JOBS = "Check many files in up to N processes (as many as there are processors when nothing is said)."


@click.command()
@click.argument("paths", nargs=-1, metavar="PATH...", required=True)
@click.option("--format", "form", type=click.Choice(FORMATS), help="How faults are shown (text when nothing is said).")
@click.option("--strict", is_flag=True, help="Every warning is an error.")
@click.option("--select", metavar="CODES", multiple=True, help="Report only these codes (or their beginnings).")
@click.option("--ignore", metavar="CODES", multiple=True, help="Leave these codes (or their beginnings) out.")
@click.option("--fix", is_flag=True, help="Apply the fixes that keep the meaning, then report what is left.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and change nothing; exit 1 if anything.")
@click.option("--max-calls", type=click.IntRange(0), metavar="N", help="Fail when a spec can make more calls than N.")
@click.option("--stdin-filename", metavar="NAME", default="stdin", help="What `-` is called, and where it would stand.")
@click.option("--jobs", "-j", type=click.IntRange(1), metavar="N", help=_JOBS)
@click.option("--verbose", is_flag=True, help="Say of each condition what can decide it.")
def check(
    *,
    paths: tuple[str, ...],
    form: str | None,
    strict: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fix: bool,
    diff: bool,
    max_calls: int | None,
    stdin_filename: str,
    jobs: int | None,
    verbose: bool,
) -> int:
    """Report the faults of spec files, all in one pass.

    PATH is a spec, a folder in which all specs are checked (*.prose.md, and *.md with a kind of ours), or `-` for text
    from stdin. Codes are explained by `prose explain CODE`. The key `check` of prose.yml sets what is said here:
    select, ignore, strict, format. Exit code: 0 no errors, 1 errors, 2 a file could not be read.
    """
    from prose_runtime.cli.check_settings import Defaults, Settings, codes

    if fix and diff:
        raise UsageError("--fix and --diff exclude each other", help="--diff shows what --fix would do")
    given = Settings(codes(select, "--select"), codes(ignore, "--ignore"), strict, form)
    defaults = Defaults(given)
    more = tuple(_questions(verbose, max_calls))
    if "-" in paths:
        if len(paths) > 1 or fix or diff:
            raise UsageError("`-` stands alone, without --fix and --diff", help="check the files with a second command")
        return _check([Path(stdin_filename)], defaults, more, jobs, sys.stdin.buffer.read())
    files = [Path(path) for path in paths]
    repaired = _repair(files, defaults, show=diff) if fix or diff else 0
    if diff:
        return repaired
    left = _check(files, defaults, more, jobs)
    return 2 if repaired == 2 else left


def _check(
    paths: list[Path], defaults: Defaults, more: Sequence[Question], jobs: int | None, text: bytes | None = None
) -> int:
    """``text``: what the one path holds, which is then not read."""
    from prose_runtime.check.checker import check_text, strictly
    from prose_runtime.check.workers import check_all

    checked = check_all(paths, jobs, more) if text is None else check_text(paths[0], text, more)
    wanted = [diagnostic for diagnostic in checked.diagnostics if defaults.wants(diagnostic)]
    checked.diagnostics = [strictly([d])[0] if defaults.strict(d) else d for d in wanted]
    if not checked.files and not checked.unreadable:
        click.echo(nothing_in(paths), err=True)
    report = _report(checked, defaults.of(paths[0]).format or "text")
    if report:
        click.echo(report)
    for error in checked.unreadable:
        click.echo(f"error: {error.message}", err=True)
    return 2 if checked.unreadable else 1 if checked.failed else 0


def _questions(verbose: bool, max_calls: int | None) -> Iterator[Question]:
    if verbose:
        from prose_runtime.check.rungs import rungs

        yield rungs
    if max_calls is not None:
        from prose_runtime.check.bounds_limit import beyond

        yield partial(beyond, limit=max_calls)


def nothing_in(paths: list[Path]) -> str:
    """What to say when folders hold no spec."""
    return f"warning: no specs in {', '.join(map(str, paths))} (*.prose.md, and *.md with a kind of ours)"


def _repair(paths: list[Path], defaults: Defaults, *, show: bool) -> int:
    """Apply safe fixes, or show them: then the exit code says whether there are any."""
    from prose_runtime.check.checker import spec_files
    from prose_runtime.check.fixes import repair, write
    from prose_runtime.errors import UnreadableFile

    unreadable: list[UnreadableFile] = []
    refused: list[UsageError] = []
    repairs = []
    for path in spec_files(paths, unreadable.append):
        try:
            done = repair(path, defaults.wants)
            if done.after != done.before:
                click.echo(done.diff, nl=False) if show else write(path, done.after)
                repairs.append(done)
        except UnreadableFile as error:
            unreadable.append(error)
        except UsageError as error:
            refused.append(error)
    count, files = sum(done.fixes for done in repairs), len(repairs)
    if count:
        word = "Can fix" if show else "Fixed"
        click.echo(f"{word} {count} fault{'s'[: count != 1]} in {files} file{'s'[: files != 1]}.", err=True)
    for problem in (*refused, *(unreadable if show else ())):
        click.echo(f"error: {problem.message}", err=True)
    return 2 if unreadable or refused else 1 if repairs else 0


def _report(checked: Checked, form: str) -> str:
    module = import_module(f"prose_runtime.report.{'junit_check' if form == 'junit' else form}")
    more: dict[str, dict[str, Any]] = {
        "text": {"files": checked.files, "colour": _colour()},
        "agent": {"files": checked.files},
        "junit": {"paths": checked.paths},
    }
    return str(module.render(checked.diagnostics, checked.unreadable, **more.get(form, {}))).rstrip("\n")


def _colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@click.command(short_help="Explain what a code of `prose check` means.")
@click.argument("code", required=False)
@click.option("--all", "everything", is_flag=True, help="Explain every code.")
def explain(code: str | None, everything: bool) -> int:
    """Explain what a code of `prose check` means: what is wrong, why it matters, what to write instead.

    CODE may be pasted with what stands around it, as in `error[undefined-name]`, or in a whole line of a report. The
    first words of several codes, such as `unused`, list these.
    """
    from prose_runtime.check.rules import EVERY_RULE
    from prose_runtime.cli.check_settings import close

    if (code is None) != everything:
        raise UsageError("give one CODE, or --all", help="write `prose explain CODE`; the code stands in the brackets")
    pasted = re.search(r"(?:error|warning|info)\[([\w-]+)\]", code or "")
    code = (pasted[1] if pasted else (code or "").strip("[]")).lower().replace("_", "-")
    shown = [rule for rule in EVERY_RULE if everything or rule.code == code]
    if not shown and (
        several := [rule for rule in EVERY_RULE if code and rule.code.startswith(code.rstrip("-") + "-")]
    ):
        width = max(len(rule.code) for rule in several)
        click.echo("\n".join(f"{rule.code:{width}}  {rule.title}" for rule in several))
        return 0
    if not shown:
        raise UsageError(f"there is no code `{code}`", help=close(code))
    click.echo("\n".join(_page(rule.code, rule.severity, rule.page or "") for rule in shown).rstrip())
    return 0


def _page(code: str, severity: str, page: str) -> str:
    return f"{code} ({severity})\n\n{page.strip()}\n"
