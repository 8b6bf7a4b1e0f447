"""The roles: found by their bare names, alone, in a slot, in an instance, and beside a service of the same name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import prose_runtime
from prose_runtime.check.project import library_names
from prose_runtime.runtime.jobs import function_job
from support.commands import prose, run
from support.library import PATTERNS, load

ROLES = "classifier critic extractor formatter planner researcher router summarizer verifier writer".split()


def settings(folder: Path, *replies: object, more: str = "") -> None:
    """A prose.yml whose default service gives these replies."""
    text = f"default: m\nservices:\n  m: {{provider: script, replies: {json.dumps(replies)}}}\n{more}"
    (folder / "prose.yml").write_text(text, encoding="utf-8")


def call(folder: Path, home: Path, *words: str) -> dict[str, object]:
    """What a command run in a folder prints as JSON."""
    done = run([prose(), *words, "--json", "--no-record"], folder, home=home)
    assert done.exit == 0, done.stderr
    report: dict[str, object] = json.loads(done.stdout)
    return report


def test_all_roles_are_there() -> None:
    assert sorted(path.name.removesuffix(".prose.md") for path in (PATTERNS / "roles").iterdir()) == ROLES
    assert set(ROLES) < set(library_names())


@pytest.mark.parametrize("name", ROLES)
def test_a_role_is_told_its_text_and_returns_what_it_declares(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    role = load(f"roles/{name}")
    assert role.kind == "function"
    assert role.returns is not None
    outputs = [output.name for output in role.returns.outputs]
    told = function_job(role)
    assert role.preamble in told
    assert all(f"- {output}: " in told for output in outputs)
    reply = dict.fromkeys(outputs, "x")
    settings(tmp_path, reply)
    monkeypatch.chdir(tmp_path)
    inputs = {p.name: f"the {p.name}" for p in role.parameters}
    done = prose_runtime.run(name, inputs)
    assert done.value == ("x" if len(outputs) == 1 else reply)
    assert [call["inputs"] for call in done.calls] == [inputs]


def test_runs_by_its_bare_name(tmp_path: Path) -> None:
    settings(tmp_path, {"category": "sport", "confidence": 0.9, "reason": "a match"})
    words = ["run", "classifier", "Two goals", "--categories", "sport, politics"]
    report = call(tmp_path, tmp_path, *words)
    assert report["result"] == {"category": "sport", "confidence": 0.9, "reason": "a match"}


def test_fills_a_slot_by_its_bare_name(tmp_path: Path) -> None:
    settings(tmp_path, "a text", {"accepted": True, "critique": None, "score": 1})
    report = call(tmp_path, tmp_path, "run", "worker-critic", "T", "--worker", "writer", "--critic", "critic")
    assert report["result"] == {"result": "a text", "accepted": True, "critique": None, "rounds": 1}


def test_a_service_comes_before_a_role_of_the_same_name(tmp_path: Path) -> None:
    settings(tmp_path, "a text", more="  critic: {provider: script, replies: [{accepted: true, critique: null}]}\n")
    report = call(tmp_path, tmp_path, "run", "worker-critic", "T", "--worker", "writer", "--critic", "critic")
    assert [entry["service"] for entry in report["calls"]] == ["m", "critic"]  # type: ignore[attr-defined]


def test_a_role_of_the_project_comes_before_that_of_the_library(tmp_path: Path) -> None:
    settings(tmp_path, "a text", {"accepted": True, "critique": None})
    own = "---\nname: critic\nkind: function\ndescription: You are the one of this project.\n---\n\n### Parameters\n\n"
    (tmp_path / "critic.prose.md").write_text(f"{own}- `work`: the work\n\n### Returns\n\n- `critique`: it\n")
    report = call(tmp_path, tmp_path, "run", "critic", "the work")
    assert report["result"] == "a text"


def test_an_unknown_word_says_that_a_role_would_do(tmp_path: Path) -> None:
    done = run([prose(), "run", "worker-critic", "T", "--critic", "crtic"], tmp_path, home=tmp_path)
    assert done.exit == 2
    assert "name of one of the project or the library" in done.stderr
