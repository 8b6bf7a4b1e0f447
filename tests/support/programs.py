"""Small patterns for tests: written to a folder, run through the package's own front door."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import prose_runtime as prose
from prose_runtime.runtime.result import Result


def pattern(
    folder: Path,
    body: str,
    *,
    slots: str = "a",
    rows: str = "",
    config: str = "",
    extra: str = "",
    name: str = "probe",
) -> Path:
    """Write a pattern with these slots (by name, `x[]` a list slot), Parameters rows, Config bullets and program."""
    names = slots.split()
    listed = "\n".join(f"- `{slot.removesuffix('[]')}`" for slot in names)
    typed = [f"{slot.removesuffix('[]')}: {'string[]' if slot.endswith('[]') else 'string'}" for slot in names]
    table = "\n".join("    " + row for row in [*typed, *rows.splitlines()])
    text = (
        f"---\nname: {name}\nkind: pattern\n---\n\n### Slots\n\n{listed}\n\n### Config\n\n{config or '- None.'}\n\n"
        f"### Parameters\n\n- Pattern instance receives:\n{table}\n\n{textwrap.dedent(extra)}\n"
        f"### Delegation\n\n```prose\n{textwrap.dedent(body).strip()}\n```\n"
    )
    path = folder / f"{name}.prose.md"
    path.write_text(text, encoding="utf-8")
    return path


def run(path: Path, bind: dict[str, Any] | None = None, inputs: dict[str, Any] | None = None, **more: Any) -> Result:
    """Run a spec file."""
    return prose.run(path, inputs or {}, bind=bind or {}, **more)


def targets(result: Result) -> list[str]:
    """The targets of a run's calls, in order."""
    return [call["target"] for call in result.calls]


def line_of(path: Path, text: str) -> int:
    """The line of a file that first holds a text."""
    return path.read_text(encoding="utf-8").split(text)[0].count("\n") + 1
