"""proposer-adversary, dialectic, ensemble-synthesizer, oversight: several voices on one matter, call by call."""

from __future__ import annotations

from typing import Any

import pytest

import prose_runtime as prose
from prose_runtime.errors import ProseError
from prose_runtime.testing import script
from support.commands import ROOT
from support.library import PATTERNS, failed, play

TASK = {"task_brief": "T"}


# proposer-adversary


def test_an_attack_reaches_the_proposer_until_none_is_left() -> None:
    findings = [{"stands": False, "attack": "who pays?"}, {"stands": True, "attack": None}]
    done = play("proposer-adversary", TASK, proposer=["p1", "p2"], adversary=findings)
    assert done.calls == [
        ("proposer", {"task_brief": "T", "previous_proposal": None, "attack": None}),
        ("adversary", {"task_brief": "T", "proposal": "p1"}),
        ("proposer", {"task_brief": "T", "previous_proposal": "p1", "attack": "who pays?"}),
        ("adversary", {"task_brief": "T", "proposal": "p2"}),
    ]
    exchange = [
        {"round": 1, "proposal": "p1", "attack": "who pays?"},
        {"round": 2, "proposal": "p2", "attack": None},
    ]
    assert done.value == {"result": "p2", "stands": True, "attack": None, "exchange": exchange}
    assert "p1" not in done.told("adversary").split("p2", 1)[1]


def test_a_proposal_that_was_never_found_sound_comes_with_the_last_attack() -> None:
    findings = [{"stands": False, "attack": "a1"}, {"stands": False, "attack": "a2"}]
    done = play("proposer-adversary", TASK, {"max_rounds": 2}, proposer=["p1", "p2"], adversary=findings)
    assert done.targets == ["proposer", "adversary"] * 2
    assert (done.value["result"], done.value["stands"], done.value["attack"]) == ("p2", False, "a2")


# dialectic


def test_each_side_hears_the_last_argument_of_the_other_only() -> None:
    done = play("dialectic", TASK, {"rounds": 3}, thesis=["for1", "for2", "for3"], antithesis=["con1", "con2", "con3"])
    assert done.targets == ["thesis", "antithesis"] * 3
    heard = [inputs["opposing_argument"] for _, inputs in done.calls]
    assert heard == [None, "for1", "con1", "for2", "con2", "for3"]
    assert all(inputs["task_brief"] == "T" for _, inputs in done.calls)
    assert done.value["result"] == {"thesis": "for3", "antithesis": "con3"}
    assert done.value["exchange"] == [{"round": n, "thesis": f"for{n}", "antithesis": f"con{n}"} for n in (1, 2, 3)]


REPLIES = [["for1", "for2", "for3"], ["3", "true", "null"], ["two\nlines {x}", "for \ud83d", ""]]


@pytest.mark.parametrize("said", REPLIES)
@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_the_composite_of_the_examples_gives_the_same(rounds: int, said: list[str]) -> None:
    one, other = (
        prose.run(
            path,
            TASK,
            bind={"thesis": script(*said), "antithesis": script(*[f"against {text}" for text in said])},
            config={"rounds": rounds},
        )
        for path in (
            PATTERNS / "dialectic.prose.md",
            ROOT / "examples" / "dialectic-composite" / "dialectic-composite.md",
        )
    )
    assert other.value == one.value
    shown = [[(call["target"], call["inputs"], call["prompt"]) for call in run.calls] for run in (one, other)]
    assert shown[0] == shown[1]


# ensemble-synthesizer


def test_members_answer_alone_and_the_synthesizer_gets_all_answers() -> None:
    done = play("ensemble-synthesizer", TASK, {"ensemble_size": 4}, ensemble_member=[*"abcd"], synthesizer=["one"])
    assert done.calls == [
        *[("ensemble_member", {"task_brief": "T"})] * 4,
        ("synthesizer", {"task_brief": "T", "answers": [*"abcd"]}),
    ]
    assert done.value == {"result": "one", "answers": [*"abcd"], "failures": []}


def test_an_ensemble_bears_a_failure_but_not_only_failures() -> None:
    members = ["a", failed("ill"), "c"]
    done = play("ensemble-synthesizer", TASK, ensemble_member=members, synthesizer=["one"])
    assert done.calls[-1] == ("synthesizer", {"task_brief": "T", "answers": ["a", "c"]})
    assert done.value["failures"] == [{"member": 2, "message": "ill"}]
    with pytest.raises(ProseError, match=r"3 calls.*ill"):
        play("ensemble-synthesizer", TASK, ensemble_member=[failed("ill")] * 3, synthesizer=[])


# oversight


def ruling(decision: str, brief: str | None = None) -> dict[str, Any]:
    return {"decision": decision, "brief": brief, "reason": f"to {decision}"}


def test_an_oversight_adjusts_the_brief() -> None:
    rulings = [ruling("adjust", "T, but slower"), ruling("continue"), ruling("finish")]
    done = play("oversight", TASK, actor=["o1", "o2", "o3"], observer=["r1", "r2", "r3"], arbiter=rulings)
    assert done.calls == [
        ("actor", {"task_brief": "T", "previous_output": None}),
        ("observer", {"task_brief": "T", "output": "o1"}),
        ("arbiter", {"task_brief": "T", "current_brief": "T", "report": "r1"}),
        ("actor", {"task_brief": "T, but slower", "previous_output": "o1"}),
        ("observer", {"task_brief": "T, but slower", "output": "o2"}),
        ("arbiter", {"task_brief": "T", "current_brief": "T, but slower", "report": "r2"}),
        ("actor", {"task_brief": "T, but slower", "previous_output": "o2"}),
        ("observer", {"task_brief": "T, but slower", "output": "o3"}),
        ("arbiter", {"task_brief": "T", "current_brief": "T, but slower", "report": "r3"}),
    ]
    assert {key: done.value[key] for key in ("result", "decision", "reason", "cycles")} == {
        "result": "o3",
        "decision": "finish",
        "reason": "to finish",
        "cycles": 3,
    }
    assert done.value["log"][0] == {
        "cycle": 1,
        "brief": "T",
        "output": "o1",
        "report": "r1",
        "decision": "adjust",
        "reason": "to adjust",
    }
    assert "r1" not in done.told("actor")
    assert "o1" not in done.told("arbiter")
    assert "judge" not in done.rungs


def test_an_oversight_aborts_at_once() -> None:
    done = play("oversight", TASK, actor=["o1"], observer=["r1"], arbiter=[ruling("abort")])
    assert done.targets == ["actor", "observer", "arbiter"]
    assert (done.value["result"], done.value["decision"], done.value["cycles"]) == ("o1", "abort", 1)


def test_an_oversight_that_goes_on_ends_with_its_cycles() -> None:
    rulings = [ruling("continue"), ruling("adjust")]
    done = play("oversight", TASK, {"max_cycles": 2}, actor=["o1", "o2"], observer=["r1", "r2"], arbiter=rulings)
    assert done.targets == ["actor", "observer", "arbiter"] * 2
    assert (done.value["result"], done.value["decision"], done.value["cycles"]) == ("o2", "adjust", 2)
    assert "judge" not in done.rungs
