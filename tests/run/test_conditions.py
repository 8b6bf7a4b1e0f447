"""How conditions are decided: LANGUAGE.md, Conditions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prose_runtime.check.conditions import asked_field, compare, criterion, enumerated, stem, verdict_of, wording
from prose_runtime.errors import RunFailed
from prose_runtime.testing import record, script
from tests.support.programs import pattern, run

NAMES = frozenset({"verdict", "decision", "review", "result", "leave", "criteria"})


@pytest.mark.parametrize(
    ("text", "value", "want"),
    [
        ("verdict accepts result", {"accepted": True}, True),
        ("verdict accepts result", {"verdict": "accept"}, True),
        ("verdict accepts the result", {"verdict": "rejected", "why": "x"}, False),
        ("verdict accepts result", {"approved": True}, True),
        ("verdict accepts result", {"rejected": True}, False),
        ("verdict accepts result", {"accepted": True, "rejected": True}, None),
        ("verdict accepts result", {"accepted": True, "verdict": "reject"}, None),
        ("verdict accepts result", {"score": 3}, None),
        ("verdict accepts result", "Approved.", True),
        ("verdict accepts result", "I accept it", None),
        ("verdict does not accept result", {"accepted": False}, True),
        ("not verdict accepts result", {"accepted": False}, True),
        ("decision says abort", "abort", True),
        ("decision says abort", "**ABORT**", True),
        ("decision says abort", {"decision": "abort"}, True),
        ("decision says abort", {"decision": "continue"}, False),
        ("decision says abort", {"decision": "adjust"}, None),
        ("decision says to stop", {"decision": "abort"}, True),
        ("decision is not abort", {"decision": "proceed"}, True),
        ("leave does not explicitly proceed", {"proceed": True}, False),
        ("leave does not explicitly proceed", {"proceed": False}, True),
        ("leave does not explicitly proceed", {"reason": "hm"}, True),
        ("leave does not explicitly proceed", "perhaps", True),
        ("leave does not explicitly proceed", None, True),
        ("review accepted", {"accepted": "no"}, False),
        ("review is valid", {"is_valid": True}, True),
        ("review.status says done", {"status": "done"}, None),
    ],
)
def test_structure_decides_exact_wording_only(text: str, value: Any, want: bool | None) -> None:
    claim = wording(text, NAMES)
    assert claim is not None
    if claim.path:
        assert claim.path == ("status",)
        assert verdict_of(claim, value[claim.path[0]]) is True
    else:
        assert verdict_of(claim, value) is want


@pytest.mark.parametrize(
    "text",
    ["the paragraph would calm a worried reader", "review mentions a date somewhere", "result", "a b c", "", "42"],
)
def test_other_english_is_no_claim(text: str) -> None:
    assert wording(text, NAMES) is None


def test_an_enumerated_word_decides_no() -> None:
    claim = wording("decision says abort", NAMES)
    assert claim is not None
    assert verdict_of(claim, "adjust", enumerated("continue, adjust or abort")) is False
    assert verdict_of(claim, "adjust", enumerated("a score, with notes or comments")) is None
    assert compare("stop", "abort", [frozenset({"stop", "abort"})]) is False
    assert compare("accept", "pass", enumerated("pass | fail")) is True


def test_words_share_their_stem() -> None:
    for family in ("accept accepts accepted acceptable", "stop stops stopped stopping", "proceed proceeds proceeded",
                   "certify certifies certified", "continue continues continued", "pass passes passed"):  # fmt: skip
        assert len({stem(word) for word in family.split()}) == 1, family
    assert stem("yes") == "yes"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("criteria says result is acceptable", True),
        ("the criteria says the result is a failure", False),
        ("criteria says result is not acceptable", False),
        ("criteria says result is not a failure", True),
        ("criteria says result is nice", None),
    ],
)
def test_a_missing_criterion_has_a_fixed_verdict(text: str, want: bool | None) -> None:
    found = criterion(text, NAMES)
    assert (found.verdict if found else None) is want


@pytest.mark.parametrize(
    ("text", "name", "type_"),
    [
        ("verdict accepts result", "accepted", "boolean"),
        ("decision says abort", "decision", "string"),
        ("leave does not explicitly proceed", "proceed", "boolean"),
        ("review passes", "passed", "boolean"),
        ("verdict approves", "approved", "boolean"),
        ("review.status says done", "status", "string"),
    ],
)
def test_what_a_condition_asks_for(text: str, name: str, type_: str) -> None:
    claim = wording(text, NAMES)
    assert claim is not None
    assert asked_field(claim) == (name, {"type": type_})


EXPRESSIONS = [
    ("n > 3", True),
    ("n == 4 and not flag", True),
    ("n is at least 4", True),
    ("n exceeds 4", False),
    ("n is at most 4", True),
    ("n meets 5", False),
    ("t is present", True),
    ("none is absent", True),
    ("none is not present", True),
    ("t is empty", False),
    ("flag is false", True),
    ('t is "word"', True),
    ('t contains "or"', True),
    ("xs contains 2", True),
    ("o has key", True),
    ("o has other", False),
    ("xs", True),
    ("flag or n < 5", True),
    ("**t**", True),
    ("none > 3", False),
    ("(n > 3 or flag) and xs.length == 2", True),
]


@pytest.mark.parametrize(("condition", "want"), EXPRESSIONS)
def test_expressions_need_no_judge(tmp_path: Path, condition: str, want: bool) -> None:
    body = f"""
    let n = 4
    let t = "word"
    let none = null
    let flag = false
    let xs = [1, 2]
    let o = {{ key: 0, other: null }}
    if {condition}:
      return true
    return false
    """
    result = run(pattern(tmp_path, body), {"a": script()})
    assert result.value is want
    assert [c["rung"] for c in result.conditions] == ["expression"]


def test_the_judge_sees_the_text_and_the_named_values(tmp_path: Path) -> None:
    (tmp_path / "prose.yml").write_text(
        "judge: j\nservices:\n  j: {provider: script, replies: [{verdict: true, reason: r}]}\n", encoding="utf-8"
    )
    body = """
    let draft = call a
      topic: topic
    let note = "unseen"
    if the draft would please {topic}:
      return "yes"
    return "no"
    """
    result = run(pattern(tmp_path, body, rows="topic: string"), {"a": script("text")}, {"topic": "cats"})
    assert result.value == "yes"
    assert result.conditions[0]["reason"] == "r"
    assert result.conditions[0]["text"] == "the draft would please {topic}"
    assert [call["target"] for call in result.calls] == ["a"]


def test_parts_take_their_own_rung_and_the_judge_is_asked_only_when_open(tmp_path: Path) -> None:
    (tmp_path / "prose.yml").write_text(
        "judge: j\nservices:\n  j: {provider: script, replies: [{verdict: true, reason: r}]}\n", encoding="utf-8"
    )
    body = """
    let n = 1
    if n > 3 and the moon is full:
      return "a"
    if n == 1 or the moon is full:
      emit "no judge so far"
    if n == 1 and the moon is full and the sea is calm:
      return "b"
    return "c"
    """
    result = run(pattern(tmp_path, body), {"a": script()})
    assert result.value == "b"
    assert [c["rung"] for c in result.conditions] == ["expression", "expression", "judge"]


@pytest.mark.parametrize("replies", ["[maybe, 'verdict: yes']", "[{verdict: 'true'}, {verdict: 1}]"])
def test_an_unclear_judge_fails_the_run(tmp_path: Path, replies: str) -> None:
    (tmp_path / "prose.yml").write_text(
        f"judge: j\nservices:\n  j: {{provider: script, replies: {replies}}}\n", encoding="utf-8"
    )
    body = """
    try:
      if the moon is full:
        return 1
    catch as e:
      return "caught"
    return 2
    """
    with pytest.raises(RunFailed, match="the moon is full") as caught:
        run(pattern(tmp_path, body), {"a": script()})
    assert caught.value.kind == "judge"


def test_json_inside_the_judges_text_is_read(tmp_path: Path) -> None:
    reply = 'Thinking {"verdict": "no"} ... ```json\n{"verdict": false, "reason": "half"}\n```'
    (tmp_path / "prose.yml").write_text(
        f"judge: j\nservices:\n  j:\n    provider: script\n    replies:\n      - {reply!r}\n", encoding="utf-8"
    )
    result = run(pattern(tmp_path, "if the moon is full:\n  return 1\nreturn 2"), {"a": script()})
    assert result.value == 2


def test_a_criterion_without_value_asks_nobody(tmp_path: Path) -> None:
    critic = record(script("text"))
    body = """
    let draft = call a
      topic: "t"
    if criteria says draft is acceptable:
      return draft
    return null
    """
    path = pattern(
        tmp_path,
        body,
        config="- `criteria` (string, default: none): what is good",
        rows="criteria: string -- (optional)",
    )
    result = run(path, {"a": critic})
    assert (result.value, result.conditions[0]["rung"]) == ("text", "structure")


def test_an_input_may_be_the_object_of_a_claim(tmp_path: Path) -> None:
    body = """
    let verdict = call a
      draft: draft
    if verdict accepts the draft:
      return "yes"
    return "no"
    """
    path = pattern(tmp_path, body, rows="draft: string")
    for reply, want in (("Accept.", "yes"), ({"accepted": False}, "no")):
        result = run(path, {"a": script(reply)}, {"draft": "d"})
        assert (result.value, result.conditions[0]["rung"]) == (want, "structure")
