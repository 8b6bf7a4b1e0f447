"""Invariants in the result of a run: proved, held, broken, unchecked."""

from __future__ import annotations

import asyncio
import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from prose_runtime.errors import ContractError
from prose_runtime.runtime.result import Result
from prose_runtime.runtime.session import RunRequest, execute, prepare
from prose_runtime.services.api import Reply
from prose_runtime.testing import script
from support.commands import prose, run
from support.composites import composite
from support.programs import line_of, pattern

LONG = "an answer that is long enough to be found again"


def play(path: Path, bind: dict[str, Any], **more: Any) -> Result:
    return asyncio.run(execute(prepare(RunRequest(path, more.get("inputs", {}), more.get("config", {}), bind))))


def statuses(result: Result) -> list[str]:
    return [entry["status"] for entry in result.invariants]


def claims(*sentences: str) -> str:
    return "### Invariants\n\n" + "\n".join(f"- {sentence}" for sentence in sentences) + "\n"


def with_claims(path: Path, *sentences: str) -> Path:
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("### Delegation", f"{claims(*sentences)}\n### Delegation"), encoding="utf-8")
    return path


def test_what_is_proved_is_reported_as_proved_with_its_line(tmp_path: Path) -> None:
    body = "let one = call a\n  x: 1\nlet two = call b\n  x: 2\nreturn [one, two]"
    path = pattern(tmp_path, body, slots="a b", extra=claims("`b` never sees the output of `a`."))
    result = play(path, {"a": script(LONG), "b": script("y")})
    (entry,) = result.invariants
    assert (entry["status"], entry["text"]) == ("proved", "`b` never sees the output of `a`.")
    assert entry["line"] == line_of(path, "never sees")
    assert "no data flows from a to b" in entry["how"]


def test_what_nobody_can_tell_is_unchecked(tmp_path: Path) -> None:
    path = pattern(tmp_path, "return call a", extra=claims("`a` is always in a good mood."))
    result = play(path, {"a": script("x")})
    assert statuses(result) == ["unchecked"]
    assert result.error is None


COUNTED = """
    let n = 0
    for part in parts:
      if part > 1:
        call a
          part: part
    return n
"""


@pytest.mark.parametrize(("parts", "status"), [([1, 2, 3], "held"), ([2, 3, 4], "broken")])
def test_calls_are_counted_where_the_program_does_not_say(tmp_path: Path, parts: list[int], status: str) -> None:
    path = pattern(tmp_path, COUNTED, rows="parts: array", extra=claims("`a` is called at most 2 times."))
    result = play(path, {"a": script("x", repeat=True)}, inputs={"parts": parts})
    assert statuses(result) == [status]
    assert f"called {2 if status == 'held' else 3} times, bound 2" in result.invariants[0]["how"]


def test_a_broken_invariant_ends_the_run_with_its_own_error(tmp_path: Path) -> None:
    path = pattern(tmp_path, COUNTED, rows="parts: array", extra=claims("`a` is called at most 2 times."))
    result = play(path, {"a": script("x", repeat=True)}, inputs={"parts": [2, 3, 4]})
    assert isinstance(result.error, ContractError)
    assert (result.error.kind, result.exit_code, result.status) == ("invariant", 3, "failed")
    assert result.error.where is not None
    assert result.error.where.line == line_of(path, "at most 2")
    assert "`a` is called at most 2 times." in result.error.message


def test_the_command_says_so_and_exits_with_3(tmp_path: Path) -> None:
    pattern(tmp_path, COUNTED, rows="parts: array", extra=claims("`a` is called at most 2 times."))
    (tmp_path / "prose.yml").write_text("services:\n  x: {provider: script, replies: [x], repeat: true}\ndefault: x\n")
    done = run([prose(), "run", "probe.prose.md", "--parts", "[2, 3, 4]", "--json"], tmp_path, home=tmp_path)
    shown = json.loads(done.stdout)
    assert done.exit == 3
    assert shown["error"]["kind"] == "invariant"
    assert shown["invariants"][0]["status"] == "broken"
    assert "broken invariant" in done.stderr


