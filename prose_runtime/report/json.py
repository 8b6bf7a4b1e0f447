"""Diagnostics for a program: the JSON object of DESIGN.md section 5."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from prose_runtime.diagnostics import Diagnostic
from prose_runtime.errors import UnreadableFile
from prose_runtime.values import clean_text


def render(diagnostics: Sequence[Diagnostic], unreadable: Sequence[UnreadableFile] = ()) -> str:
    """``{"diagnostics": [...]}`` with one object a fault, and ``unreadable`` when there are such files."""
    shown: dict[str, Any] = {"diagnostics": [row(diagnostic) for diagnostic in diagnostics]}
    if unreadable:
        shown["unreadable"] = [{"file": error.path, "message": error.reason} for error in unreadable]
    return json.dumps(shown, ensure_ascii=False, indent=2)


def row(diagnostic: Diagnostic) -> dict[str, Any]:
    """One fault. Lines and columns count from 1 in characters; the end is behind the last wrong character."""
    start, end = diagnostic.start, diagnostic.end
    return {
        "file": diagnostic.source.path,
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": clean_text(diagnostic.message),
        "help": clean_text(diagnostic.help) if diagnostic.help is not None else None,
    }
