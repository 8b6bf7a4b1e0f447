"""A run on the engine comes to the same as one on this machine, in every respect that its object shows."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

from engine.within import desk
from support.engine import Team, same

SERVICES: dict[str, Any] = {
    "pro": {"provider": "script", "replies": ["p1", "p2"]},
    "contra": {"provider": "script", "replies": ["c1", "c2"]},
}


def test_a_pattern_with_scripted_services(team: Team) -> None:
    team.configure(services=SERVICES)
    team.start()
    words = ("dialectic", "Should we?", "--thesis", "pro", "--antithesis", "contra")
    there, here = team.there(*words), team.here(*words)
    assert here["status"] == "completed"
    assert [call["output"] for call in there["calls"]] == ["p1", "c1", "p2", "c2"]
    assert same(there, here)
    assert team.logs().count("Traceback") == 0


NESTED = """---
name: nested
kind: pattern
---
### Slots
- `reader`
- `writer`

### Parameters
- `topics` (array): What is read about.

### Delegation
```
let found = []
let all = parallel for topic in topics:
  let notes = []
  repeat 2 as i:
    let pages = parallel repeat 2 as page:
      return call reader(topic: topic, round: i, page: page)
    let summary = call writer(pages: pages, before: notes)
    append summary to notes
    append { topic: topic, round: i } to found
  return notes
emit "read {topics}"
let quick = parallel ("first"):
  call reader(topic: "slow")
  call writer(topic: "quick")
try:
  call reader(topic: "bad")
catch as e:
  append { topic: e.kind } to found
if the notes are good enough:
  return { all, found, quick }
return null
```
"""


def test_nested_loops_races_failures_and_judges(address: str, tmp_path: Path) -> None:
    slow = [{"when": {"topic": "slow"}, "delay": 20, "reply": "late"}]
    bad = [{"when": {"topic": "bad"}, "error": "no", "kind": "refused"}]
    echo = {"echo": True}
    services = {
        "reader": {"provider": "script", "rules": [*slow, *bad], "else": echo},
        "writer": {"provider": "script", "rules": [], "else": echo},
        "j": {"provider": "script", "replies": [{"verdict": True, "reason": "they are"}]},
    }
    bind = {"reader": "reader", "writer": "writer"}
    there, here = both(address, tmp_path, NESTED, {"topics": ["a", "b"]}, bind, services=services, judge="j")
    assert here["status"] == "completed"
    assert same(there, here)


def both(
    address: str, folder: Path, spec: str, inputs: dict[str, Any], bind: dict[str, Any], **settings: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The objects of a run there and here."""

    async def work() -> tuple[dict[str, Any], dict[str, Any]]:
        there = await desk(address, folder, **settings)
        async with there.worker():
            return await there.there(spec, inputs, bind=bind), await there.here(spec, inputs, bind=bind)

    return asyncio.run(work())


def test_a_composite_and_a_pattern_in_a_slot(address: str, tmp_path: Path) -> None:
    services = {
        **SERVICES,
        "canned": {"provider": "script", "rules": [], "else": {"echo": True}},
        "both": {"pattern": "dialectic", "with": {"thesis": "pro", "antithesis": "contra"}},
    }
    bind = {"left": "canned", "right": "both"}
    there, here = both(address, tmp_path, COMPOSITE, {"task_brief": "tea"}, bind, services=services)
    assert here["status"] == "completed", here["error"]
    assert same(there, here)


COMPOSITE = """---
name: composite
kind: composite
---
### Slots
- `left`
- `right`

### Parameters
- `task_brief` (string): What it is about.

### Delegation
```javascript
const [one, two] = await Promise.all([
  rlm("left", { task_brief: __compositeState.task_brief }, { use: __compositeState.left }),
  rlm("right", { task_brief: __compositeState.task_brief }, { use: __compositeState.right }),
])
console.log("both are there")
__compositeState.seen = [one, two]
return(one)
```
"""


def test_what_a_run_fails_with(team: Team) -> None:
    team.configure(services={**SERVICES, "contra": {"provider": "script", "replies": ["c1"]}})
    team.start()
    words = ("dialectic", "Should we?", "--thesis", "pro", "--antithesis", "contra")
    there, here = team.there(*words), team.here(*words)
    assert here["error"]["kind"] == "exhausted"
    assert same(there, here)
    limited = team.prose("run", *words, "--max-calls", "1", "--engine", "temporal", "--json")
    assert limited.exit == 4
    run = json.loads(limited.stdout)["run"]
    assert f"prose resume {run} --engine temporal --max-calls 2" in limited.stderr
    until = time.monotonic() + 20  # the engine's list of runs follows what happens after a moment
    while json.loads(team.prose("runs", "show", "last", "--json").stdout)["run"] != run:
        assert time.monotonic() < until
    unknown = team.prose("run", "dialectic", "x", "--thesis", "nobody", "--engine", "temporal")
    assert unknown.exit == 2
    assert "nobody" in unknown.stderr
    assert "Traceback" not in unknown.stderr + limited.stderr


def test_many_rows(team: Team) -> None:
    team.configure(services={"w": {"provider": "script", "rules": [], "else": {"echo": True}}})
    (team.folder / "one.prose.md").write_text(ONE)
    (team.folder / "rows.jsonl").write_text("".join(json.dumps({"topic": topic}) + "\n" for topic in "abc") + "{}\n")
    team.start()
    words = ("batch", "one", "--inputs", "rows.jsonl", "--writer", "w", "--engine", "temporal")
    first, second = team.prose(*words), team.prose(*words)
    rows = [json.loads(line) for line in first.stdout.splitlines()]
    assert [row["result"] for row in rows] == ["a", "b", "c", None]
    assert [row["status"] for row in rows] == ["completed"] * 3 + ["failed"]
    assert (first.exit, second.exit) == (1, 1)
    assert second.stdout == first.stdout  # the same runs: nothing was run again


ONE = """---
name: one
kind: pattern
---
### Slots
- `writer`

### Parameters
- `topic` (string): About what.

### Delegation
```
return call writer(topic: topic)
```
"""
