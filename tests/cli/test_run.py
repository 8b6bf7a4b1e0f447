"""``prose run``, ``prose runs`` and ``prose resume`` as a person uses them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prose_runtime.cli import main
from prose_runtime.journal import Journal
from support.commands import clean_environment, prose

SPEC = """---
name: relay
kind: pattern
---

### Slots

- `runner`: carries the baton
  - requires: baton

### Config

- `legs` (integer, default: 3): how many legs are run
- `loud` (boolean, default: false): whether each leg is told

### Parameters

- Pattern instance receives:
    runner: string
    baton: string   -- what is carried
    course: string  -- where to

### Delegation

```prose
let now = baton
repeat legs as leg:
  if loud:
    emit "leg {leg}"
  let now = call runner
    baton: now
return { result: now, course: course }
```
"""

ECHO = """
services:
  slow: {provider: script, replies: [one, {delay: 30, reply: two}, three]}
  quick: {provider: script, replies: [one, two, three]}
  broken: {provider: script, replies: [one, {error: "is down", kind: unavailable}, three]}
  me: {provider: human}
"""

LOGGED = """
services:
  slow: {provider: command, command: [%r, work.py], timeout: 30}
"""

WORK = """
import json, sys, time
asked = json.load(sys.stdin)["inputs"]["baton"]
time.sleep(0.15)
open("asked.log", "a").write(asked + "\\n")
print(asked + "+")
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "relay.prose.md").write_text(SPEC)
    (tmp_path / "prose.yml").write_text(ECHO)
    return tmp_path


class Said:
    """The exit code and what was printed."""

    def __init__(self, code: int, out: str, err: str):
        self.code, self.out, self.err = code, out, err
        assert "Traceback" not in err

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def last(self) -> str:
        return self.err.rstrip().splitlines()[-1]


@pytest.fixture
def do(capsys: pytest.CaptureFixture[str]) -> Iterator[Any]:
    def call(*words: str) -> Said:
        code = main(words)
        return Said(code, *capsys.readouterr())

    yield call


RELAY = ("run", "relay.prose.md", "b0", "--course", "home", "--runner")


def test_the_result_alone_is_on_stdout(do: Any) -> None:
    said = do(*RELAY, "quick", "--loud")
    assert said.code == 0
    assert said.out == "result: three\ncourse: home\n"
    assert [line for line in said.err.splitlines() if line.startswith("leg")] == ["leg 1", "leg 2", "leg 3"]
    assert said.err.count("call runner") == 3
    assert "3 calls" in said.last


def test_quiet_says_nothing_but_the_result(do: Any) -> None:
    said = do(*RELAY, "quick", "--quiet")
    assert (said.out, said.err) == ("result: three\ncourse: home\n", "")


def test_json_is_one_object(do: Any) -> None:
    shown = do(*RELAY, "quick", "--json").json
    assert shown["status"] == "completed"
    assert shown["result"] == {"result": "three", "course": "home"}
    assert [call["inputs"]["baton"] for call in shown["calls"]] == ["b0", "one", "two"]
    assert shown["error"] is None
    assert shown["usage"]["calls"] == 3


def test_general_options_stand_anywhere(do: Any) -> None:
    assert do("run", "--json", "--legs", "1", "relay.prose.md", "--runner=quick", "b0", "--course", "x").json["result"]


def test_help_shows_the_options_of_the_spec(do: Any) -> None:
    said = do("run", "relay.prose.md", "--help")
    assert said.code == 0
    for words in ("--runner", "Carries the baton", "--legs", "default: 3", "--loud / --no-loud", "--course"):
        assert words in said.out


def test_a_library_pattern_is_run_by_its_bare_name(do: Any) -> None:
    assert "--thesis" in do("run", "dialectic", "--help").out
    said = do("run", "dialectic", "Tabs beat spaces", "--thesis", "echo", "--antithesis", "echo", "--json")
    assert said.json["status"] == "completed"


