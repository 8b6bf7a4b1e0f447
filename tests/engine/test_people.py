"""People on the engine: a run waits for a signal without holding a worker; commands ask, answer and stop."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from engine.within import Desk, desk
from prose_runtime.errors import Paused
from prose_runtime.services.api import Reply, Request
from support.commands import clean_environment, prose
from support.engine import Team

ASK = """---
name: ask
kind: pattern
---
### Slots
- `writer`
- `boss`

### Parameters
- `topic` (string): About what.

### Delegation
```
let draft = call writer(topic: topic)
let verdict = call boss(draft: draft)
if verdict.accepted:
  return { draft, notes: verdict.notes }
return null
```
"""

ECHO = {"w": {"provider": "script", "rules": [], "else": {"echo": True}}}
BIND = {"writer": "w", "boss": "human"}


def test_a_run_waits_without_a_worker_and_goes_on_with_another(address: str, tmp_path: Path) -> None:
    async def work() -> None:
        there = await desk(address, tmp_path, services=ECHO, limits={"run_timeout": 3})
        async with there.worker():
            run = await there.submit(ASK, {"topic": "tea"}, bind=BIND)
            paused = await asyncio.wait_for(run.result(), 30)
        assert (paused.status, paused.exit_code) == ("paused", 5)
        shown = await run.show()  # nobody works now
        assert shown["status"] == "paused"
        assert [question["target"] for question in shown["waiting"]] == ["boss"]
        await asyncio.sleep(3.2)  # longer than the run may take: waiting for a person does not count
        await run.answer("call boss", {"accepted": True, "notes": "fine"})
        async with there.worker():
            result = await asyncio.wait_for(run.result(), 30)
        assert result.value == {"draft": "tea", "notes": "fine"}
        assert [call["target"] for call in result.calls] == ["writer", "boss"]
        assert [call["service"] for call in result.calls] == ["w", "human"]

    asyncio.run(work())


MANY = (
    ASK.split("let draft", maxsplit=1)[0]
    + """
parallel for n in [1, 2, 10, 9]:
  if n < 10:
    call writer(topic: n)
  call boss(n: n)
