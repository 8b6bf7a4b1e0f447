"""The ``prose`` command: parsing of arguments and printing, nothing else (DESIGN.md section 4)."""

from __future__ import annotations

import errno
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from prose_runtime.errors import ProseError

COMMANDS = {
    "run": "run",
    "check": "check",
    "explain": "check",
    "show": "show",
    "fmt": "fmt",
    "test": "test",
    "new": "new",
    "runs": "runs",
    "resume": "runs",
    "submit": "run",
    "batch": "batch",
    "worker": "engine",
    "services": "services",
    "lsp": "lsp",
}
"""The module of this package in which each command stands; it is imported when the command is used."""

RUNNING = ("run", "resume", "submit")
"""Commands whose ``--json`` prints the object of a run with every exit code."""

EXIT_BROKEN_PIPE = 141

_NEW_OBJECTS = 100_000
"""How many new objects make Python look for garbage: its own 700 would do so dozens of times before anything is done,
and find none, as what a start makes stays."""


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, or None."""
        if cmd_name not in COMMANDS:
            return None
        command = getattr(importlib.import_module(f"{__name__}.{COMMANDS[cmd_name]}"), cmd_name)
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names. Raises UsageError with the closest one when there is none."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from prose_runtime.diagnostics import did_you_mean
            from prose_runtime.errors import UsageError

            known = f"the commands are {', '.join(COMMANDS)}"
            raise UsageError(f"there is no command `{args[0]}`", help=did_you_mean(args[0], COMMANDS) or known)
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        click.echo(f"prose {version('prose-runtime')}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
def prose() -> None:
    """Run, check and write OpenProse patterns: Markdown files whose control flow is exact.

    \b
    prose run dialectic "Remote work makes teams more productive"
    prose run SPEC --help     shows a spec's own options
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code. Nothing but that code and what is printed gets out."""
    words = list(sys.argv[1:] if argv is None else argv)
    gc.set_threshold(_NEW_OBJECTS)
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        _accept_any_text(stream)
    try:
        code = _run(words)
    except BrokenPipeError:  # the reader has seen enough
        _discard_output()
        code = EXIT_BROKEN_PIPE
    if argv is None:
        _make_the_end_short(code)
    return code


def _make_the_end_short(code: int) -> None:
    """The process ends behind this: going through all that is left for garbage, twice, would take longer than a check.

    What runs at exit still does.
    """
    if "temporalio.bridge.runtime" in sys.modules:
        _leave(code)
    gc.disable()
    gc.freeze()


def _leave(code: int) -> None:
    """End this process at once: threads of the engine's package may crash an interpreter that takes itself apart."""
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _open_streams() -> None:
    """Stand in for standard streams that the caller closed: nothing is read, what is written goes nowhere."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115


def _discard_output() -> None:
    """Let nothing that is still buffered fail again when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(words: list[str]) -> int:
    try:
        code = prose.main(words, prog_name="prose", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except SystemExit as error:  # how click ends when nobody reads what is printed
        return error.code if isinstance(error.code, int) else 1
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except BrokenPipeError:
        raise
    except (Exception, KeyboardInterrupt) as error:
        return _fail(_as_prose_error(error, words), words)


_UNWRITABLE = frozenset({errno.ENOSPC, errno.EBADF, errno.EIO, errno.EDQUOT})
_CALLING = (["run"], ["resume"], ["submit"], ["batch"])


def _as_prose_error(error: BaseException, words: list[str]) -> ProseError:
    from prose_runtime.errors import Cancelled, ProseError, UsageError

    if isinstance(error, ProseError):
        return error
    if isinstance(error, click.ClickException):
        return UsageError(_sentence(error), help=_help(error))
    if isinstance(error, OSError) and error.filename is None and error.errno in _UNWRITABLE:
        _discard_output()
        return ProseError(f"cannot write the output: {(error.strerror or '').lower()}")
    if isinstance(error, MemoryError):
        return ProseError("there is not enough memory for this")
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return Cancelled("stopped before anything was called" if words[:1] in _CALLING else "stopped")
    from prose_runtime.cli.bug import report_bug

    return report_bug(error)


def _fail(error: ProseError, words: list[str]) -> int:
    """Print an error that ended a command before, or without, a run; returns its exit code."""
    from prose_runtime.cli.run import say
    from prose_runtime.report.run_json import dumps, failure
    from prose_runtime.report.run_text import error_text

    if words and words[0] in RUNNING and "--json" in words:
        click.echo(dumps(failure(error, _spec_of(words))))
    say(error_text(error))
    return error.exit_code


def _spec_of(words: list[str]) -> str | None:
    from prose_runtime.cli.options import spec_word

    at = spec_word(words[1:], os.path.exists) if words[0] == "run" else None
    return None if at is None else Path(words[1:][at]).name.removesuffix(".md").removesuffix(".prose")


def _sentence(error: click.ClickException) -> str:
    text = error.format_message().rstrip(".")
    for said, meant in (("a valid integer range", "a whole number"), ("a valid float range", "a number")):
        text = text.replace(said, meant)
    return text[:1].lower() + text[1:]


def _help(error: click.ClickException) -> str | None:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"`{context.command_path} --help` shows what can be written" if context else None


def _accept_any_text(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:  # a terminal that cannot show a character gets its escape instead of a failure
        reconfigure(errors="backslashreplace")
