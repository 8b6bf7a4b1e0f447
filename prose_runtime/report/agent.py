"""Diagnostics for a coding agent: one line each, without excerpts, the fix as the replacement to make."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from prose_runtime.diagnostics import Diagnostic, Edit, Fix
from prose_runtime.errors import UnreadableFile
from prose_runtime.report.text import summary
from prose_runtime.text import Source, Span, printable


def render(
    diagnostics: Sequence[Diagnostic], unreadable: Sequence[UnreadableFile] = (), *, files: int | None = None
) -> str:
    """``file:line:column-end severity[code] message | help | note | fix``, then one line that counts.

    Columns count from 1 in characters; the end is behind the last wrong character.
    """
    lines = [line(diagnostic) for diagnostic in diagnostics]
    lines += [f"{_flat(error.path)} unreadable {_flat(error.reason)}" for error in unreadable]
    return "\n".join([*lines, summary(diagnostics, unreadable, files)])


def line(diagnostic: Diagnostic) -> str:
    """One fault on one line."""
    place = f"{_flat(diagnostic.source.path)}:{_range(diagnostic.source, diagnostic.span)}"
    return " | ".join(
        [f"{place} {diagnostic.severity}[{diagnostic.code}] {_flat(diagnostic.message)}", *_more(diagnostic)]
    )


def _more(diagnostic: Diagnostic) -> Iterator[str]:
    if diagnostic.help:
        yield f"help: {_flat(diagnostic.help)}"
    for second in diagnostic.secondary:
        yield f"see {_range(diagnostic.source, second.span)}: {_flat(second.message)}"
    if diagnostic.fix:
        yield _fix(diagnostic.source, diagnostic.fix)


def _fix(source: Source, fix: Fix) -> str:
    edits = "; ".join(_edit(source, edit) for edit in fix.edits)
    return f"{'fix' if fix.safe else 'maybe'}: {edits}"


def _edit(source: Source, edit: Edit) -> str:
    return f"{_range(source, edit.span)} {_quoted(source.slice(edit.span))} -> {_quoted(edit.text)}"


def _quoted(text: str) -> str:
    """The text as a JSON string, so that it stays on the line."""
    return printable(json.dumps(text, ensure_ascii=False))


def _range(source: Source, span: Span) -> str:
    """``line:column-column``, or ``line:column-line:column`` over several lines."""
    start, end = source.place(span.start), source.place(max(span.start, span.end))
    last = str(end.column) if end.line == start.line else f"{end.line}:{end.column}"
    return f"{start.line}:{start.column}-{last}"


def _flat(text: str) -> str:
    return printable(" ".join(text.split()))
