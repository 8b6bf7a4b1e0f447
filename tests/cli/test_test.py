"""``prose test`` as a person uses it, and the same tests through pytest."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from prose_runtime.cli import main
from prose_runtime.services import searching
from support.commands import ROOT, run

SUM = """\
---
name: sum
kind: function
---

### Parameters

- `text`: what to sum up

### Returns

- `summary`: one line
"""

RELAY = """\
---
name: relay
kind: pattern
---

### Slots

- `runner`
- `stages`

### Config

- `legs` (integer, default: 2): how many legs are run
- `loud` (boolean, default: false): whether each leg is told

### Parameters

- Pattern instance receives:
    runner: string
    stages: string[]
    baton: string  -- what is carried
    course: object  -- (optional, default none) where to
    marks: string[]  -- (optional, default none) what stands along the way

### Returns

- `last`: what the runner said last
- `trail`: what the stages said
- `course`: where to
- `marks`: what stood along the way

### Delegation

```prose
let last = baton
repeat legs:
  let last = call runner
    baton: last
let trail = []
for stage in stages:
  let said = call stage
    baton: last
  append said to trail
if last == "lost":
  throw { message: "the baton was lost", kind: "mislaid" }
return { last, trail, course, marks }
```
"""

CONFIG = """\
default: plain
judge: judge
services:
  plain: {provider: script, replies: ["The tide turns twice a day."], repeat: true}
  judge: {provider: script, rules: [{when: {prompt: "/kind/"}, reply: {verdict: true, reason: "it is gentle"}}],
          else: {reply: {verdict: false, reason: "it is blunt"}}}
  twice: {provider: script, replies: [one, two]}
  lost: {provider: script, replies: [lost], repeat: true}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "prose.yml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "sum.prose.md").write_text(SUM, encoding="utf-8")
    (tmp_path / "relay.prose.md").write_text(RELAY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def write(name: str, expects: str, not_: str = "", fixtures: str = '- `text`: "tides"', subject: str = "sum") -> None:
    text = f"---\nname: {name}\nkind: test\nsubject: {subject}\n---\n\n### Fixtures\n\n{fixtures}\n\n"
    text += f"### Expects\n\n{expects}\n" + (f"\n### Expects Not\n\n{not_}\n" if not_ else "")
    path = Path(f"{name}.test.prose.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@dataclass
class Said:
    exit: int
    out: str
    err: str

    @property
    def last(self) -> str:
        return self.out.splitlines()[-1]


@pytest.fixture
def prose_test(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*words: str) -> Said:
        code = main(["test", *words])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Said(code, out, err)

    return call


def relay(name: str, expects: str, fixtures: str, not_: str = "") -> None:
    base = "" if "`baton`" in fixtures else '- `baton`: "b"\n'
    write(name, expects, not_, base + fixtures, subject="relay")


def value_of(prose_test: Any, fixture: str, path: str) -> str:
    """What a path of the relay's result is with a fixture, as a failing expectation shows it."""
    relay("probe", f"- `{path}`: equals `never`", f"- `runner`: twice\n{fixture}")
    row = json.loads(prose_test("probe.test.prose.md", "--json").out)["tests"][0]
    assert row["error"] is None, row["error"]
    return str(row["expectations"][0]["got"])


# passing and failing


def test_all_pass(prose_test: Any) -> None:
    write("a", "- `summary`: contains `twice`\n- is under 12 words", "- `summary`: contains `ocean`")
    said = prose_test(".")
    assert (said.exit, said.last) == (0, "1 passed, 0 failed")
    assert "PASS a.test.prose.md: a (0." in said.out


def test_a_failure_says_where_what_and_what_was_there_instead(prose_test: Any) -> None:
    write("a", "- `summary`: contains `twice`\n- `summary` is under 3 words", "- mentions `tide`")
    write("b", "- `result`: is a text")
    said = prose_test(".")
    assert (said.exit, said.last) == (1, "1 passed, 1 failed")
    assert "a.test.prose.md:14:1: expected: `summary` is under 3 words" in said.out
    assert "a.test.prose.md:18:1: expected not: mentions `tide`" in said.out
    assert said.out.count('got: "The tide turns twice a day."') == 2
    assert "contains `twice`" not in said.out


def test_a_search_that_takes_too_long_fails_alone(prose_test: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "PATIENCE", 0.1)
    slow = f'- `default`: "{"a" * 50}b"\n- `text`: "tides"'
    write("a", "- `summary`: matches /(a+)+$/\n- `summary`: ends with `c`", fixtures=slow)
    said = prose_test(".")
    assert (said.exit, said.last) == (1, "0 passed, 1 failed")
    assert "takes longer" in said.out
    assert "ends with `c`" in said.out


def test_bullets_below_and_blocks(prose_test: Any) -> None:
    expects = """\
- `summary`:
  ```
  The tide turns twice a day.
  ```
- `summary` is one of:
  - "a"
- `summary`:
  - contains `tide`
  - is a list
- `summary` mentions:
  - `TIDE`
  - `moon`"""
    write("a", expects)
    rows = json.loads(prose_test(".", "--json").out)["tests"][0]["expectations"]
    assert [(row["text"], row["passed"]) for row in rows] == [
        ("`summary`:", True),
        ('`summary` is one of "a"', False),
        ("`summary`: contains `tide`", True),
        ("`summary`: is a list", False),
        ("`summary` mentions `TIDE`", True),
        ("`summary` mentions `moon`", False),
    ]


def test_an_unknown_output_fails_on_both_sides(prose_test: Any) -> None:
    relay("a", "- `lost`: is a text", "- `runner`: twice\n- `stages`: [plain]", "- `lost`: is a text")
    said = prose_test(".")
    assert said.exit == 1
    assert said.out.count("the result has no `lost`; it has `last`, `trail`") == 2
    assert "warning[unknown-output]" in said.err


# the judge


def test_what_is_not_plain_is_judged_and_the_reason_shown(prose_test: Any) -> None:
    write("a", "- `summary`: speaks of the tide in a kind way", "- sounds like a command")
    said = prose_test(".")
    assert said.exit == 0
    assert "it is gentle" in said.out
    assert "it is blunt" in said.out
    write("a", "- sounds like a command", "- is of a kind nature")
    said = prose_test("a.test.prose.md")
    assert (said.exit, said.last) == (1, "0 passed, 1 failed")
    assert "judge: it is blunt" in said.out
    assert "judge: it is gentle" in said.out


def test_the_judge_sees_the_value_and_what_the_subject_was_given(prose_test: Any) -> None:
    rules = '{rules: [{when: {text: tides, summary: "/twice/"}, reply: {verdict: true, reason: "seen"}}]}'
    write("a", "- `summary`: keeps the facts\n- keeps the facts", fixtures=f'- `text`: "tides"\n- `judge`: {rules}')
    said = prose_test(".")
    assert said.exit == 0
    assert said.out.count("seen") == 2


def test_no_verdict_is_no_pass(prose_test: Any) -> None:
    write("a", "- `summary`: is concise", "- is a sermon", fixtures='- `text`: "tides"\n- `judge`: "hard to say"')
    said = prose_test(".")
    assert said.exit == 1
    assert said.out.count("no verdict") == 2
    assert "in backticks: `concise`" in said.out


def test_the_judge_goes_on_where_the_run_left_it(prose_test: Any) -> None:
    program = 'if **the sea is calm today**:\n  return "calm"\nreturn "rough"'
    text = f"---\nname: asks\nkind: function\n---\n\n### Execution\n\n```prose\n{program}\n```\n"
    Path("asks.prose.md").write_text(text, encoding="utf-8")
    replies = '- `judge`: replies: [{verdict: true, reason: "first"}, {verdict: false, reason: "second"}]'
    write("a", "- equals `calm`\n- soothes a sailor", fixtures=replies, subject="asks")
    said = prose_test(".")
    assert said.exit == 1
    assert "judge: second" in said.out


# fixtures


def test_slots_take_services_and_replies(prose_test: Any) -> None:
    expects = "- `last`: equals {last}\n- `trail`: equals `{trail}`"
    cases = [
        ("- `runner`: twice\n- `stages`: [twice, plain]", "two", None),
        ("- `runner`: `twice`\n- `stages`: plain", "two", ["The tide turns twice a day."]),
        ('- `runner`: "always"\n- `stages`: plain, lost', "always", ["The tide turns twice a day.", "lost"]),
        ('- `runner`: ["first", "second"]\n- `stages`: lost', "second", ["lost"]),
        ('- `runner`: replies: ["first", {delay: 0, reply: "then"}]\n- `stages`: lost', "then", ["lost"]),
        ("- `runner`:\n  - replies:\n    - x\n    - y\n- `stages`: lost", "y", ["lost"]),
        ("- `runner`:\n  ```yaml\n  rules: [{when: {baton: b}, reply: c}]\n  else: d\n  ```", "d", None),
        ("- `runner`: {tone: calm, pattern: none}\n- `stages`: lost", '{"tone": "calm", "pattern": "none"}', ["lost"]),
        ("- `runner`: {provider: echo}\n- `stages`: lost", "b", ["lost"]),
        ('- `runner`: {echo: true}\n- `stages`: [{reply: "s"}, lost]', "b", ["s", "lost"]),
    ]  # fmt: skip
    for number, (fixtures, last, trail) in enumerate(cases):
        wanted = expects.replace("{last}", json.dumps(last)).replace("{trail}", json.dumps(trail))
        relay(f"case{number}", wanted if trail else wanted.splitlines()[0], fixtures)
    said = prose_test(".")
    # The first case asks `twice` a third time: one service with one state for the whole test.
    assert said.last == "9 passed, 1 failed", said.out
    assert "no reply left" in said.out
    assert "FAIL case0" in said.out


def test_unbound_slots_use_the_default_service_and_each_test_starts_afresh(prose_test: Any) -> None:
    for name in ("a", "b"):
        relay(name, "- `last`: equals `two`\n- `trail`: has 1 item", "- `runner`: twice")
    said = prose_test(".")
    assert said.last == "2 passed, 0 failed"
    assert said.err.count("default service: plain") == 1


def test_a_function_answers_through_the_default_fixture(prose_test: Any) -> None:
    write("a", "- `summary`: is `canned`", fixtures='- `text`: "t"\n- `default`: "canned"')
    assert prose_test(".").exit == 0


def test_values_by_type(prose_test: Any) -> None:
    values = {
        '- `course`: {to: "sea", "legs": [1, null]}': '{"to": "sea", "legs": [1, null]}',
        "- `course`:\n  ```yaml\n  to: sea\n  legs: [1]\n  ```": '{"to": "sea", "legs": [1]}',
        "- `course`:\n  - `to`: sea\n  - `legs`:\n    - 1\n    - two": '{"to": "sea", "legs": [1, "two"]}',
        '- `marks`: ["a: b", "c"]': '["a: b", "c"]',
        "- `marks`:\n  - a: b\n  - 3": '["a: b", "3"]',
        "- `marks`: a, b": '["a", "b"]',
    }
    for fixture, shown in values.items():
        path = "course" if "course" in fixture else "marks"
        assert json.loads(value_of(prose_test, fixture, path)) == json.loads(shown), fixture
    echo = "- `runner`: {echo: true}\n- `baton`: "
    texts = {
        '"the tide: it comes"': "the tide: it comes",
        "the tide (it comes), bare": "the tide (it comes), bare",
        "`ticked`": "ticked",
        "5": "5",
        "\n  ```text\n  one\n\n    two\n  ```": "one\n\n  two",
        "\n  one\n  two": "one\ntwo",
    }
    for given, shown in texts.items():
        relay("probe", "- `last`: equals `never`", echo + given)
        row = json.loads(prose_test("probe.test.prose.md", "--json").out)["tests"][0]
        assert json.loads(row["expectations"][0]["got"]) == shown, given


def test_a_slot_takes_a_spec_beside_the_test(prose_test: Any) -> None:
    fixtures = '- `baton`: "b"\n- `runner`: roles/herald.prose.md\n- `default`: "hail"'
    write("tests/a", "- `last`: is `hail`", fixtures=fixtures, subject="relay")
    Path("tests/roles").mkdir()
    herald = SUM.replace("name: sum", "name: herald").replace("`text`", "`baton`")
    Path("tests/roles/herald.prose.md").write_text(herald, encoding="utf-8")
    said = prose_test("tests/a.test.prose.md")
    assert said.exit == 0, said.out


@pytest.mark.parametrize(
    ("fixtures", "said"),
    [
        ("- `legs`: many", "`legs` is not an integer"),
        ("- `loud`: perhaps", "neither true nor false"),
        ("- `course`: {a: ", "`course` is not an object"),
        ("- `course`: sea", "`course` is not an object"),
        ("- `bton`: x", "did you mean `baton`"),
        ("- `runner`: twicce", "did you mean `twice`"),
        ("- `runner`: replies: 3", "replies"),
        ("- `runner`: [{delay: no, reply: x}]", "number of seconds"),
        ("- `runner`: {replies: [", "`runner` is no YAML"),
        ("- `runner`:", "`runner` says nothing"),
    ],
)
def test_wrong_fixtures_are_told_with_their_place(fixtures: str, said: str, prose_test: Any) -> None:
    relay("a", "- `last`: is a text", fixtures)
    shown = prose_test(".")
    assert (shown.exit, shown.last) == (1, "0 passed, 1 failed")
    assert said in shown.out
    assert "a.test.prose.md:" in shown.out


@pytest.mark.parametrize("indent", ["", "  "])
def test_a_fence_below_a_bullet_is_its_value_however_it_is_indented(indent: str, prose_test: Any) -> None:
    def fence(*lines: str) -> str:
        return "\n\n" + "\n".join(indent + line for line in ("```yaml", *lines, "```")) + "\n"

    given = f"- `runner`:{fence('replies: [one, two]')}\n- `legs`: 2\n\n- `baton`:{fence('torch')}"
    relay("a", f"- `last`: equals:{fence('two')}\n- `last`: is `two`", given)
    said = prose_test(".")
    assert (said.exit, "value of no bullet" in said.err) == (0, False)


def test_a_fence_that_is_the_value_of_nothing_is_told(prose_test: Any) -> None:
    relay("a", "- `last`: is a text\n\n```\nmore\n```", "```\nmore\n```\n\n- `runner`: twice\n- `legs`: 2")
    said = prose_test(".")
    assert said.exit == 0
    assert said.err.count("value of no bullet") == 2


def test_a_missing_input_fails_the_test(prose_test: Any) -> None:
    write("a", "- `summary`: is a text", fixtures="- None.")
    said = prose_test(".")
    assert said.exit == 1
    assert "missing: `text`" in said.out


# errors of the subject


def test_an_error_of_the_subject_fails_the_test_with_its_place(prose_test: Any) -> None:
    relay("a", "- `last`: is a text", "- `runner`: lost", "- `last`: is empty")
    said = prose_test(".")
    assert (said.exit, said.last) == (1, "0 passed, 1 failed")
    assert "the baton was lost" in said.out
    assert "\n    relay.prose.md:45:3" in said.out
    assert "got:" not in said.out


def test_contracts_limits_and_pauses_fail_the_test(prose_test: Any, folder: Path) -> None:
    relay("contract", "- `last`: is a text", "- `runner`: twice")
    text = RELAY.replace("- `runner`\n", "- `runner`\n  - requires: `baton`, `map`\n")
    (folder / "relay.prose.md").write_text(text, encoding="utf-8")
    write("limit", "- `summary`: is a text", fixtures='- `text`: "t"')
    write("paused", "- `summary`: is a text", fixtures='- `text`: "t"\n- `default`: human')
    (folder / "prose.yml").write_text(CONFIG + "limits: {max_calls: 1}\n", encoding="utf-8")
    text = SUM + "\n### Execution\n\n```prose\nlet a = call helper\nreturn call helper\n```\n\n## helper\n\nHelp.\n"
    (folder / "sum.prose.md").write_text(text, encoding="utf-8")
    rows = {row["name"]: row["error"]["kind"] for row in json.loads(prose_test(".", "--json").out)["tests"]}
    assert rows == {"contract": "contract", "limit": "limit", "paused": "paused"}


def test_a_subject_with_faults_fails_the_test_and_shows_them(prose_test: Any, folder: Path) -> None:
    (folder / "relay.prose.md").write_text(RELAY.replace("call runner", "call runer"), encoding="utf-8")
    relay("a", "- `last`: is a text", "- `runner`: twice")
    said = prose_test(".")
    assert said.exit == 1
    assert "error[unknown-target]" in said.out


@pytest.mark.parametrize(
    ("expectation", "passes"),
    [
        ("raises: mislaid", True),
        ("raises `mislaid`", True),
        ("raises an error", True),
        ("fails", True),
        ('fails with "baton was lost"', True),
        ("raises an error of kind `mislaid`", True),
        ("error: mislaid", True),
        ("raises: timeout", False),
        ("does not raise", False),
    ],
)
def test_an_expected_error(expectation: str, passes: bool, prose_test: Any) -> None:
    relay("a", f"- {expectation}", "- `runner`: lost")
    assert prose_test("a.test.prose.md").exit == (0 if passes else 1)
    relay("b", f"- {expectation}", "- `runner`: twice")
    said = prose_test("b.test.prose.md")
    assert said.exit == (0 if expectation == "does not raise" else 1)


def test_an_error_that_does_not_come_is_told(prose_test: Any) -> None:
    relay("a", "- raises: mislaid\n- `last`: is `two`", "- `runner`: twice", "- raises: timeout")
    said = prose_test(".")
    assert said.exit == 1
    assert "got: no error, but" in said.out
    assert said.out.count("expected") == 1


def test_words_about_the_text_expect_no_error(prose_test: Any) -> None:
    write("a", "- raises kind questions about tides")
    said = prose_test(".")
    assert said.exit == 0
    assert "it is gentle" in said.out


# which tests


def test_subjects_by_name_path_and_library(prose_test: Any, folder: Path) -> None:
    write("tests/sum", "- contains `tide`", subject="../sum.prose.md")
    write("tests/other", "- contains `tide`", subject="sum")
    Path("tests/sum.test.prose.md").rename("tests/same.test.prose.md")
    text = Path("tests/same.test.prose.md").read_text().replace("name: tests/sum", "name: sum")
    Path("tests/same.test.prose.md").write_text(text, encoding="utf-8")
    write("lib", "- `result`: is present", fixtures='- `task_brief`: "tides"', subject="dialectic")
    said = prose_test(".")
    assert said.last == "3 passed, 0 failed", said.out


def test_the_config_beside_the_test_holds(prose_test: Any) -> None:
    write("tests/sum", "- is `near`")
    Path("tests/prose.yml").write_text(
        "default: n\nservices: {n: {provider: script, replies: [near]}}", encoding="utf-8"
    )
    text = Path("tests/sum.test.prose.md").read_text().replace("subject: sum", "subject: sum.prose.md")
    Path("tests/sum.test.prose.md").write_text(text, encoding="utf-8")
    Path("tests/sum.prose.md").write_text(SUM, encoding="utf-8")
    assert prose_test("tests").exit == 0


def test_files_and_folders_each_test_once(prose_test: Any) -> None:
    write("a", "- contains `tide`")
    write("b", "- contains `tide`")
    Path("b.test.prose.md").rename("plain.md")
    assert prose_test(".", "a.test.prose.md", "plain.md").last == "2 passed, 0 failed"


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("TIDE", ["tide-a", "tide-b"]),
        ("not tide", ["moon"]),
        ("tide and not b.test", ["tide-a"]),
        ("moon or tide-b", ["moon", "tide-b"]),
        ("not not moon", ["moon"]),
    ],
)
def test_selection(expression: str, names: list[str], prose_test: Any) -> None:
    for name in ("moon", "tide-a", "tide-b"):
        write(name, "- contains `tide`")
    rows = json.loads(prose_test(".", "-k", expression, "--json").out)["tests"]
    assert [row["name"] for row in rows] == names


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["empty"], "no test in empty"),
        (["sum.prose.md"], "sum.prose.md is no test"),
        (["missing"], "cannot read missing"),
        ([], "PATH"),
        ([".", "-k", "nothing"], "fits"),
        ([".", "-k", "a and"], "lacks a word"),
        ([".", "--junit", "no/such/folder.xml"], "cannot write"),
        (["binary.test.prose.md"], "binary"),
    ],
)
def test_usage(words: list[str], said: str, prose_test: Any) -> None:
    write("a", "- contains `tide`")
    Path("empty").mkdir()
    Path("binary.test.prose.md").write_bytes(b"\x00\xff")
    shown = prose_test(*words)
    assert shown.exit == 2
    assert said in shown.err


