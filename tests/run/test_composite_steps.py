"""The calls of a composite are steps: concurrent, named by place, and asked once however often a run is resumed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import prose_runtime as prose
from prose_runtime.errors import Paused, ProseError, ServiceError
from prose_runtime.journal import Journal
from prose_runtime.runtime.result import Result
from prose_runtime.services.api import Reply, Request
from tests.support.composites import Crash, Talker, composite

ASK = "const ask = (words, context) => rlm(words, context, { use: __compositeState.one });\n"

CHAINS = """
const chain = async name => {
  let last = name;
  for (let i = 1; i <= 3; i++) last = await ask(`${name}${i} after ${last}`);
  return last;
};
const all = await Promise.all(['a', 'b', 'c'].map(chain));
const p = ask('p'), q = ask('q');
const pair = [await q, await p];
for (let i = 0; i < 2; i++) {
  await Promise.allSettled([ask(`l${i}`), ask(`r${i}`)]);
  await ask(`s${i}`);
}
return [all, pair, await ask('end')];
"""

POOL = """
const work = ['a', 'b', 'c', 'd', 'e', 'f'];
const done = [];
const worker = async name => { while (work.length) done.push(await ask(`${work.shift()} by ${name}`)) };
await Promise.all([worker('w1'), worker('w2'), worker('w3')]);
const first = await Promise.race([ask('x'), ask('y')]);
return [done, first, await ask(`sum ${done.length} ${done}`)];
"""


def run(path: Path, one: Any, record: Any = None) -> Result:
    return asyncio.run(prose.arun(path, bind={"one": one}, record=record))


def steps(result: Result) -> dict[str, str]:
    """The prompt of each call by its step."""
    return {call["step"]: call["prompt"] for call in result.calls}


@pytest.fixture(scope="module", autouse=True)
def _warm(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is measured must not hold what only the first run does."""
    run(composite(tmp_path_factory.mktemp("warm"), "return 1", slots="one"), Talker("x"))


def seconds(work: Callable[[], Any]) -> float:
    start = time.monotonic()
    work()
    return time.monotonic() - start


# concurrency


def test_calls_under_promise_all_run_at_the_same_time(tmp_path: Path) -> None:
    names = [f"n{i}" for i in range(8)]
    path = composite(tmp_path, ASK + f"return await Promise.all({names}.map(n => ask(n)))", slots="one")
    one = Talker("x", delays=dict.fromkeys(names, 0.3))
    assert seconds(lambda: run(path, one)) < 1.2
    assert one.prompts == names


def test_chains_do_not_wait_for_each_other(tmp_path: Path) -> None:
    body = (
        "const two = async n => { await ask(n + '1'); return ask(n + '2') };\nawait Promise.all([two('a'), two('b')])"
    )
    path = composite(tmp_path, ASK + body, slots="one")
    one = Talker("x", delays={"a1": 0.5, "a2": 0.1, "b1": 0.1, "b2": 0.5})
    assert seconds(lambda: run(path, one)) < 0.95


def test_a_race_is_over_with_the_first_and_the_rest_is_cancelled(tmp_path: Path) -> None:
    path = composite(tmp_path, ASK + "return await Promise.race([ask('slow'), ask('fast')])", slots="one")
    one = Talker("x", delays={"slow": 30})
    assert seconds(lambda: run(path, one)) < 5
    assert one.cancelled == ["slow"]


def test_any_passes_over_failures(tmp_path: Path) -> None:
    body = """
    const good = await Promise.any([ask('bad'), ask('good')]);
    try { await Promise.any([ask('bad'), ask('bad')]) } catch (e) { return [good, e.errors.map(x => x.kind)] }
    """
    path = composite(tmp_path, ASK + body, slots="one")
    one = Talker("x", {"bad": ServiceError("down", kind="unavailable")}, {"good": 0.1})
    assert run(path, one).value["result"] == ["x:good", ["unavailable"] * 2]


def test_the_limit_of_concurrent_calls_holds(tmp_path: Path) -> None:
    (tmp_path / "prose.yml").write_text("limits: {max_concurrency: 2}\n", encoding="utf-8")
    path = composite(tmp_path, ASK + "await Promise.all([1, 2, 3, 4, 5].map(n => ask(`n ${n}`)))", slots="one")
    now = most = 0

    async def one(_: Request) -> str:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.02)
        now -= 1
        return "x"

    run(path, one)
    assert most == 2


# steps


def _orders(names: str) -> list[dict[str, float]]:
    """Several ways in which replies may come."""
    words = names.split()
    rising = {word: 0.01 * i for i, word in enumerate(words)}
    falling = {word: 0.01 * (len(words) - i) for i, word in enumerate(words)}
    mixed = {
        word: 0.01 * (hash_ % 5) for hash_, word in zip([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9], words, strict=False)
    }
    return [{}, rising, falling, mixed]


def test_a_call_has_the_same_step_in_whatever_order_replies_come(tmp_path: Path) -> None:
    path = composite(tmp_path, ASK + CHAINS, slots="one")
    orders = _orders("a1 b1 c1 a2 b2 c2 a3 b3 c3 p q l0 r0 l1 r1")
    seen = [steps(run(path, Talker("x", delays=delays))) for delays in orders]
    assert len(seen[0]) == 18
    assert all(one == seen[0] for one in seen)


def test_steps_stay_short(tmp_path: Path) -> None:
    body = """
    for (let i = 0; i < 12; i++) {
      const ps = [ask('a'), ask('b')];
      await ps[1]; await ps[0];
      await Promise.all([ask('c'), Promise.all([ask('d'), Promise.race([ask('e'), ask('f')])])]);
    }
    """
    found = steps(run(composite(tmp_path, ASK + body, slots="one"), Talker("x")))
    assert len(found) == 12 * 6
    assert max(map(len, found)) < 80


