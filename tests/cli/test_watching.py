"""``prose run`` on a terminal: the live view, Ctrl-C and what it means, a person at the keyboard."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.commands import prose, run
from support.terminal import Terminal

SPEC = """---
name: relay
kind: pattern
---

### Slots

- `first`: begins
- `second`: goes on

### Parameters

- Pattern instance receives:
    first: string
    second: string
    baton: string

### Delegation

```prose
emit "off they go"
let one = call first
  baton: baton
let two = call second
  baton: one
let three = call first
  baton: two
return three
```
"""

BOTH = """---
name: both
kind: pattern
---

### Slots

- `asked`: answers
- `other`: works

### Delegation

```prose
parallel:
  let x = call asked
    prompt: "What do you say?"
  let y = do:
    let n = call other
      n: 1
    emit "the other has {n}"
return "{x} and {y}"
```
"""

# Appends what it is asked to asked.log and waits until the file `go` holds more letters than were asked before.
WORK = """
import json, pathlib, sys, time
asked = json.load(sys.stdin)
log = pathlib.Path("asked.log")
before = len(log.read_text().splitlines()) if log.exists() else 0
with log.open("a") as file:
    file.write(json.dumps([asked["inputs"], asked["instructions"]]) + "\\n")
while len(pathlib.Path("go").read_text()) <= before:
    time.sleep(0.02)
