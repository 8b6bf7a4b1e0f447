"""Reads Markdown suites: specs with the expected faults beside the lines.

A heading of level 2 begins a case. Its fences are its files: ````markdown is a whole spec (``file=name`` in the info
string gives it a name, else ``spec.prose.md``), ```prose the program of the suite's frame, a fence labelled
``markdown frame`` with a line BODY. A line that ends in ``# error[code] words`` or ``<!-- warning[code] words -->``
expects that fault there, with these words in its message or help; several may follow one another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "check" / "suites"

_FENCE = re.compile(r"^(?P<mark>`{3,})(?P<info>[a-z][^\n]*)\n(?P<text>.*?)^(?P=mark)$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(
    r"[ \t]*(?:#|<!--)[ \t]*(?P<kind>error|warning)\[(?P<code>[\w-]+)\](?P<words>[^#\n]*?)(?:-->)?[ \t]*$"
)


@dataclass(frozen=True)
class Expected:
    """A fault that a suite expects."""

    file: str
    line: int
    severity: str
    code: str
    words: str


@dataclass
class Case:
    """Some files and all faults that the checker must find in them, no others."""

    suite: str
    title: str
    files: dict[str, str] = field(default_factory=dict)
    expected: list[Expected] = field(default_factory=list)

    def write(self, folder: Path) -> None:
        """Put the files into a folder."""
        for name, text in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")

    def add(self, name: str, text: str) -> None:
        """Take the expectations out of a file's text and keep both."""
        lines = []
        for number, marked in enumerate(text.split("\n"), 1):
            line = marked
            while match := _MARK.search(line):
                words = match["words"].strip()
                self.expected.append(Expected(name, number, match["kind"], match["code"], words))
                line = line[: match.start()]
            lines.append(line)
        self.files[name] = "\n".join(lines)


def cases() -> list[Case]:
    """All cases of all suites."""
    return [case for path in sorted(FOLDER.glob("*.md")) for case in _cases_of(path)]


def _cases_of(path: Path) -> list[Case]:
    head, *parts = _parts(path.read_text(encoding="utf-8"))
    frame = next((match["text"] for match in _FENCE.finditer(head) if match["info"] == "markdown frame"), "")
    return [_case(path.stem, part, frame) for part in parts]


def _parts(text: str) -> list[str]:
    """The text cut before each heading of level 2 that stands in no fence."""
    parts = [""]
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = re.match(r"`{3,}", line)
        if mark and not fence:
            fence = mark[0]
        elif fence and line.strip() == fence:
            fence = ""
        if line.startswith("## ") and not fence:
            parts.append(line.removeprefix("## "))
        else:
            parts[-1] += line
    return parts


def _case(suite: str, part: str, frame: str) -> Case:
    title, _, rest = part.partition("\n")
    case = Case(suite, title.strip())
    for match in _FENCE.finditer(rest):
        label, _, info = match["info"].partition(" ")
        name = info.removeprefix("file=") or "spec.prose.md"
        case.add(name, match["text"] if label != "prose" else frame.replace("BODY\n", match["text"]))
    return case
