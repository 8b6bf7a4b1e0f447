"""A run that waits for people, and the answers that it is given from elsewhere."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prose_runtime.cli import main
from prose_runtime.services.answers import read_answers

PANEL = """---
name: panel
kind: pattern
---

### Slots

- `left`: speaks first
- `right`: speaks too
- `clerk`: takes notes

### Parameters

- `topic`: what is spoken of

### Delegation

```prose
parallel:
  let a = call left
    topic: topic
  let b = call right
    topic: topic
  let c = call clerk
    topic: topic
if a.score > 3:
  emit "high"
return { score: a.score, why: a.why, b: b, c: c }
```
"""

COMPOSITE = """---
name: duo
kind: composite
---

### Slots

- `left`: says one thing
- `right`: says another

### Parameters

- &compositeState exists at __compositeState with:
    left: string
    right: string
    topic: string

### Delegation

```javascript
const { left, right, topic } = __compositeState;
return(await Promise.all([rlm("one", { topic }, { use: left }), rlm("two", { topic }, { use: right })]));
```
"""

SERVICES = """
services:
  slow: {provider: script, replies: [{delay: 0.3, reply: noted}]}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PROSE_DEFAULT", "rehearsal")
    (tmp_path / "panel.prose.md").write_text(PANEL)
    (tmp_path / "prose.yml").write_text(SERVICES)
    return tmp_path


class Said:
    def __init__(self, code: int, out: str, err: str):
        self.code, self.out, self.err = code, out, err
        assert "Traceback" not in err
        self.json: Any = json.loads(out) if out.startswith("{") else None


@pytest.fixture
def do(capsys: pytest.CaptureFixture[str]) -> Iterator[Any]:
    def call(*words: str) -> Said:
        return Said(main(words), *capsys.readouterr())

    yield call


RUN = ("run", "panel", "tides", "--join", "left,right", "--clerk", "slow", "--json")


def test_a_pause_waits_for_calls_in_flight_and_lists_all_questions(do: Any) -> None:
    said = do(*RUN)
    assert said.code == 5
    assert [question["target"] for question in said.json["waiting"]] == ["left", "right"]
    assert [call["output"] for call in said.json["calls"] if call["target"] == "clerk"] == ["noted"]
    assert "score (a number" in said.err
    for target in ("left", "right"):
        assert f"prose resume {said.json['run']} --answer '{target}=TEXT'" in said.err
        assert f"prose resume {said.json['run']} --answer '{target}=TEXT'" in do("runs", "show", "last").out


LEFT = ("--answer", "left=Because = so", "--answer", "score=4")
RIGHT = ("--answer", "right=mine")


@pytest.mark.parametrize("order", [(LEFT, RIGHT), (RIGHT, LEFT), ((*LEFT, *RIGHT),)])
def test_two_people_can_answer_in_either_order(do: Any, order: tuple[tuple[str, ...], ...]) -> None:
    do(*RUN)
    codes = []
    for words in order:
        said = do("resume", "last", "--json", *words)
        codes.append(said.code)
    assert codes == [5] * (len(order) - 1) + [0]
    assert said.json["result"] == {"score": 4, "why": "Because = so", "b": "mine", "c": "noted"}
    assert said.json["usage"]["calls"] == 3


def test_calls_of_a_composite_wait_for_people_together(do: Any, folder: Path) -> None:
    (folder / "duo.md").write_text(COMPOSITE)
    said = do("run", "duo.md", "tides", "--join", "left,right", "--json")
    assert sorted(question["target"] for question in said.json["waiting"]) == ["left", "right"]
    said = do("resume", "last", "--json", "--answer", "right=two", "--answer", "left=one")
    assert said.json["result"]["result"] == ["one", "two"]


def test_only_who_has_not_answered_is_asked_again(do: Any) -> None:
    do(*RUN)
    said = do("resume", "last", "--json", *RIGHT)
    assert [question["target"] for question in said.json["waiting"]] == ["left"]
    said = do("resume", "last", "--answer", '{"score": 2, "why": "tired"}', "--json")
    assert said.json["result"]["score"] == 2


