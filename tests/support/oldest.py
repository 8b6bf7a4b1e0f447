"""Programs of the oldest dialect for tests: a ``.prose`` file beside a prose.yml whose services are scripted."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import yaml

import prose_runtime as prose
from prose_runtime.check.checker import check_path
from prose_runtime.runtime.result import Result

JUDGE = {"provider": "script", "replies": [{"verdict": True, "option": "Ship", "reason": "r"}], "repeat": True}
ECHO = {"provider": "script", "rules": [], "else": {"echo": True}}


def program(folder: Path, text: str, *, name: str = "old.prose", **services: Any) -> Path:
    """Write a program; sessions echo their prompt and context unless ``m`` is another service."""
    listed = {"m": ECHO, "j": JUDGE, **services}
    settings = {"default": "m", "judge": "j", "services": listed}
    (folder / "prose.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    path = folder / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def scripted(*replies: Any, **more: Any) -> dict[str, Any]:
    """The settings of a service that gives these replies in order."""
    return {"provider": "script", "replies": list(replies), **more}


def run(path: Path, inputs: dict[str, Any] | None = None, **more: Any) -> Result:
    """Run a program to its end."""
    return prose.run(path, inputs or {}, **more)


def asked(result: Result) -> list[tuple[str, str | None, dict[str, Any]]]:
    """Target, prompt and inputs of each call."""
    return [(call["target"], call["prompt"], call["inputs"]) for call in result.calls]


def faults(path: Path) -> list[tuple[int, str, str, str]]:
    """Line, severity, code, and message with help, of all faults of a file but that it is not portable."""
    found = check_path(path).diagnostics
    return [
        (d.start.line, d.severity, d.code, f"{d.message} {d.help or ''}")
        for d in found
        if d.code != "retired-kind" and not d.code.startswith("portable-")
    ]
