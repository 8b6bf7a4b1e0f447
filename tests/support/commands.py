"""Running the installed commands as a user would, away from the user's own settings and keys."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent

# Settings of ours, of the providers, of the desktop and of the interpreter that runs the tests.
FOREIGN = ("PROSE_", "ANTHROPIC_", "OPENAI_", "OLLAMA_", "XDG_", "PYTHON")


@dataclass(frozen=True)
class Outcome:
    """What a command left behind; ``seconds`` is wall time."""

    exit: int
    stdout: str
    stderr: str
    seconds: float


def clean_environment(home: Path) -> dict[str, str]:
    """The environment without keys, settings and virtual environment of the caller; ``home`` stands in for theirs."""
    kept = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY") and not k.startswith(FOREIGN)}
    # A stable width and no colour: what is compared must not depend on the terminal that the tests run in.
    return kept | {
        "PATH": f"{BIN}{os.pathsep}{kept['PATH']}",
        "HOME": str(home),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PROSE_LIVE": "forbid",
    }


def run(
    words: list[str] | str, cwd: Path, home: Path, stdin: str = "", timeout: float = 100, **variables: str
) -> Outcome:
    """Run a command, given as words or as a line for the shell, with further environment variables.

    The ``stdin`` named ``open`` is a pipe that nobody writes to and nobody closes while the command runs.
    """
    line = ["bash", "-euo", "pipefail", "-c", words] if isinstance(words, str) else words
    reader, writer = os.pipe()
    start = time.monotonic()
    try:
        given: dict[str, Any] = {"stdin": reader} if stdin == "open" else {"input": stdin}
        done = subprocess.run(
            line, cwd=cwd, env=clean_environment(home) | variables, **given,
            capture_output=True, encoding="utf-8", timeout=timeout, check=False,
        )  # fmt: skip
    finally:
        os.close(reader)
        os.close(writer)
    return Outcome(done.returncode, done.stdout, done.stderr, time.monotonic() - start)


def prose() -> str:
    """The path of the installed ``prose`` command."""
    return str(BIN / "prose")
