"""Failing, retrying, catching, throwing: LANGUAGE.md section 3, rule 7."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from prose_runtime.errors import ContractError, LimitExceeded, RunFailed, ServiceError
from prose_runtime.runtime.session import RunRequest, execute, prepare
from prose_runtime.testing import script
from tests.support.programs import line_of, pattern, run, targets

BUSY = {"error": "busy", "kind": "overloaded"}


def test_retry_asks_again_for_passing_troubles_only(tmp_path: Path) -> None:
    body = "let x = call a\n  n: 1\n  retry: 2\nreturn x"
    result = run(pattern(tmp_path, body), {"a": script(BUSY, BUSY, "ok")})
    assert (result.value, targets(result)) == ("ok", ["a", "a", "a"])
    assert result.calls[0]["output"]["kind"] == "overloaded"
    with pytest.raises(ServiceError, match="broken"):
        run(pattern(tmp_path, body), {"a": script({"error": "broken"}, "never")})


def test_a_caught_error_is_a_value(tmp_path: Path) -> None:
    body = """
    try:
      call a
        n: 1
    catch as e:
      return { m: e.message, k: e.kind, s: e.service, all: e, text: "{e}" }
    """
    result = run(pattern(tmp_path, body), {"a": script(BUSY, name="svc")})
    assert result.value == {
        "m": "busy", "k": "overloaded", "s": "svc",
        "all": {"message": "busy", "kind": "overloaded", "service": "svc"}, "text": "busy",
    }  # fmt: skip


def test_throw_in_a_catch_goes_on_and_finally_runs_each_time(tmp_path: Path) -> None:
    body = """
    try:
      try:
        call a
          n: 1
      catch as e:
        emit "inner {e.kind}"
        throw
      finally:
        emit "closing"
    catch as e:
      emit "outer {e.kind}"
      try:
        throw { message: "mine", kind: "own" }
      catch as e2:
        return [e2.message, e2.kind]
    """
    result = run(pattern(tmp_path, body), {"a": script(BUSY)})
    assert result.value == ["mine", "own"]
    assert result.emitted == ["inner overloaded", "closing", "outer overloaded"]


def test_what_nobody_catches_fails_the_run_with_its_place(tmp_path: Path) -> None:
    path = pattern(tmp_path, 'throw "enough"')
    with pytest.raises(RunFailed, match="enough") as caught:
        run(path, {"a": script()})
    assert caught.value.exit_code == 1
    assert caught.value.where is not None
    assert caught.value.where.line == line_of(path, "throw")


def test_limits_and_contracts_are_not_caught(tmp_path: Path) -> None:
    (tmp_path / "prose.yml").write_text("limits: {max_calls: 2}\n", encoding="utf-8")
    body = """
    loop (max: 9):
      try:
        call a
          n: 1
      catch as e:
        emit "caught"
      finally:
        emit "f"
    return 1
    """
    with pytest.raises(LimitExceeded) as caught:
        run(pattern(tmp_path, body), {"a": script("x", repeat=True)})
    assert (caught.value.limit, caught.value.bound, caught.value.exit_code) == ("max_calls", 2, 4)


def test_a_refused_call_is_no_call(tmp_path: Path) -> None:
    (tmp_path / "prose.yml").write_text("limits: {max_calls: 2}\n", encoding="utf-8")
    path = pattern(tmp_path, "repeat 5 as i:\n  call a\n    n: i\nreturn 1")
    request = RunRequest(path, bind={"a": script("x", repeat=True)})
    shown = asyncio.run(execute(prepare(request))).as_json()
    assert (shown["status"], shown["error"]["kind"]) == ("failed", "limit")
    assert (len(shown["calls"]), shown["usage"]["calls"]) == (2, 2)


def test_an_unmet_shape_can_be_caught_a_broken_contract_cannot(tmp_path: Path) -> None:
    body = """
    try:
      let v = call a
        n: 1
      return v.score + 1
    catch as e:
      return e.kind
    """
    assert run(pattern(tmp_path, body), {"a": script("no", "no")}).value == "shape"
    path = tmp_path / "probe.prose.md"
    path.write_text(path.read_text().replace("- `a`", "- `a`\n  - requires: `topic`"), encoding="utf-8")
    with pytest.raises(ContractError, match="topic") as caught:
        run(path, {"a": script({"score": 1})})
    assert caught.value.exit_code == 3


def test_a_call_over_its_time_is_a_failed_call(tmp_path: Path) -> None:
    (tmp_path / "prose.yml").write_text("limits: {call_timeout: 0.1}\n", encoding="utf-8")
    body = """
    try:
      call a
        n: 1
    catch as e:
      return e.kind
    """
    assert run(pattern(tmp_path, body), {"a": script({"delay": 9, "reply": "late"})}).value == "timeout"


def test_a_run_over_its_time_reaches_a_limit(tmp_path: Path) -> None:
    (tmp_path / "prose.yml").write_text("limits: {run_timeout: 0.2}\n", encoding="utf-8")
    body = "let n = 0\nloop while true:\n  n = n + 1\nreturn n"
    with pytest.raises(LimitExceeded) as caught:
        run(pattern(tmp_path, body), {"a": script()})
    assert caught.value.limit == "run_timeout"


def test_backoff_waits_longer_each_time(tmp_path: Path) -> None:
    from prose_runtime.events import CallRetry

    waits: list[float] = []
    body = 'let x = call a\n  n: 1\n  retry: 3\n  backoff: "linear"\nreturn x'
    path = pattern(tmp_path, body.replace("linear", "none"))
    run(
        path,
        {"a": script(BUSY, BUSY, "ok")},
        on_event=lambda e: waits.append(e.delay) if isinstance(e, CallRetry) else None,
    )
    assert waits == [0, 0]
    path = pattern(tmp_path, body)
    run(path, {"a": script(BUSY, "ok")}, on_event=lambda e: waits.append(e.delay) if isinstance(e, CallRetry) else None)
    assert waits[2:] == [1]


def test_blocks_that_call_each_other_without_end_are_stopped(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="calls itself"):
        run(pattern(tmp_path, "block f(n):\n  let x = do f(n + 1)\n  return x\nreturn do f(1)"), {"a": script()})
