"""blind-review and the probes: many calls that know nothing of each other, and one role that sees all answers."""

from __future__ import annotations

import pytest

from prose_runtime.errors import ProseError
from support.library import failed, play

TASK = {"task_brief": "T"}


# blind-review


def test_reviewers_see_the_work_alone_and_the_verdict_no_names() -> None:
    inputs = {**TASK, "artifact": "A"}
    done = play("blind-review", inputs, {"criteria": "C"}, reviewers=(["r1"], ["r2"]), synthesizer=["verdict"])
    assert done.calls == [
        *[("reviewers", {"task_brief": "T", "artifact": "A", "criteria": "C"})] * 2,
        ("synthesizer", {"task_brief": "T", "reviews": ["r1", "r2"], "criteria": "C"}),
    ]
    reviews = [{"service": "reviewers-1", "review": "r1"}, {"service": "reviewers-2", "review": "r2"}]
    assert done.value == {"result": "verdict", "reviews": reviews, "failures": []}
    assert "r1" not in done.told("reviewers", 1)
    assert "reviewers-" not in done.told("synthesizer")


def test_a_review_may_be_missing_but_not_all() -> None:
    done = play("blind-review", TASK, reviewers=([failed("ill")], ["r2"]), synthesizer=["verdict"])
    assert done.calls[-1] == ("synthesizer", {"task_brief": "T", "reviews": ["r2"], "criteria": None})
    assert done.value["failures"] == [{"reviewer": 1, "service": "reviewers-1", "message": "ill"}]
    with pytest.raises(ProseError, match=r"any of 1.*ill"):
        play("blind-review", TASK, reviewers=([failed("ill")],), synthesizer=[])


# stochastic-probe


def test_the_same_question_is_put_as_often_as_the_sample_is_large() -> None:
    done = play("stochastic-probe", TASK, {"sample_size": 3}, probe=[*"abc"], analyst=["spread"])
    assert done.calls == [
        *[("probe", {"task_brief": "T"})] * 3,
        ("analyst", {"task_brief": "T", "samples": [*"abc"]}),
    ]
    assert done.value == {"result": "spread", "samples": [*"abc"], "failures": []}


def test_a_sample_may_be_smaller_but_not_empty() -> None:
    done = play("stochastic-probe", TASK, {"sample_size": 2}, probe=[failed("ill"), "b"], analyst=["spread"])
    assert done.calls[-1] == ("analyst", {"task_brief": "T", "samples": ["b"]})
    assert done.value["failures"] == [{"sample": 1, "message": "ill"}]
    with pytest.raises(ProseError, match=r"2 calls.*ill"):
        play("stochastic-probe", TASK, {"sample_size": 2}, probe=[failed("ill")] * 2, analyst=[])


# assumption-miner


def test_every_tier_is_asked_as_often_as_it_says_on_its_model() -> None:
    tiers = [{"model": "big", "count": 3}, {"model": "small", "count": 2}]
    done = play("assumption-miner", TASK, {"tiers": tiers}, miner=[*"abcde"], synthesizer=["list"])
    assert done.calls == [
        *[("miner", {"task_brief": "T"})] * 5,
        ("synthesizer", {"task_brief": "T", "findings": [*"abcde"]}),
    ]
    assert [request.model for request in done.roles["miner"].requests] == ["big"] * 3 + ["small"] * 2
    found = done.value["findings"]
    assert [[entry["reader"] for entry in tier] for tier in found] == [[1, 2, 3], [1, 2]]
    assert found[1][0] == {"model": "small", "reader": 1, "assumptions": "d"}
    assert done.value["result"] == "list"


def test_without_tiers_the_miner_is_asked_on_its_own_model() -> None:
    done = play("assumption-miner", TASK, miner=[*"abc"], synthesizer=["list"])
    assert [request.model for request in done.roles["miner"].requests] == [None] * 3
    with pytest.raises(ProseError, match="tiers"):
        play("assumption-miner", TASK, {"tiers": []}, miner=[], synthesizer=[])


# coherence-probe


@pytest.mark.parametrize("coherent", [True, False])
def test_one_question_is_put_in_every_framing(coherent: bool) -> None:
    config = {"framings": ["f1", "f2"]}
    comparison = {"coherent": coherent, "report": "R"}
    done = play("coherence-probe", TASK, config, subject=["a1", "a2"], comparator=[comparison])
    answers = [{"framing": "f1", "answer": "a1"}, {"framing": "f2", "answer": "a2"}]
    assert done.calls == [
        ("subject", {"task_brief": "T", "framing": "f1"}),
        ("subject", {"task_brief": "T", "framing": "f2"}),
        ("comparator", {"task_brief": "T", "answers": answers}),
    ]
    assert done.value == {"result": "R", "coherent": coherent, "answers": answers}
    assert "f1" not in done.told("subject").split("f2", 1)[1]


def test_the_framings_of_the_library_differ_and_one_is_too_few() -> None:
    done = play("coherence-probe", TASK, subject=[*"abc"], comparator=[{"coherent": True, "report": "R"}])
    assert len({inputs["framing"] for target, inputs in done.calls if target == "subject"}) == 3
    with pytest.raises(ProseError, match="at least two"):
        play("coherence-probe", TASK, {"framings": ["f"]}, subject=[], comparator=[])


# contrastive-probe


def test_one_brief_is_put_under_every_condition() -> None:
    inputs = {**TASK, "variants": ["poor", "rich"]}
    done = play("contrastive-probe", inputs, subject=["a1", "a2"], comparator=["D"])
    answers = [{"variant": "poor", "answer": "a1"}, {"variant": "rich", "answer": "a2"}]
    assert done.calls == [
        ("subject", {"task_brief": "T", "variant": "poor"}),
        ("subject", {"task_brief": "T", "variant": "rich"}),
        ("comparator", {"task_brief": "T", "answers": answers}),
    ]
    assert done.value == {"result": "D", "answers": answers}


def test_there_is_no_contrast_without_two_variants() -> None:
    with pytest.raises(ProseError, match="at least two"):
        play("contrastive-probe", {**TASK, "variants": ["v"]}, subject=[], comparator=[])
