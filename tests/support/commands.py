"""Running the installed commands as a user would, away from the user's own settings and keys."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Outcome:
    """What a command left behind; ``seconds`` is wall time."""

    exit: int
    stdout: str
    stderr: str
    seconds: float


def clean_environment(home: Path) -> dict[str, str]:
    """The environment without keys, settings and virtual environment of the caller; ``home`` stands in for theirs."""
    kept = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY") and not k.startswith(("PROSE_", "XDG_"))}
    # A stable width and no colour: what is compared must not depend on the terminal that the tests run in.
    return kept | {
        "PATH": f"{BIN}{os.pathsep}{kept['PATH']}",
        "HOME": str(home),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PROSE_LIVE": "forbid",
    }


def run(words: list[str] | str, cwd: Path, home: Path, stdin: str = "", timeout: float = 100) -> Outcome:
    """Run a command, given as words or as a line for the shell."""
    shell = isinstance(words, str)
    with subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", words] if shell else words,
        cwd=cwd, env=clean_environment(home), encoding="utf-8",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        start = time.monotonic()
        # `open`: a pipe that nobody writes to and nobody closes while the command runs.
        waiting = process.stdin if stdin == "open" else None
        if waiting:
            process.stdin = None
        try:
            stdout, stderr = process.communicate(None if waiting else stdin, timeout=timeout)
        except BaseException:
            process.kill()
            raise
        finally:
            if waiting:
                waiting.close()
        return Outcome(process.returncode, stdout, stderr, time.monotonic() - start)


def prose() -> str:
    """The path of the installed ``prose`` command."""
    return str(BIN / "prose")
