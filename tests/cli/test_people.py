"""Personas, language, background and joined slots of a run, as its user gives them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import prose_runtime
from prose_runtime.cli import main
from prose_runtime.runtime.people import People
from services.fake_telegram import TOKEN
from support.programs import pattern

DEBATE = """---
name: bout
kind: pattern
---

### Slots

- `pro`: speaks for it
  - requires: topic
- `contra`: speaks against it
- `judges` (list): weigh it

### Config

- `mode` (binary | tetralemma, default: binary): how it is judged
- `pace` (slow | calm, default: slow): how fast
- `mood` (calm | loud, default: loud): how it sounds

### Parameters

- Pattern instance receives:
    pro: string
    contra: string
    judges: string[]
    topic: string   -- what is argued

### Shape

- `delegates`:
  - `pro`: Say why it holds.
  - `contra`: Say why it does not hold.
- `prohibited`: shouting, showing `contra` the topic

### Delegation

```prose
let one = call pro
  topic: topic
let two = call contra
  opposing: one
let verdict = call judges[0]
  text: two
return { one: one, two: two, verdict: verdict, mode: mode }
```
"""

NESTED = """
services:
  told: {provider: command, command: [%r, -c, "import json,sys; print(json.load(sys.stdin)['instructions'])"]}
  inner: {pattern: bout, with: {pro: told, contra: told, judges: [told]}}
"""

OUTER = """---
name: outer
kind: pattern
---

### Slots

- `panel`: gives an opinion

### Parameters

- `topic`: what is argued
- `language`: a language to speak of

### Delegation

```prose
let said = call panel
  topic: topic
return { result: said, language: language }
```
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PROSE_DEFAULT", "told")
    for name in ("PROSE_TELEGRAM_TOKEN", "TELEGRAM_BOT_TOKEN", "PROSE_TELEGRAM_CHAT", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "bout.prose.md").write_text(DEBATE)
    (tmp_path / "outer.prose.md").write_text(OUTER)
    (tmp_path / "prose.yml").write_text(NESTED % sys.executable)
    return tmp_path


@pytest.fixture
def do(capsys: pytest.CaptureFixture[str]) -> Iterator[Any]:
    def call(*words: str, code: int = 0) -> Any:
        ended = main(words)
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        assert ended == code, err
        return json.loads(out) if "--json" in words and code in (0, 5) else out + err

    yield call


RUN = ("run", "bout", "tides", "--json")


def test_personas_go_to_the_slots_in_their_order(do: Any) -> None:
    told = do(*RUN, "--personas", "Holmes, , Socrates")["result"]
    assert "Holmes" in told["one"]
    assert "never" in told["one"]
    assert "Voice" not in told["two"]
    assert "Socrates" in told["verdict"]


def test_a_persona_goes_to_one_slot_or_member(do: Any) -> None:
    told = do(*RUN, "--persona", "contra=Moriarty", "--persona", "judges.1=Solon")["result"]
    assert "Moriarty" in told["two"]
    assert "Solon" in told["verdict"]
    assert "Voice" not in told["one"]


@pytest.mark.parametrize("path", ["panel.pro", "panel.judges", "panel.judges.1"])
def test_a_persona_reaches_into_a_pattern_that_fills_a_slot(do: Any, path: str) -> None:
    said = do(
        "run", "outer", "--topic", "t", "--language", "x", "--panel", "inner", "--json", "--persona", f"{path}=Ada"
    )
    voiced = [call["target"] for call in said["calls"] if "Ada" in call["output"]]
    assert voiced == [path.split(".")[1]]


def test_a_role_with_a_persona_is_printed_as_both(do: Any, folder: Path) -> None:
    spec = DEBATE.replace("return { one: one", 'return { who: "{pro} and {contra}", one: one')
    (folder / "bout.prose.md").write_text(spec)
    report = do(*RUN, "--persona", "pro=Holmes")
    assert report["result"]["who"] == "Holmes (told) and told"
    assert [call["service"] for call in report["calls"]] == ["told"] * 3


@pytest.mark.parametrize(
    ("word", "heard"),
    [("telegram:12345", "telegram"), ("telegram:@ann", "telegram:@ann"), ("ann", "ann"), ("me", "me")],
)
def test_others_hear_of_a_person_by_name_and_never_of_the_number_of_a_chat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, heard: str
) -> None:
    monkeypatch.setenv("PROSE_TELEGRAM_TOKEN", TOKEN)
    services = "default: me\nservices: {ann: {provider: telegram, chat: 12345}, me: {provider: human}}\n"
    (tmp_path / "prose.yml").write_text(services, encoding="utf-8")
    path = pattern(tmp_path, 'return "{a}"')
    assert prose_runtime.run(path, bind={"a": word}).value == heard
    if word.startswith("telegram"):
        people = {"join": ["a"], "telegram": word, "personas": {"a": "Holmes"}}
        assert prose_runtime.run(path, people=people).value == f"Holmes ({heard})"


def test_people_are_given_from_python_too() -> None:
    people = People(personas={"pro": "Holmes"}, language="Danish", context="Dry.")
    result = prose_runtime.run("bout.prose.md", {"topic": "tides"}, people=people)
    assert "Holmes" in result.value["one"]
    assert [call["target"] for call in result.calls] == ["context", "pro", "contra", "judges"]


