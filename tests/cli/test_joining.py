"""People in a run, at a real terminal and on Telegram."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.fake_telegram import TOKEN, FakeTelegram, served
from support.commands import prose, run
from support.terminal import Terminal

BOTH = """---
name: both
kind: pattern
---

### Slots

- `left`: says yes
- `right`: says no

### Parameters

- `topic`: what is spoken of

### Delegation

```prose
parallel:
  let a = call left
    topic: topic
  let b = call right
    topic: topic
if a.score > 3:
  emit "high"
return { a: a, b: b }
```
"""

JOINED = ["run", "dialectic", "Remote work makes teams more productive", "--personas", "Holmes, Moriarty"]
CHAT = 55


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "both.prose.md").write_text(BOTH)
    return tmp_path


@pytest.fixture
def telegram() -> Iterator[FakeTelegram]:
    with served() as state:
        yield state


def at(folder: Path, *words: str, columns: int = 200, **variables: str) -> Terminal:
    return Terminal([prose(), *words], folder, columns=columns, PROSE_DEFAULT="rehearsal", **variables)


def recorded(folder: Path) -> Any:
    return json.loads(run([prose(), "runs", "show", "last", "--json"], folder, folder).stdout)


def test_who_joins_is_briefed_once_and_answers_freely(folder: Path) -> None:
    with at(folder, *JOINED, "--join", "thesis") as terminal:
        briefing = terminal.wait_for("Your answer")
        for part in ("You take part as thesis", "Say why it is true", "Not allowed: ", "Holmes", "Remote work"):
            assert part in briefing
        terminal.type("First line\nsecond line\n.\n")
        second = terminal.wait_for("Your answer")
        assert "You take part" not in second
        assert "opposing_argument" in second
        terminal.type("Again\n\n")
        assert terminal.end() == 0
    thesis = [call["output"] for call in recorded(folder)["calls"] if call["target"] == "thesis"]
    assert thesis == ["First line\nsecond line", "Again"]


def test_what_another_role_says_cannot_steer_the_terminal_of_who_joins(folder: Path) -> None:
    said = r"\033[2J\033]0;title\007hidden \u202e" + "of many words " * 20
    command = [sys.executable, "-c", f"print('{said}')"]
    (folder / "prose.yml").write_text(json.dumps({"services": {"evil": {"provider": "command", "command": command}}}))
    with at(folder, *JOINED, "--thesis", "evil", "--join", "antithesis", "--rounds", "1", columns=50) as terminal:
        question = terminal.wait_for("Your answer")
        assert not [mark for mark in ("\033[2J", "\033]0;", "\u202e") if mark in question]
        shown = question[question.index("You take part") :].splitlines()
        assert any("\N{REPLACEMENT CHARACTER}[2J" in line for line in shown)
        assert max(map(len, shown)) <= 50
        assert set(" ".join(shown).partition("hidden")[2].partition("Your")[0].split()[1:]) == {"of", "many", "words"}
        terminal.type("No\n\n")
        assert terminal.end() == 0


def test_two_turns_at_one_terminal_can_be_taken_in_either_order(folder: Path) -> None:
    with at(folder, "run", "both", "tides", "--join", "left", "--join", "right") as terminal:
        terminal.wait_for("You take part as left")
        terminal.wait_for("waits too")
        terminal.type("/later\n")
        terminal.wait_for("You take part as right")
        terminal.wait_for("Your answer")
        terminal.type("mine\n\n")
        terminal.wait_for("You take part as left")
        terminal.wait_for("Your answer")
        terminal.type("yours\n\n")
        terminal.wait_for("score (a number")
        terminal.type("much\n")
        terminal.wait_for("please type a number")
        terminal.type("4\n")
        assert terminal.end() == 0
    assert recorded(folder)["result"] == {"a": {"text": "yours", "score": 4}, "b": "mine"}


def test_ctrl_d_leaves_one_turn_open_and_the_other_can_be_taken(folder: Path) -> None:
    with at(folder, "run", "both", "tides", "--join", "left,right") as terminal:
        terminal.wait_for("You take part as left")
        terminal.wait_for("Your answer")
        terminal.type("\x04")
        terminal.wait_for("You take part as right")
        terminal.wait_for("Your answer")
        terminal.type("mine\n\n")
        assert terminal.end() == 5
    report = recorded(folder)
    assert [question["target"] for question in report["waiting"]] == ["left"]
    with at(folder, "resume", "last") as terminal:
        terminal.wait_for("You take part as left")
        terminal.wait_for("Your answer")
        terminal.type("yours\n\n")
        terminal.wait_for("score")
        terminal.type("2\n")
        assert terminal.end() == 0
        assert "You take part as right" not in terminal.text


def test_who_interrupts_in_the_middle_of_a_turn_is_asked_again_by_a_resumed_run(folder: Path) -> None:
    with at(folder, *JOINED, "--join", "antithesis") as terminal:
        terminal.wait_for("Your answer")
        terminal.type("half an ans")
        terminal.type("\x03")
        terminal.wait_for("redirect")
        terminal.type("\x03")
        assert terminal.end() == 130
    with at(folder, "resume", "last") as terminal:
        seen = terminal.wait_for("You take part as antithesis")
        assert "kept thesis" in seen
        assert "Moriarty" in terminal.wait_for("Your answer")
        terminal.type("whole\n\n")
        terminal.wait_for("Your answer")
        terminal.type("done\n\n")
        assert terminal.end() == 0
    assert [call["output"] for call in recorded(folder)["calls"]][1::2] == ["whole", "done"]


def test_a_run_that_is_killed_in_a_turn_asks_for_it_again(folder: Path) -> None:
    with at(folder, *JOINED, "--join", "antithesis") as terminal:
        terminal.wait_for("Your answer")
        terminal.type("first\n\n")
        terminal.wait_for("Your answer")
        terminal.type("lost")
        terminal.kill()
    waiting = run([prose(), "resume", "last", "--json"], folder, folder, PROSE_DEFAULT="rehearsal")
    assert waiting.exit == 5
    last = run([prose(), "resume", "last", "--json", "--answer", "second"], folder, folder,
               PROSE_DEFAULT="rehearsal")  # fmt: skip
    assert last.exit == 0
    assert json.loads(last.stdout)["result"]["result"]["antithesis"] == "second"


@pytest.mark.parametrize("killed", [True, False])
def test_what_was_said_before_the_end_of_a_turn_is_not_asked_again(folder: Path, killed: bool) -> None:
    with at(folder, "run", "both", "tides", "--join", "left") as terminal:
        terminal.wait_for("Your answer")
        terminal.type("well said\n\n")
        terminal.wait_for("score (a number")
        if killed:
            terminal.kill()
        else:
            terminal.type("\x04")
            assert terminal.end() == 5
            assert "well said" in terminal.wait_for("--answer 'score=VALUE'")
    with at(folder, "resume", "last") as terminal:
        seen = terminal.wait_for("score (a number")
        assert "well said" in seen
        assert "Your answer (" not in seen
        terminal.type("4\n")
        assert terminal.end() == 0
    assert recorded(folder)["result"]["a"] == {"text": "well said", "score": 4}


def phone(telegram: FakeTelegram) -> dict[str, str]:
    return {"PROSE_TELEGRAM_TOKEN": TOKEN, "PROSE_TELEGRAM_URL": telegram.url}


def test_who_joins_on_telegram_answers_there(folder: Path, telegram: FakeTelegram) -> None:
    with at(folder, *JOINED, "--join", "antithesis", "--telegram", str(CHAT), **phone(telegram)) as terminal:
        question = telegram.wait_for(1)
        for part in ("You take part as antithesis", "Moriarty", "what thesis said", "opposing_argument"):
            assert part in question["text"]
        telegram.write(CHAT, "no reply")
        telegram.wait_for(2)
        telegram.write(CHAT, "one\ntwo", to=question["number"])
        telegram.write(CHAT, "three", to=telegram.wait_for(3)["number"])
        assert terminal.end() == 0
    assert [call["output"] for call in recorded(folder)["calls"]][1::2] == ["one\ntwo", "three"]
    assert TOKEN not in terminal.text + json.dumps(recorded(folder))


def test_one_is_at_the_terminal_and_the_other_on_telegram(folder: Path, telegram: FakeTelegram) -> None:
    words = ("run", "both", "tides", "--join", "left", "--right", f"telegram:{CHAT}")
    with at(folder, *words, **phone(telegram)) as terminal:
        terminal.wait_for("Your answer")
        question = telegram.wait_for(1)
        assert "You take part as right" in question["text"]
        telegram.write(CHAT, "far", to=question["number"])
        terminal.type("near\n\n")
        terminal.wait_for("score")
        terminal.type("1\n")
        assert terminal.end() == 0
    assert recorded(folder)["result"]["b"] == "far"


def test_somebody_is_invited_by_a_link(folder: Path, telegram: FakeTelegram) -> None:
    with at(folder, *JOINED, "--join", "thesis", "--telegram", "new", **phone(telegram)) as terminal:
        terminal.wait_for("https://t.me/prose_test_bot?start=")
        nonce = terminal.wait_for("\n")
        telegram.write(77, f"/start {nonce.strip()}")
        telegram.write(77, "a", to=telegram.wait_for(1, chat=77)["number"])
        telegram.write(77, "b", to=telegram.wait_for(2, chat=77)["number"])
        assert terminal.end() == 0


def test_without_a_reply_the_person_at_the_terminal_takes_over(folder: Path, telegram: FakeTelegram) -> None:
    (folder / "prose.yml").write_text(
        f"services: {{telegram: {{provider: telegram, chat: {CHAT}, base_url: '{telegram.url}', timeout: 0.5}}}}\n"
    )
    with at(folder, *JOINED, "--join", "thesis", "--telegram", PROSE_TELEGRAM_TOKEN=TOKEN) as terminal:
        terminal.wait_for("take over: ")
        terminal.type("t\n")
        terminal.wait_for("Your answer")
        terminal.type("here\n\n")
        terminal.wait_for("take over: ")
        terminal.type("s\n")
        assert terminal.end() == 0
    assert [call["output"] for call in recorded(folder)["calls"]][::2] == ["here", ""]


def test_without_a_reply_and_a_terminal_the_run_pauses_and_goes_on_later(folder: Path, telegram: FakeTelegram) -> None:
    (folder / "prose.yml").write_text("services: {telegram: {provider: telegram, timeout: 0.5}}\n")
    words = [prose(), *JOINED, "--join", "thesis", "--telegram", str(CHAT), "--json"]
    home = {"home": folder, "PROSE_DEFAULT": "rehearsal", **phone(telegram)}
    paused = run(words, folder, **home)  # type: ignore[arg-type]
    assert paused.exit == 5, paused.stderr
    telegram.write(CHAT, "too late", to=telegram.sent[0]["number"])
    again = run([prose(), "resume", "last", "--json", "--answer", "from here"], folder, **home)  # type: ignore[arg-type]
    assert again.exit == 5, again.stderr
    assert json.loads(again.stdout)["calls"][0]["output"] == "from here"


def test_a_missing_token_is_told_before_the_run(folder: Path) -> None:
    words = [prose(), *JOINED, "--join", "thesis", "--telegram", "5"]
    done = run(words, folder, folder, PROSE_DEFAULT="rehearsal")
    assert done.exit == 2
    assert "PROSE_TELEGRAM_TOKEN" in done.stderr
    assert "mode 600" in done.stderr
