"""What travels with a run and what stays with the workers: specs, memory, secrets, prose.yml."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowHistory

from engine.within import desk

ECHO = {"w": {"provider": "script", "rules": [], "else": {"echo": True}}}

CALLER = """---
name: caller
kind: pattern
---
### Slots
- `writer`

### Delegation
```
let one = call helper(topic: "a")
let two = call helper(topic: "b")
return [one, two]
```
"""

HELPER = """---
name: helper
kind: function
---
### Parameters
- topic: About what.

### Returns
- text

### Execution
```
sleep 0.5s
return "old {topic}"
```
"""


def test_an_upgrade_of_a_spec_changes_nothing_for_runs_that_go_on(address: str, tmp_path: Path) -> None:
    (tmp_path / "helper.prose.md").write_text(HELPER)

    async def work() -> dict[str, Any]:
        there = await desk(address, tmp_path, services=ECHO)
        run = await there.submit(CALLER, bind={"writer": "w"})
        (tmp_path / "helper.prose.md").write_text(HELPER.replace("old", "new"))
        (tmp_path / "spec.prose.md").unlink()
        async with there.worker():
            return (await asyncio.wait_for(run.result(), 30)).as_json()

    result = asyncio.run(work())
    assert result["result"] == ["old a", "old b"], result["error"]


SECRET = """---
name: secret
kind: function
---
Give the answer.

### Environment
- VAULT: where things are

### Parameters
- topic: About what.

### Returns
- text
"""


def test_keys_and_named_values_never_reach_the_history(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT", "xyzzy-12345-xyzzy")
    monkeypatch.setenv("SOME_API_KEY", "sk-98765-plugh")
    script = "import os; print(os.environ['VAULT'], os.environ['SOME_API_KEY'])"
    services = {"w": {"provider": "command", "command": [sys.executable, "-c", script]}}

    async def work() -> tuple[str, WorkflowHistory]:
        there = await desk(address, tmp_path, services=services, default="w")
        async with there.worker():
            run = await there.submit(SECRET, {"topic": "a"})
            result = await asyncio.wait_for(run.result(), 30)
            return json.dumps(result.as_json()), await run.handle.fetch_history()

    told, history = asyncio.run(work())
    assert "***" in told
    data = history.events[-1].SerializeToString() + b"".join(event.SerializeToString() for event in history.events)
    for secret in ("xyzzy-12345-xyzzy", "sk-98765-plugh"):
        assert secret.encode() not in data
        assert secret not in told


MEMORY = """---
name: memory
kind: program
---
### Delegation
```
agent clerk:
  prompt: "Keep count."
  persist: "project"
session: clerk
  prompt: "one"
let last = session: clerk
  prompt: "two"
return last
```
"""


def test_agents_remember_where_the_workers_are(address: str, tmp_path: Path) -> None:
    async def work() -> list[dict[str, Any]]:
        there = await desk(address, tmp_path, services=ECHO, default="w")
        async with there.worker():
            return [await there.there(MEMORY) for _ in range(2)]

    first, second = asyncio.run(work())
    assert first["status"] == "completed", first["error"]
    assert "memory" in second["calls"][0]["inputs"]
    assert list((tmp_path / ".prose" / "agents").iterdir())


def test_what_workers_configure_is_settled_once(address: str, tmp_path: Path) -> None:
    """A pattern instance of the workers' prose.yml, with a role of their folder and limits of their own."""
    services = {**ECHO, "both": {"pattern": "dialectic", "with": {"thesis": "w", "antithesis": "opposer"}}}
    spec = CALLER.replace('helper(topic: "a")', 'writer(task_brief: "a")').replace('call helper(topic: "b")', '"b"')

    (tmp_path / "opposer.prose.md").write_text("---\nname: opposer\nkind: function\n---\nSpeak against it.\n")

    async def work() -> tuple[dict[str, Any], dict[str, Any]]:
        there = await desk(address, tmp_path, services=services, default="w", limits={"max_calls": 30})
        async with there.worker():
            return await there.there(spec, bind={"writer": "both"}), await there.here(spec, bind={"writer": "both"})

    there, here = asyncio.run(work())
    assert here["status"] == "completed", here["error"]
    assert {**there, "run": None} == here
