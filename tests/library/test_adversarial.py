"""adversarial-debate: who is shown what, call by call; concessions, verdicts of each kind, votes and flips."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

import prose_runtime
from prose_runtime.errors import ContractError
from prose_runtime.services.api import Request
from prose_runtime.testing import script
from support.commands import prose, run
from support.library import PATTERNS, Play, load, play

THESIS = "Remote work makes teams more productive"
TASK = {"task_brief": THESIS}
INTRO = {"opening": "Welcome to the debate", "language": "English", "summary": "Nine people, three zones"}
ENDING = {"closing": "Good night", "insight": "quiet is shared", "open_question": "who pays?"}
BINARY = {"winner": "for", "reasons": ["better answered"], "verdict": "The first side has it", "synthesis": "Keep both"}
TURNS = ["pro", "contra", "pro", "contra", "pro", "contra"]


def speeches(side: str) -> list[Any]:
    return [{"text": f"the {name} {side}", "stands": True} for name in ("opening", "rebuttal", "finale")]


def entry(name: str, side: str) -> dict[str, str]:
    rounds = {"opening": "opening statement", "rebuttal": "rebuttal", "finale": "final argument"}
    return {"round": rounds[name], "side": side, "argument": f"the {name} {side}"}


OPENED = {"round": "opening", "side": "neither", "argument": "Welcome to the debate"}
WHOLE = [entry(name, side) for name in ("opening", "rebuttal", "finale") for side in ("for", "against")]


def debate(
    *rulings: Any, inputs: dict[str, Any] | None = None, pro: Any = None, contra: Any = None, **config: Any
) -> Play:
    return play(
        "adversarial-debate",
        {**TASK, **(inputs or {})},
        config,
        pro=pro or speeches("for"),
        contra=contra or speeches("against"),
        judge=list(rulings or (BINARY,)),
        moderator=[INTRO, ENDING],
    )


# who is shown what


def test_seven_calls_besides_those_that_open_and_close() -> None:
    assert debate().targets == ["moderator", *TURNS, "judge", "moderator"]


def test_the_slots_stand_in_the_order_in_which_personas_are_given() -> None:
    assert [slot.name for slot in load("adversarial-debate").slots] == ["pro", "contra", "judge", "moderator"]


def test_each_call_is_shown_what_it_may_see_and_nothing_else() -> None:
    done = debate(inputs={"background": "We are nine people in three time zones."})
    calls = done.calls
    who = {"for": "pro-1", "against": "contra-1", "verdict": "judge-1", "leads": "moderator-1"}
    topic = {"thesis": THESIS, "background": "Nine people, three zones", "language": "English"}
    given = {"thesis": THESIS, "background": "We are nine people in three time zones."}
    assert calls[0][1] == {"topic": given, "participants": who}
    # For each turn how much of the debate had been said: the openings see nothing, a rebuttal both openings.
    for (target, inputs), heard in zip(calls[1:7], (0, 0, 2, 3, 4, 5), strict=True):
        assert inputs == {"topic": topic, "debate": WHOLE[:heard], "earlier_reply": None}, target
    assert calls[7][1] == {"topic": topic, "debate": [OPENED, *WHOLE]}
    assert calls[8][1] == {
        "topic": topic,
        "participants": who,
        "debate": WHOLE,
        "verdict": done.value["result"],
    }


def test_no_forbidden_text_crosses() -> None:
    done = debate(inputs={"background": "We are nine people in three time zones."})
    pro, contra = done.roles["pro"].requests, done.roles["contra"].requests
    told = [[json.dumps(request.content()) for request in requests] for requests in (pro, contra)]
    assert "opening against" not in told[0][0]
    assert "opening for" not in told[1][0]
    assert "rebuttal against" not in told[0][1]
    assert "rebuttal for" in told[1][1]
    assert "finale against" not in told[0][2]
    assert "finale for" in told[1][2]
    for slot in ("pro", "contra", "judge"):
        assert "three time zones" not in done.told(slot)
    for slot in ("pro", "contra"):
        assert "first side has it" not in done.told(slot)
        assert "Welcome" not in done.told(slot)


def test_the_isolation_is_proved_before_anything_runs() -> None:
    assert {row["status"] for row in debate().result.invariants} == {"proved"}


def test_openings_are_written_at_the_same_time() -> None:
    both = asyncio.Barrier(2)
    asked = {"pro": 0, "contra": 0}

    def side(name: str) -> Any:
        async def speak(request: Request) -> str:
            asked[name] += 1
            if asked[name] == 1:
                async with asyncio.timeout(10):
                    await both.wait()
            return f"{name} speaks"

        return speak

    bind = {"pro": side("pro"), "contra": side("contra"), "judge": script(BINARY), "moderator": script(INTRO, ENDING)}
    done = prose_runtime.run(PATTERNS / "adversarial-debate.prose.md", TASK, bind=bind)
    assert asked == {"pro": 3, "contra": 3}
    assert done.value["debate"][1]["argument"] == "contra speaks"


# concessions


@pytest.mark.parametrize("concession", [{"text": "We have no case left", "stands": False}, "You are right; I concede."])
def test_a_reply_that_concedes_is_asked_for_once_more(concession: Any) -> None:
    said = speeches("for")
    done = debate(pro=[said[0], concession, *said[1:]])
    assert done.targets == ["moderator", "pro", "contra", "pro", "pro", "contra", "pro", "contra", "judge", "moderator"]
    first, again = done.roles["pro"].requests[1:3]
    words = concession["text"] if isinstance(concession, dict) else concession
    assert again.inputs == {**first.inputs, "earlier_reply": words}
    assert again.prompt.startswith(first.prompt.strip())
    assert "stand by your position" in again.prompt
    assert done.value["debate"] == WHOLE
    for slot in ("contra", "judge", "moderator"):
        assert words not in done.told(slot)


def test_the_other_side_is_reminded_as_well() -> None:
    said = speeches("against")
    done = debate(contra=[*said[:2], {"text": "They win", "stands": False}, said[2]])
    assert done.targets.count("contra") == 4
    assert done.value["debate"] == WHOLE


def test_it_is_asked_once_more_only() -> None:
    gone = {"text": "I give up", "stands": False}
    done = debate(pro=[gone, gone, *speeches("for")[1:]])
    assert done.targets.count("pro") == 4
    assert done.value["debate"][0]["argument"] == "I give up"


def test_sides_that_answer_text_will_do() -> None:
    done = debate(pro=["one", "two", "three"], contra=["four", "five", "six"])
    assert done.targets == ["moderator", *TURNS, "judge", "moderator"]
    assert [said["argument"] for said in done.value["debate"]] == ["one", "four", "two", "five", "three", "six"]


# verdicts

TETRALEMMA = {
    "the_one": "1", "the_other": "2", "both": "3", "neither": "4", "none_of_these": "5", "best": "both",
    "verdict": "V", "synthesis": "S",
}  # fmt: skip
POLARITY = {
    "upsides_for": ["a"], "downsides_for": ["b"], "upsides_against": ["c"], "downsides_against": ["d"],
    "virtuous_cycle": "e", "vicious_cycle": "f", "early_warnings": ["g"], "where_now": "h",
    "verdict": "V", "synthesis": "S",
}  # fmt: skip
REPLIES = {"binary": BINARY, "tetralemma": TETRALEMMA, "polarity": POLARITY}


def test_a_winner_with_reasons() -> None:
    result = debate().value["result"]
    assert result == {
        "mode": "binary",
        "winner": "pro",
        "best": None,
        "findings": {"reasons": ["better answered"]},
        "verdict": "The first side has it",
        "synthesis": "Keep both",
        "votes": [{"choice": "for", "votes": 1}, {"choice": "against", "votes": 0}],
        "unstable": False,
    }
    assert debate({**BINARY, "winner": "Against"}).value["result"]["winner"] == "contra"


def test_five_answers_are_weighed_and_the_best_is_named() -> None:
    result = debate(TETRALEMMA, mode="tetralemma").value["result"]
    corners = ["the_one", "the_other", "both", "neither", "none_of_these"]
    assert result["findings"] == {name: TETRALEMMA[name] for name in corners}
    assert (result["best"], result["winner"]) == ("both", None)
    assert [vote["choice"] for vote in result["votes"]] == corners


def test_a_map_of_poles_has_no_winner() -> None:
    result = debate(POLARITY, mode="polarity").value["result"]
    assert result["findings"] == {key: value for key, value in POLARITY.items() if key not in ("verdict", "synthesis")}
    assert (result["winner"], result["best"], result["votes"]) == (None, None, [])


@pytest.mark.parametrize(("mode", "field"), [(mode, field) for mode, reply in REPLIES.items() for field in reply])
def test_a_verdict_that_lacks_a_part_is_asked_for_once_more_and_then_refused(mode: str, field: str) -> None:
    lacking = {key: value for key, value in REPLIES[mode].items() if key != field}
    done = debate(lacking, REPLIES[mode], mode=mode)
    assert field in str(done.roles["judge"].requests[1].fault)
    with pytest.raises(ContractError, match=field):
        debate(lacking, lacking, mode=mode)


def test_a_winner_is_one_of_the_sides() -> None:
    with pytest.raises(ContractError, match="for, against"):
        debate(*[{**BINARY, "winner": "the audience"}] * 2)


@pytest.mark.parametrize("mode", REPLIES)
def test_brief_makes_turns_short_and_leaves_the_rounds(mode: str) -> None:
    done = debate(REPLIES[mode], mode=mode, brief=True)
    assert done.targets == ["moderator", *TURNS, "judge", "moderator"]
    for slot in ("pro", "contra"):
        assert all("two or three sentences" in request.prompt for request in done.roles[slot].requests)
    [asked] = done.roles["judge"].requests
    assert "three or four sentences" in asked.prompt
    assert "bullets" in asked.prompt
    assert "sentences" not in debate(REPLIES[mode], mode=mode).roles["pro"].requests[0].prompt


# judges one can trust more


def against(verdict: str = "The second side has it") -> dict[str, Any]:
    return {**BINARY, "winner": "against", "verdict": verdict}


def test_sides_change_places_and_a_flip_is_reported() -> None:
    done = debate(BINARY, against(), swap=True)
    first, second = (request.inputs["debate"] for request in done.roles["judge"].requests)
    assert first == [OPENED, *WHOLE]
    assert second == [OPENED, *(WHOLE[i] for i in (1, 0, 3, 2, 5, 4))]
    result = done.value["result"]
    assert (result["unstable"], result["winner"]) == (True, None)
    assert [vote["votes"] for vote in result["votes"]] == [1, 1]
    assert "unstable" in done.value["transcript"]


def test_a_verdict_that_stays_is_stable() -> None:
    done = debate(BINARY, BINARY, swap=True)
    assert (done.value["result"]["unstable"], done.value["result"]["winner"]) == (False, "pro")
    assert "unstable" not in done.value["transcript"]


def test_a_panel_votes() -> None:
    done = debate(against("A"), BINARY, against("C"), judges=3)
    assert done.targets.count("judge") == 3
    assert len({json.dumps(dict(request.inputs)) for request in done.roles["judge"].requests}) == 1
    result = done.value["result"]
    assert (result["winner"], result["verdict"]) == ("contra", "A")
    assert result["votes"] == [{"choice": "for", "votes": 1}, {"choice": "against", "votes": 2}]
    assert [seat["judge"] for seat in done.value["panel"]] == [1, 2, 3]
    verdict = section(done.value["transcript"], "Judge's Verdict")
    assert verdict.count("⚖️") == 3
    assert "for: 1" in verdict
    assert "against: 2" in verdict


def test_a_tie_has_no_winner() -> None:
    assert debate(BINARY, against(), judges=2).value["result"]["winner"] is None


def test_an_answer_without_the_debate_stands_beside_it() -> None:
    done = debate(BINARY, "It depends on the team", baseline=True)
    assert done.value["baseline"] == "It depends on the team"
    alone = done.roles["judge"].requests[1]
    assert (alone.inputs["topic"]["thesis"], alone.inputs["debate"]) == (THESIS, [])
    assert debate().value["baseline"] is None


# the transcript

HEADINGS = [
    "Opening",
    "Round 1 — Opening Statements",
    "Round 2 — Rebuttals",
    "Round 3 — Final Arguments",
    "Judge's Verdict",
    "Closing",
]


def section(transcript: str, heading: str) -> str:
    return transcript.split(f"## {heading}\n")[1].split("\n## ", maxsplit=1)[0]


def test_the_transcript_has_its_headings_and_marks() -> None:
    text = debate().value["transcript"]
    assert re.findall(r"^#+ (.+)$", text, re.MULTILINE) == HEADINGS
    for i, name in enumerate(("opening", "rebuttal", "finale"), 1):
        said = section(text, HEADINGS[i])
        assert f"🟢 **pro-1**: the {name} for" in said
        assert f"🔴 **contra-1**: the {name} against" in said
    assert "⚔️ **moderator-1**: Welcome to the debate" in section(text, "Opening")
    assert "⚖️ **judge-1**: The first side has it" in section(text, "Judge's Verdict")
    assert "- better answered" in section(text, "Judge's Verdict")
    assert "⚔️ **moderator-1**: Good night" in section(text, "Closing")
    assert all(name in section(text, "Opening") for name in ("pro-1", "contra-1", "judge-1", "moderator-1"))


@pytest.mark.parametrize("best", ["the_one", "the_other", "both", "neither", "none_of_these"])
def test_the_transcript_marks_the_best_of_the_five_answers(best: str) -> None:
    verdict = section(debate({**TETRALEMMA, "best": best}, mode="tetralemma").value["transcript"], "Judge's Verdict")
    chosen = verdict.rpartition("→ ")[2].strip()
    assert f"- {chosen} {TETRALEMMA[best]}\n" in verdict


def test_the_transcript_names_the_winner() -> None:
    assert "→ 🟢 **pro-1**" in debate().value["transcript"]
    assert "→ 🔴 **contra-1**" in debate(against()).value["transcript"]
    assert "→" not in debate(BINARY, against(), swap=True).value["transcript"]


def test_nothing_is_in_another_language_than_what_was_said() -> None:
    text = debate().value["transcript"]
    said = [*(turn["argument"] for turn in WHOLE), *INTRO.values(), *ENDING.values(), *BINARY["reasons"]]
    said += [
        "The first side has it",
        "Keep both",
        *HEADINGS,
        *(f"{slot}-1" for slot in TURNS),
        "judge-1",
        "moderator-1",
    ]
    for part in sorted(said, key=len, reverse=True):
        text = text.replace(part, "")
    assert re.findall(r"[A-Za-z]+", text) == []


def test_personas_and_people_are_named_by_whoever_opens(tmp_path: Path) -> None:
    (tmp_path / "facts.txt").write_text("We are nine people.", encoding="utf-8")
    words = ["--tetralemma", "--brief", "--personas", "Holmes, Moriarty, Socrates", "--context", "facts.txt", "--json"]
    done = run(
        [prose(), "run", "adversarial-debate", THESIS, *words], tmp_path, home=tmp_path, PROSE_DEFAULT="rehearsal"
    )
    assert done.exit == 0, done.stderr
    report = json.loads(done.stdout)
    assert [call["target"] for call in report["calls"]] == ["moderator", *TURNS, "judge", "moderator"]
    opening = report["calls"][0]["inputs"]
    assert opening["participants"] == {
        "for": "Holmes (rehearsal)",
        "against": "Moriarty (rehearsal)",
        "verdict": "Socrates (rehearsal)",
        "leads": "rehearsal",
    }
    assert opening["topic"]["background"] == "We are nine people."
    for call in report["calls"][1:8]:
        assert call["inputs"]["topic"]["background"].startswith("[rehearsal] summary")
    assert report["result"]["result"]["mode"] == "tetralemma"
    assert all(name in report["result"]["transcript"] for name in ("Holmes", "Moriarty", "Socrates"))
    assert {row["status"] for row in report["invariants"]} == {"proved"}


def test_who_joins_can_answer_later(tmp_path: Path) -> None:
    def do(*words: str) -> dict[str, Any]:
        done = run([prose(), *words, "--json"], tmp_path, home=tmp_path, PROSE_DEFAULT="rehearsal")
        assert done.exit in (0, 5), done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    report = do("run", "adversarial-debate", THESIS, "--join", "pro")
    for speech in ("My opening", "My rebuttal", "My last word"):
        assert report["status"] == "paused"
        report = do("resume", "last", "--answer", speech)
    assert report["status"] == "completed"
    assert [said["argument"] for said in report["result"]["debate"][::2]] == [
        "My opening",
        "My rebuttal",
        "My last word",
    ]
