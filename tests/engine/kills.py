"""Kills workers in the middle of nested parallel loops, and compares with a run that nothing disturbed.

Run it in full with ``python -m engine.kills`` in the folder ``tests``: 24 kills; ``--kills N`` for another number.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prose_runtime.engine.connection import Place, connect
from prose_runtime.engine.history import events, value_of
from support.engine import Team, same, server

SPEC = """---
name: nested
kind: pattern
---
### Slots
- `reader`
- `writer`

### Config
- `rounds` (integer, default: 3): How often each topic is gone through.

### Parameters
- `topics` (array): What is read about.

### Delegation
```
let found = []
let all = parallel for topic in topics:
  let notes = []
  repeat rounds as i:
    let pages = parallel repeat 3 as page:
      return call reader(topic: topic, round: i, page: page)
    let summary = call writer(pages: pages, before: notes)
    append summary to notes
    append { topic: topic, round: i } to found
  return notes
return { all, found }
```
"""

SCRIPT = """
import hashlib, json, sys, time
told = sys.stdin.read()
inputs = json.loads(told)["inputs"]
key = json.dumps(inputs, sort_keys=True)
def note(what):
    with open(sys.argv[1], "a") as log:
        log.write(json.dumps([what, key, time.time()]) + "\\n")
note("begun")
time.sleep(float(sys.argv[2]))
note("done")
print("answer " + hashlib.sha1(key.encode()).hexdigest())
"""


@dataclass
class Tally:
    """What was found: kills, requests of the undisturbed and of the disturbed run, and what should never be."""

    kills: int = 0
    calls: int = 0
    begun: int = 0
    again: int = 0
    repeated_finished: int = 0
    wrong: int = 0

    def __str__(self) -> str:
        return (
            f"{self.kills} kills, {self.calls} calls, {self.begun} requests begun, {self.again} asked again, "
            f"{self.repeated_finished} finished calls repeated, {self.wrong} wrong results"
        )


def disturbed(team: Team, kills: int, *, topics: int, rounds: int, delay: float, seed: int) -> Tally:
    """One run here, one on the engine whose workers are killed again and again."""
    chance = random.Random(seed)
    log = team.folder / "calls.log"
    script = team.folder / "answer.py"
    script.write_text(SCRIPT)
    (team.folder / "nested.prose.md").write_text(SPEC)
    words = ("nested.prose.md", "--topics", json.dumps([f"t{i}" for i in range(topics)]), "--rounds", str(rounds))
    words += ("--reader", "reader", "--writer", "writer", "--max-calls", "100000")
    _services(team, script, Path("/dev/null"), 0.0)
    here = team.here(*words)
    _services(team, script, log, delay)
    team.start(min(kills, 3) + 1)
    run = team.prose("submit", *words).stdout.strip()
    tally = Tally(calls=len(here["calls"]))
    while tally.kills < kills:
        begun = len(_log(log))
        _wait(lambda before=begun: len(_log(log)) > before or _over(log, tally.calls))
        if _over(log, tally.calls):
            break
        time.sleep(chance.uniform(0, delay))
        if len(team.workers) < 2:
            team.start(3)
        team.kill(chance.choice(team.workers))
        tally.kills += 1
    there = json.loads(team.prose("resume", run, "--engine", "temporal", "--json", "--quiet").stdout)
    tally.wrong = int(not same(there, here))
    tally.begun = sum(what == "begun" for what, _, _ in _log(log))
    tally.again = tally.begun - tally.calls
    tally.repeated_finished = asyncio.run(_repeated(team, run, log))
    return tally


def _services(team: Team, script: Path, log: Path, delay: float) -> None:
    command = [sys.executable, "-S", "-E", str(script), str(log), str(delay)]
    service = {"provider": "command", "command": command}
    team.configure(services={"reader": service, "writer": service})


def _log(log: Path) -> list[tuple[str, str, float]]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def _over(log: Path, calls: int) -> bool:
    """Whether each call was answered at least once, so that no kill can find it in flight any more."""
    return len({key for what, key, _ in _log(log) if what == "done"}) >= calls


async def _repeated(team: Team, run: str, log: Path) -> int:
    """Requests that a service got after the engine had its answer already."""
    client = await connect(Place(address=team.address))
    asked: dict[int, str] = {}
    finished: dict[str, float] = {}
    async for event in events(client, run):
        scheduled = event.activity_task_scheduled_event_attributes
        done = event.activity_task_completed_event_attributes.scheduled_event_id
        if scheduled.activity_type.name == "ask":
            inputs = value_of(scheduled.input.payloads)["request"]["inputs"]
            asked[event.event_id] = json.dumps(inputs, sort_keys=True)
        elif done in asked:
            finished[asked[done]] = event.event_time.ToNanoseconds() / 1e9
    assert len(finished) == len(asked)
    return sum(what == "begun" and at > finished[key] for what, key, at in _log(log))


def _wait(done: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.02)


def main() -> None:
    """Run it in full and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as address:
        home, project = Path(folder) / "home", Path(folder) / "project"
        home.mkdir()
        project.mkdir()
        team = Team(project, home, address, "kills")
        try:
            tally = disturbed(team, given.kills, topics=4, rounds=24, delay=1.2, seed=given.seed)
        finally:
            team.stop()
    print(tally)
    sys.exit(0 if tally.kills >= given.kills and not tally.wrong and not tally.repeated_finished else 1)


if __name__ == "__main__":
    main()
