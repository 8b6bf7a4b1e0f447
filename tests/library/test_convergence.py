"""dialectic-convergence: what each fresh call is shown, how it ends, and the person at its bound."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import prose_runtime
from prose_runtime.events import CallStarted, Emitted, Event
from prose_runtime.testing import script
from support.commands import prose, run
from support.library import PATTERNS, Play, load, play

TASK = {"task_brief": "Tabs or spaces?"}
ROLES = ("thesis", "antithesis", "synthesis")


def claims(count: int) -> list[dict[str, str]]:
    return [{"text": f"the claim of round {n}", "digest": f"claim {n}"} for n in range(1, count + 1)]


def critiques(count: int) -> list[dict[str, str]]:
    return [{"text": f"the critique of round {n}", "digest": f"critique {n}"} for n in range(1, count + 1)]


def positions(count: int) -> list[dict[str, Any]]:
    return [
        {"converged": False, "next_thesis": f"the position of round {n}", "digest": f"position {n}"}
        for n in range(1, count + 1)
    ]


ANSWER = {"converged": True, "answer": "the whole answer", "digest": "agreed"}


def debate(rounds: int, *rulings: Any, bound: int = 15, last: Any = None) -> Play:
    """A run of so many rounds, of which the last one ends with ``last`` instead of a position."""
    syntheses = [*positions(rounds)[:-1], last or positions(rounds)[-1]]
    return play(
        "dialectic-convergence",
        TASK,
        {"max_rounds": bound},
        thesis=claims(rounds),
        antithesis=critiques(rounds),
        synthesis=syntheses,
        chair=list(rulings),
    )


def line(n: int, synthesis: str | None = None) -> str:
    return f"R{n}  T: claim {n} → A: critique {n} → S: {synthesis or f'position {n}'}"


def made(word: str, count: int) -> list[str]:
    return [f"the {word} of round {n}" for n in range(1, count + 1)]


def test_each_call_is_shown_its_own_messages_and_what_is_new_and_nothing_else() -> None:
    done = debate(3, last=ANSWER)
    assert done.targets == [*ROLES] * 3
    for n in (1, 2, 3):
        thesis, antithesis, synthesis = (inputs for _, inputs in done.calls[3 * n - 3 : 3 * n])
        assert thesis == {
            "question": "Tabs or spaces?" if n == 1 else None,
            "position": None if n == 1 else f"the position of round {n - 1}",
            "own_messages": made("claim", n - 1),
        }
        assert antithesis == {"claim": f"the claim of round {n}", "own_messages": made("critique", n - 1)}
        assert synthesis == {
            "claim": f"the claim of round {n}",
            "critique": f"the critique of round {n}",
            "own_messages": made("position", n - 1),
        }


def test_no_forbidden_text_crosses() -> None:
    done = debate(3, last=ANSWER)
    forbidden = {
        "thesis": ["critique of", "critique 1", "claim 1", "position 1", "agreed"],
        "antithesis": ["Tabs or spaces", "position of", "critique 1", "claim 1"],
        "synthesis": ["Tabs or spaces", "claim 1", "critique 1", "position 1"],
    }
    for role, words in forbidden.items():
        assert [word for word in words if word in done.told(role)] == []
    for recorder in (done.roles[role] for role in ROLES):
        for request in recorder.requests:
            extras = (request.prompt, request.instructions, request.persona, request.background, request.language)
            assert extras == (None,) * 5
        assert len({request.job for request in recorder.requests}) == 1


def test_a_synthesis_sees_no_claim_but_that_of_its_round() -> None:
    done = debate(3, last=ANSWER)
    for n, request in enumerate(done.roles["synthesis"].requests, 1):
        told = json.dumps(dict(request.inputs))
        assert [k for k in (1, 2, 3) if f"the claim of round {k}" in told] == [n]
        assert [k for k in (1, 2, 3) if f"the critique of round {k}" in told] == [n]


def test_the_isolation_is_proved_before_anything_runs() -> None:
    done = debate(1, last=ANSWER)
    texts = {row["text"]: row["status"] for row in done.result.invariants}
    only = [text for text in texts if text.startswith("`") and "sees only" in text]
    assert len(only) == 3
    assert set(texts.values()) == {"proved"}


def test_it_ends_when_claim_and_critique_converge() -> None:
    done = debate(2, last=ANSWER)
    assert done.value == {
        "result": "the whole answer",
        "converged": True,
        "rounds": 2,
        "digest": [line(1), line(2, "agreed")],
        "exchange": [
            {
                "round": 1,
                "claim": "the claim of round 1",
                "critique": "the critique of round 1",
                "synthesis": "the position of round 1",
            },
            {
                "round": 2,
                "claim": "the claim of round 2",
                "critique": "the critique of round 2",
                "synthesis": "the whole answer",
            },
        ],
    }
    assert done.rungs == {"expression"}


def test_a_line_is_shown_after_each_round_before_the_next_one_begins() -> None:
    seen: list[str] = []

    def watch(event: Event) -> None:
        if isinstance(event, Emitted):
            seen.append(event.value)
        elif isinstance(event, CallStarted):
            seen.append(event.target)

    roles = {"thesis": claims(2), "antithesis": critiques(2), "synthesis": [*positions(1), ANSWER]}
    bind = {role: script(*replies) for role, replies in roles.items()}
    prose_runtime.run(PATTERNS / "dialectic-convergence.prose.md", TASK, bind=bind, on_event=watch)
    assert seen == [*ROLES, line(1), *ROLES, line(2, "agreed")]


LONG = "an   objection that goes on\nand on, from one word to the next, far beyond what a line of a digest can hold"


def test_a_long_digest_is_cut_between_words() -> None:
    done = play(
        "dialectic-convergence",
        TASK,
        thesis=[{"text": "c", "digest": "tabs"}],
        antithesis=[{"text": LONG, "digest": LONG}],
        synthesis=[ANSWER],
        chair=[],
    )
    [shown] = done.result.emitted
    part = shown.split(" → ")[1].removeprefix("A: ")
    assert "\n" not in shown
    assert len(part) <= 48
    assert part.endswith("…")
    assert " ".join(LONG.split()).startswith(part[:-1] + " ")


def test_services_that_answer_text_will_do() -> None:
    done = play(
        "dialectic-convergence", TASK, {"max_rounds": 1}, thesis=["tabs"], antithesis=["no"], synthesis=["both"],
        chair=["stop"],
    )  # fmt: skip
    assert done.value["result"] == "both"
    assert done.value["converged"] is False
    assert done.result.emitted == ["R1  T: tabs → A: no → S: both"]


# the person at the bound


def test_fifteen_rounds_are_made_before_a_person_is_asked() -> None:
    rounds = next(item.default for item in load("dialectic-convergence").config if item.name == "max_rounds")
    assert rounds == 15
    done = debate(15, {"decision": "stop"})
    assert done.targets == [*ROLES] * 15 + ["chair"]


def test_a_person_is_shown_the_lines_and_the_position() -> None:
    done = debate(2, {"decision": "stop"}, bound=2)
    assert done.calls[-1] == ("chair", {"digest": f"{line(1)}\n{line(2)}\n", "position": "the position of round 2"})
    [request] = done.roles["chair"].requests
    assert request.schema is not None
    assert request.schema["properties"]["decision"] == {"enum": ["continue", "stop", "redirect"]}
    assert {"rounds", "question"} <= set(request.schema["properties"])
    assert done.value["result"] == "the position of round 2"
    assert done.value["converged"] is False


def test_the_bound_is_met_twice() -> None:
    done = debate(3, {"decision": "continue", "rounds": 2}, {"decision": "stop"}, bound=1)
    assert done.targets == [*ROLES, "chair", *ROLES, *ROLES, "chair"]
    assert done.calls[4][1]["position"] == "the position of round 1"
    assert (done.value["rounds"], done.value["converged"]) == (3, False)
    assert done.value["digest"] == [line(1), line(2), line(3)]


def test_without_a_number_it_goes_on_for_one_round() -> None:
    done = debate(2, {"decision": "continue"}, {"decision": "stop"}, bound=1)
    assert done.targets == [*ROLES, "chair", *ROLES, "chair"]


def test_another_question_replaces_the_position() -> None:
    redirect = {"decision": "redirect", "rounds": 1, "question": "And for Makefiles?"}
    done = debate(2, redirect, {"decision": "stop"}, bound=1)
    assert done.calls[4][1] == {
        "question": "And for Makefiles?",
        "position": None,
        "own_messages": ["the claim of round 1"],
    }
    assert "Makefiles" not in done.told("antithesis")
    assert "Makefiles" not in done.told("synthesis")


def test_a_redirection_without_a_question_is_asked_for_again() -> None:
    done = debate(1, {"decision": "redirect"}, {"decision": "stop"}, bound=1)
    assert done.targets == [*ROLES, "chair", "chair"]


@pytest.mark.parametrize("ruling", [{}, {"decision": None}, {"decision": "perhaps"}, "I do not know"])
def test_an_unclear_word_never_lets_it_go_on(ruling: Any) -> None:
    done = debate(1, ruling, ruling, bound=1)
    assert done.targets == [*ROLES, "chair", "chair"]
    assert done.value["converged"] is False


def test_an_unclear_word_does_not_end_it_before_it_is_asked_for_again() -> None:
    done = debate(2, "I do not know", "continue", "perhaps", "Stop", bound=1)
    assert done.targets == [*ROLES, "chair", "chair", *ROLES, "chair", "chair"]
    assert done.value["rounds"] == 2


SETTINGS = """services:
  t: {provider: script, replies: [{text: tabs, digest: tabs}], repeat: true}
  a: {provider: script, replies: [{text: no, digest: no}], repeat: true}
  s: {provider: script, replies: [{converged: false, next_thesis: both, digest: both}], repeat: true}
