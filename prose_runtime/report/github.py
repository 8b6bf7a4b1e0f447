"""Diagnostics as workflow commands, which GitHub shows beside the lines of a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from prose_runtime.diagnostics import Diagnostic
from prose_runtime.errors import UnreadableFile
from prose_runtime.values import clean_text

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def render(diagnostics: Sequence[Diagnostic], unreadable: Sequence[UnreadableFile] = ()) -> str:
    """One command a line."""
    lines = [command(diagnostic) for diagnostic in diagnostics]
    lines += [f"::error file={_property(error.path)}::{_data(error.message)}" for error in unreadable]
    return "\n".join(lines)


def command(diagnostic: Diagnostic) -> str:
    """The command for one fault; the end column is that of the last wrong character."""
    start, end = diagnostic.start, diagnostic.end
    places: dict[str, object] = {"file": diagnostic.source.path, "line": start.line}
    if end.line == start.line:  # columns of a range over several lines are not shown
        places |= {"col": start.column, "endColumn": max(start.column, end.column - 1)}
    else:
        places |= {"endLine": end.line}
    places["title"] = diagnostic.code
    text = diagnostic.message + (f"\n{diagnostic.help}" if diagnostic.help else "")
    shown = ",".join(f"{key}={_property(str(value))}" for key, value in places.items())
    return f"::{_COMMANDS[diagnostic.severity]} {shown}::{_data(text)}"


def _data(text: str) -> str:
    return clean_text(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
