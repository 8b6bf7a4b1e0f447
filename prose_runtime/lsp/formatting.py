"""The canonical form of an open file, as the smallest edit that gives it."""

from __future__ import annotations

import re

from prose_runtime.diagnostics import Edit
from prose_runtime.errors import CheckFailed
from prose_runtime.lsp.desk import View
from prose_runtime.syntax.format import format_spec
from prose_runtime.text import Span

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def formatting(view: View) -> list[Edit]:
    """What ``prose fmt`` would change; nothing in a file that cannot be read, whose faults are shown already.

    Raises:
        FormatFault: The canonical form would be read differently, which is a bug.
    """
    try:
        wanted = format_spec(view.source)
    except CheckFailed:
        return []
    return [] if wanted == view.source.raw else [_changed_lines(view.source.raw, wanted)]


def _changed_lines(before: str, after: str) -> Edit:
    """One edit from the first line that differs to the last: cursors and folds outside of it stay where they are."""
    old, new = _LINE.findall(before), _LINE.findall(after)
    most = min(len(old), len(new))
    head = next((at for at in range(most) if old[at] != new[at]), most)
    tail = next((at for at in range(most - head) if old[-1 - at] != new[-1 - at]), most - head)
    start = len("".join(old[:head]))
    end = len(before) - len("".join(old[len(old) - tail :]))
    return Edit(Span(start, end), "".join(new[head : len(new) - tail]))
