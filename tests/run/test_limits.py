"""Limits of a run: they stop before the call that would break them, side by side too, and a run goes on with more."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import prose_runtime as prose
from prose_runtime.errors import LimitExceeded, ServiceError
from prose_runtime.events import Event, Warned
from prose_runtime.journal import Journal
from prose_runtime.services import pacing, retrying
from prose_runtime.services.api import Reply, Request
from prose_runtime.services.registry import BoundService, adapt
from prose_runtime.services.retrying import with_retries
from prose_runtime.values import Usage
from support.programs import pattern

FAN = "return parallel for i in range(1, 13):\n  call a\n    i: i"

COST = Usage(10, 5, None, 0.5)


class Asked:
    """Counts what it is asked and how much of it at once; each reply costs the same."""

    name = "counted"

    def __init__(self, usage: Usage = COST, seconds: float = 0.001, fail_at: int | None = None):
        self.usage = usage
        self.seconds = seconds
        self.fail_at = fail_at
        self.count = self.now = self.most = 0
        self.at: list[float] = []

    async def __call__(self, request: Request) -> Reply:
        self.count += 1
        number = self.count
        self.now += 1
        self.most = max(self.most, self.now)
        self.at.append(asyncio.get_running_loop().time())
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.now -= 1
        if number == self.fail_at:
            error = ServiceError("refused", kind="refused")
            error.usage = self.usage
            raise error
        return Reply("x", self.usage, "model-x")


def run(path: Path, a: Any, on_event: Callable[[Event], object] | None = None, **limits: Any) -> Any:
    return prose.run(path, bind={"a": a}, limits=limits, on_event=on_event)


@pytest.mark.parametrize(
    ("limit", "bound", "calls"),
    [("max_calls", 5, 5), ("max_input_tokens", 40, 4), ("max_output_tokens", 16, 4), ("max_cost_usd", 2.0, 4)],
)
def test_branches_side_by_side_do_not_pass_a_limit(tmp_path: Path, limit: str, bound: float, calls: int) -> None:
    a = Asked()
    with pytest.raises(LimitExceeded, match=limit) as caught:
        run(pattern(tmp_path, FAN), a, **{limit: bound})
    assert (caught.value.limit, caught.value.exit_code, a.count) == (limit, 4, calls)
    assert f"--{limit.replace('_', '-')}" in str(caught.value.help)


def test_a_limit_lets_the_calls_in_flight_finish_and_keeps_them(tmp_path: Path) -> None:
    path, journal = pattern(tmp_path, FAN), Journal(tmp_path / ".prose")
    first, second = Asked(seconds=0.05), Asked()
    record = journal.create("probe", {})
    with pytest.raises(LimitExceeded):
        prose.run(path, bind={"a": first}, limits={"max_calls": 5}, record=record)
    record.close()
    record = journal.open("last")
    result = prose.run(path, bind={"a": second}, limits={"max_calls": 7}, record=record)
    record.close()
    assert (first.count, second.count, result.value) == (5, 7, ["x"] * 12)


def test_nested_patterns_share_the_limit(tmp_path: Path) -> None:
    pattern(tmp_path, "repeat 4:\n  call helper\nreturn 1", slots="helper", name="sub")
    path = pattern(tmp_path, "parallel for i in range(1, 4):\n  call a\n    i: i")
    (tmp_path / "prose.yml").write_text("default: e\nservices: {e: {provider: echo}}\n", encoding="utf-8")
    with pytest.raises(LimitExceeded, match="max_calls"):
        run(path, {"pattern": "sub"}, max_calls=11)
    assert run(path, {"pattern": "sub"}, max_calls=12).requests == 12


def test_the_tokens_of_failed_calls_count(tmp_path: Path) -> None:
    body = "try:\n  call a\ncatch as e:\n  emit e.kind\nreturn call a"
    with pytest.raises(LimitExceeded, match="max_input_tokens"):
        run(pattern(tmp_path, body), Asked(fail_at=1), max_input_tokens=10)
    assert run(pattern(tmp_path, body), Asked(fail_at=1)).usage.input_tokens == 20


def test_an_unknown_price_is_told_once_where_the_cost_is_limited(tmp_path: Path) -> None:
    told: list[Event] = []
    result = run(pattern(tmp_path, FAN), Asked(Usage(10, 5)), told.append, max_cost_usd=1.0)
    assert [e.message for e in told if isinstance(e, Warned) and "model-x" in e.message][1:] == []
    assert result.unpriced == ["model-x"]
    assert run(pattern(tmp_path, FAN), Asked(Usage(10, 5))).unpriced == []


def test_concurrency_of_the_run_and_of_each_service(tmp_path: Path) -> None:
    path = pattern(tmp_path, FAN)
    for limits, most in (({"max_concurrency": 3}, 3), ({"max_concurrency_per_service": 2}, 2), ({}, 8)):
        a = Asked(seconds=0.01)
        run(path, a, **limits)
        assert a.most == most
    a = Asked(seconds=0.01)
    run(path, BoundService(a, max_concurrency=4), max_concurrency_per_service=2)
    assert a.most == 4


def test_requests_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "MINUTE", 0.2)
    a = Asked()
    run(pattern(tmp_path, FAN), a, max_requests_per_minute=5)
    assert all(later - sooner >= 0.19 for sooner, later in zip(a.at, a.at[5:], strict=False))


def test_a_call_over_its_time_has_failed_and_a_run_over_its_time_is_stopped(tmp_path: Path) -> None:
    path = pattern(tmp_path, "try:\n  call a\ncatch as e:\n  return e.kind")
    assert run(path, Asked(seconds=5), call_timeout=0.05).value == "timeout"
    with pytest.raises(LimitExceeded, match="run_timeout"):
        run(path, Asked(seconds=5), run_timeout=0.05)


class Busy:
    """A provider of its own retries that is busy at first; ``calls`` are its tries."""

    name = "busy"

    def __init__(self, busy: int, retry_after: float | None = None, retries: int = 2):
        self.busy = busy
        self.retry_after = retry_after
        self.retries = retries
        self.calls: list[float] = []

    async def __call__(self, request: Request) -> Reply:
        return await with_retries(self._ask, request, retries=self.retries)

    async def _ask(self) -> Reply:
        self.calls.append(asyncio.get_running_loop().time())
        if len(self.calls) <= self.busy:
            error = ServiceError("busy", kind="rate_limit", retry_after=self.retry_after)
            error.usage = Usage(7, 0)
            raise error
        return Reply("x", Usage(10, 5))


def test_retries_of_a_call_and_of_its_service_do_not_multiply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "FIRST_WAIT", 0.001)
    busy = Busy(100)
    with pytest.raises(ServiceError):
        run(pattern(tmp_path, "call a\n  retry: 3"), busy)
    assert len(busy.calls) == 4
    busy = Busy(100)
    with pytest.raises(ServiceError):
        run(pattern(tmp_path, "call a"), busy)
    assert len(busy.calls) == 3


def test_tries_inside_a_service_are_paid_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "FIRST_WAIT", 0.001)
    assert run(pattern(tmp_path, "return call a"), Busy(2)).usage.input_tokens == 24


def test_a_pause_that_one_call_is_told_holds_for_all_and_takes_no_time_of_a_call(tmp_path: Path) -> None:
    busy = Busy(1, retry_after=0.3)
    body = "return parallel for i in range(1, 4):\n  call a\n    i: i"
    assert run(pattern(tmp_path, body), busy, call_timeout=0.2, max_concurrency=1).value == ["x"] * 3
    assert busy.calls[1] - busy.calls[0] >= 0.29
    assert len(busy.calls) == 4


def test_functions_are_services_with_limits_too(tmp_path: Path) -> None:
    async def answer(_: Request) -> str:
        return "x"

    ask: Callable[[Request], Awaitable[Any]] = answer
    with pytest.raises(LimitExceeded):
        run(pattern(tmp_path, FAN), adapt("f", ask), max_calls=3)
