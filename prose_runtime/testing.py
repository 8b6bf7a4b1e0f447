"""Doubles for tests of patterns: scripted services, recorded requests, and the switch against live requests.

```python
from prose_runtime.testing import record, script

critic = record(script({"accepted": False, "notes": "shorter"}, {"accepted": True}))
result = prose_runtime.run("refine.prose.md", {"task": "t"}, bind={"critic": critic, "writer": script("a", "b")})
assert critic.requests[1].inputs["draft"] == "b"
```
"""

from __future__ import annotations

import os
from typing import Any

from prose_runtime.services.api import AsyncFunction, Reply, Request, Service
from prose_runtime.services.live import VARIABLE
from prose_runtime.services.registry import adapt
from prose_runtime.services.script import ScriptService


def script(*replies: Any, repeat: bool = False, name: str = "script") -> Service:
    """A service that gives these replies in the order of its calls, then fails; with ``repeat`` it starts again.

    A reply is a JSON value or an instruction as in prose.yml: ``{"error": "busy", "kind": "overloaded"}``,
    ``{"delay": 0.1, "reply": "late"}``, ``{"echo": True}``.
    """
    return ScriptService(name, replies, repeat=repeat)


def record(service: Service | AsyncFunction, *, name: str = "recorded") -> Recorder:
    """The same service, keeping what it was asked; a plain async function is made a service called ``name``."""
    return Recorder(adapt(name, service))


class Recorder:
    """A service that keeps its ``requests`` and, for those that were answered, its ``replies``."""

    def __init__(self, service: Service):
        self.name = service.name
        self.service = service
        self.requests: list[Request] = []
        self.replies: list[Reply] = []

    async def __call__(self, request: Request) -> Reply:
        """Keep the request and pass it on."""
        self.requests.append(request)
        reply = await self.service(request)
        self.replies.append(reply)
        return reply


def forbid_live_requests() -> None:
    """Make each request to a server that is not on this machine fail, in this process and those it starts."""
    os.environ[VARIABLE] = "forbid"
