"""worker-critic, refine, ratchet, retry-with-learning: work that is improved in rounds, call by call."""

from __future__ import annotations

from pathlib import Path

import pytest

from prose_runtime.errors import ProseError
from support.library import failed, play

TASK = {"task_brief": "T"}


# worker-critic


def test_a_critique_reaches_the_worker() -> None:
    verdicts = [{"accepted": False, "critique": "shorter"}, {"accepted": True, "critique": None}]
    done = play("worker-critic", TASK, worker=["long", "short"], critic=verdicts)
    assert done.calls == [
        ("worker", {"task_brief": "T", "previous_work": None, "critique": None}),
        ("critic", {"task_brief": "T", "work": "long"}),
        ("worker", {"task_brief": "T", "previous_work": "long", "critique": "shorter"}),
        ("critic", {"task_brief": "T", "work": "short"}),
    ]
    assert done.value == {"result": "short", "accepted": True, "critique": None, "rounds": 2}
    assert done.rungs == {"structure"}


def test_work_that_is_never_accepted_comes_with_the_last_critique() -> None:
    verdicts = [{"accepted": False, "critique": f"no {n}"} for n in (1, 2)]
    done = play("worker-critic", TASK, {"max_rounds": 2}, worker=["a", "b"], critic=verdicts)
    assert done.targets == ["worker", "critic"] * 2
    assert done.value == {"result": "b", "accepted": False, "critique": "no 2", "rounds": 2}


# refine


def test_feedback_reaches_the_refiner_until_the_score_is_good() -> None:
    views = [{"score": 0.5, "feedback": "bolder"}, {"score": 0.9, "feedback": "nothing"}]
    done = play("refine", TASK, refiner=["v1", "v2"], evaluator=views)
    assert done.calls == [
        ("refiner", {"task_brief": "T", "current": None, "feedback": None}),
        ("evaluator", {"task_brief": "T", "candidate": "v1"}),
        ("refiner", {"task_brief": "T", "current": "v1", "feedback": "bolder"}),
        ("evaluator", {"task_brief": "T", "candidate": "v2"}),
    ]
    assert done.value == {"result": "v2", "score": 0.9, "met": True, "iterations": 2}
    assert done.rungs == {"expression"}


def test_the_best_version_is_kept_though_a_later_one_is_worse() -> None:
    views = [{"score": score, "feedback": "f"} for score in (0.2, 0.7, 0.4)]
    done = play("refine", TASK, {"max_iterations": 3}, refiner=["v1", "v2", "v3"], evaluator=views)
    assert done.value == {"result": "v2", "score": 0.7, "met": False, "iterations": 3}


def test_refining_starts_from_a_draft_and_meets_a_threshold_of_ones_own() -> None:
    inputs = {**TASK, "draft": "d"}
    done = play("refine", inputs, {"threshold": 0.3}, refiner=["v1"], evaluator=[{"score": 0.3, "feedback": None}])
    assert done.calls[0] == ("refiner", {"task_brief": "T", "current": "d", "feedback": None})
    assert done.value == {"result": "v1", "score": 0.3, "met": True, "iterations": 1}


# ratchet


def test_what_is_certified_only_grows() -> None:
    reviews = [
        {"certified": True, "complete": False, "reason": "sound"},
        {"certified": False, "complete": False, "reason": "contradicts s1"},
        {"certified": True, "complete": True, "reason": "done"},
    ]
    done = play("ratchet", TASK, advancer=["s1", "bad", "s2"], certifier=reviews)
    assert done.calls == [
        ("advancer", {"task_brief": "T", "certified": [], "objection": None}),
        ("certifier", {"task_brief": "T", "certified": [], "candidate": "s1"}),
        ("advancer", {"task_brief": "T", "certified": ["s1"], "objection": None}),
        ("certifier", {"task_brief": "T", "certified": ["s1"], "candidate": "bad"}),
        ("advancer", {"task_brief": "T", "certified": ["s1"], "objection": "contradicts s1"}),
        ("certifier", {"task_brief": "T", "certified": ["s1"], "candidate": "s2"}),
    ]
    rejected = [{"attempt": 2, "step": "bad", "reason": "contradicts s1"}]
    assert done.value == {"result": ["s1", "s2"], "complete": True, "rejected": rejected, "attempts": 3}


