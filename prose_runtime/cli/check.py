"""``prose check`` and ``prose explain``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from prose_runtime.diagnostics import did_you_mean
from prose_runtime.errors import UsageError

if TYPE_CHECKING:
    from prose_runtime.check.checker import Checked

FORMATS = ("text", "json", "github")


@click.command()
@click.argument("paths", nargs=-1, metavar="PATH...", required=True)
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="How faults are shown.")
@click.option("--strict", is_flag=True, help="Every warning is an error.")
@click.option("--select", metavar="CODES", multiple=True, help="Report only these codes (or their beginnings).")
@click.option("--ignore", metavar="CODES", multiple=True, help="Leave these codes (or their beginnings) out.")
def check(paths: tuple[str, ...], form: str, strict: bool, select: tuple[str, ...], ignore: tuple[str, ...]) -> int:
    """Report the faults of spec files, all in one pass.

    PATH is a spec, or a folder in which all specs are checked: *.prose.md, and *.md with a kind of ours. Codes are
    explained by `prose explain CODE`. Exit code: 0 no errors, 1 errors, 2 a file could not be read.
    """
    from prose_runtime.check.checker import check_paths, strictly

    chosen = _codes(select, "--select"), _codes(ignore, "--ignore")
    checked = check_paths([Path(path) for path in paths])
    checked.diagnostics = [d for d in checked.diagnostics if _wanted(d.code, *chosen)]
    if strict:
        checked.diagnostics = strictly(checked.diagnostics)
    report = _report(checked, form)
    if report:
        click.echo(report)
    for error in checked.unreadable:
        click.echo(f"error: {error.message}", err=True)
    return 2 if checked.unreadable else 1 if checked.failed else 0


def _report(checked: Checked, form: str) -> str:
    from prose_runtime.report import github, json, text

    if form == "json":
        return json.render(checked.diagnostics, checked.unreadable)
    if form == "github":
        return github.render(checked.diagnostics, checked.unreadable)
    return text.render(checked.diagnostics, checked.unreadable, files=checked.files, colour=_colour())


def _colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _codes(words: tuple[str, ...], option: str) -> tuple[str, ...]:
    """The codes of an option, each the beginning of a known one."""
    from prose_runtime.check.rules import CODES

    codes = tuple(code.strip() for word in words for code in word.split(",") if code.strip())
    for code in codes:
        if not any(known.startswith(code) for known in CODES):
            raise UsageError(f"{option}: there is no code `{code}`", help=_close(code))
    return codes


def _wanted(code: str, select: tuple[str, ...], ignore: tuple[str, ...]) -> bool:
    return (not select or code.startswith(select)) and not (ignore and code.startswith(ignore))


def _close(code: str) -> str:
    from prose_runtime.check.rules import CODES

    return did_you_mean(code, CODES) or "`prose explain --all` lists all codes"


@click.command()
@click.argument("code", required=False)
@click.option("--all", "everything", is_flag=True, help="Explain every code.")
def explain(code: str | None, everything: bool) -> int:
    """Explain what a code of `prose check` means: what is wrong, why it matters, what to write instead."""
    from prose_runtime.check.rules import EVERY_RULE

    if (code is None) != everything:
        raise UsageError("give one CODE, or --all", help="write `prose explain CODE`; the code stands in the brackets")
    shown = [rule for rule in EVERY_RULE if everything or rule.code == code]
    if not shown:
        raise UsageError(f"there is no code `{code}`", help=_close(code or ""))
    click.echo("\n".join(_page(rule.code, rule.severity, rule.page or "") for rule in shown).rstrip())
    return 0


def _page(code: str, severity: str, page: str) -> str:
    return f"{code} ({severity})\n\n{page.strip()}\n"