def test_an_answer_comes_from_a_file_or_from_standard_input(do: Any, folder: Path, monkeypatch: Any) -> None:
    (folder / "long.txt").write_text("one\ntwo\n")
    do(*RUN)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("ä\nb\n".encode())))
    said = do(
        "resume", "last", "--json", "--answer", "right=@long.txt", "--answer", "left.score=1", "--answer", "why=-"
    )
    assert said.json["result"] == {"score": 1, "why": "ä\nb", "b": "one\ntwo", "c": "noted"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("mine",), ("several", "left=...", "right=...")),
        (("left=x",), ("left", "score (a number")),
        (("left=x", "score=many"), ("left.score", '"many"', "number")),
        (("rigth=x",), ("rigth", "did you mean `right`")),
        (("right=x", "right=y"), ("two answers", "right")),
        (("right=@none.txt",), ("none.txt",)),
    ],
)
def test_what_cannot_be_taken_is_told_and_nothing_is_lost(do: Any, words: Any, says: Any) -> None:
    do(*RUN)
    said = do("resume", "last", *(part for word in words for part in ("--answer", word)))
    assert said.code == 2
    assert all(part in said.err for part in says), said.err
    assert do("resume", "last", "--json", *LEFT, *RIGHT).code == 0


def test_a_run_that_waits_for_nobody_takes_no_answer(do: Any) -> None:
    do("run", "panel", "tides")
    said = do("resume", "last", "--answer", "x")
    assert said.code == 2
    assert "nobody" in said.err


def question(target: str, step: str, schema: Any = None) -> dict[str, Any]:
    return {"step": step, "target": target, "line": 1, "question": "?", "schema": schema}


def test_members_of_one_slot_are_told_apart_by_their_steps() -> None:
    waiting = [question("judge", "parallel[1]/call judge"), question("judge", "parallel[2]/call judge")]
    assert read_answers(waiting, [("parallel[2]/call judge", "b")]) == {"parallel[2]/call judge": "b"}
    with pytest.raises(Exception, match=r"parallel\[1\]/call judge"):
        read_answers(waiting, [("judge", "b")])


def test_a_half_turn_is_completed_by_what_is_missing() -> None:
    schema = {"properties": {"n": {"type": "number"}, "sure": {"type": "boolean"}}, "required": ["n", "sure"]}
    half = {**question("x", "call x", schema), "said": {"": "my words", "n": 3}}
    whole = {"text": "my words", "n": 3, "sure": True}
    assert read_answers([half], [("sure", "yes")]) == read_answers([half], [("", "yes")]) == {"call x": whole}
    assert read_answers([half], [("n", "4"), ("sure", "yes")]) == {"call x": {**whole, "n": 4}}
    assert read_answers([half], [("", "other words"), ("sure", "no")]) == {
        "call x": {"text": "other words", "n": 3, "sure": False}
    }


@pytest.mark.parametrize(
    ("schema", "given", "value"),
    [
        ({"type": "number"}, [("", "3.5")], 3.5),
        ({"type": "array", "items": {"type": "string"}}, [("", "a, b")], ["a", "b"]),
        ({"properties": {"verdict": {"type": "boolean"}, "reason": {"type": "string"}}, "required": ["verdict"]},
         [("", "no")], {"verdict": False, "text": "no"}),
        ({"properties": {"words": {"type": "string"}}, "required": ["words"]}, [("", "my  own")],
         {"words": "my  own", "text": "my  own"}),
        ({"properties": {"note": {"type": ["string", "null"]}, "n": {"type": "integer"}}, "required": ["note", "n"]},
         [("n", "3")], {"n": 3, "note": None}),
    ],
)  # fmt: skip
def test_a_text_becomes_what_is_needed(schema: Any, given: list[tuple[str, str]], value: Any) -> None:
    assert read_answers([question("x", "call x", schema)], given) == {"call x": value}
