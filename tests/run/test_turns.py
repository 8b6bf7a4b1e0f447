"""What a person said before they were interrupted counts for the same question, and for no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prose_runtime.errors import Paused, ServiceError
from prose_runtime.journal import Journal
from prose_runtime.services.api import Reply, Request
from tests.run.test_notes import carry_out
from tests.support.programs import pattern

BODY = """
let one = call a
  retry: 1
  n: 1
return one.score + 1
"""


class Person:
    """Says its words, then a score; ``lines`` are what it says or how it ends, in order."""

    name = "a"
    patient = True

    def __init__(self, *lines: Any):
        self.lines = list(lines)
        self.asked: list[str] = []

    async def __call__(self, request: Request) -> Reply:
        assert request.turn is not None
        words = await request.turn.part("", lambda: self.line("words"))
        return Reply({"text": words, "score": await request.turn.part("score", lambda: self.line("score"))})

    async def line(self, name: str) -> Any:
        self.asked.append(name)
        said = self.lines.pop(0)
        if isinstance(said, Exception):
            raise said
        return said


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return pattern(tmp_path, BODY, slots="a")


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / ".prose")


def test_a_resumed_run_asks_for_the_rest(path: Path, journal: Journal) -> None:
    paused = carry_out(path, {"a": Person("mine", Paused("gone"))}, None, journal)
    assert paused.as_json()["waiting"][0]["said"] == {"": "mine"}
    again = Person(3)
    assert carry_out(path, {"a": again}, None, journal).value == 4
    assert again.asked == ["score"]


@pytest.mark.parametrize("kept", [True, False])
def test_another_try_asks_for_the_rest(path: Path, journal: Journal, kept: bool) -> None:
    person = Person("mine", ServiceError("is down", kind="unavailable"), 3)
    assert carry_out(path, {"a": person}, None, journal if kept else None).value == 4
    assert person.asked == ["words", "score", "score"]


def test_an_answer_that_did_not_fit_is_asked_for_as_a_whole(path: Path, journal: Journal) -> None:
    person = Person("mine", "much", "again", "more")
    assert carry_out(path, {"a": person}, None, journal).status == "failed"
    assert person.asked == ["words", "score"] * 2
    again = Person("third", 3)
    assert carry_out(path, {"a": again}, None, journal).value == 4
    assert again.asked == ["words", "score"]


def test_what_was_said_to_another_question_does_not_count(path: Path, journal: Journal) -> None:
    carry_out(path, {"a": Person("mine", Paused("gone"))}, None, journal)
    path.write_text(path.read_text().replace("n: 1", "n: 2"))
    again = Person("other", 3)
    assert carry_out(path, {"a": again}, None, journal).value == 4
    assert again.asked == ["words", "score"]