```
"""
)


def test_questions_wait_in_the_order_of_the_program(address: str, tmp_path: Path) -> None:
    async def work() -> list[str]:
        there = await desk(address, tmp_path, services=ECHO)
        async with there.worker():
            run = await there.submit(MANY, {"topic": "tea"}, bind=BIND)
            while len(await run.waiting()) < 4:
                await asyncio.sleep(0.1)
            assert [question["step"] for question in await run.questions()] == [q["step"] for q in await run.waiting()]
            told = [question["question"].splitlines()[-1] for question in await run.waiting()]
            await run.cancel()
            await run.result()
        return told

    assert asyncio.run(work()) == ["n: 1", "n: 2", "n: 10", "n: 9"]


class Half:
    """Gives its words, and a field if it has one; else it is gone."""

    name = "human"

    def __init__(self, *lines: Any):
        self.lines = list(lines)

    async def __call__(self, request: Request) -> Reply:
        assert request.turn is not None
        words = await request.turn.part("", self.line)
        return Reply({"text": words, "accepted": True, "notes": await request.turn.part("notes", self.line)})

    async def line(self) -> Any:
        if not self.lines:
            raise Paused("gone")
        return self.lines.pop(0)


def test_half_a_turn_is_gone_on_with_by_whoever_answers_next(address: str, tmp_path: Path) -> None:
    async def work() -> None:
        there = await desk(address, tmp_path, services=ECHO)
        async with there.worker():
            run = await there.submit(ASK, {"topic": "tea"}, bind=BIND)
            half = Half("mine")
            assert (await asyncio.wait_for(run.result(person=lambda: half), 30)).status == "paused"
            while "said" not in (await run.waiting())[0]:
                await asyncio.sleep(0.1)
            assert (await run.waiting())[0]["said"] == {"": "mine"}
            rest = Half("short")
            result = await asyncio.wait_for(run.result(person=lambda: rest), 30)
        assert result.value == {"draft": "tea", "notes": "short"}
        assert result.calls[1]["output"]["text"] == "mine"

    asyncio.run(work())


def test_the_limit_on_time_holds_for_all_other_waiting(address: str, tmp_path: Path) -> None:
    services = {"w": {"provider": "script", "replies": [{"delay": 20, "reply": "late"}]}}

    async def work() -> None:
        there = await desk(address, tmp_path, services=services, limits={"run_timeout": 0.5})
        async with there.worker():
            run = await there.there(ASK, {"topic": "tea"}, bind=BIND)
        assert run["error"]["kind"] == "limit"
        assert "run_timeout" in run["error"]["message"]

    asyncio.run(work())


def test_answers_and_stops_come_by_commands(team: Team) -> None:
    team.configure(services=ECHO)
    (team.folder / "ask.prose.md").write_text(ASK)
    team.start()
    words = ("ask", "tea", "--writer", "w", "--boss", "human")
    paused = team.prose("run", *words, "--engine", "temporal")
    assert paused.exit == 5
    assert re.search(r"prose resume \S+ --engine temporal --answer", paused.stderr)
    other = json.loads(team.prose("submit", *words, "--json").stdout)["run"]
    listed = json.loads(team.prose("runs", "list", "--json").stdout)
    assert [row["status"] for row in listed if row["spec"] == "ask"][:1] == ["paused"]
    done = team.prose("resume", "last", "--answer", "accepted=yes", "--json")
    assert json.loads(done.stdout)["status"] == "completed"
    assert json.loads(done.stdout)["run"] == other
    page = team.prose("runs", "export", other, "--format", "html").stdout
    assert "<html" in page
    assert "draft" in page
    wrong = team.prose("resume", other, "--answer", "accepted=maybe")
    assert wrong.exit == 2


def test_stopping(address: str, tmp_path: Path) -> None:
    async def work() -> None:
        there: Desk = await desk(address, tmp_path, services=ECHO)
        async with there.worker():
            run = await there.submit(ASK, {"topic": "tea"}, bind=BIND)
            await asyncio.wait_for(run.result(), 30)
            await run.cancel()
            result = await asyncio.wait_for(run.result(), 30)
            assert (result.status, result.exit_code) == ("cancelled", 130)
            await run.revive({})  # what was answered is not asked again
            again = await asyncio.wait_for(run.result(), 30)
            assert again.status == "paused"
            await run.answer("call boss", {"accepted": False})
            assert (await asyncio.wait_for(run.result(), 30)).status == "completed"
        assert len((await run.show())["calls"]) == 2

    asyncio.run(work())


def test_ctrl_c_stops_the_run(team: Team) -> None:
    team.configure(services={"w": {"provider": "script", "replies": [{"delay": 60, "reply": "late"}]}})
    (team.folder / "ask.prose.md").write_text(ASK)
    team.start()
    words = [prose(), "run", "ask", "tea", "--writer", "w", "--boss", "human", "--engine", "temporal", "--json"]
    with (team.home / "run.json").open("wb") as out, (team.home / "run.log").open("wb") as log:
        running = subprocess.Popen(words, cwd=team.folder, env=clean_environment(team.home), stdout=out, stderr=log)
        end = time.monotonic() + 40
        while "call writer" not in (team.home / "run.log").read_text() and time.monotonic() < end:
            time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        assert running.wait(40) == 130
    told = json.loads((team.home / "run.json").read_text())
    assert (told["status"], told["error"]["kind"]) == ("cancelled", "cancelled")
    shown = team.prose("runs", "show", told["run"], "--json")
    assert json.loads(shown.stdout)["status"] == "cancelled"
    assert "Traceback" not in (team.home / "run.log").read_text() + team.logs()


def test_a_run_that_a_limit_ended_goes_on_with_a_higher_one(address: str, tmp_path: Path) -> None:
    log = tmp_path / "asked.log"
    command = [sys.executable, "-c", f"print('draft', file=open({str(log)!r}, 'a')); print('draft')"]
    services = {"w": {"provider": "command", "command": command}}

    async def work() -> None:
        there = await desk(address, tmp_path, services=services, limits={"max_calls": 1})
        async with there.worker():
            run = await there.submit(ASK, {"topic": "tea"}, bind={"writer": "w", "boss": "w"})
            ended = await asyncio.wait_for(run.result(), 30)
            assert (ended.exit_code, len(ended.calls)) == (4, 1)
            await run.revive({"max_calls": 5})
            again = await asyncio.wait_for(run.result(), 30)
        assert again.status == "completed", again.error
        assert [call["target"] for call in again.calls] == ["writer", "boss"]

    asyncio.run(work())
    assert log.read_text().split() == ["draft", "draft"]


def test_an_engine_that_is_not_there_and_one_without_workers(team: Team) -> None:
    team.configure(services=ECHO)
    (team.folder / "ask.prose.md").write_text(ASK)
    nobody = team.prose("submit", "ask", "tea", "--writer", "w", "--boss", "human")
    assert nobody.exit == 0
    assert "prose worker" in nobody.stderr
    gone = team.prose("run", "ask", "tea", "--writer", "w", "--engine", "temporal", "--address", "127.0.0.1:1")
    assert gone.exit == 1
    assert "127.0.0.1:1" in gone.stderr
    assert "Traceback" not in gone.stderr
