"""Every command of the README runs, and prints what the README shows."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from services.fake_anthropic import text
from services.fake_http import FakeServer
from support.commands import ROOT, Outcome, run
from support.readme import Snippet, console, shows, snippets

SNIPPETS = snippets(ROOT / "README.md")
SETUP = [snippet.text.strip() for snippet in SNIPPETS if snippet.heading == "Start"]
SECTIONS = sorted({snippet.heading for snippet in SNIPPETS} - {"Start", "With a key"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with all files that the README shows."""
    made = tmp_path / "work"
    made.mkdir()
    for snippet in SNIPPETS:
        if snippet.file:
            (made / snippet.file).write_text(snippet.text, encoding="utf-8")
    return made


def try_out(snippet: Snippet, folder: Path) -> None:
    """Run what a snippet says."""
    if snippet.label == "console":
        for command, shown in console(snippet.text):
            done = run(f"({command}) 2>&1 || true", folder, home=folder.parent)
            assert shows(shown, done.stdout), f"$ {command}\n{done.stdout}"
    elif snippet.label in ("sh", "python"):
        line = snippet.text if snippet.label == "sh" else f"python {snippet.file}"
        assert_fine(run(line, folder, home=folder.parent))


def test_a_different_output_is_noticed() -> None:
    assert shows("a\n...\nb ... d\n", "a\n1\n2\nb c d\n")
    assert not shows("a\n", "a\nb\n")
    assert not shows("a ... c\n", "a b\n")


def assert_fine(done: Outcome) -> None:
    assert done.exit == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("heading", SECTIONS)
def test_section(heading: str, folder: Path) -> None:
    for snippet in SNIPPETS:
        if snippet.heading == heading:
            try_out(snippet, folder)


def test_the_test_command_is_what_ci_runs() -> None:
    assert SETUP[1] == (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]


def test_the_first_command_runs_the_dialectic(tmp_path: Path) -> None:
    *steps, command = SETUP[0].split(" && ")
    assert [step.split(" -c ")[0] for step in steps] == [step.split(" -c ")[0] for step in SETUP[1].split(" && ")[:-1]]
    shutil.copytree(ROOT / "patterns", tmp_path / "patterns")
    done = run(command.removeprefix(".venv/bin/"), tmp_path, home=tmp_path, PROSE_DEFAULT="rehearsal")
    assert_fine(done)
    assert "Remote work makes teams more productive" in done.stdout


def test_with_a_key_claude_plays_the_roles(tmp_path: Path) -> None:
    (command,) = [snippet.text for snippet in SNIPPETS if snippet.heading == "With a key"]

    async def against_a_server_of_our_own() -> tuple[Outcome, FakeServer]:
        async with FakeServer([text("Focus."), text("Drift.")]) as server:
            return await asyncio.to_thread(run, command, tmp_path, tmp_path, ANTHROPIC_BASE_URL=server.url), server

    done, server = asyncio.run(against_a_server_of_our_own())
    assert_fine(done)
    assert "Focus." in done.stdout
    assert "anthropic" in done.stderr.splitlines()[0].lower()
    assert ["sk-ant-your-key" in str(received.headers) for received in server.received] == [True, True]
