"""The texts of the specs of a run: as the run found them, and whether the files have changed since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prose_runtime.trace import SOURCE


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a spec: ``id`` of the spec in the story (None when its text is not known), its file and number."""

    spec: int | None
    file: str
    line: int
    code: str = ""


@dataclass(frozen=True, slots=True)
class Spec:
    """One file. ``state``: ``same`` as on disk now, ``changed``, ``gone``, or ``read`` now because none was kept."""

    id: int
    file: str
    lines: tuple[str, ...]
    state: str

    @property
    def name(self) -> str:
        """The path as the run was told it; of a file elsewhere, such as one of the library, only its name."""
        return Path(self.file).name if Path(self.file).is_absolute() else self.file


class Sources:
    """The specs of a run. ``base`` is the folder from which their paths count; ``main`` the path of the run's own."""

    def __init__(self, trace: Iterable[Mapping[str, Any]], base: Path, main: str | None = None):
        kept: dict[str, str] = {row["file"]: row["text"] for row in trace if row["event"] == SOURCE}
        self.specs: list[Spec] = []
        for file, text in kept.items():
            self._add(file, text, _state(text, _read(base / file)))
        if not kept and main is not None and (found := _read(base / main)) is not None:
            self._add(main, found, "read")
        self._ids = {spec.file: spec.id for spec in self.specs}

    def _add(self, file: str, text: str, state: str) -> None:
        self.specs.append(Spec(len(self.specs) + 1, file, tuple(text.splitlines()), state))

    def main(self, trace: Iterable[Mapping[str, Any]]) -> str | None:
        """The run's own spec: the first whose text was kept."""
        return next((row["file"] for row in trace if row["event"] == SOURCE), None)

    def place(self, file: str | None, line: int | None) -> Place | None:
        """A line of a file, by default of the run's own."""
        if line is None:
            return None
        if file is None:
            file = self.specs[0].file if self.specs else ""
        spec = self._ids.get(file)
        lines = self.specs[spec - 1].lines if spec is not None else ()
        known = 0 < line <= len(lines)
        return Place(spec if known else None, file, line, lines[line - 1].strip() if known else "")


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None


def _state(kept: str, now: str | None) -> str:
    if now is None:
        return "gone"
    return "same" if kept.splitlines() == now.splitlines() else "changed"
