"""The page on runs on many machines: its commands run and print what it shows."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from support.commands import ROOT, run
from support.engine import Team
from support.readme import console, shows, snippets

PAGE = ROOT / "examples" / "engine"
SNIPPETS = snippets(PAGE / "README.md")


def test_its_commands_print_what_it_shows(team: Team) -> None:
    settings = yaml.safe_load((PAGE / "prose.yml").read_text(encoding="utf-8"))
    team.configure(services=settings["services"])
    shutil.copy(PAGE / "rows.jsonl", team.folder)
    team.start()
    blocks = [snippet for snippet in SNIPPETS if snippet.label == "console"]
    assert len(blocks) == 2
    for snippet in blocks:
        for command, shown in console(snippet.text):
            done = run(f"({command}) 2>&1 || true", team.folder, home=team.home)
            assert shows(shown, _of_this_queue(done.stdout)), f"$ {command}\n{done.stdout}"


def _of_this_queue(text: str) -> str:
    """The output with one run only: the server of the tests has others."""
    rows = [line for line in text.splitlines() if not line.startswith("20")]
    own = [line for line in text.splitlines() if line.startswith("20") and line.endswith(" dialectic")]
    return "\n".join([*rows, *own[:1]]) + "\n"


def test_its_compose_file_starts_what_it_says() -> None:
    services: dict[str, Any] = yaml.safe_load((PAGE / "compose.yaml").read_text(encoding="utf-8"))["services"]
    assert "prose worker" in services["worker"]["command"]
    for name in ("engine", "page"):
        assert all(port.startswith("127.0.0.1:") for port in services[name]["ports"])


def test_its_other_commands_are_ours_or_the_engine_s(team: Team) -> None:
    assert {snippet.file for snippet in SNIPPETS if snippet.label == "sh"} == {
        "server", "worker", "answer", "compose", "replay"
    }  # fmt: skip
    checked = team.prose("worker", "--replay")
    assert (checked.exit, checked.stdout) == (0, "")


def test_files_of_the_page_exist() -> None:
    assert {path.name for path in Path(PAGE).iterdir()} == {"README.md", "prose.yml", "compose.yaml", "rows.jsonl"}
