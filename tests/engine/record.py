"""Records the history that ``test_replay.py`` replays; to be run anew only when what is recorded changes on purpose.

``python -m engine.record`` in the folder ``tests`` starts a server, runs a spec and writes ``engine/history.json``.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
from pathlib import Path

from engine.within import desk
from support.engine import server

SPEC = """---
name: recorded
kind: pattern
---
### Slots
- `reader`
- `writer`

### Parameters
- `topics` (array): What is read about.

### Delegation
```
let notes = parallel for topic in topics:
  repeat 2 as i:
    return call reader(topic: topic, round: i)
let first = parallel ("first"):
  call reader(topic: "slow")
  call writer(topic: "quick")
sleep 0.1s
try:
  call reader(topic: "bad")
catch as e:
  append e.kind to notes
return { notes, first }
```
"""

RULES = [
    {"when": {"topic": "slow"}, "delay": 5, "reply": "late"},
    {"when": {"topic": "bad"}, "error": "no", "kind": "refused"},
]


async def recorded(address: str) -> str:
    """The history of a run as JSON, without the name of this machine."""
    service = {"provider": "script", "rules": RULES, "else": {"echo": True}}
    there = await desk(address, Path(), services={"r": service, "w": service})
    async with there.worker():
        run = await there.submit(SPEC, {"topics": ["a", "b"]}, bind={"reader": "r", "writer": "w"})
        await run.result()
        history = json.dumps(json.loads((await run.handle.fetch_history()).to_json()), indent=1)
    return re.sub(r'"\d+@[^"]*"', '"worker"', history)


def main() -> None:
    """Write the file."""
    target = Path(__file__).with_name("history.json")
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as address:
        os.chdir(folder)
        target.write_text(asyncio.run(recorded(address)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