def test_a_failed_run_cannot_fall_short_of_a_number(tmp_path: Path) -> None:
    body = 'for part in parts:\n  if part > 1:\n    call a\n      part: part\nthrow "enough"'
    path = pattern(tmp_path, body, rows="parts: array", extra=claims("`a` is called exactly 2 times."))
    result = play(path, {"a": script("x", repeat=True)}, inputs={"parts": [1, 3]})
    assert result.error is not None
    assert result.error.kind != "invariant"
    assert statuses(result) == ["unchecked"]


GUARDED = """
    let leave = call gate
      x: 1
    if leave.mood == "sunny":
      return call worker
        x: 1
    return null
"""


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"mood": "sunny", "approved": True}, "held"),
        ({"mood": "sunny", "approved": False}, "broken"),
        ({"mood": "sunny"}, "unchecked"),
        ({"mood": "rainy", "approved": False}, "held"),
    ],
)
def test_approval_is_read_off_the_guards_answer(tmp_path: Path, answer: dict[str, Any], status: str) -> None:
    extra = claims("`worker` runs only if `gate` approves.")
    path = pattern(tmp_path, GUARDED, slots="gate worker", extra=extra)
    assert statuses(play(path, {"gate": script(answer), "worker": script("done")})) == [status]


def test_a_call_that_the_guard_refuses_is_not_made(tmp_path: Path) -> None:
    extra = claims("`worker` runs only if `gate` approves.")
    path = pattern(tmp_path, GUARDED, slots="gate worker", extra=extra)
    result = play(path, {"gate": script({"mood": "sunny", "approved": False}), "worker": script("done")})
    assert [call["target"] for call in result.calls] == ["gate"]
    assert result.error is not None
    assert result.error.exit_code == 3


# composites


def test_composites_are_watched_for_what_a_role_is_shown(tmp_path: Path) -> None:
    body = """
    const { one, two } = __compositeState;
    const a = await rlm("begin", null, { use: one });
    return await rlm("go on", { other: `they said: ${a}` }, { use: two });
    """
    sentences = (
        "`two` never sees the output of `one`.",
        "`one` never sees the output of `two`.",
        "`one` is called before `two`.",
        "`two` is called before `one`.",
        "`one` is called exactly once.",
        "The output of `one` reaches `two`.",
        "`two` sees only the output of `one`.",
    )
    path = with_claims(composite(tmp_path, body), *sentences)
    result = play(path, {"one": script(LONG), "two": script("a second long answer")})
    assert statuses(result) == ["broken", "held", "held", "broken", "held", "held", "held"]
    assert "other" in result.invariants[0]["how"]


def test_composites_are_watched_for_the_patterns_name_and_equal_inputs(tmp_path: Path) -> None:
    body = """
    const { one, two } = __compositeState;
    await Promise.all([rlm("same", { x: 1 }, { use: one }), rlm("same", { x: 1 }, { use: two })]);
    await rlm("You are in a probe.", { x: 2 }, { use: two });
    return 1;
    """
    sentences = (
        "`one` is unaware of the pattern.",
        "`two` is unaware of the pattern.",
        "`one` gets the same inputs in all calls.",
        "All calls of `two` get the same inputs.",
    )
    path = with_claims(composite(tmp_path, body), *sentences)
    result = play(path, {"one": script("x", repeat=True), "two": script("x", repeat=True)})
    assert statuses(result) == ["held", "broken", "held", "broken"]


def test_short_answers_cannot_be_followed(tmp_path: Path) -> None:
    body = """
    const { one, two } = __compositeState;
    const a = await rlm("begin", null, { use: one });
    return await rlm("go on", { other: a }, { use: two });
    """
    path = with_claims(composite(tmp_path, body), "`two` never sees the output of `one`.")
    result = play(path, {"one": script("yes"), "two": script("no")})
    assert statuses(result) == ["unchecked"]
    assert "too short" in result.invariants[0]["how"]


