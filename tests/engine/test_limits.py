"""What the engine cannot take is handled, or told clearly before it happens: large values, long histories."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import EventType

from engine.within import desk
from prose_runtime.engine.history import events
from prose_runtime.errors import EngineError

COUNT = """---
name: count
kind: pattern
---
### Slots
- `writer`

### Parameters
- `rounds` (integer): How often.

### Delegation
```
let pages = parallel for name in ["a", "b", "c"]:
  repeat rounds as i:
    return call writer(page: name, round: i)
sleep 0.1s
return pages
```
"""

ECHO = {"w": {"provider": "script", "rules": [], "else": {"echo": True}}}


def test_a_long_history_is_cut_and_nothing_is_asked_twice(address: str, tmp_path: Path) -> None:
    async def work() -> None:
        there = await desk(address, tmp_path, services=ECHO, limits={"max_calls": 60})
        async with there.worker():
            bind = {"writer": "w"}
            run = await there.submit(COUNT, {"rounds": 20}, bind=bind, place={"longest_history": 60})
            result = (await asyncio.wait_for(run.result(), 60)).as_json()
            kinds = [event.event_type async for event in events(there.client, run.name)]
            here = await there.here(COUNT, {"rounds": 20}, bind=bind)
        assert kinds.count(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW) >= 2
        assert kinds.count(EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED) == 60 + 1
        by_step = lambda call: call["step"]  # noqa: E731
        assert sorted(result["calls"], key=by_step) == sorted(here["calls"], key=by_step)
        assert {**result, "run": None, "calls": []} == {**here, "calls": []}

    asyncio.run(work())


def test_a_record_that_is_too_large_to_go_on_with_ends_the_run_with_the_reason(address: str, tmp_path: Path) -> None:
    # what does not get smaller when it is packed
    script = "import os, base64; print(base64.b64encode(os.urandom(600000)).decode())"
    services = {"w": {"provider": "command", "command": [sys.executable, "-c", script]}}

    async def work() -> None:
        there = await desk(address, tmp_path, services=services)
        async with there.worker():
            run = await there.there(COUNT, {"rounds": 3}, bind={"writer": "w"}, place={"longest_history": 20})
        assert run["status"] == "failed"
        assert run["error"]["kind"] == "engine"
        assert "answers so far" in run["error"]["message"]

    asyncio.run(work())


ONE = """---
name: one
kind: pattern
---
### Slots
- `writer`

### Parameters
- `text` (string): What is handed on.

### Delegation
```
let all = [text, text, text]
return call writer(all: all)
```
"""


def test_a_request_that_is_too_large_is_told_before_it_is_made(address: str, tmp_path: Path) -> None:
    async def work() -> None:
        there = await desk(address, tmp_path, services=ECHO)
        async with there.worker():
            run = await there.there(ONE, {"text": "x" * 900_000}, bind={"writer": "w"})
        assert run["error"]["kind"] == "engine"
        assert "call writer" in run["error"]["message"]
        assert "MB" in run["error"]["message"]
        assert run["calls"] == []
        with pytest.raises(EngineError, match="MB"):
            await there.submit(ONE, {"text": "x" * 2_100_000}, bind={"writer": "w"})

    asyncio.run(work())


def test_an_answer_that_is_too_large_is_an_error_of_its_call(address: str, tmp_path: Path) -> None:
    services = {"w": {"provider": "command", "command": [sys.executable, "-c", "print('x' * 2_100_000)"]}}

    async def work() -> None:
        there = await desk(address, tmp_path, services=services)
        async with there.worker():
            run = await there.there(ONE, {"text": "x"}, bind={"writer": "w"})
        assert run["error"]["kind"] == "engine"
        assert "the reply of w" in run["error"]["message"]

    asyncio.run(work())


WIDE = """---
name: wide
kind: pattern
---
### Slots
- `writer`

### Parameters
- `text` (string): What is handed on.

### Delegation
```
let sizes = parallel repeat 8 as i:
  return call writer(text: text, number: i)
return len(sizes)
```
"""


def test_branches_whose_requests_fill_a_message_together_wait_for_each_other(address: str, tmp_path: Path) -> None:
    script = "import json, sys; print(len(json.load(sys.stdin)['inputs']['text']))"
    services = {"w": {"provider": "command", "command": [sys.executable, "-c", script]}}

    async def work() -> None:
        there = await desk(address, tmp_path, services=services)
        async with there.worker():
            run = await there.there(WIDE, {"text": "x" * 1_200_000}, bind={"writer": "w"})
        assert (run["status"], run["result"]) == ("completed", 8), run["error"]

    asyncio.run(work())


def test_json_keeps_the_order_of_names(address: str, tmp_path: Path) -> None:
    async def work() -> None:
        there = await desk(address, tmp_path, services=ECHO)
        spec = ONE.replace("call writer(all: all)", "call writer(zebra: text, ant: text)")
        async with there.worker():
            run = await there.there(spec, {"text": "x"}, bind={"writer": "w"})
        assert run["result"] == '{"zebra": "x", "ant": "x"}'
        assert list(run["calls"][0]["inputs"]) == ["zebra", "ant"]

    asyncio.run(work())


def test_a_result_that_is_too_large_ends_the_run_with_the_reason(address: str, tmp_path: Path) -> None:
    async def work() -> None:
        there = await desk(address, tmp_path, services=ECHO)
        spec = ONE.replace("return call writer(all: all)", "return all")
        async with there.worker():
            run = await there.there(spec, {"text": "x" * 900_000}, bind={"writer": "w"})
        assert (run["status"], run["error"]["kind"]) == ("failed", "engine")
        assert "what the run came to" in run["error"]["message"]

    asyncio.run(work())
