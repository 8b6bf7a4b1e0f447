"""``prose fmt``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from prose_runtime.errors import CheckFailed, ProseError, UnreadableFile, UsageError

if TYPE_CHECKING:
    from prose_runtime.check.fixes import Repair
    from prose_runtime.text import Source

STDIN = "-"


@click.command(short_help="Write spec files in their canonical form.")
@click.argument("paths", nargs=-1, metavar="PATH...", required=True)
@click.option("--check", is_flag=True, help="Write nothing; list the files that would change and exit 1 if any.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change and exit 1 if anything.")
@click.option("--stdin-filename", metavar="NAME", default="stdin", help="What `-` is called; `.prose` is a program.")
def fmt(*, paths: tuple[str, ...], check: bool, diff: bool, stdin_filename: str) -> int:
    """Write spec files in their canonical form: frontmatter, blank lines, lists, programs.

    PATH is a spec, a folder in which all specs are formatted (*.prose.md, and *.md with a kind of ours), or `-` for
    text from stdin, which goes to stdout. Prose, comments and the order of sections stay as they are, and so does what
    a file means. A file with syntax errors is left alone. Exit code: 0 done, 1 something would change (--check,
    --diff) or a file has errors, 2 a file could not be read or written.
    """
    if STDIN in paths:
        if len(paths) > 1:
            raise UsageError("`-` stands alone: stdin goes to stdout", help="format the files with a second command")
        return _filter(stdin_filename, check, diff)
    from prose_runtime.cli.check import nothing_in

    run = _Run(check, diff)
    for path in run.files([Path(path) for path in paths]):
        run.file(path)
    if not (run.changed or run.unchanged or run.failed or run.unreadable):
        click.echo(nothing_in([Path(path) for path in paths]), err=True)
    run.summary()
    return run.exit_code


@dataclass(slots=True)
class _Run:
    """What was done to files so far."""

    check: bool
    diff: bool
    changed: int = 0
    unchanged: int = 0
    failed: int = 0
    unreadable: int = 0
    problems: list[UnreadableFile] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        if self.unreadable:
            return 2
        return 1 if self.failed or (self.changed and (self.check or self.diff)) else 0

    def files(self, paths: list[Path]) -> Iterator[Path]:
        from prose_runtime.check.checker import spec_files

        yield from spec_files(paths, self._refused)

    def file(self, path: Path) -> None:
        """Format one file; what goes wrong with it is told and does not stop the rest."""
        from prose_runtime.syntax.parse import read_source

        try:
            self.change(_formatted(path, read_source(path)))
        except UsageError as error:
            self._refused(error)
        except ProseError as error:
            self.failed += 1
            _tell(error)

    def change(self, done: Repair) -> None:
        """Write what changed, or show it."""
        from prose_runtime.check.fixes import write

        if done.after == done.before:
            self.unchanged += 1
            return
        if self.diff:
            click.echo(done.diff, nl=False)
        elif self.check:
            click.echo(f"would reformat: {done.path}")
        else:
            write(done.path, done.after)
        self.changed += 1

    def summary(self) -> None:
        would = "would be " if self.check or self.diff else ""
        parts = [f"{_files(self.changed)} {would}reformatted", f"{self.unchanged} left unchanged"]
        if self.failed:
            parts.append(f"{self.failed} with errors left alone")
        click.echo(", ".join(parts), err=True)

    def _refused(self, error: UsageError) -> None:
        self.unreadable += 1
        _tell(error)


def _filter(name: str, check: bool, diff: bool) -> int:
    """Format stdin to stdout; with errors nothing is written there."""
    from prose_runtime.syntax.parse import decoded
    from prose_runtime.text import Source

    data = sys.stdin.buffer.read()
    run = _Run(check, diff)
    try:
        done = _formatted(Path(name), Source(name, decoded(name, data)))
    except ProseError as error:
        _tell(error)
        return error.exit_code
    if check or diff:
        run.change(done)
    else:
        mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
        sys.stdout.buffer.write(mark + done.after.encode("utf-8"))
    return run.exit_code


def _formatted(path: Path, source: Source) -> Repair:
    from prose_runtime.check.fixes import Repair
    from prose_runtime.syntax.format import format_spec

    return Repair(path, source.raw, format_spec(source), 0)


def _tell(error: ProseError) -> None:
    from prose_runtime.report import text
    from prose_runtime.report.run_text import error_text

    if isinstance(error, CheckFailed):
        errors = [diagnostic for diagnostic in error.diagnostics if diagnostic.severity == "error"]
        colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        click.echo(text.render(errors, files=1, colour=colour), err=True)
    else:
        click.echo(error_text(error), err=True)


def _files(count: int) -> str:
    return f"{count} file{'s'[: count != 1]}"