def test_calls_of_nested_patterns_are_not_the_specs_own(tmp_path: Path) -> None:
    inner = "let one = call a\n  x: 1\nreturn call a\n  x: one"
    pattern(tmp_path, inner, slots="a", name="inner")
    path = pattern(tmp_path, COUNTED, rows="parts: array", extra=claims("`a` is called at most 2 times."))
    (tmp_path / "prose.yml").write_text("services:\n  both: {pattern: inner, with: {a: x}}\n  x: {provider: echo}\n")
    result = play(path, {"a": "both"}, inputs={"parts": [1, 2, 3]})
    assert len(result.calls) == 4
    assert statuses(result) == ["held"]


def test_within_a_round(tmp_path: Path) -> None:
    body = textwrap.dedent("""
        let kept = null
        repeat 2:
          let one = call a
            heard: kept
          let two = call b
            x: 1
          if one.length > 3:
            kept = two
        return kept
    """)
    sentences = ("In each round, `a` never sees the output of `b`.", "`a` is called before `b` in every round.")
    path = pattern(tmp_path, body, slots="a b", extra=claims(*sentences))
    result = play(path, {"a": script(LONG, LONG), "b": script("b's long answer one", "b's long answer two")})
    assert statuses(result) == ["proved", "proved"]


def test_a_guard_counts_in_its_own_branch(tmp_path: Path) -> None:
    body = """
        parallel for item, place in [1, 2]:
          let v = call a(x: item)
          if place == 1:
            sleep 0.05s
          if v.approved:
            call b(x: item)
        return 1
    """
    path = pattern(tmp_path, textwrap.dedent(body), slots="a b", extra=claims("`b` runs only when `a` approves."))

    async def picky(request: Any) -> Any:
        await asyncio.sleep(0.02 if request.inputs["x"] == 1 else 0.0)
        return {"approved": request.inputs["x"] == 2}

    result = play(path, {"a": picky, "b": script("y")})
    assert (result.error, statuses(result)) == (None, ["held"])


def test_all_calls_of_a_role_before_another(tmp_path: Path) -> None:
    body = "for x in xs:\n  if x == 2:\n    call b\n  call a\nreturn 1"
    claim = "`b` is called after all calls of `a`."
    path = pattern(tmp_path, body, slots="a b", rows="xs: integer[]", extra=claims(claim))
    late = play(path, {"a": script("x", repeat=True), "b": script("y")}, inputs={"xs": [1, 2]})
    assert statuses(late) == ["broken"]
    assert statuses(play(path, {"a": script("x", repeat=True), "b": script("y")}, inputs={"xs": [1]})) == ["held"]


class Member:
    """Answers at once in one of two walks, and late in the other."""

    def __init__(self, name: str):
        self.name = name

    async def __call__(self, request: Any) -> Reply:
        await asyncio.sleep(0.03 if request.inputs.get("x") == 1 else 0.0)
        return Reply(f"{self.name} has done its part")


WALK = "for m in ps:\n    call m(x: i)\n  call a(x: i)"


@pytest.mark.parametrize(
    ("claim", "body", "status"),
    [
        ("`ps` run in order.", "for i in [1, 2]:\n  " + WALK, "proved"),
        ("`ps` run in order.", "parallel for i in [1, 2]:\n  " + WALK, "broken"),
        ("`ps` run in order.", "let i = 1\nlet all = ps\nif i:\n  " + WALK.replace("ps", "all"), "held"),
        ("`ps` run in order.", "let i = 1\nlet all = [ps[1], ps[0]]\nif i:\n  " + WALK.replace("ps", "all"), "broken"),
        ("All `ps` get the same inputs.", "for i in [1, 2]:\n  " + WALK, "proved"),
        ("All `ps` get the same inputs.", "parallel for i in [1, 2]:\n  parallel " + WALK, "broken"),
        ("All `ps` get the same inputs.", "let all = ps\nfor m, i in all:\n  call m(x: i)", "broken"),
        ("There are at most 2 rounds.", "for i in [1, 2]:\n  " + WALK, "proved"),
        ("There are at most 2 rounds.", "parallel for i in [1, 2]:\n  repeat 2:\n    call a(x: i)", "unchecked"),
        ("`a` runs exactly once in every round.", "repeat 2 as i:\n  " + WALK, "proved"),
        ("No `ps` sees the output of another `ps`.", "for m in ps:\n  let q = call m\n  call m(x: q)", "held"),
        ("`a` runs before `ps` in every round.", "if topic:\n  call a\ncall ps[0]\ncall ps[1]", "held"),
    ],
)
def test_loops_side_by_side(tmp_path: Path, claim: str, body: str, status: str) -> None:
    path = pattern(tmp_path, body + "\nreturn 1", slots="a ps[]", rows="topic: string", extra=claims(claim))
    result = play(path, {"a": Member("a"), "ps": [Member("one"), Member("two")]}, inputs={"topic": "tides"})
    assert statuses(result) == [status], result.invariants


