"""What a person sees of a run while it happens, and of its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from prose_runtime.cli.terminal import Progress
from prose_runtime.errors import ProseError, UsageError
from prose_runtime.events import (
    CallFinished,
    CallRetry,
    CallStarted,
    CallText,
    ConditionDecided,
    Emitted,
    Event,
    StepStarted,
    Warned,
)
from prose_runtime.report.run_json import dumps, failure
from prose_runtime.report.run_text import error_text, usage_text, value_text
from prose_runtime.text import Where

AT = Where("s.prose.md", 12, 3)


def shown(*events: Event) -> str:
    pieces: list[str] = []
    progress = Progress(lambda text, style: pieces.append(text), clock=iter(range(99)).__next__)
    for event in events:
        progress(event)
    return "".join(pieces)


def begin(step: str = "call a", target: str = "thesis", attempt: int = 1) -> CallStarted:
    return CallStarted(step, target, "claude", {}, None, AT, attempt)


def test_a_call_has_a_line_at_its_start_and_one_at_its_end() -> None:
    lines = shown(begin(), CallFinished("call a", output="first\nwords " * 30)).splitlines()
    assert len(lines) == 2
    assert all(word in lines[0] for word in ("thesis", "claude", "12"))
    assert "thesis" in lines[1]
    assert "1.0 s" in lines[1]
    assert "first words" in lines[1]
    assert len(lines[1]) < 110


def test_failure_retry_repair_and_record_are_told() -> None:
    text = shown(
        begin(),
        CallRetry("call a", 2, 0.5, "the service is overloaded"),
        CallRetry("call a", 0, 0.0, "small is asked instead"),
        CallFinished("call a", error={"message": "no key"}),
        begin("call b", "antithesis", attempt=2),
        CallFinished("call b", output="x", recorded=True),
        begin("call c", "branch"),
        CallFinished("call c", error={"kind": "cancelled", "message": "cancelled"}),
    )
    assert "0.5 s" in text
    assert "overloaded" in text
    assert "instead\n" in text
    assert "fail thesis: no key" in text
    assert "stop branch" in text
    assert "attempt 2" in text
    assert "kept antithesis" in text


def test_emitted_lines_warnings_and_verdicts_are_told_and_nothing_else() -> None:
    text = shown(
        Emitted("emit", {"round": 1}, AT),
        Warned("w", "careful", AT),
        ConditionDecided("if", "the text is calm", "judge", True, "it is", AT),
        ConditionDecided("if", "x == 1", "expression", False, None, AT),
        StepStarted("repeat", "repeat", AT),
    )
    assert text.splitlines() == [
        '{"round": 1}',
        "warning: careful (s.prose.md:12:3)",
        "judge the text is calm: yes (it is)",
    ]


def test_an_answer_cannot_steer_the_terminal() -> None:
    evil = "\x1b]0;title\x07\x1b[2J"
    text = shown(begin(), CallText("call a", evil), CallFinished("call a", output=evil), Emitted("e", evil, AT))
    assert "\x1b" not in text
    assert "\x07" not in text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is\n\n- x", "as it is\n\n- x"),
        (None, ""),
        (3, "3"),
        ([], "[]"),
        ({"result": "only this"}, "only this"),
        ({"result": "a", "rounds": 2}, "result: a\nrounds: 2"),
        (["a", {"b": None}], "- a\n- b: null"),
        ({"a": "two\nlines", "b": [1, 2]}, "a:\n  two\n  lines\n\nb:\n  - 1\n  - 2"),
    ],
)
def test_results_read_well(value: object, text: str) -> None:
    assert value_text(value) == text


def test_an_error_shows_its_place_the_line_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "s.md").write_text("one\n\tcall nobody\n")
    where = Where(str(tmp_path / "s.md"), 2, 7)
    lines = error_text(UsageError("there is no `nobody`", help="did you mean `somebody`?", where=where)).splitlines()
    assert lines[0] == "error: there is no `nobody`"
    assert lines[1].strip() == str(where)
    assert lines[2].endswith("\tcall nobody")
    assert lines[3].index("^") == lines[2].index("nobody")
    assert lines[4] == "help: did you mean `somebody`?"


@pytest.mark.parametrize("where", [Where("missing.md", 1), Where(__file__, 10**6)])
def test_a_place_that_is_gone_is_still_named(where: Where) -> None:
    assert str(where) in error_text(ProseError("x", where=where))


def test_unknown_costs_are_left_out() -> None:
    assert usage_text({"calls": 1, "input_tokens": None, "output_tokens": None, "cost_usd": None}) == "1 call"
    known = {"calls": 2, "input_tokens": 1200, "output_tokens": 34, "cost_usd": 0.01234}
    assert usage_text(known) == "2 calls, 1,200 tokens in, 34 out, $0.0123"


def test_the_object_of_a_run_that_never_began() -> None:
    shown = failure(UsageError("no"), "s")
    assert (shown["run"], shown["status"], shown["spec"]) == (None, "failed", "s")
    assert shown["error"]["kind"] == "usage"
    assert shown["usage"]["calls"] == 0
    assert "\ufffd" in dumps({"x": "\ud800"})