print(sys.argv[1])
"""

REPLY = "\x1b]0;pwned\x07\x1b[2J and words that go on beyond the width of a narrow terminal " * 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "relay.prose.md").write_text(SPEC)
    (tmp_path / "both.prose.md").write_text(BOTH)
    (tmp_path / "work.py").write_text(WORK)
    (tmp_path / "go").write_text("")
    command = json.dumps([sys.executable, "work.py", "done"])
    services = {"canned": {"provider": "script", "replies": [REPLY], "repeat": True}, "me": {"provider": "human"}}
    listed = "".join(f"  {name}: {json.dumps(settings)}\n" for name, settings in services.items())
    (tmp_path / "prose.yml").write_text(f"services:\n{listed}  slow: {{provider: command, command: {command}}}\n")
    return tmp_path


def relay(first: str, second: str, *more: str) -> list[str]:
    return [prose(), "run", "relay.prose.md", "b0", "--first", first, "--second", second, *more]


def let_go(folder: Path, calls: int = 99) -> None:
    (folder / "go").write_text("x" * calls)


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def wait_for_call(terminal: Terminal, folder: Path, number: int) -> None:
    """Until the call of this number is drawn and its program is at work."""
    terminal.wait_for(f"{number} of at most")
    until(lambda: len(asked(folder)) == number)


def asked(folder: Path) -> list[list[object]]:
    if not (folder / "asked.log").exists():
        return []
    return [json.loads(line) for line in (folder / "asked.log").read_text().splitlines()]


def test_running_steps_are_drawn_and_finished_ones_scroll_above(folder: Path) -> None:
    with Terminal(relay("slow", "canned"), folder, columns=40) as terminal:
        terminal.wait_for("off they go")
        terminal.wait_for("first")
        terminal.wait_for("slow")
        terminal.wait_for("1 of at most 3 calls")
        let_go(folder)
        terminal.wait_for("done first")
        terminal.wait_for("done second")
        terminal.wait_for("done first")
        assert terminal.end() == 0
    assert terminal.text.rstrip().splitlines()[-2:] == ["done", "3 calls"]
    assert "\x1b]0;pwned" not in terminal.raw
    assert "\x1b[2J" not in terminal.raw
    assert terminal.raw.count("\x1b[?25h") == terminal.raw.count("\x1b[?25l") > 0
    progress = terminal.text[terminal.text.index("off they go") :].splitlines()
    assert max(map(len, re.split(r"[\r\n]+", "\n".join(progress)))) <= 40


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_terminals_that_cannot_or_should_not_show_colours_get_none(folder: Path, variables: dict[str, str]) -> None:
    with Terminal(relay("canned", "canned"), folder, **variables) as terminal:
        assert terminal.end() == 0
    assert "done first" in terminal.text
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", terminal.raw)
    assert ("\x1b" in terminal.raw) is ("TERM" not in variables)


def test_quiet_shows_nothing_on_a_terminal_too(folder: Path) -> None:
    with Terminal(relay("slow", "slow", "--quiet"), folder) as terminal:
        let_go(folder)
        assert terminal.end() == 0
    assert terminal.raw == "done\r\n"


def test_ctrl_c_asks_and_the_run_goes_on(folder: Path) -> None:
    with Terminal(relay("slow", "slow"), folder) as terminal:
        wait_for_call(terminal, folder, 1)
        terminal.type("\x03")
        terminal.wait_for("redirect")
        let_go(folder)
        terminal.type("what\n")
        terminal.wait_for("c, s or r")
        terminal.type("c\n")
        assert terminal.end() == 0


def test_a_note_goes_to_the_next_call_of_the_chosen_slot_and_stays_there_when_resumed(folder: Path) -> None:
    with Terminal(relay("slow", "slow"), folder) as terminal:
        wait_for_call(terminal, folder, 1)
        terminal.type("\x03")
        terminal.wait_for("redirect")
        terminal.type("r\n")
        terminal.wait_for("1 first, 2 second")
        terminal.type("secnd\n")
        terminal.wait_for("second")
        terminal.type("2\n")
        terminal.wait_for("Note to second")
        terminal.type("mind the gap\n\n")
        terminal.wait_for("note for second: mind the gap")
        let_go(folder, 2)
        wait_for_call(terminal, folder, 3)
        terminal.type("\x03")
        terminal.wait_for("redirect")
        terminal.type("s\n")
        assert terminal.end() == 130
        assert "prose resume" in terminal.text
    let_go(folder)
    done = run([prose(), "resume", "last"], folder, folder)
    assert (done.exit, done.stdout) == (0, "done\n")
    told = [("mind the gap" in str(instructions)) for _, instructions in asked(folder)]
    assert told == [False, True, False, False]  # the third was cut off and asked again
    exported = json.loads(run([prose(), "runs", "export", "last", "--format", "json"], folder, folder).stdout)
    assert [call.get("note") for call in exported["calls"]] == [None, "mind the gap", None]


@pytest.mark.parametrize("killed", [True, False])
def test_a_note_that_no_call_got_waits_for_the_run_to_go_on(folder: Path, killed: bool) -> None:
    with Terminal(relay("slow", "slow"), folder) as terminal:
        wait_for_call(terminal, folder, 1)
        terminal.type("\x03")
        terminal.wait_for("redirect")
        terminal.type("r\n2\nmind the gap\n\n")
        terminal.wait_for("note for second: mind the gap")
        if killed:
            terminal.kill()
        else:
            terminal.type("\x03")
            terminal.wait_for("redirect")
            terminal.type("s\n")
            assert terminal.end() == 130
            assert re.search(r"no call of second got the note yet.*: mind\s+the\s+gap", terminal.text)
    let_go(folder)
    assert run([prose(), "resume", "last"], folder, folder).exit == 0
    told = [("mind the gap" in str(instructions)) for _, instructions in asked(folder)]
    assert told == [False, False, True, False]  # the first was cut off and asked again


def test_a_note_that_no_call_of_a_finished_run_got_is_told(folder: Path) -> None:
    with Terminal(relay("slow", "canned"), folder) as terminal:
        wait_for_call(terminal, folder, 1)
        let_go(folder, 1)
        terminal.wait_for("3 of at most")
        until(lambda: len(asked(folder)) == 2)
        terminal.type("\x03")
        terminal.wait_for("redirect")
        terminal.type("r\n1\nmind the gap\n\n")
        terminal.wait_for("note for first: mind the gap")
        let_go(folder)
        assert terminal.end() == 0
        assert "no call of first got the note: mind the gap" in terminal.text


@pytest.mark.parametrize("keys", [["\x03", "\x03"], ["\x03", "s\n"], ["\x03", "\x04"]])
def test_twice_stops(folder: Path, keys: list[str]) -> None:
    with Terminal(relay("slow", "slow"), folder) as terminal:
        wait_for_call(terminal, folder, 1)
        terminal.type(keys[0])
        terminal.wait_for("redirect")
        terminal.type(keys[1])
        assert terminal.end() == 130
    assert "stopped" in terminal.text
    assert "Traceback" not in terminal.text


def test_a_person_is_asked_in_peace_and_can_interrupt(folder: Path) -> None:
    words = [prose(), "run", "both.prose.md", "--asked", "me", "--other", "slow"]
    with Terminal(words, folder) as terminal:
        terminal.wait_for("Your answer")
        until(lambda: len(asked(folder)) == 1)
        shown = len(terminal.raw)
        let_go(folder)
        terminal.type("\x03")
        terminal.wait_for("redirect")
        terminal.type("c\n")
        terminal.wait_for("still stands")
        assert "the other has" not in terminal.text
        assert "\x1b" not in terminal.raw[shown:]
        terminal.type("my answer\n\n")
        terminal.wait_for("the other has done")
        assert terminal.end() == 0
    assert "my answer and" in terminal.text


def test_a_terminal_may_be_resized(folder: Path) -> None:
    with Terminal(relay("slow", "slow"), folder, columns=100) as terminal:
        terminal.wait_for("1 of at most")
        terminal.resize(30, 8)
        let_go(folder, 1)
        terminal.wait_for("done first")
        terminal.wait_for("2 of at most")
        terminal.resize(120, 40)
        let_go(folder)
        assert terminal.end() == 0