def test_a_composite_that_asks_all_at_once_has_no_order(tmp_path: Path) -> None:
    sentence = "`ps` run in order."
    for script_, status in (
        ("for (const p of s.ps) await rlm('x', {}, { use: p });", "held"),
        ("await Promise.all(s.ps.map(p => rlm('x', {}, { use: p })));", "broken"),
    ):
        path = composite(tmp_path, "const s = __compositeState;\n" + script_ + "\nreturn('done');", slots="ps[]")
        result = play(with_claims(path, sentence), {"ps": [Member("one"), Member("two")]})
        assert statuses(result) == [status], result.invariants


IN_TURN = """
let text = "a first text that is told to the first of them"
for role in [{}]:
  text = call role
    text: text
return text
"""


@pytest.mark.parametrize(
    ("claim", "members", "status"),
    [
        ("`a` is called before `b`.", "a, b", "held"),
        ("`a` is called before `b`.", "b, a", "broken"),
        ("`b` is called after all calls of `a`.", "a, b", "held"),
        ("`b` is called after all calls of `a`.", "b, a", "broken"),
        ("`a` never sees the output of `b`.", "a, b", "held"),
        ("`a` never sees the output of `b`.", "b, a", "broken"),
        ("`a` sees only the output of `b`.", "a, c", "held"),
        ("`a` sees only the output of `b`.", "c, a", "broken"),
        ("The output of `b` reaches `a`.", "b, a", "held"),
        ("The output of `b` reaches `a`.", "a, b", "unchecked"),
        ("`a` and `b` are independent of each other.", "a, b", "broken"),
        ("`a` and `b` get the same inputs.", "a, b", "broken"),
        ("`a` runs at most 1 times.", "a, b", "held"),
        ("`a` runs at least 1 times.", "b, a", "held"),
    ],
)
def test_which_of_several_roles_was_called_shows_in_the_run(
    tmp_path: Path, claim: str, members: str, status: str
) -> None:
    path = pattern(tmp_path, IN_TURN.format(members), slots="a b c", extra=claims(claim))
    bind = {name: script(f"the answer that {name} gives to whatever it was told") for name in "abc"}
    (entry,) = play(path, bind).invariants
    assert entry["status"] == status, entry["how"]


def test_members_that_get_the_same_number_get_the_same(tmp_path: Path) -> None:
    body = "for member, i in panel:\n  let n = i * 0\n  call member\n    n: n"
    path = pattern(tmp_path, body, slots="panel[]", extra=claims("All members of `panel` get identical inputs."))
    (entry,) = play(path, {"panel": [script(LONG), script(LONG)]}).invariants
    assert entry["status"] == "held", entry["how"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("let v = call a\nif v.ok and n > 1:\n  call b\n    x: 1", "unchecked"),
        ("let v = call a\nif v.ok and n > 9:\n  call b\n    x: 1", "held"),
        ("call b\n  x: 1\nlet v = call a\nif v.ok and n > 9:\n  call b\n    x: 1", "unchecked"),
    ],
)
def test_a_condition_on_another_role_does_not_show_in_the_run(tmp_path: Path, body: str, status: str) -> None:
    claim = claims("`a` and `b` are independent of each other.")
    path = pattern(tmp_path, body, slots="a b c", config="- `n` (integer, default: 2)", extra=claim)
    bind = {"a": script({"ok": True, "note": LONG}), "b": script(LONG), "c": script(LONG)}
    (entry,) = play(path, bind).invariants
    assert entry["status"] == status, entry["how"]
