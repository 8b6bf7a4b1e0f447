"""Files of the oldest dialect at the command line: help, inputs, pausing for a person, going on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.commands import ROOT, Outcome, prose, run

TEXT = """\
input topic: "what to look up"
input depth: "how far (optional)"
agent finder:
  persist: project
let facts = session: finder
  prompt: "Find {topic}, {depth}"
gate go_on: "Is this enough?"
if go_on is "yes":
  output facts = facts
else:
  output facts = null
"""
CONFIG = "default: m\nservices:\n  m: {provider: script, replies: [F]}\n"


@pytest.fixture
def do(tmp_path: Path) -> Any:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "note.prose").write_text(TEXT, encoding="utf-8")
    (folder / "prose.yml").write_text(CONFIG, encoding="utf-8")

    def call(*words: str, config: str = "", **more: Any) -> Outcome:
        (folder / "prose.yml").write_text(CONFIG + config, encoding="utf-8")
        return run([prose(), *words], folder, tmp_path, **more)

    return call


@pytest.mark.parametrize("spec", ["note.prose", "./note.prose", "note"])
def test_help_lists_the_inputs_with_their_texts(do: Any, spec: str) -> None:
    said = do("run", spec, "--help")
    assert said.exit == 0
    for part in ("--topic", "What to look up", "required", "--depth", "How far"):
        assert part in said.stdout


def test_a_missing_file_is_likened_to_those_beside_it(do: Any) -> None:
    said = do("run", "nota.prose")
    assert said.exit == 2
    assert "note.prose" in said.stderr


@pytest.mark.parametrize("words", [["tides"], ["--topic", "tides"], ["--input", "topic=tides"]])
def test_a_run_pauses_for_a_person_and_goes_on(do: Any, words: list[str]) -> None:
    paused = do("run", "note.prose", *words, "--json")
    assert paused.exit == 5
    assert json.loads(paused.stdout)["status"] == "paused"
    assert "Is this enough?" in paused.stderr
    done = do("resume", "last", "--json", config='  human: {provider: script, replies: ["yes"]}\n')
    report = json.loads(done.stdout)
    assert (done.exit, report["result"]) == (0, {"facts": "F"})
    assert [call["target"] for call in report["calls"]] == ["finder", "human"]


def test_a_warning_is_shown_once_for_its_place(do: Any, tmp_path: Path) -> None:
    looped = 'agent a:\n  tools: [x]\nrepeat 3:\n  session: a\n    prompt: "p"\n    timeout: 3s\n'
    (tmp_path / "work" / "loop.prose").write_text(looped, encoding="utf-8")
    said = do("run", "loop.prose", config="  e: {provider: echo}\n").stderr
    assert said.count("`tools` has no effect") == said.count("`timeout` has no effect") == 1


def test_memory_of_a_project_lies_beside_its_record(do: Any, tmp_path: Path) -> None:
    person = '  human: {provider: script, replies: ["yes"]}\n'
    assert do("run", "note.prose", "tides", config=person).exit == 0
    shown = json.loads(do("run", "note.prose", "moons", "--json", config=person).stdout)
    assert shown["calls"][0]["inputs"] == {"memory": [{"prompt": "Find tides, ", "reply": "F"}]}
    assert (tmp_path / "work" / ".prose" / "agents" / "finder.jsonl").is_file()


def test_the_programs_of_the_page_on_the_dialect_are_read(tmp_path: Path) -> None:
    from support.readme import snippets

    shown = [s.text for s in snippets(ROOT / "grammar" / "OLDEST.md") if s.label == "prose"]
    assert shown
    for number, text in enumerate(shown):
        (tmp_path / f"shown{number}.prose").write_text(text, encoding="utf-8")
    done = run([prose(), "check", *(p.name for p in tmp_path.glob("*.prose"))], tmp_path, tmp_path)
    assert done.exit == 0, done.stdout


def test_a_program_in_a_package_of_its_own_is_found_by_import(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "watch", tmp_path / "watch")
    caller = 'use "./watch/watch.prose" as watch\nlet w = call watch(place: "here")\noutput o = w.order\n'
    (tmp_path / "all.prose").write_text(caller, encoding="utf-8")
    shutil.copy(tmp_path / "watch" / "prose.yml", tmp_path / "prose.yml")
    done = run([prose(), "run", "all.prose", "--json"], tmp_path, tmp_path)
    assert json.loads(done.stdout)["result"] == {"o": "Row out and hail it."}
