"""How long a command takes from its start to its end, against an interpreter that does nothing and one that imports."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import Row, Scale, process, side_by_side
from prose_runtime.check.project import library

PROSE = [sys.executable, "-m", "prose_runtime"]
IMPORTS = ("pass", "import click", "import click, yaml")
SCRIPTED = """\
default: canned
services:
  canned: {provider: script, replies: ["a claim"], repeat: true}
"""


def rows(scale: Scale) -> Iterator[Row]:
    """Each command beside ``python -c pass``, ``import click`` and ``import click, yaml``."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "prose.yml").write_text(SCRIPTED, encoding="utf-8")
        (folder / "dialectic.prose.md").write_bytes((library() / "dialectic.prose.md").read_bytes())
        commands = {
            "prose --version": [*PROSE, "--version"],
            "prose run --help": [*PROSE, "run", "--help"],
            "prose check FILE": [*PROSE, "check", "dialectic.prose.md"],
            "prose run, scripted": [*PROSE, "run", "--quiet", "dialectic.prose.md", "Remote work works"],
        }
        references = {f"python -c '{code}'": [sys.executable, "-c", code] for code in IMPORTS}
        run = partial(process, cwd=folder, env=_installed(folder))
        for words in (*commands.values(), *references.values()):
            run(words)
        works = [partial(run, words) for words in (*references.values(), *commands.values())]
        medians = [1000 * median for median in side_by_side(2 * scale.rounds, works)]
        yield from _table(dict(zip((*references, *commands), medians, strict=True)), list(references), list(commands))


def _installed(folder: Path) -> dict[str, str]:
    """The environment in which bytecode is kept, as it is behind an installation."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}


def _table(medians: dict[str, float], references: list[str], commands: list[str]) -> Iterator[Row]:
    nothing, _, imports = references
    for name in references:
        yield Row(name, medians[name], "ms", nothing, medians[nothing])
    for name in commands:
        goal = 3 if name == "prose check FILE" else None
        yield Row(name, medians[name], "ms", imports, medians[imports], goal)