def test_an_objection_is_forgotten_once_it_is_met() -> None:
    reviews = [
        {"certified": False, "complete": False, "reason": "no"},
        {"certified": True, "complete": False, "reason": "yes"},
        {"certified": True, "complete": False, "reason": "yes"},
    ]
    done = play("ratchet", TASK, {"max_steps": 3}, advancer=["a", "b", "c"], certifier=reviews)
    assert [inputs["objection"] for target, inputs in done.calls if target == "advancer"] == [None, "no", None]
    assert (done.value["result"], done.value["complete"], done.value["attempts"]) == (["b", "c"], False, 3)


def test_an_unclear_answer_certifies_nothing_and_asks_no_judge() -> None:
    unclear = [{"certified": "perhaps", "complete": True, "reason": "hm"}]
    done = play("ratchet", TASK, {"max_steps": 1}, advancer=["a"], certifier=unclear)
    assert (done.value["result"], done.value["complete"]) == ([], False)
    assert "judge" not in done.rungs


# retry-with-learning


def test_a_lesson_reaches_every_later_attempt() -> None:
    worker = [failed("no key"), failed("no rights"), "done"]
    done = play("retry-with-learning", TASK, worker=worker, analyst=["take the key", "ask for rights"])
    assert done.calls == [
        ("worker", {"task_brief": "T", "lessons": []}),
        ("analyst", {"task_brief": "T", "answer": None, "failure": "no key", "lessons": []}),
        ("worker", {"task_brief": "T", "lessons": ["take the key"]}),
        ("analyst", {"task_brief": "T", "answer": None, "failure": "no rights", "lessons": ["take the key"]}),
        ("worker", {"task_brief": "T", "lessons": ["take the key", "ask for rights"]}),
    ]
    assert done.value == {
        "result": "done",
        "succeeded": True,
        "attempts": 3,
        "lessons": ["take the key", "ask for rights"],
        "failures": [{"attempt": 1, "failure": "no key"}, {"attempt": 2, "failure": "no rights"}],
    }


def test_without_failure_criteria_no_judge_is_asked() -> None:
    done = play("retry-with-learning", TASK, worker=["I failed, and this is no good"], analyst=[])
    assert done.value["succeeded"]
    assert done.targets == ["worker"]
    assert "judge" not in done.rungs


def test_with_failure_criteria_the_judge_decides_on_each_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = "{provider: script, replies: [{verdict: true, reason: r}, {verdict: false, reason: r}]}"
    (tmp_path / "prose.yml").write_text(f"judge: j\nservices:\n  j: {judge}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    config = {"failure_criteria": "it is empty"}
    done = play("retry-with-learning", TASK, config, worker=["", "full"], analyst=["fill it"])
    failure = "the answer is a failure by these criteria: it is empty"
    assert done.calls[1] == ("analyst", {"task_brief": "T", "answer": "", "failure": failure, "lessons": []})
    assert done.value["result"] == "full"
    assert done.value["failures"] == [{"attempt": 1, "failure": failure}]


def test_attempts_end_and_the_last_is_followed_by_no_lesson() -> None:
    with pytest.raises(ProseError, match=r"2 attempts.*down again"):
        play(
            "retry-with-learning",
            TASK,
            {"max_attempts": 2},
            worker=[failed("down"), failed("down again")],
            analyst=["l"],
        )


def test_the_last_answer_is_handed_out_though_it_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = "{provider: script, replies: [{verdict: true, reason: r}], repeat: true}"
    (tmp_path / "prose.yml").write_text(f"judge: j\nservices:\n  j: {judge}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    config = {"failure_criteria": "it is short", "max_attempts": 2}
    done = play("retry-with-learning", TASK, config, worker=["a", "b"], analyst=["longer"])
    assert done.targets == ["worker", "analyst", "worker"]
    assert (done.value["result"], done.value["succeeded"], done.value["attempts"]) == ("b", False, 2)