"""
WORDS = ["Tabs or spaces?", "--thesis", "t", "--antithesis", "a", "--synthesis", "s", "--max-rounds", "2"]


PERSON = "  human: {provider: script, replies: [{decision: continue, rounds: 1}, {decision: stop}]}\n"


def test_without_a_person_it_pauses_and_never_runs_past_the_bound(tmp_path: Path) -> None:
    def do(*words: str, code: int) -> dict[str, Any]:
        (tmp_path / "prose.yml").write_text(SETTINGS, encoding="utf-8")
        done = run([prose(), *words, "--json"], tmp_path, home=tmp_path / "home")
        assert done.exit == code, done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    report = do("run", "dialectic-convergence", *WORDS, code=5)
    assert [call["target"] for call in report["calls"]] == [*ROLES, *ROLES, "chair"]
    assert report["calls"][-1]["service"] == "human"
    do("resume", "last", code=5)
    assert "--answer 'decision=WORD'" in run([prose(), "resume", "last"], tmp_path, home=tmp_path / "home").stderr
    report = do("resume", "last", "--answer", "decision=continue", "--answer", "rounds=1", code=5)
    assert len(report["emitted"]) == 3
    report = do("resume", "last", "--answer", "Continue", code=5)
    assert len(report["emitted"]) == 4
    report = do("resume", "last", "--answer", "stop", code=0)
    assert [call["target"] for call in report["calls"]] == [*ROLES, *ROLES, "chair", *ROLES, "chair", *ROLES, "chair"]
    assert (report["result"]["result"], report["result"]["rounds"]) == ("both", 4)


def test_the_service_named_human_answers_at_the_bound(tmp_path: Path) -> None:
    (tmp_path / "prose.yml").write_text(SETTINGS + PERSON, encoding="utf-8")
    done = run([prose(), "run", "dialectic-convergence", *WORDS, "--json"], tmp_path, home=tmp_path / "home")
    assert done.exit == 0, done.stderr
    assert json.loads(done.stdout)["result"]["rounds"] == 3
