"""A run on the engine comes to the same as one on this machine, in every respect that its object shows."""

from __future__ import annotations

from typing import Any

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


def test_nested_loops_races_failures_and_judges(team: Team) -> None:
    slow = [{"when": {"topic": "slow"}, "delay": 20, "reply": "late"}]
    bad = [{"when": {"topic": "bad"}, "error": "no", "kind": "refused"}]
    team.configure(
        services={
            "reader": {"provider": "script", "rules": [*slow, *bad], "else": {"echo": True}},
            "writer": {"provider": "script", "rules": [], "else": {"echo": True}},
            "j": {"provider": "script", "replies": [{"verdict": True, "reason": "they are"}]},
        },
        judge="j",
    )
    (team.folder / "nested.prose.md").write_text(NESTED)
    team.start()
    words = ("nested.prose.md", "--topics", '["a", "b"]', "--reader", "reader", "--writer", "writer")
    there, here = team.there(*words), team.here(*words)
    assert here["status"] == "completed"
    assert same(there, here)


def test_a_composite_and_a_pattern_in_a_slot(team: Team) -> None:
    team.configure(
        services={
            **SERVICES,
            "canned": {"provider": "script", "rules": [], "else": {"echo": True}},
            "both": {"pattern": "dialectic", "with": {"thesis": "pro", "antithesis": "contra"}},
        }
    )
    (team.folder / "composite.prose.md").write_text(COMPOSITE)
    team.start()
    words = ("composite.prose.md", "tea", "--left", "canned", "--right", "both")
    there, here = team.there(*words), team.here(*words)
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
    unknown = team.prose("run", "dialectic", "x", "--thesis", "nobody", "--engine", "temporal")
    assert unknown.exit == 2
    assert "nobody" in unknown.stderr
    assert "Traceback" not in unknown.stderr + limited.stderr
