"""The debate as people take part in it: at a terminal, and far away on Telegram."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.fake_telegram import TOKEN, FakeTelegram, served
from support.commands import prose, run
from support.terminal import Terminal

DEBATE = [
    prose(), "run", "adversarial-debate", "Remote work makes teams more productive",
    "--tetralemma", "--brief", "--personas", "Holmes, Moriarty, Socrates", "--join", "pro",
]  # fmt: skip
CHAT = 55


@pytest.fixture
def telegram() -> Iterator[FakeTelegram]:
    with served() as state:
        yield state


def at(words: list[str], folder: Path, **variables: str) -> Terminal:
    return Terminal(words, folder, columns=200, PROSE_DEFAULT="rehearsal", **variables)


def recorded(folder: Path) -> Any:
    return json.loads(run([prose(), "runs", "show", "last", "--json"], folder, folder).stdout)


def said(folder: Path) -> list[str]:
    """What pro said in the debate that was recorded last, round by round."""
    return [entry["argument"] for entry in recorded(folder)["result"]["debate"] if entry["side"] == "for"]


def take_a_turn(terminal: Terminal, words: str) -> str:
    """Answer freely, then leave the fields open that may be; returns the question."""
    question = terminal.wait_for("Your answer")
    terminal.type(f"{words}\nsecond line\n\n")
    terminal.wait_for("stands (")
    terminal.type("yes\n")
    return question


def test_a_debate_is_joined_at_a_terminal(tmp_path: Path) -> None:
    with at(DEBATE, tmp_path) as terminal:
        opening = take_a_turn(terminal, "opening")
        rebuttal = take_a_turn(terminal, "rebuttal")
        closing = take_a_turn(terminal, "closing")
        assert terminal.end() == 0
    for part in ("You take part as pro", "You never see what these say: judge", "style: Holmes"):
        assert part in opening
        assert part not in rebuttal
    assert "argument:" not in opening
    assert "round: opening" in rebuttal
    assert "round: rebuttal" in closing
    assert said(tmp_path) == [f"{name}\nsecond line" for name in ("opening", "rebuttal", "closing")]
    result = recorded(tmp_path)["result"]
    assert "Holmes" in result["transcript"]
    assert result["result"]["mode"] == "tetralemma"


def test_a_debate_is_joined_on_telegram(tmp_path: Path, telegram: FakeTelegram) -> None:
    phone = {"PROSE_TELEGRAM_TOKEN": TOKEN, "PROSE_TELEGRAM_URL": telegram.url}
    with at([*DEBATE, "--telegram", str(CHAT)], tmp_path, **phone) as terminal:
        for i, name in enumerate(("opening", "rebuttal", "closing")):
            question = telegram.wait_for(2 * i + 1)
            assert ("You take part as pro" in question["text"]) is (i == 0)
            telegram.write(CHAT, f"{name}\n\nsecond", to=question["number"])
            stands = telegram.wait_for(2 * i + 2)
            assert stands["text"].startswith("stands (")
            telegram.write(CHAT, "yes", to=stands["number"])
        assert terminal.end() == 0
    assert said(tmp_path) == [f"{name}\n\nsecond" for name in ("opening", "rebuttal", "closing")]


def test_an_interrupted_turn_of_a_debate_is_taken_up_again(tmp_path: Path) -> None:
    with at(DEBATE, tmp_path) as terminal:
        take_a_turn(terminal, "opening")
        terminal.wait_for("Your answer")
        terminal.type("half of\n")
        terminal.type("\x03")
        terminal.wait_for("redirect")
        terminal.type("s\n")
        assert terminal.end() == 130
    with at([prose(), "resume", "last"], tmp_path) as terminal:
        take_a_turn(terminal, "rebuttal")
        take_a_turn(terminal, "closing")
        assert terminal.end() == 0
    assert [words.split()[0] for words in said(tmp_path)] == ["opening", "rebuttal", "closing"]


def test_without_a_terminal_the_turns_are_answered_one_by_one(tmp_path: Path) -> None:
    paused = run([*DEBATE, "--json"], tmp_path, tmp_path, PROSE_DEFAULT="rehearsal")
    assert paused.exit == 5
    report = json.loads(paused.stdout)
    assert [question["target"] for question in report["waiting"]] == ["pro"]
    assert "contra" in [call["target"] for call in report["calls"]]  # the other opening was not thrown away
    for words in ("opening", "rebuttal", "closing"):
        done = run(
            [prose(), "resume", "last", "--json", "--answer", words], tmp_path, tmp_path, PROSE_DEFAULT="rehearsal"
        )
    assert done.exit == 0, done.stderr
    assert said(tmp_path) == ["opening", "rebuttal", "closing"]
