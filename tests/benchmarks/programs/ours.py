"""prose-runtime: specs, loaded once; ``--durable`` keeps every answer in a record on disk."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from timing import BRANCHES, ITEMS, TURNS, measured_async

import prose_runtime as prose
from prose_runtime.journal import Journal

FRAME = """\
---
name: {name}
kind: pattern
---

### Slots

{slots}

### Parameters

{parameters}

### Delegation

```prose
{body}
```
"""
FAN_OUT = """\
let answers = parallel for item in items:
  call worker
    item: item
return answers
"""
LOOP = """\
let note = null
repeat turns:
  let draft = call writer
    task_brief: task_brief
    note: note
  let view = call critic
    draft: draft
  if view accepted:
    return draft
  note = view.note
return draft
"""
NESTED = """\
let answers = parallel for x in items:
  parallel for item in items:
    call worker
      item: item
return answers
"""


async def role(request: object) -> str:
    return "an answer"


async def critic(request: object) -> dict[str, object]:
    return {"accepted": False, "note": "more"}


def _spec(name: str, slots: str, parameters: str, body: str) -> Any:
    bullets = ["\n".join(f"- `{word}`: text" for word in words.split()) for words in (slots, parameters)]
    path = Path(f"{name}.prose.md")
    path.write_text(FRAME.format(name=name, slots=bullets[0], parameters=bullets[1], body=body), encoding="utf-8")
    return prose.load(path)


def main(durable: bool) -> None:
    os.chdir(tempfile.mkdtemp())
    Path("prose.yml").write_text("limits: {max_calls: 100000, max_concurrency: 100000}\n", encoding="utf-8")
    dialectic, loop = prose.load("dialectic"), _spec("loop", "writer critic", "task_brief turns", LOOP)
    fan_out, nested = _spec("fan", "worker", "items", FAN_OUT), _spec("nested", "worker", "items", NESTED)
    works: dict[str, tuple[Any, dict[str, Any], dict[str, Any], dict[str, Any]]] = {
        "dialectic": (dialectic, {"task_brief": "x"}, {"thesis": role, "antithesis": role}, {"rounds": TURNS}),
        "fan-out": (fan_out, {"items": list(range(ITEMS))}, {"worker": role}, {}),
        "loop": (loop, {"task_brief": "x", "turns": TURNS}, {"writer": role, "critic": critic}, {}),
        "nested": (nested, {"items": list(range(BRANCHES))}, {"worker": role}, {}),
    }
    journal = Journal(Path(".prose"))

    def program(name: str) -> Callable[[], Any]:
        spec, inputs, bind, config = works[name]

        async def run() -> None:
            record = journal.create(spec.name, {}) if durable else None
            try:
                await prose.arun(spec, inputs, bind=bind, config=config, record=record)
            finally:
                if record is not None:
                    record.close()

        return run

    runs = {name: program(name) for name in works}
    for run in runs.values():
        asyncio.run(run())  # once before the clock starts, as the others compile their programs before
    measured_async(runs)


if __name__ == "__main__":
    main("--durable" in sys.argv)
