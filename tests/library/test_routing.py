"""fan-out, map-reduce, race, fallback-chain, pipeline, guard: who is asked, when, and with what."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from prose_runtime.errors import ProseError
from support.library import failed, play

TASK = {"task_brief": "T"}


def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: str) -> None:
    """Let a judge with these scripted rules decide."""
    text = f"judge: j\nservices:\n  j: {{provider: script, {rules}}}\n"
    (tmp_path / "prose.yml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


# fan-out


def test_fan_out_gives_everybody_the_one_brief() -> None:
    done = play("fan-out", TASK, delegates=([{"delay": 0.1, "reply": "a"}], ["b"]))
    assert done.calls == [("delegates", {"task_brief": "T"})] * 2
    assert done.value == {"result": ["a", "b"], "failures": []}


def test_fan_out_hands_out_pieces_in_turn_and_keeps_their_order() -> None:
    done = play("fan-out", {"briefs": ["p1", "p2", "p3"]}, delegates=(["a1", "a2"], ["b1"]))
    assert [inputs for _, inputs in done.calls] == [{"task_brief": p} for p in ("p1", "p2", "p3")]
    assert [call["service"] for call in done.result.calls] == ["delegates-1", "delegates-2", "delegates-1"]
    assert done.value["result"] == ["a1", "b1", "a2"]
    assert "b1" not in done.told("delegates", 0)


def test_fan_out_bears_a_failure_but_not_only_failures() -> None:
    done = play("fan-out", TASK, delegates=([failed("ill")], ["b"]))
    assert done.value["result"] == [None, "b"]
    assert done.value["failures"] == [{"piece": 1, "service": "delegates-1", "message": "ill"}]
    with pytest.raises(ProseError, match=r"2 pieces.*ill"):
        play("fan-out", TASK, delegates=([failed("ill")], [failed("away")]))
    with pytest.raises(ProseError, match="no work"):
        play("fan-out", {}, delegates=(["a"],))


# map-reduce


def test_map_reduce_works_on_every_chunk_alone_and_reduces_in_order() -> None:
    chunks = ["c1", {"n": 2}, "c3"]
    done = play("map-reduce", {**TASK, "chunks": chunks}, mapper=["m1", "m2", "m3"], reducer=["whole"])
    assert done.calls == [
        *(("mapper", {"task_brief": "T", "chunk": chunk}) for chunk in chunks),
        ("reducer", {"task_brief": "T", "results": ["m1", "m2", "m3"]}),
    ]
    assert done.value == {"result": "whole", "results": ["m1", "m2", "m3"]}
    assert "m1" not in done.told("mapper")
    assert "c1" not in done.told("reducer")


def test_map_reduce_never_reduces_with_a_gap() -> None:
    with pytest.raises(ProseError, match="ill"):
        play("map-reduce", {**TASK, "chunks": ["a", "b"]}, mapper=["m1", failed("ill")], reducer=["whole"])
    with pytest.raises(ProseError, match="chunks"):
        play("map-reduce", {**TASK, "chunks": []}, mapper=[], reducer=[])


# race


def test_a_race_takes_the_first_answer_and_cancels_its_losers() -> None:
    start = time.monotonic()
    slow = [{"delay": 60, "reply": "late"}]
    done = play("race", TASK, candidates=(slow, [{"delay": 0.05, "reply": "quick"}], [failed("ill")]))
    assert time.monotonic() - start < 20
    assert done.value == {"result": "quick", "winner": "candidates-2", "position": 2}
    assert done.calls == [("candidates", {"task_brief": "T"})] * 3
    assert done.roles["candidates"][0].replies == []
    assert "judge" not in done.rungs


def test_a_race_passes_over_what_is_not_acceptable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = "rules: [{when: {answer: no way}, reply: {verdict: false, reason: r}}], else: {verdict: true, reason: r}"
    judged(tmp_path, monkeypatch, rules)
    late = [{"delay": 0.3, "reply": "fine"}]
    done = play("race", TASK, {"acceptance_criteria": "it helps"}, candidates=(["no way"], late))
    assert done.value == {"result": "fine", "winner": "candidates-2", "position": 2}


def test_a_race_without_a_winner_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ProseError, match="ill"):
        play("race", TASK, candidates=([failed("ill")], [failed("ill")]))
    with pytest.raises(ProseError, match="nobody"):
        play("race", TASK, candidates=())
    judged(tmp_path, monkeypatch, "replies: [{verdict: false, reason: r}], repeat: true")
    with pytest.raises(ProseError, match=r"candidates-1.*it helps"):
        play("race", TASK, {"acceptance_criteria": "it helps"}, candidates=(["no way"],))


# fallback-chain


def test_a_fallback_is_asked_only_after_a_failure_and_hears_nothing_of_it() -> None:
    done = play("fallback-chain", TASK, options=([failed("ill")], ["b"], ["never"]))
    assert done.calls == [("options", {"task_brief": "T"})] * 2
    failures = [{"position": 1, "service": "options-1", "message": "ill"}]
    assert done.value == {"result": "b", "used": "options-2", "position": 2, "failures": failures}
    assert "ill" not in done.told("options", 1)
    assert "judge" not in done.rungs


def test_an_answer_that_meets_the_failure_criteria_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = "rules: [{when: {answer: dunno}, reply: {verdict: true, reason: r}}], else: {verdict: false, reason: r}"
    judged(tmp_path, monkeypatch, rules)
    done = play("fallback-chain", TASK, {"failure_criteria": "it evades"}, options=(["dunno"], ["42"]))
    assert (done.value["result"], done.value["position"]) == ("42", 2)
    assert "it evades" in done.value["failures"][0]["message"]


def test_a_chain_of_failures_fails_with_the_last_one() -> None:
    with pytest.raises(ProseError, match=r"any of 2.*away"):
        play("fallback-chain", TASK, options=([failed("ill")], [failed("away")]))


# pipeline


def test_a_stage_gets_what_the_one_before_it_delivered_and_nothing_older() -> None:
    done = play("pipeline", TASK, stages=(["first"], ["second"], ["third"]))
    assert done.calls == [
        ("stages", {"task_brief": "T", "previous_result": None}),
        ("stages", {"task_brief": "T", "previous_result": "first"}),
        ("stages", {"task_brief": "T", "previous_result": "second"}),
    ]
    assert done.value["result"] == "third"
    assert done.value["trail"][1] == {"stage": 2, "service": "stages-2", "output": "second"}
    assert "first" not in done.told("stages", 2)


def test_a_stage_that_fails_ends_the_pipeline() -> None:
    with pytest.raises(ProseError, match="ill"):
        play("pipeline", TASK, stages=(["a"], [failed("ill")], ["never"]))


# guard


def test_the_target_runs_when_the_guard_says_so_and_hears_nothing_of_it() -> None:
    leave = {"proceed": True, "reason": "harmless"}
    done = play("guard", TASK, {"policy": "P"}, guard=[leave], target=["work"])
    assert done.calls == [("guard", {"task_brief": "T", "policy": "P"}), ("target", {"task_brief": "T"})]
    assert done.value == {"result": "work", "proceeded": True, "reason": "harmless"}
    assert "harmless" not in done.told("target")


@pytest.mark.parametrize("answer", [False, "perhaps", None])
def test_anything_but_a_clear_yes_is_a_no(answer: object) -> None:
    done = play("guard", TASK, guard=[{"proceed": answer, "reason": "hm"}], target=["never"])
    assert done.targets == ["guard"]
    assert done.value == {"result": None, "proceeded": False, "reason": "hm"}
    assert "judge" not in done.rungs
