"""Reading the fenced blocks of a Markdown page, and the commands in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^(?P<ticks>```+)(?P<label>\w+)(?: (?P<file>\S+))?\n(?P<text>.*?)^(?P=ticks)$", re.M | re.S)


class Snippet(NamedTuple):
    """A fenced block: its label, the file name behind the label, its text, and the heading that it stands below."""

    heading: str
    label: str
    file: str | None
    text: str


def snippets(page: Path) -> list[Snippet]:
    """All labelled fences of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = list(FENCE.finditer(text))
    headings = [
        (m.start(), m[1])
        for m in re.finditer(r"^#+ (.+)$", text, re.M)
        if not any(fence.start() < m.start() < fence.end() for fence in found)
    ]
    return [
        Snippet(next((name for at, name in reversed(headings) if at < m.start()), ""), m["label"], m["file"], m["text"])
        for m in found
    ]


def console(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a ``console`` block, which stand behind ``$``, each with the output shown for it."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def shows(shown: str, have: str) -> bool:
    """Whether the output is what is shown; ``...`` stands for anything in a line, alone in a line for any lines."""
    lines = [".*".join(map(re.escape, line.split("..."))) + "\n" for line in shown.splitlines()]
    pattern = "".join("(?:.*\n)*?" if line == ".*\n" else line for line in lines)
    return re.fullmatch(pattern, have if have.endswith("\n") or not have else have + "\n") is not None
