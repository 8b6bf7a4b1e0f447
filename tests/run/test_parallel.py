"""Parallel branches: order, failures, cancellation. LANGUAGE.md section 3, rules 2 and 8."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from prose_runtime.errors import ServiceError
from prose_runtime.services.api import Request
from prose_runtime.services.script import ScriptService
from prose_runtime.testing import script
from tests.support.programs import pattern, run

BOTH = """
let got = parallel {options}:
  call a
    x: 1
  call b
    x: 2
  call c
    x: 3
return got
"""


def _three(options: str, tmp_path: Path) -> Path:
    return pattern(tmp_path, BOTH.replace("{options}", options), slots="a b c")


DOWN = {"error": "down", "kind": "unavailable"}


@pytest.mark.parametrize(
    ("options", "replies", "want"),
    [
        ("", ["A", "B", "C"], ["A", "B", "C"]),
        ('("first")', [DOWN, {"delay": 5, "reply": "B"}, {"delay": 0.05, "reply": "C"}], "C"),
        ('("any", count: 2)', [{"delay": 0.05, "reply": "A"}, {"delay": 5, "reply": "B"}, "C"], ["A", "C"]),
        ('(on-fail: "ignore")', ["A", DOWN, "C"], ["A", None, "C"]),
        (
            '(on-fail: "continue")',
            ["A", DOWN, "C"],
            ["A", {"message": "down", "kind": "unavailable", "service": "s"}, "C"],
        ),
    ],
)
def test_values_come_in_source_order(tmp_path: Path, options: str, replies: list[Any], want: Any) -> None:
    start = time.monotonic()
    result = run(_three(options, tmp_path), dict(zip("abc", (script(r, name="s") for r in replies), strict=True)))
    assert result.value == want
    assert time.monotonic() - start < 3


@pytest.mark.parametrize("loop", ["for x in [1, 2, 3, 4]", "repeat 4 as x"])
def test_break_ends_the_list_of_a_parallel_loop_as_it_does_that_of_others(tmp_path: Path, loop: str) -> None:
    body = "  if x == 1:\n    continue\n  if x == 3:\n    break\n  x"
    text = f"let plain = {loop}:\n{body}\nlet wide = parallel {loop}:\n{body}\nreturn {{ plain, wide }}"
    result = run(pattern(tmp_path, text, slots=""), {})
    assert result.value == {"plain": [None, 2], "wide": [None, 2]}


@pytest.mark.parametrize("options", ["", '("first")', '("any", count: 2)'])
def test_too_few_successes_raise(tmp_path: Path, options: str) -> None:
    services = {
        "a": script(DOWN),
        "b": script({"delay": 0.05, "error": "last"}),
        "c": script("C" if "any" in options else DOWN),
    }
    with pytest.raises(ServiceError) as caught:
        run(_three(options, tmp_path), services)
    assert caught.value.message == ("last" if options else "down")


def test_the_first_failure_really_cancels_the_rest(tmp_path: Path) -> None:
    ended: list[str] = []

    async def slow(_: Request) -> str:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return "late"

    start = time.monotonic()
    with pytest.raises(ServiceError, match="down"):
        run(_three("", tmp_path), {"a": slow, "b": script(DOWN), "c": slow})
    assert time.monotonic() - start < 5
    assert ended == ["cancelled", "cancelled"]


def test_branches_publish_their_names(tmp_path: Path) -> None:
    body = """
    parallel (on-fail: "continue"):
      let x = call a
        n: 1
      y = call b
        n: 2
      let { p, q } = { p: 1, q: 2 }
    return { x, kind: y.kind, p, q }
    """
    result = run(pattern(tmp_path, body, slots="a b"), {"a": script("A"), "b": script(DOWN)})
    assert result.value == {"x": "A", "kind": "unavailable", "p": 1, "q": 2}


def test_a_loser_publishes_null(tmp_path: Path) -> None:
    body = """
    let y = "before"
    parallel ("first"):
      let x = call a
        n: 1
      let y = call b
        n: 2
    return { x, y }
    """
    result = run(pattern(tmp_path, body, slots="a b"), {"a": script("A"), "b": script({"delay": 9, "reply": "B"})})
    assert result.value == {"x": "A", "y": None}


def test_branches_run_at_the_same_time(tmp_path: Path) -> None:
    body = """
    let got = parallel for n in range(6):
      call a
        n: n
    return got
    """
    start = time.monotonic()
    result = run(pattern(tmp_path, body), {"a": script(*[{"delay": 0.3, "reply": str(i)} for i in range(6)])})
    assert result.value == [str(i) for i in range(6)]
    assert time.monotonic() - start < 1.5
    assert len({call["step"] for call in result.calls}) == 6


def test_concurrency_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "prose.yml").write_text("limits: {max_concurrency: 2}\n", encoding="utf-8")
    now = most = 0

    async def count(_: Request) -> str:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.02)
        now -= 1
        return "x"

    run(pattern(tmp_path, "parallel repeat 8:\n  call a\n    x: 1\nreturn 1"), {"a": count})
    assert most == 2


def test_finally_of_a_cancelled_branch_runs_but_calls_nobody(tmp_path: Path) -> None:
    body = """
    let got = parallel ("first"):
      call a
        n: 1
      do:
        try:
          call b
            n: 2
        finally:
          emit "left"
          call c
            n: 3
    return got
    """
    result = run(
        pattern(tmp_path, body, slots="a b c"),
        {"a": script({"delay": 0.1, "reply": "A"}), "b": script({"delay": 9, "reply": "B"}), "c": script("never")},
    )
    assert (result.value, result.emitted) == ("A", ["left"])
    assert [call["target"] for call in result.calls] == ["a", "b"]


def test_errors_and_answers_can_be_told_apart(tmp_path: Path) -> None:
    body = """
    let xs = parallel for i in [1, 2] (on-fail: "continue"):
      call a
        n: i
    parallel (on-fail: "continue"):
      let y = call b
        n: 3
    let good = xs | filter:
      item.kind == null
    return { good, bad: xs[0].message, y, kind: y.kind }
    """
    path = pattern(tmp_path, body, slots="a b")
    rules = [{"when": {"n": 1}, "error": "boom"}, {"reply": "fine"}]
    result = run(path, {"a": ScriptService("s", rules=rules), "b": script("well")})
    assert result.value == {"good": ["fine"], "bad": "boom", "y": "well", "kind": None}
    assert len(result.calls) == 3


def test_a_branch_sees_one_list_under_both_its_names_and_adds_to_it_once(tmp_path: Path) -> None:
    body = """
let first = ["x"]
let both = { kept: first, also: first }
let second = first
let seen = parallel repeat 2 as i:
  record i in first
  record 10 in both.also
  return { second: second, kept: both.kept }
return { seen: seen, first: first, second: second, kept: both.kept }
"""
    value = run(pattern(tmp_path, body, slots=""), {}).value
    assert value["seen"] == [{"second": ["x", i, 10], "kept": ["x", i, 10]} for i in (1, 2)]
    assert value["first"] == value["second"] == value["kept"] == ["x", 1, 10, 2, 10]


def test_a_branch_that_reads_late_reads_what_stood_there_at_the_fork(tmp_path: Path) -> None:
    body = """
let seen = []
let left = { n: 0 }
let got = parallel:
  do:
    let answer = call a
    left.n = answer
    record left.n in seen
    return [left.n, seen]
  do:
    sleep 0.05s
    return [left.n, seen]
return { got: got, left: left, seen: seen }
"""
    value = run(pattern(tmp_path, body, slots="a"), {"a": script(7)}).value
    assert value == {"got": [[7, [7]], [0, []]], "left": {"n": 0}, "seen": [7]}