# resuming


class Once(Talker):
    """Breaks down at a given request; between requests, replies come in an order that ``seed`` shuffles."""

    def __init__(self, seed: int, fail_at: int | None = None):
        super().__init__("one", fail_at=fail_at)
        self.seed = seed

    async def __call__(self, request: Request) -> Reply:
        self.delays = {str(request.prompt).split(" ")[0]: (crc32(f"{self.seed} {request.prompt}".encode()) % 7) / 500}
        return await super().__call__(request)


@pytest.mark.parametrize("body", [CHAINS, POOL], ids=["chains", "pool"])
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.integers(0, 99), second=st.integers(0, 99), fail_at=st.integers(0, 8))
def test_a_run_that_crashed_goes_on_and_asks_nothing_twice(
    tmp_path_factory: pytest.TempPathFactory, body: str, first: int, second: int, fail_at: int
) -> None:
    folder = tmp_path_factory.mktemp("run")
    path = composite(folder, ASK + body, slots="one")
    journal = Journal(folder / ".prose")
    before, after = Once(first, fail_at), Once(second)
    with pytest.raises((Crash, ProseError)):
        record = journal.create("probe", {})
        try:
            run(path, before, record)
        finally:
            record.close()
    record = journal.open("last")
    try:
        answered = {step: answer.value for step, answer in record.answers.items() if answer.kind == "reply"}
        result = run(path, after, record)
    finally:
        record.close()
    outputs = {call["step"]: call["output"] for call in result.calls}
    assert {step: outputs.get(step) for step in answered} == answered
    assert len(after.asked) == len(result.calls) - len(answered)


def test_a_resumed_run_gives_what_the_first_one_gave(tmp_path: Path) -> None:
    path = composite(tmp_path, ASK + POOL, slots="one")
    journal = Journal(tmp_path / ".prose")
    record = journal.create("probe", {})
    first = run(path, Talker("one", delays={"a": 0.05, "b": 0.01, "c": 0.03, "x": 0.05}), record)
    record.close()
    record = journal.open("last")
    again = Talker("one")
    assert run(path, again, record).value == first.value
    record.close()
    assert again.asked == []
    assert journal.list()[0].calls == len(first.calls) - 1  # the loser of the race has no answer


def test_a_failure_that_was_caught_is_met_again_and_one_that_was_not_is_asked_again(tmp_path: Path) -> None:
    body = "let said; try { said = await ask('bad') } catch (e) { said = e.kind }\nreturn [said, await ask('worse')]"
    path = composite(tmp_path, ASK + body, slots="one")
    down = {word: ServiceError("down", kind="unavailable") for word in ("bad", "worse")}
    journal = Journal(tmp_path / ".prose")
    record = journal.create("probe", {})
    with pytest.raises(ServiceError):
        run(path, Talker("one", down), record)
    record.close()
    record = journal.open("last")
    again = Talker("one")
    assert run(path, again, record).value["result"] == ["unavailable", "one:worse"]
    record.close()
    assert again.prompts == ["worse"]


def test_a_pause_lets_paid_calls_finish(tmp_path: Path) -> None:
    path = composite(tmp_path, ASK + "return await Promise.all(['me', 'a', 'b'].map(w => ask(w)))", slots="one")
    one = Talker("x", {"me": Paused("nobody is there")}, {"a": 0.05, "b": 0.1})
    journal = Journal(tmp_path / ".prose")
    record = journal.create("probe", {})
    with pytest.raises(Paused):
        run(path, one, record)
    record.close()
    record = journal.open("last")
    again = Talker("x")
    assert run(path, again, record).value["result"] == ["x:me", "x:a", "x:b"]
    record.close()
    assert again.prompts == ["me"]


def test_a_killed_process_can_be_resumed(tmp_path: Path) -> None:
    body = """
    const said = await Promise.all(['a', 'b', 'c'].map(async n => [await rlm(n), await rlm(n + n)]));
    console.log('all there'); return [said, await rlm('last')];
    """
    composite(tmp_path, body, slots="one")
    delays = {"a": 0.2, "b": 0.1, "c": 0, "aa": 0, "bb": 0.1, "cc": 0.1, "last": 60}
    rules = "".join(f"{{when: {{prompt: {word}}}, delay: {d}, reply: r-{word}}}, " for word, d in delays.items())
    prose_yml = tmp_path / "prose.yml"
    prose_yml.write_text(f"default: d\nservices: {{d: {{provider: script, rules: [{rules}]}}}}\n", encoding="utf-8")
    words = [sys.executable, "-m", "prose_runtime"]
    env = {**os.environ, "HOME": str(tmp_path)}
    process = subprocess.Popen([*words, "run", "probe.md"], cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=env)
    assert process.stderr is not None
    assert any("all there" in line for line in iter(process.stderr.readline, ""))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    only_last = "{when: {prompt: last}, reply: r-last}"
    prose_yml.write_text(f"default: d\nservices: {{d: {{provider: script, rules: [{only_last}]}}}}\n", encoding="utf-8")
    record = Journal(tmp_path / ".prose").open("last")
    try:
        result = asyncio.run(prose.arun(tmp_path / "probe.md", record=record))
    finally:
        record.close()
    assert result.value["result"] == [[["r-a", "r-aa"], ["r-b", "r-bb"], ["r-c", "r-cc"]], "r-last"]
