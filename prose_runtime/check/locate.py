"""Where the spec is that a person or a program names: a path, or the name of one nearby or of the library."""

from __future__ import annotations

import os
from pathlib import Path

from prose_runtime.check.project import Project, library_names
from prose_runtime.diagnostics import did_you_mean
from prose_runtime.errors import UnreadableFile, UsageError


def locate(word: str, base: Path) -> Path | None:
    """The file that SPEC means: a path, or the name of a spec beside it, of its project or of the library.

    The name may have the ending that specs have: ``dialectic.prose.md`` is in the library even where no such file is.
    """
    path = base / word
    if path.exists():
        return Path(word) if base == Path.cwd() else path
    if os.sep in word:
        return None
    return Project.around(base).find(word, base)


def found(word: str, base: Path) -> Path:
    """As ``locate``. Raises UsageError or UnreadableFile when there is no such spec."""
    path = locate(word, base)
    if path is not None:
        return path
    if _is_bare(word):
        names = library_names()
        listed = f"a file's path, or one of the library: {', '.join(names)}"
        raise UsageError(f"there is no spec `{word}`", help=did_you_mean(word, [*names, *_beside(base)]) or listed)
    missing = UnreadableFile(word, "no such file")
    missing.help = did_you_mean(Path(word).name, _beside((base / word).parent))
    raise missing


def _is_bare(word: str) -> bool:
    return not word.endswith((".md", ".prose")) and os.sep not in word


def _beside(folder: Path) -> list[str]:
    return [path.name for ending in ("*.md", "*.prose") for path in folder.glob(ending)]