def test_all_missing_inputs_are_told_at_once(do: Any) -> None:
    said = do("run", "relay.prose.md", "--runner", "quick", "--json")
    assert said.code == 2
    assert "baton" in said.err
    assert "course" in said.err
    assert (said.json["run"], said.json["error"]["kind"]) == (None, "usage")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["relay.prose.md", "--legz", "3"], "--legs"),
        (["relay.prose.md", "b", "--course", "x", "--legs", "many"], "integer"),
        (["relay.prose.md", "b", "--course", "x", "--runner", "nobody"], "quick"),
        (["dialectik"], "dialectic"),
        (["missing.prose.md"], "no such file"),
        (["relay.prose.mt"], "relay.prose.md"),
        (["."], "cannot read"),
        (["binary.prose.md"], "UTF-8"),
    ],
)
def test_usage_faults_are_one_sentence_and_still_json(folder: Path, do: Any, words: list[str], told: str) -> None:
    (folder / "binary.prose.md").write_bytes(b"\x00\xff\xfe\x80")
    said = do("run", *words, "--json")
    assert said.code == 2
    assert told in said.err
    assert said.json["status"] == "failed"
    assert said.json["run"] is None
    assert said.json["error"]["message"]
    assert not (folder / ".prose").exists()


@pytest.mark.parametrize("text", ["", "no frontmatter", SPEC.replace("call runner", "call runnr")])
def test_a_spec_with_errors_ends_before_any_call(folder: Path, do: Any, text: str) -> None:
    (folder / "bad.prose.md").write_text(text)
    said = do("run", "bad.prose.md", "x", "--json")
    assert said.code == 1
    assert "bad.prose.md:" in said.err
    assert said.json["error"]["line"] >= 1
    assert said.json["calls"] == []


def test_a_failed_run_names_the_command_that_goes_on(folder: Path, do: Any) -> None:
    said = do(*RELAY, "broken", "--json")
    assert said.code == 1
    shown = said.json
    assert shown["error"]["kind"] == "unavailable"
    assert "error: " in said.err
    assert said.last.endswith(f"prose resume {shown['run']}")
    (folder / "prose.yml").write_text(ECHO.replace('{error: "is down", kind: unavailable}', "two"))
    again = do("resume", shown["run"][:-1], "--json")
    assert again.code == 0
    assert again.json["result"]["result"] == "three"
    assert again.json["run"] == shown["run"]


