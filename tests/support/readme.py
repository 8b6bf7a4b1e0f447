"""Reading the command blocks of a Markdown page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^```(?P<label>\w+)\n(?P<text>.*?)^```$", re.M | re.S)


class Snippet(NamedTuple):
    """A fenced block: its label and text, and the heading that it stands below."""

    heading: str
    label: str
    text: str


def snippets(page: Path) -> list[Snippet]:
    """All labelled fences of a page, in order."""
    text = page.read_text(encoding="utf-8")
    headings = [(m.start(), m[1]) for m in re.finditer(r"^#+ (.+)$", text, re.M)]
    return [
        Snippet(next((name for start, name in reversed(headings) if start < m.start()), ""), m["label"], m["text"])
        for m in FENCE.finditer(text)
    ]
