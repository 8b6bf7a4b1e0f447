"""``prose test``: run tests, one line each, and say how many passed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from prose_runtime.errors import UnreadableFile, UsageError

if TYPE_CHECKING:
    from prose_runtime.runtime.testrun import Outcome


@click.command(short_help="Run tests: specs of kind test.")
@click.argument("paths", nargs=-1, metavar="PATH...", required=True)
@click.option("-k", "expression", metavar="EXPR", help="Run only tests whose file or name has this; not, and, or.")
@click.option("--junit", "junit_file", metavar="FILE", help="Also write the results as JUnit XML.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every expectation.")
@click.option("--record", is_flag=True, help="Write the cassettes that tests name, asking for what is not on them.")
@click.option("--quiet", "-q", is_flag=True, help="Show only what failed, and the summary.")
def test(
    paths: tuple[str, ...], *, expression: str | None, junit_file: str | None, record: bool, as_json: bool, quiet: bool
) -> int:
    """Run tests: specs of kind test, each with fixtures for its subject and what is expected of the result.

    PATH is a test, or a folder in which all tests are run: *.test.prose.md, and other specs with kind: test. Exit
    code: 0 all passed, 1 some failed, 2 a file could not be read or there is no test.
    """
    from prose_runtime.runtime.testrun import find_tests

    found, unreadable = find_tests(map(Path, paths))
    chosen = select(found, expression)
    for error in unreadable:
        _say(f"error: {error.message}")
    if not chosen and not unreadable:
        raise _none_found(paths, expression, len(found))
    outcomes = _run_all(chosen, unreadable, show=not as_json, quiet=quiet, record=record)
    if junit_file is not None:
        _write_junit(Path(junit_file), outcomes)
    _print_end(outcomes, as_json=as_json)
    return 2 if unreadable else 0 if all(outcome.passed for outcome in outcomes) else 1


def _none_found(paths: Sequence[str], expression: str | None, found: int) -> UsageError:
    if found:
        return UsageError(f"none of {found} tests fits `-k {expression}`", help="a test's file or name has to hold it")
    help_ = "a test is a file *.test.prose.md, or a spec with `kind: test`; `prose new test NAME` writes one"
    return UsageError(f"there is no test in {', '.join(paths)}", help=help_)


def _run_all(
    paths: list[Path], unreadable: list[UnreadableFile], *, show: bool, quiet: bool, record: bool
) -> list[Outcome]:
    from prose_runtime.report.outcomes import outcome_text
    from prose_runtime.runtime.testrun import run_test

    outcomes: list[Outcome] = []
    told: set[str] = set()
    for path in paths:
        try:
            outcome = asyncio.run(run_test(path, record=record))
        except UnreadableFile as error:
            unreadable.append(error)
            _say(f"error: {error.message}")
            continue
        outcomes.append(outcome)
        if not quiet:
            _tell(outcome, told)
        text = outcome_text(outcome, quiet=quiet) if show else ""
        if text:
            click.echo(text)
    return outcomes


def _tell(outcome: Outcome, told: set[str]) -> None:
    """The warnings of a test's file, and, once, which service answers where nothing is bound."""
    if outcome.note and outcome.note not in told:
        told.add(outcome.note)
        _say(outcome.note)
    if outcome.warnings:
        from prose_runtime.report.text import render

        _say(render(outcome.warnings))


def _print_end(outcomes: list[Outcome], *, as_json: bool) -> None:
    from prose_runtime.report.outcomes import summary
    from prose_runtime.report.run_json import dumps

    if not as_json:
        click.echo(summary(outcomes))
        return
    passed = sum(outcome.passed for outcome in outcomes)
    tests = [outcome.as_json() for outcome in outcomes]
    click.echo(dumps({"passed": passed, "failed": len(outcomes) - passed, "tests": tests}))


def _write_junit(path: Path, outcomes: list[Outcome]) -> None:
    from prose_runtime.report.junit import render

    try:
        path.write_text(render(outcomes), encoding="utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot write {path}: {reason}", help="give --junit a file in a folder that exists") from None


def _say(text: str) -> None:
    click.echo(text, err=True)


# -k


def select(paths: list[Path], expression: str | None) -> list[Path]:
    """The tests that an expression chooses: words that a file's path or a test's name has, ``not``, ``and``, ``or``.

    Raises:
        UsageError: A word is missing in the expression.
    """
    if expression is None:
        return paths
    wanted = [[_term(term, expression) for term in _split(part, "and")] for part in _split(expression.split(), "or")]
    return [path for path in paths if any(all(_fits(path, *term) for term in part) for part in wanted)]


def _split(words: Sequence[str], at: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word.lower() == at:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _term(words: list[str], expression: str) -> tuple[str, bool]:
    """The text to look for, and whether it is to be there."""
    negated = False
    while words and words[0].lower() == "not":
        negated, words = not negated, words[1:]
    if not words:
        raise UsageError(f"`-k {expression}` lacks a word", help="write -k tide, -k 'not slow', -k 'tide and not slow'")
    return " ".join(words).lower(), not negated


def _fits(path: Path, text: str, wanted: bool) -> bool:
    from prose_runtime.check.project import peek

    return (text in f"{path} {peek(path).name or ''}".lower()) == wanted