def test_what_cannot_be_read_does_not_stop_the_rest(prose_test: Any) -> None:
    write("a", "- contains `tide`")
    Path("binary.test.prose.md").write_bytes(b"\x00\xff")
    said = prose_test(".", "missing.test.prose.md")
    assert (said.exit, said.last) == (2, "1 passed, 0 failed")
    assert "missing.test.prose.md" in said.err
    assert "binary.test.prose.md" in said.err


# reports


def test_quiet_shows_failures_and_the_summary(prose_test: Any) -> None:
    write("a", "- contains `tide`")
    assert prose_test(".", "--quiet") == Said(0, "1 passed, 0 failed\n", "")
    write("b", "- contains `moon`")
    said = prose_test(".", "-q")
    assert "FAIL b.test.prose.md" in said.out
    assert "PASS" not in said.out


def test_json(prose_test: Any) -> None:
    write("a", "- `summary`: contains `moon`\n- is of a kind nature")
    shown = json.loads(prose_test(".", "--json").out)
    row = shown["tests"][0]
    assert (shown["passed"], shown["failed"], row["subject"], row["calls"]) == (0, 1, "sum", 1)
    assert row["expectations"] == [
        {"text": "`summary`: contains `moon`", "line": 13, "negated": False, "passed": False, "judged": False,
         "got": '"The tide turns twice a day."', "reason": None},
        {"text": "is of a kind nature", "line": 14, "negated": False, "passed": True, "judged": True,
         "got": '"The tide turns twice a day."', "reason": "it is gentle"},
    ]  # fmt: skip


