"""The table as text."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.measure import Row

_WIDTH = 46


def heading(part: str) -> str:
    """The line above a part's rows."""
    return f"\n{part:{_WIDTH}} {'figure':>14} {'reference':>14} {'ratio':>8} {'goal':>6}"


def line(row: Row) -> str:
    """A row: figure, the reference's figure, ratio, goal, and whether it is met."""
    figure = f"{row.value:.3g} {row.unit}".strip() if row.value < 1000 else f"{row.value:.0f} {row.unit}"
    base = "" if row.base is None else f"{row.base:.3g} {row.unit}"
    ratio = "" if row.base is None else f"{row.ratio:.2f}"
    goal = "" if row.goal is None else f"{row.goal:g}"
    mark = {True: "met", False: "missed", None: ""}[row.met]
    remarks = "; ".join(part for part in (row.reference and f"against {row.reference}", row.note) if part)
    return f"{row.what:{_WIDTH}} {figure:>14} {base:>14} {ratio:>8} {goal:>6} {mark:6} {remarks}".rstrip()


def summary(rows: Sequence[Row]) -> str:
    """How many goals are met, and by how much the others are missed."""
    aimed = [row for row in rows if row.goal is not None]
    missed = [f"  {row.what}: {row.ratio:.2f} instead of {row.goal:g}" for row in aimed if not row.met]
    return "\n".join([f"\n{len(aimed) - len(missed)} of {len(aimed)} goals met", *missed])