def test_language_and_background_reach_every_role(do: Any, folder: Path) -> None:
    (folder / "facts.txt").write_text("The harbour is dry at noon.")
    report = do("run", "outer", "--topic", "t", "--language", "x", "--panel", "inner", "--json",
                "--run-language", "Danish", "--context", "facts.txt")  # fmt: skip
    first, *roles = report["calls"]
    assert first["target"] == "context"
    assert first["inputs"] == {"context": "The harbour is dry at noon."}
    assert [call["target"] for call in roles] == ["pro", "contra", "judges"]
    for call in roles:
        assert "Danish" in call["output"]
        assert "Sum up" in call["output"]
    assert report["usage"]["calls"] == 4


def test_the_bound_counts_the_summary(do: Any, folder: Path) -> None:
    (folder / "facts.txt").write_text("Dry.")
    assert "at most 3 calls" in do("run", "bout", "tides")
    assert "at most 4 calls" in do("run", "bout", "tides", "--run_context", "facts.txt")


def test_a_value_of_a_config_is_a_flag_when_only_one_can_be_meant(do: Any) -> None:
    assert do(*RUN, "--tetralemma")["result"]["mode"] == "tetralemma"
    said = do("run", "bout", "tides", "--calm", code=2)
    assert "--pace calm" in said
    assert "--mood calm" in said
    assert "given twice" in do("run", "bout", "tides", "--tetralemma", "--mode", "binary", code=2)


def test_help_lists_all_of_it(do: Any) -> None:
    text = " ".join(do("run", "bout", "--help").split())
    for option in ("--join", "--persona ", "--personas", "--language", "--run-context, --context", "--telegram"):
        assert option in text
    assert "--binary, --tetralemma" in text
    assert "--run-language" in do("run", "outer", "--help")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--persona", "bro=X"), ("`bro`", "did you mean `pro`?")),
        (("--persona", "X"), ("SLOT=NAME",)),
        (("--personas", "A, B, C, D"), ("4 personas", "pro, contra, judges")),
        (("--personas", "A", "--persona", "pro=B"), ("two personas",)),
        (("--persona", "judges.3=X"), ("1 members", "judges.1")),
        (("--persona", "pro.inner=X"), ("`pro.inner`", "no slots")),
        (("--pro", "inner", "--persona", "pro=X"), ("no single role", "`pro.contra`")),
        (("--join", "nobody"), ("no slot `nobody`", "pro, contra, judges")),
        (("--join", "pro", "--pro", "told"), ("`pro`", "told", "leave out")),
        (("--telegram", "new"), ("--join",)),
        (("--run-context", "missing.txt"), ("missing.txt",)),
    ],
)
def test_what_does_not_fit_is_told_before_anything_is_called(
    do: Any, words: tuple[str, ...], says: tuple[str, ...]
) -> None:
    said = do("run", "bout", "tides", *words, code=2)
    assert all(part in said for part in says), said
    assert "call " not in said


@pytest.mark.parametrize(
    "words", [("--telegram", "-100123"), ("--telegram=-100123",), ("--telegram", "new"), ("--telegram", "@name")]
)
def test_a_chat_may_be_a_group_or_a_name_or_new(do: Any, words: tuple[str, ...]) -> None:
    assert "PROSE_TELEGRAM_TOKEN" in do("run", "bout", "tides", "--join", "pro", *words, code=2)


@pytest.mark.parametrize("words", [("--telegram", "tides"), ("tides", "--telegram")])
def test_what_is_no_chat_is_not_taken_for_one(do: Any, words: tuple[str, ...]) -> None:
    said = do("run", "bout", "--join", "pro", *words, code=2)
    assert "names no chat" in said


def test_who_joins_is_asked_with_a_briefing(do: Any) -> None:
    report = do(*RUN, "--join", "contra", "--persona", "contra=Moriarty", code=5)
    (waiting,) = report["waiting"]
    assert (waiting["target"], waiting["line"], waiting["schema"]) == ("contra", 39, None)
    for part in ("Say why it does not hold", "Moriarty", "what pro said", "never see", "shouting"):
        assert part in waiting["question"]
    assert [call["service"] for call in report["calls"]] == ["told", "human"]


def test_who_joins_is_not_told_the_rules_of_others(do: Any) -> None:
    (waiting,) = do(*RUN, "--join", "pro", code=5)["waiting"]
    assert "shouting" in waiting["question"]
    assert "showing `contra`" not in waiting["question"]


def test_the_service_named_human_answers_for_who_joins(do: Any, folder: Path) -> None:
    (folder / "prose.yml").write_text(NESTED % sys.executable + "  human: {provider: script, replies: [mine]}\n")
    assert do(*RUN, "--join", "judges")["result"]["verdict"] == "mine"
    assert do("run", "outer", "--topic", "t", "--language", "x", "--panel", "inner", "--join", "panel.contra", "--json")


def test_a_resumed_run_has_it_all(do: Any, folder: Path) -> None:
    (folder / "facts.txt").write_text("Dry.")
    first = do(*RUN, "--join", "contra", "--language", "Danish", "--context", "facts.txt", code=5)
    (folder / "facts.txt").unlink()
    (folder / "prose.yml").write_text(NESTED % sys.executable + "  human: {provider: script, replies: [mine]}\n")
    report = do("resume", first["run"], "--json")
    assert report["result"]["two"] == "mine"
    assert "Danish" in report["result"]["verdict"]
    assert [call["target"] for call in report["calls"]] == ["context", "pro", "contra", "judges"]