def test_a_person_who_is_not_there_pauses_the_run(do: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/null").open() as nobody:
        monkeypatch.setattr("sys.stdin", nobody)
        said = do(*RELAY, "me", "--json")
    assert said.code == 5
    assert said.json["status"] == "paused"
    assert "prose resume" in said.last


def test_runs_are_listed_and_shown(do: Any) -> None:
    first = do(*RELAY, "quick", "--json").json
    second = do(*RELAY, "broken", "--json").json
    rows = do("runs", "list", "--json").json
    assert [(row["run"], row["status"], row["spec"]) for row in rows] == [
        (second["run"], "failed", second["spec"]),
        (first["run"], "completed", first["spec"]),
    ]
    assert rows[1]["calls"] == 3
    assert do("runs", "show", first["run"], "--json").json == first
    assert do("runs", "show", "last", "--json").json == second
    assert first["run"] in do("runs").out
    shown = do("runs", "show", "last").out
    assert "runner" in shown
    assert "is down" in shown


def test_no_record_leaves_nothing_behind(folder: Path, do: Any) -> None:
    said = do(*RELAY, "broken", "--no-record")
    assert said.code == 1
    assert "resume" not in said.err
    assert not (folder / ".prose").exists()


def test_a_record_that_cannot_be_written_is_told_before_any_call(folder: Path, do: Any) -> None:
    (folder / ".prose").write_text("")
    said = do(*RELAY, "quick", "--json")
    assert said.code == 1
    assert "--no-record" in said.err
    assert (said.json["error"]["kind"], said.json["calls"]) == ("record", [])
    assert do(*RELAY, "quick", "--no-record").code == 0


def test_a_spec_that_changed_is_not_gone_on_with_unless_asked(folder: Path, do: Any) -> None:
    do(*RELAY, "broken")
    (folder / "prose.yml").write_text(ECHO.replace('{error: "is down", kind: unavailable}', "two"))
    (folder / "relay.prose.md").write_text(SPEC.replace("    baton: now", '    baton: "new {now}"'))
    said = do("resume", "last")
    assert said.code != 0
    assert "--reask" in said.err
    again = do("resume", "last", "--reask", "--json")
    assert again.code == 0
    assert again.json["calls"][0]["inputs"] == {"baton": "new b0"}


@pytest.fixture
def start(folder: Path) -> Iterator[Any]:
    started: list[subprocess.Popen[str]] = []

    def begin(*words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [prose(), *words], cwd=folder, env=clean_environment(folder), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        )  # fmt: skip
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def wait_for(condition: Any) -> None:
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_ctrl_c_ends_the_run_cleanly(folder: Path, do: Any, start: Any) -> None:
    process = start(*RELAY, "slow", "--json")
    assert process.stderr is not None
    called = 0
    while called < 2:  # the second answer takes long
        called += process.stderr.readline().startswith("call runner")
    process.send_signal(signal.SIGINT)
    said = Said(0, *process.communicate(timeout=20))
    assert process.returncode == 130
    assert said.json["status"] == "cancelled"
    assert [call["output"] for call in said.json["calls"]][:1] == ["one"]
    assert said.last.endswith(f"prose resume {said.json['run']}")
    (folder / "prose.yml").write_text(ECHO.replace("delay: 30", "delay: 0"))
    assert do("resume", "last", "--json").json["result"]["result"] == "three"


def test_a_killed_run_goes_on_without_asking_again(folder: Path, do: Any, start: Any) -> None:
    (folder / "prose.yml").write_text(LOGGED % sys.executable)
    (folder / "work.py").write_text(WORK)
    process = start(*RELAY, "slow", "--legs", "6")
    journal = Journal(folder / ".prose")
    wait_for(lambda: journal.list() and journal.list()[0].calls >= 2)
    process.kill()
    process.communicate()
    kept = journal.list()[0]
    assert kept.status == "interrupted"
    assert do("runs", "show", "last", "--json").json["status"] == "interrupted"
    said = do("resume", "last", "--json")
    assert said.json["result"]["result"] == "b0++++++"
    asked = (folder / "asked.log").read_text().split()
    assert asked[: kept.calls] == [f"b0{'+' * n}" for n in range(kept.calls)]
    assert len(asked) - len(set(asked)) <= 1  # at most the call in flight is asked twice
    assert do("runs", "list", "--json").json[0]["status"] == "completed"


def test_limits_are_options_and_a_run_goes_on_with_a_higher_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "relay.prose.md", "a", "--course", "x", "--runner", "quick", "--quiet"]
    assert main([*words, "--max-calls", "2"]) == 4
    said = capsys.readouterr().err
    assert "max_calls" in said
    assert "--max-calls 4" in said
    assert main(["resume", "last", "--max-calls", "1", "--quiet"]) == 0
    assert "three" in capsys.readouterr().out
    assert main([*words, "--max-calls", "none"]) == 2
    assert main([*words, "--max-cost", "1", "--concurrency", "2", "--call-timeout", "3"]) == 0
    assert main(["--max-calls", "2", *words]) == 2


def test_an_item_of_a_spec_named_as_a_limit_is_the_specs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (folder / "relay.prose.md").read_text(encoding="utf-8")
    (folder / "own.prose.md").write_text(text.replace("legs", "max_calls"), encoding="utf-8")
    words = ["run", "own.prose.md", "a", "--course", "x", "--runner", "quick", "--quiet"]
    assert main([*words, "--max-calls", "1"]) == 0
    assert "one" in capsys.readouterr().out


def test_an_unknown_price_is_told_before_a_run_whose_cost_is_limited(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROSE_LIVE", "forbid")
    words = ["run", "relay.prose.md", "a", "--course", "x", "--max-cost", "1"]
    for model, told in (("mystery-1", True), ("claude-haiku-4-5", False)):
        assert main([*words, "--runner", f"anthropic:{model}"]) == 1
        assert ("price of mystery-1 is unknown" in capsys.readouterr().err) == told
