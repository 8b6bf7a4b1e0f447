"""Applying the safe fixes of diagnostics to a file, again and again until none is left."""

from __future__ import annotations

import difflib
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from prose_runtime.check.checker import analyse, check_path
from prose_runtime.check.project import Project
from prose_runtime.diagnostics import Diagnostic, Edit
from prose_runtime.errors import UsageError
from prose_runtime.records import dataclass
from prose_runtime.syntax.parse import parse
from prose_runtime.text import Source

_ROUNDS = 20
"""How often a file is checked anew: a fix can bring another fault to light, and two could undo each other."""

_MARK = "\ufeff"
_BOM = _MARK.encode()


@dataclass(frozen=True, slots=True)
class Repair:
    """A file before and after its safe fixes, and how many were applied."""

    path: Path
    before: str
    after: str
    fixes: int

    @property
    def diff(self) -> str:
        """The change as a unified diff, empty when there is none."""
        mark = _MARK if _has_mark(self.path) else ""
        one, other = (_LINE.findall(mark + text) for text in (self.before, self.after))
        return "".join(_with_ends(difflib.unified_diff(one, other, str(self.path), str(self.path))))


_LINE = re.compile(r"[^\n]*\n|[^\n]+")
"""A line as tools that apply a diff see it: no other character than a line feed ends it."""


def _has_mark(path: Path) -> bool:
    """Whether a file begins with a byte order mark, which is no part of its text and one of its first line."""
    try:
        with path.open("rb") as file:
            return file.read(len(_BOM)) == _BOM
    except OSError:
        return False


def _with_ends(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"


def repair(path: Path, wanted: Callable[[Diagnostic], bool], project: Project | None = None) -> Repair:
    """Apply the safe fixes of the wanted diagnostics of a file in memory.

    Raises:
        UnreadableFile: It is missing, a folder, not permitted, or no UTF-8 text.
    """
    project = project or Project.around(path)
    diagnostics = check_path(path, project).diagnostics
    before = project.load(path).spec.source
    text, total = mended(before, diagnostics, wanted, project)
    return Repair(path, before.raw, text, total)


def mended(
    source: Source, diagnostics: Iterable[Diagnostic], wanted: Callable[[Diagnostic], bool], project: Project
) -> tuple[str, int]:
    """A file's text when no safe fix of a wanted diagnostic is left, and how many were applied."""
    total = 0
    for _ in range(_ROUNDS):
        text, count = fixed(source, filter(wanted, diagnostics))
        if not count or text == source.raw:
            break
        total += count
        source = Source(source.path, text)
        spec, parsed = parse(source)
        diagnostics = analyse(spec, project, parsed).diagnostics
    return source.raw, total


def fixed(source: Source, diagnostics: Iterable[Diagnostic]) -> tuple[str, int]:
    """A file's text with the safe fixes applied, and their number. Of fixes that overlap only the first is applied."""
    edits: list[Edit] = []
    count = 0
    for diagnostic in diagnostics:
        fix = diagnostic.fix
        if fix is None or not fix.safe or any(_collide(edit, known) for edit in fix.edits for known in edits):
            continue
        edits += fix.edits
        count += 1
    return edited(source, edits), count


def edited(source: Source, edits: Iterable[Edit]) -> str:
    """A file's own text with edits that do not overlap; new lines end as its other lines do."""
    text = source.raw
    newline = "\r\n" if "\r\n" in text else "\n"
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        text = text[: edit.span.start] + edit.text.replace("\n", newline) + text[edit.span.end :]
    return text


def _collide(one: Edit, other: Edit) -> bool:
    """Whether two edits touch the same characters, or insert at the same place."""
    if one.span.start == other.span.start:
        return True
    return one.span.start < other.span.end and other.span.start < one.span.end


def write(path: Path, text: str) -> None:
    """Replace a file's text at once: whoever reads it sees the old or the new one. Its mode and byte order mark stay.

    Raises:
        UsageError: The file or its folder cannot be written.
    """
    place = path.resolve()
    name = None
    try:
        mark = _BOM if place.read_bytes().startswith(_BOM) else b""
        handle, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(mark + text.encode("utf-8"))
        Path(name).chmod(place.stat().st_mode & 0o7777)
        Path(name).replace(place)
    except OSError as error:
        if name is not None:
            Path(name).unlink(missing_ok=True)
        raise UsageError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None
