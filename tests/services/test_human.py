import asyncio
import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

from prose_runtime.errors import Paused
from prose_runtime.services import registry
from prose_runtime.services.api import Request
from prose_runtime.services.settings import ServiceSettings
from prose_runtime.services.typed import converted

ASK = """
import asyncio, json, sys
from prose_runtime.errors import ProseError
from prose_runtime.services import registry
from prose_runtime.services.api import Request
from prose_runtime.services.settings import ServiceSettings

async def main():
    service = registry.create("me", ServiceSettings(provider="human"))
    requests = [Request(**row) for row in json.loads(sys.argv[1])]
    replies = await asyncio.gather(*map(service, requests))
    print(json.dumps([reply.value for reply in replies]))

try:
    asyncio.run(main())
except ProseError as error:
    print(json.dumps([error.kind, error.message, error.help]))
except KeyboardInterrupt:
    print('"interrupted"')
"""


class Terminal:
    """A process whose stdin is a terminal; stderr is what the person sees, stdout the answer."""

    def __init__(self, *requests):
        self.keyboard, theirs = pty.openpty()
        words = [sys.executable, "-c", ASK, json.dumps(requests)]
        self.process = subprocess.Popen(words, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.close(theirs)
        self.screen = ""

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()
        os.close(self.keyboard)

    def wait_for(self, text):
        """Read the screen until the text stands there; what stood before it is used up."""
        deadline = time.monotonic() + 20
        while text not in self.screen:
            assert time.monotonic() < deadline, self.screen
            piece = os.read(self.process.stderr.fileno(), 4096).decode()
            assert piece, self.screen
            self.screen += piece
        seen, _, self.screen = self.screen.partition(text)
        return seen + text

    def type(self, text):
        os.write(self.keyboard, text.encode())

    def answer(self):
        out, _ = self.process.communicate(timeout=20)
        return json.loads(out)


def test_the_person_sees_what_the_role_is_told_and_answers_in_lines():
    request = {
        "job": "weigh the case",
        "inputs": {"case": "Tabs beat spaces", "draft": "one\ntwo"},
        "prompt": "Be short",
        "target": "left",
        "line": 12,
    }
    with Terminal(request) as terminal:
        seen = terminal.wait_for("Your answer")
        for part in ("left (line 12)", "weigh the case", "case: Tabs beat spaces", "  two", "Be short"):
            assert part in seen
        terminal.type("first line\nsecond ä line\n\n")
        assert terminal.answer() == ["first line\nsecond ä line"]


def test_what_is_structured_is_shown_as_an_outline_and_what_is_missing_not_at_all():
    said = [{"round": "opening", "argument": "one\n\ntwo"}]
    with Terminal({"prompt": "?", "inputs": {"debate": said, "none": None}}) as terminal:
        seen = terminal.wait_for("Your answer").splitlines()
        assert "  - round: opening" in seen
        assert "      two" in seen
        assert not [line for line in seen if line.startswith("none")]
        assert not [line for line in seen if line.endswith(" ")]


def test_a_lone_dot_ends_the_answer():
    with Terminal({"prompt": "?"}) as terminal:
        terminal.wait_for("Your answer")
        terminal.type("only\n.\n")
        assert terminal.answer() == ["only"]


def test_nothing_is_only_an_answer_when_it_is_meant():
    with Terminal({"prompt": "?"}) as terminal:
        terminal.wait_for("Your answer")
        terminal.type("\n")
        terminal.wait_for("empty answer")
        terminal.type(".\n")
        assert terminal.answer() == [""]


def test_each_field_of_a_shape_is_asked_for_until_it_fits():
    schema = {
        "type": "object",
        "properties": {
            "accepted": {"type": "boolean"},
            "score": {"type": "number"},
            "grade": {"enum": ["good", "bad"]},
            "notes": {"type": ["string", "null"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "extra": {"type": "string"},
        },
        "required": ["accepted", "score", "grade", "notes", "tags"],
    }
    with Terminal({"job": "review", "schema": schema}) as terminal:
        terminal.wait_for("accepted (yes or no)")
        terminal.type("maybe\n")
        terminal.wait_for("please type yes or no")
        terminal.wait_for("accepted")
        terminal.type("y\n")
        terminal.wait_for("score")
        terminal.type("0.5\n")
        terminal.wait_for("grade")
        terminal.type("GOOD\n")
        terminal.wait_for("notes")
        terminal.type("\n")
        terminal.wait_for("tags")
        terminal.type("a, b\n")
        terminal.wait_for("extra")
        terminal.type("\n")
        value = {"accepted": True, "score": 0.5, "grade": "good", "notes": None, "tags": ["a", "b"]}
        assert terminal.answer() == [value]


def test_a_person_may_judge():
    with Terminal({"purpose": "judge", "prompt": "the text is calm", "inputs": {"text": "hush"}}) as terminal:
        terminal.wait_for("the text is calm")
        terminal.wait_for("reason")
        terminal.type("\n")
        terminal.wait_for("verdict (yes or no)")
        terminal.type("no\n")
        assert terminal.answer() == [{"verdict": False}]


def test_branches_that_ask_at_the_same_time_take_turns():
    with Terminal({"prompt": "first?"}, {"prompt": "second?"}) as terminal:
        seen = terminal.wait_for("Your answer")
        assert "second?" not in seen
        terminal.type("1\n\n")
        assert "second?" in terminal.wait_for("Your answer")
        terminal.type("2\n\n")
        assert terminal.answer() == ["1", "2"]


def test_the_end_of_input_pauses():
    with Terminal({"prompt": "what now?"}) as terminal:
        terminal.wait_for("Your answer")
        terminal.type("\x04")
        kind, message, help_ = terminal.answer()
        assert kind == "paused"
        assert "what now?" in message
        assert "terminal" in help_


def test_the_end_of_input_behind_some_lines_ends_the_answer():
    with Terminal({"prompt": "what now?"}) as terminal:
        terminal.wait_for("Your answer")
        terminal.type("one\n\x04")
        assert terminal.answer() == ["one"]


def test_who_has_joined_answers_freely_and_then_the_fields():
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "why": {"type": "string"}, "sure": {"type": "boolean"}},
        "required": ["text", "why", "sure"],
    }
    with Terminal({"briefing": "You take part as judge", "prompt": "?", "schema": schema}) as terminal:
        assert "You take part as judge" in terminal.wait_for("Your answer")
        terminal.type("because\nof this\n\n")
        assert "text (" not in terminal.wait_for("why (a text; empty: what you wrote)")
        terminal.type("\n")
        terminal.wait_for("sure (yes or no)")
        terminal.type("y\n")
        assert terminal.answer() == [{"text": "because\nof this", "why": "because\nof this", "sure": True}]


def test_an_interrupt_ends_the_waiting():
    with Terminal({"prompt": "?"}) as terminal:
        terminal.wait_for("Your answer")
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.answer() == "interrupted"


def test_without_a_terminal_the_run_pauses_and_says_how_to_go_on(monkeypatch):
    with open(os.devnull) as nobody:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdin", nobody)
        service = registry.create("me", ServiceSettings(provider="human"))
        with pytest.raises(Paused) as caught:
            asyncio.run(service(Request(prompt="May it ship?", target="approver", line=9)))
    assert "approver (line 9)" in caught.value.message
    assert "May it ship?" in caught.value.message
    assert "terminal" in caught.value.help
    assert caught.value.exit_code == 5


@pytest.mark.parametrize(
    ("typed", "schema", "value"),
    [
        ("3", {"type": "integer"}, 3),
        ("2,5", {"type": "number"}, 2.5),
        ("true", {"type": "boolean"}, True),
        ("7", {"enum": [7, 8]}, 7),
        ("1, 2", {"type": "array", "items": {"type": "integer"}}, [1, 2]),
        ('["a, b"]', {"type": "array"}, ["a, b"]),
        ('{"a": 1}', {"type": "object"}, {"a": 1}),
        ("12", {"type": "string"}, "12"),
        ("12", {}, 12),
        ("some words", {}, "some words"),
        ("null", {"type": ["integer", "null"]}, None),
    ],
)
def test_what_is_typed_becomes_a_value_of_the_shape(typed, schema, value):
    result = converted(typed, schema)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("typed", "schema", "says"),
    [
        ("3.5", {"type": "integer"}, "whole number"),
        ("many", {"type": "number"}, "number"),
        ("", {"type": "string"}, "something"),
        ("fine", {"enum": ["good", "bad"]}, "good, bad"),
        ("a", {"type": "object"}, "JSON"),
        ("1, x", {"type": "array", "items": {"type": "integer"}}, "whole number"),
        ('{"n": 1}', {"type": "object", "properties": {"n": {}, "m": {}}, "required": ["n", "m"]}, "`m`"),
        ('{"n": {"m": "x"}}', {"properties": {"n": {"properties": {"m": {"type": "number"}}}}}, "n.m.*number"),
        ('[{"n": 1}, 2]', {"type": "array", "items": {"type": "object", "properties": {"n": {}}}}, "an object"),
        ('[[1], ["x"]]', {"type": "array", "items": {"items": {"type": "number"}}}, r"\[1\]\[0\]"),
    ],
)
def test_what_does_not_fit_is_told(typed, schema, says):
    with pytest.raises(ValueError, match=says):
        converted(typed, schema)
