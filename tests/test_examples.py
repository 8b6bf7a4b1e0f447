"""Every command of ``examples/README.md`` runs offline and gives the result that stands beside it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from support.commands import ROOT, run
from support.readme import snippets

EXAMPLES = ROOT / "examples"
COMMANDS = {s.text.split()[1]: s.text.strip() for s in snippets(EXAMPLES / "README.md")}


def test_every_folder_has_a_command() -> None:
    assert {path.name for path in EXAMPLES.iterdir() if path.is_dir()} - {"editors", "engine"} == set(COMMANDS)


def test_every_pattern_is_shown_at_work() -> None:
    library = ROOT / "patterns"
    patterns = {path.name.removesuffix(".prose.md") for path in library.glob("*.prose.md")}
    tested = {path.name.removesuffix(".test.prose.md") for path in (library / "tests").glob("*.test.prose.md")}
    assert patterns - tested - set(COMMANDS) == set()


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES, tmp_path / "examples"))


@pytest.mark.parametrize("name", COMMANDS)
def test_result(name: str, examples: Path, tmp_path: Path) -> None:
    done = run(f"{COMMANDS[name]} --json", examples, home=tmp_path)
    assert done.exit == 0, done.stderr
    assert "Traceback" not in done.stderr
    report = json.loads(done.stdout)
    assert report["result"] == json.loads((examples / name / "result.json").read_text(encoding="utf-8"))
    assert all(invariant["status"] != "broken" for invariant in report["invariants"])
    assert "judge" not in [condition["rung"] for condition in report["conditions"]]


def test_as_a_person_sees_it(examples: Path, tmp_path: Path) -> None:
    done = run(COMMANDS["dialectic"], examples, home=tmp_path)
    assert done.exit == 0, done.stderr
    assert "a corridor forgets" in done.stdout
    assert "a corridor forgets" not in run(f"{COMMANDS['dialectic']} --quiet", examples, home=tmp_path).stderr


def test_the_guard_lets_through_what_it_approves(examples: Path, tmp_path: Path) -> None:
    command = COMMANDS["guard"].replace("Delete all", "Count the")
    report = json.loads(run(f"{command} --json", examples, home=tmp_path).stdout)
    assert report["result"]["result"] == "42 accounts were opened in May."
    assert [call["target"] for call in report["calls"]] == ["guard", "target"]


def test_the_specs_are_without_fault(tmp_path: Path) -> None:
    done = run("prose check patterns examples --strict", ROOT, home=tmp_path)
    assert done.exit == 0, done.stdout + done.stderr
