"""Lint, format and types are part of the test run, so that one command tells whether a change is in order."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.commands import ROOT


@pytest.mark.parametrize(
    "words",
    [
        ["ruff", "check", "--no-cache", "--output-format=concise", "."],
        ["ruff", "format", "--no-cache", "--check", "."],
        ["mypy", "--no-error-summary"],
    ],
    ids=["ruff check", "ruff format", "mypy"],
)
def test_clean(words: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
