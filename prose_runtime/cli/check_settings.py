"""What ``prose check`` reports of a file: what the command line says, and for the rest prose.yml's ``check`` key."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path

from prose_runtime.check.rules import CODES
from prose_runtime.diagnostics import Diagnostic, did_you_mean
from prose_runtime.errors import UsageError
from prose_runtime.records import dataclass
from prose_runtime.resources import find_config

_KEY = re.compile(r"(?P<quote>[\"']?)(?P<key>[\w-]+)(?P=quote)[ \t]*:(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Settings:
    """Codes or their beginnings to report (all when there are none) and to leave out; whether warnings are errors."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    strict: bool = False
    format: str | None = None

    def wants(self, code: str) -> bool:
        """Whether a code is reported: the longest beginning of it decides, and of equals the one to leave out."""
        chosen, left_out = _longest(self.select, code), _longest(self.ignore, code)
        return chosen > left_out if self.select else left_out == 0


def _longest(beginnings: tuple[str, ...], code: str) -> int:
    return max((len(beginning) for beginning in beginnings if code.startswith(beginning)), default=0)


@dataclass(slots=True)
class Defaults:
    """The settings of files: ``given`` on the command line, and below it those of each file's prose.yml."""

    given: Settings
    _known: dict[Path, Settings] = field(default_factory=dict)

    def of(self, file: Path) -> Settings:
        """The settings that hold for a file. Raises UsageError when its prose.yml is wrong."""
        folder = file.absolute().parent
        if folder not in self._known:
            path = find_config(file, Path.cwd())
            self._known[folder] = self._merged(_read(path) if path else Settings())
        return self._known[folder]

    def wants(self, diagnostic: Diagnostic) -> bool:
        """Whether a diagnostic is reported."""
        return self.of(Path(diagnostic.source.path)).wants(diagnostic.code)

    def strict(self, diagnostic: Diagnostic) -> bool:
        """Whether a warning is an error in its file."""
        return self.of(Path(diagnostic.source.path)).strict

    def _merged(self, below: Settings) -> Settings:
        given = self.given
        return Settings(
            given.select or below.select,
            given.ignore + (() if given.select else below.ignore),
            given.strict or below.strict,
            given.format or below.format,
        )


def _read(path: Path) -> Settings:
    """The ``check`` key of a prose.yml; files that plainly have none are not read any further, which takes its time."""
    try:
        if _says_nothing(path.read_text(encoding="utf-8-sig", errors="replace")):
            return Settings()
    except OSError:
        return Settings()
    from prose_runtime.services.config import load_config

    found = load_config(path).check
    select = codes(found.select, f"{path}: check.select")
    ignore = codes(found.ignore, f"{path}: check.ignore")
    return Settings(select, ignore, found.strict, found.format)


def _says_nothing(text: str) -> bool:
    """Whether each line of a prose.yml is a key other than ``check`` and nothing like it, or stands below one."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    keys = [_KEY.match(line) for line in lines if line[0] not in " \t"]
    others = all(key is not None and not did_you_mean(key["key"], ["check"]) for key in keys)
    return not lines or (lines[0][0] not in " \t" and others)


def codes(words: Iterable[str], where: str) -> tuple[str, ...]:
    """The codes of an option or key, commas between them, each the beginning of a known one. Raises UsageError."""
    found = tuple(code.strip() for word in words for code in word.split(",") if code.strip())
    for code in found:
        if not any(known.startswith(code) for known in CODES):
            raise UsageError(f"{where}: there is no code `{code}`", help=close(code))
    return found


def close(code: str) -> str:
    """What to write for a code that does not exist."""
    return did_you_mean(code, CODES) or "`prose explain --all` lists all codes"
