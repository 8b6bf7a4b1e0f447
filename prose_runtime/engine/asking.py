"""People of a run that is watched: its questions are put to whoever is here, and the answers sent as signals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent

from prose_runtime.engine import wire
from prose_runtime.engine.history import value_of
from prose_runtime.errors import Paused
from prose_runtime.services.api import Service, Turn
from prose_runtime.values import to_json

IDLE = 0.5
"""Seconds in which nothing happens, after which a run with an open question counts as waiting for a person."""


Person = Callable[[], Service | None]
"""Gives who answers here, or None when nobody does."""


def nobody() -> Service | None:
    """Nobody answers here."""
    return None


class Questions(Protocol):
    """A run as far as its questions are concerned."""

    async def questions(self) -> list[dict[str, Any]]:
        """What waits for a person, with the whole request."""
        ...

    async def say(self, step: str, parts: Mapping[str, Any]) -> None:
        """Give what a person has said so far of an answer."""
        ...

    async def answer(self, step: str, value: Any) -> None:
        """Give a person's answer."""
        ...


class Asking:
    """Puts the questions of a run to whoever is here, and sends the answers."""

    def __init__(self, run: Questions, person: Person):
        self.run = run
        self.person = person
        self.waiting: list[dict[str, Any]] = []
        self._asked: dict[str, asyncio.Task[None]] = {}

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """The questions that are being put."""
        return list(self._asked.values())

    def take(self, event: HistoryEvent) -> None:
        """Note which questions wait, as an event of the history tells."""
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED:
            changed = event.workflow_properties_modified_event_attributes.upserted_memo.fields
            if "waiting" in changed:
                self.waiting = value_of([changed["waiting"]]) or []
                for step in self._asked.keys() - {question["step"] for question in self.waiting}:
                    self._asked.pop(step).cancel()

    def idle(self, in_flight: bool) -> float | None:
        """Seconds of silence after which the run waits for nothing but people that were not asked yet."""
        return IDLE if len(self._asked) < len(self.waiting) and not in_flight else None

    async def goes_on(self, in_flight: bool) -> bool:
        """Put the questions that wait. False when the run can go on by nobody who is here.

        Raises:
            ProseError: An answer could not be given.
        """
        for task in [task for task in self.tasks if task.done() and not task.cancelled()]:
            if isinstance(task.exception(), Paused):
                return False
            task.result()
        if in_flight or len(self._asked) >= len(self.waiting):
            return True
        if self.person() is None:
            return False
        for question in await self.run.questions():
            step = question["step"]
            if step not in self._asked:
                self._asked[step] = asyncio.create_task(self._put(step, question))
        return True

    async def _put(self, step: str, question: Mapping[str, Any]) -> None:
        person = self.person()
        assert person is not None
        telling, inline = set[asyncio.Task[None]](), asyncio.Lock()

        async def tell(parts: dict[str, Any]) -> None:
            async with inline:  # each has what the ones before it had
                await self.run.say(step, parts)

        turn = Turn(question.get("said"), lambda parts: telling.add(asyncio.create_task(tell(to_json(parts)))))
        try:
            reply = await person(wire.request_from(question["request"]).with_(turn=turn))
        finally:
            await asyncio.gather(*telling)
        await self.run.answer(step, to_json(reply.value))
        # until the run tells that the question is gone, it is still put
        await asyncio.Event().wait()

    def stop(self) -> None:
        """Take the questions back."""
        for task in self.tasks:
            task.cancel()