def test_junit(prose_test: Any) -> None:
    write("a", "- contains `tide`")
    write("b", "- contains `<moon> & \x0b ]]>`", fixtures='- `text`: "t"\n- `default`: "a\x01b <&"')
    relay("c", "- `last`: is a text", "- `runner`: lost")
    assert prose_test(".", "--junit", "out.xml").exit == 1
    root = ET.parse("out.xml").getroot()
    assert [root.get(key) for key in ("tests", "failures", "errors")] == ["3", "1", "1"]
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert list(cases) == ["a", "b", "c"]
    assert len(cases["a"]) == 0
    failure = cases["b"].find("failure")
    assert failure is not None
    assert "<moon> &" in (failure.text or "")
    assert cases["b"].get("file") == "b.test.prose.md"
    error = cases["c"].find("error")
    assert error is not None
    assert (error.get("type"), error.get("message")) == ("mislaid", "the baton was lost")
    assert float(cases["a"].get("time") or -1) >= 0


def test_the_examples_pass_offline(prose_test: Any) -> None:
    said = prose_test(str(ROOT / "examples"))
    assert said.exit == 0, said.out
    assert "FAIL" not in said.out


# pytest


def test_pytest_collects_the_same_tests(tmp_path: Path) -> None:
    write("good", "- contains `tide`")
    write("bad", "- contains `moon`")
    words = [sys.executable, "-m", "pytest", "-p", "prose_runtime.pytest_plugin", "-p", "no:cacheprovider", "-q", "."]
    # Without what is installed: there the plugin would be loaded by its entry point as well.
    done = run(words, tmp_path, home=tmp_path, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert done.exit == 1, done.stdout
    assert "1 failed, 1 passed" in done.stdout
    assert "bad.test.prose.md:13:1: expected: contains `moon`" in done.stdout
    assert 'got: "The tide turns twice a day."' in done.stdout
    assert "Traceback" not in done.stdout
