"""``prose batch`` on this machine: a line of JSON for each row, in order; what is done is not done again."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from support.commands import Outcome, clean_environment, prose, run

SPEC = """---
name: greet
kind: pattern
---
### Slots
- `writer`

### Parameters
- `name` (string): Who is greeted.

### Delegation
```
return call writer(name: name)
```
"""

SCRIPT = """
import json, sys
inputs = json.load(sys.stdin)["inputs"]
with open("asked.log", "a") as log:
    log.write(inputs["name"] + "\\n")
if inputs["name"] == "edit":
    with open("greet.prose.md", "w") as spec:
        spec.write("no spec any more")
if inputs["name"] == "bad":
    sys.exit(3)
print("hello " + inputs["name"])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "greet.prose.md").write_text(SPEC)
    (tmp_path / "answer.py").write_text(SCRIPT)
    service = {"provider": "command", "command": [sys.executable, "answer.py"]}
    (tmp_path / "prose.yml").write_text(json.dumps({"services": {"w": service}}))
    return tmp_path


def batch(folder: Path, names: list[Any], *words: str) -> Outcome:
    rows = [name if isinstance(name, str) and name.startswith("{") else json.dumps({"name": name}) for name in names]
    (folder / "rows.jsonl").write_text("\n".join(rows))
    return run([prose(), "batch", "greet", "--inputs", "rows.jsonl", "--writer", "w", *words], folder, folder)


def lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def asked(folder: Path) -> list[str]:
    return sorted((folder / "asked.log").read_text().split())


def test_results_come_in_the_order_of_the_rows(folder: Path) -> None:
    done = batch(folder, ["a", "b", "c"], "--at-once", "2")
    assert done.exit == 0
    assert [(row["row"], row["status"], row["result"]) for row in lines(done.stdout)] == [
        (1, "completed", "hello a"),
        (2, "completed", "hello b"),
        (3, "completed", "hello c"),
    ]
    assert "3 of 3 done" in done.stderr


def test_all_rows_run_the_spec_as_it_was_when_the_batch_began(folder: Path) -> None:
    done = batch(folder, ["a", "edit", "c"], "--at-once", "1")
    assert [row["result"] for row in lines(done.stdout)] == ["hello a", "hello edit", "hello c"]


def test_a_row_that_fails_is_told_and_only_it_is_run_again(folder: Path) -> None:
    done = batch(folder, ["a", "bad", "c"])
    assert done.exit == 1
    assert [row["status"] for row in lines(done.stdout)] == ["completed", "failed", "completed"]
    assert lines(done.stdout)[1]["error"]["kind"] == "failed"
    (folder / "answer.py").write_text(SCRIPT.replace("sys.exit(3)", "pass"))
    again = batch(folder, ["a", "bad", "c"], "--output", "results.jsonl")
    assert again.exit == 0
    assert again.stdout == ""
    assert [row["result"] for row in lines((folder / "results.jsonl").read_text())] == [
        "hello a",
        "hello bad",
        "hello c",
    ]
    assert asked(folder) == ["a", "bad", "bad", "c"]


def test_done_rows_are_run_again_when_that_is_asked_for_or_the_spec_was_edited(folder: Path) -> None:
    batch(folder, ["a"])
    batch(folder, ["a"], "--fresh")
    assert asked(folder) == ["a", "a"]
    (folder / "greet.prose.md").write_text(SPEC.replace("Who is greeted", "Whom to greet"))
    batch(folder, ["a"])
    assert asked(folder) == ["a", "a", "a"]


def test_a_row_without_its_input_fails_alone(folder: Path) -> None:
    done = batch(folder, ["a", "{}"])
    assert done.exit == 1
    assert [row["status"] for row in lines(done.stdout)] == ["completed", "failed"]
    assert "name" in lines(done.stdout)[1]["error"]["message"]


@pytest.mark.parametrize(("row", "word"), [("{no json", "line 2"), ('{"nme": 1}', "nme")])
def test_a_file_with_faults_is_refused_before_anything_is_asked(folder: Path, row: str, word: str) -> None:
    done = batch(folder, ["a", row])
    assert done.exit == 2
    assert word in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "asked.log").exists()


def test_a_killed_batch_goes_on_where_it_was(folder: Path) -> None:
    (folder / "answer.py").write_text(SCRIPT.replace('print("hello', 'import time; time.sleep(0.5); print("hello'))
    (folder / "rows.jsonl").write_text("".join(json.dumps({"name": name}) + "\n" for name in "abcd"))
    words = [prose(), "batch", "greet", "--inputs", "rows.jsonl", "--writer", "w", "--at-once", "1", "-o", "out"]
    running = subprocess.Popen(words, cwd=folder, env=clean_environment(folder), stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while (not (folder / "out").exists() or "hello b" not in (folder / "out").read_text()) and time.monotonic() < end:
        time.sleep(0.02)
    running.kill()
    running.wait()
    done = run(words[:-2], folder, folder)
    assert [row["result"] for row in lines(done.stdout)] == [f"hello {name}" for name in "abcd"]
    again = asked(folder)
    assert again.count("a") == again.count("b") == again.count("d") == 1
    assert again.count("c") <= 2  # the program that was answering outlives the kill
