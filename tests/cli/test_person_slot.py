"""A slot marked (person): who answers for it when nothing is bound, and what the commands say of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.commands import Outcome, prose, run

CHAIRED = """---
name: chaired
kind: pattern
---

### Slots

- `speaker` (primary): speaks on the topic
- `chair` (person): decides whether to go on

### Parameters

- `topic`: what is spoken of

### Delegation

```prose
let speech = call speaker
  topic: topic
let ruling = call chair
  speech: speech
return { result: speech, ruling: ruling }
```
"""

MEETING = """---
name: meeting
kind: function
---

### Parameters

- `topic`: what is spoken of

### Returns

- `ruling`: what was decided

### Patterns

```yaml
- name: held
  pattern: chaired
```

### Execution

```prose
let { ruling } = call held
  topic: topic
return { ruling: ruling }
```
"""

PERSON = "services: {human: {provider: script, replies: [go on]}}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "chaired.prose.md").write_text(CHAIRED, encoding="utf-8")
    (tmp_path / "meeting.prose.md").write_text(MEETING, encoding="utf-8")
    return tmp_path


def do(folder: Path, *words: str, default: str = "rehearsal") -> Outcome:
    return run([prose(), *words], folder, home=folder / "home", PROSE_DEFAULT=default)


def test_without_a_person_the_run_pauses(folder: Path) -> None:
    done = do(folder, "run", "chaired", "tides", "--json")
    assert done.exit == 5, done.stderr
    report = json.loads(done.stdout)
    assert report["status"] == "paused"
    assert [(call["target"], call["service"]) for call in report["calls"]] == [
        ("speaker", "rehearsal"),
        ("chair", "human"),
    ]


@pytest.mark.parametrize("spec", ["chaired", "meeting"])
def test_the_service_named_human_answers(folder: Path, spec: str) -> None:
    (folder / "prose.yml").write_text(PERSON, encoding="utf-8")
    done = do(folder, "run", spec, "tides", "--json")
    assert done.exit == 0, done.stderr
    report = json.loads(done.stdout)
    assert "go on" in json.dumps(report["result"])
    assert [call["service"] for call in report["calls"]] == ["rehearsal", "human"]


def test_what_is_bound_answers_instead(folder: Path) -> None:
    done = do(folder, "run", "chaired", "tides", "--chair", "rehearsal", "--speaker", "echo")
    assert done.exit == 0, done.stderr
    assert "default service" not in done.stderr


def test_the_default_service_is_told_of_only_when_it_answers(folder: Path) -> None:
    assert "default service" not in do(folder, "run", "chaired", "tides", "--speaker", "echo").stderr
    assert "default service" in do(folder, "run", "chaired", "tides").stderr


def test_help_and_estimates_name_the_person(folder: Path) -> None:
    assert "whether to go on [default: human]" in " ".join(do(folder, "run", "chaired", "--help").stdout.split())
    for spec in ("chaired", "meeting"):
        shown = do(folder, "show", spec, "--calls", "tides", default="anthropic:claude-haiku-4-5")
        assert any(line.split()[:3] == ["human", "no", "model"] for line in shown.stdout.splitlines()), shown.stdout


def test_the_mark_is_without_fault(folder: Path) -> None:
    done = do(folder, "check", "chaired.prose.md", "--strict")
    assert done.exit == 0, done.stdout
