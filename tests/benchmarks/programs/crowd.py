"""Ten thousand calls in flight at once: ``FILE CALLS [--cancel]``; prints a JSON object.

``over`` is how many seconds longer than its one second of waiting the run takes, ``kib`` the memory that a waiting
call holds, ``cancel`` the seconds from the word to stop until nothing runs any more. Wall-clock time.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import prose_runtime as prose

SPEC = """\
---
name: crowd
kind: pattern
---

### Slots

- `worker`: answers after a second

### Parameters

- `calls`: how many are asked at once

### Delegation

```prose
let answers = parallel repeat calls as i:
  call worker
    number: i
return answers.length
```
"""


def _resident() -> int:
    """Bytes of this process in memory."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


async def _crowd(calls: int, cancel: bool) -> dict[str, float]:
    waiting, seen = 0, {"kib": 0.0}
    everybody = asyncio.Event()

    async def worker(request: object) -> str:
        nonlocal waiting
        waiting += 1
        if waiting == calls:
            seen["kib"] = (_resident() - before) / calls / 1024
            everybody.set()
        await asyncio.sleep(60 if cancel else 1)
        return "an answer"

    spec = prose.load("crowd.prose.md")
    bind = {"worker": worker}
    await prose.arun(spec, {"calls": 0}, bind=bind)  # what is loaded once is no call's own
    before = _resident()
    start = time.perf_counter()
    task = asyncio.ensure_future(prose.arun(spec, {"calls": calls}, bind=bind))
    if cancel:
        await everybody.wait()
        start = time.perf_counter()
        task.cancel()
        await asyncio.wait([task])
        return {**seen, "cancel": time.perf_counter() - start}
    assert (await task).value == calls
    return {**seen, "over": time.perf_counter() - start - 1}


if __name__ == "__main__":
    os.chdir(tempfile.mkdtemp())
    Path("crowd.prose.md").write_text(SPEC, encoding="utf-8")
    Path("prose.yml").write_text("limits: {max_calls: 100000, max_concurrency: 100000}\n", encoding="utf-8")
    print(json.dumps(asyncio.run(_crowd(int(sys.argv[1]), "--cancel" in sys.argv))))
