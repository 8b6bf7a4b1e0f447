"""Runs on the engine with a worker in the test's own process: quick, for all that needs no process of its own."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from temporalio.client import Client

from prose_runtime.engine.client import Run, order, submit
from prose_runtime.engine.connection import Place, connect
from prose_runtime.engine.worker import work
from prose_runtime.runtime.session import RunRequest, execute, prepare

_numbers = itertools.count(1)


@dataclass
class Desk:
    """A client, a place and a folder with prose.yml and specs."""

    client: Client
    place: Place
    folder: Path

    def request(self, spec: str, inputs: dict[str, Any] | None = None, **more: Any) -> RunRequest:
        """A run of a spec that is written into the folder."""
        path = self.folder / "spec.prose.md"
        path.write_text(spec)
        return RunRequest(path, inputs or {}, base=self.folder, **more)

    async def submit(self, spec: str, inputs: dict[str, Any] | None = None, **more: Any) -> Run:
        """Start a run."""
        place = replace(self.place, **more.pop("place", {}))
        return await submit(self.client, place, order(self.request(spec, inputs, **more), place))

    async def there(self, spec: str, inputs: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        """The object of a run on the engine."""
        run = await self.submit(spec, inputs, **more)
        return (await asyncio.wait_for(run.result(), 60)).as_json()

    async def here(self, spec: str, inputs: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        """The object of the same run in this process."""
        more.pop("place", None)
        return (await execute(prepare(self.request(spec, inputs, **more)))).as_json()

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[None]:
        """A worker, as long as the block runs."""
        stop, ready = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(work(self.place, self.folder, stop, ready=ready.set))
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
        assert waiting.done(), task.exception()
        try:
            yield
        finally:
            stop.set()
            await task


async def desk(address: str, folder: Path, **settings: Any) -> Desk:
    """A desk whose prose.yml has these settings."""
    (folder / "prose.yml").write_text(json.dumps(settings))
    place = Place(address=address, task_queue=f"within{next(_numbers)}", lost_after=5)
    return Desk(await connect(place), place, folder)
