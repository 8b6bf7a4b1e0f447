"""``prose show SPEC --flow``: who sees what, for a person and for a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from prose_runtime.check.flow_matrix import Entry, Matrix, Source
from prose_runtime.check.invariants import Verdict
from prose_runtime.text import Source as File
from prose_runtime.text import printable, width

_LEGEND = "D: the value, or what was made of it, is passed on. d: only from an earlier call or round.\n" + (
    "c: only whether it is called, or with which value, depends on it. ?: it may be so; which of several roles is\n"
    "called, or what a called spec does, shows in a run."
)


def flow_text(matrix: Matrix | None, verdicts: Sequence[Verdict], file: File) -> str:
    """The table, the lines behind each of its entries, and what is known of the invariants.

    ``matrix`` is None for a composite.
    """
    blocks = ["The JavaScript of a composite is not followed; its invariants are watched in each run."]
    if matrix is not None:
        blocks = [*_table(matrix), "\n".join(_ways(matrix))] if matrix.receivers else ["No role is called here."]
    if verdicts:
        blocks.append("\n".join(_invariants(verdicts, file)))
    return "\n\n".join(block for block in blocks if block)


def flow_json(matrix: Matrix | None, verdicts: Sequence[Verdict], file: File) -> dict[str, Any]:
    """The same as a JSON value."""
    entries = matrix.entries if matrix is not None else ()
    return {
        "receivers": list(matrix.receivers) if matrix is not None else None,
        "flows": [
            {
                "receiver": entry.receiver,
                "source": {"kind": entry.source.kind, "name": entry.source.name},
                "mark": entry.mark,
                "input": entry.input or None,
                "lines": list(entry.lines),
                "earlier": entry.earlier,
                "sure": entry.sure,
            }
            for entry in entries
        ],
        "invariants": [
            {
                "text": verdict.invariant.text,
                "line": file.place(verdict.invariant.span.start).line,
                "status": _STATUS[verdict.status],
                "how": verdict.how,
            }
            for verdict in verdicts
        ],
    }


_STATUS = {"proved": "proved", "refuted": "refuted", "watched": "watched", "unread": "unchecked"}


def _table(matrix: Matrix) -> Iterator[str]:
    head = ["", *(_short(source) for source in matrix.sources)]
    rows = [[role, *(_mark(matrix.between(role, s)) for s in matrix.sources)] for role in matrix.receivers]
    yield "\n".join(_aligned([head, *rows]))
    yield _LEGEND


def _short(source: Source) -> str:
    return {"output": "{} says", "error": "{} fails"}.get(source.kind, "{}").format(source.name)


def _mark(entries: list[Entry]) -> str:
    data = [entry for entry in entries if entry.mark == "data"]
    shown = data or entries
    if not shown:
        return "."
    letter = "c" if not data else "d" if all(entry.earlier for entry in data) else "D"
    return letter if any(entry.sure for entry in shown) else f"{letter}?"


def _ways(matrix: Matrix) -> Iterator[str]:
    for role in matrix.receivers:
        rows = [_way(entry) for entry in matrix.entries if entry.receiver == role]
        if rows:
            yield f"{printable(role)} gets"
            yield from (f"  {line}" for line in _aligned(rows))


def _way(entry: Entry) -> list[str]:
    place = entry.input or ("(whether)" if entry.mark == "control" else "(whole)")
    doubt = "" if entry.sure else ", maybe"
    when = " (earlier)" if entry.earlier else ""
    lines = " > ".join(map(str, entry.lines))
    return [place, f"<- {entry.source}{when}{doubt}", f"line{'s' * (len(entry.lines) > 1)} {lines}"]


def _invariants(verdicts: Sequence[Verdict], file: File) -> Iterator[str]:
    yield "invariants"
    for verdict in verdicts:
        line = file.place(verdict.invariant.span.start).line
        yield f"  line {line}, {_STATUS[verdict.status]}: {printable(verdict.invariant.text)}"
        yield f"    {printable(verdict.how)}"
        for span, text in verdict.places:
            yield f"    line {file.place(span.start).line}: {printable(text)}"


def _aligned(rows: list[list[str]]) -> list[str]:
    shown = [[printable(cell) for cell in row] for row in rows]
    widths = [max(width(cell) for cell in column) for column in zip(*shown, strict=True)]
    return [
        "  ".join(cell + " " * (size - width(cell)) for cell, size in zip(row, widths, strict=True)).rstrip()
        for row in shown
    ]
