"""How the person who watches a run can have a say in it: hold new calls back, and give a note to the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

NOTE = "~note"
"""What the step of a recorded note has behind the step of its call."""


class Steering:
    """The wishes of the person watching, for a host to follow.

    Notes wait for the next request to their target that really goes out, and go into the record at its step: a resumed
    run gives the same note at the same place.
    """

    def __init__(self) -> None:
        self._notes: dict[str, list[str]] = {}
        self._open = asyncio.Event()
        self._open.set()

    def redirect(self, target: str, note: str) -> None:
        """Give a note to the next call of a slot, component or agent; several become paragraphs of one."""
        self._notes.setdefault(target, []).append(note)

    def waiting(self) -> dict[str, str]:
        """The notes that no call has got yet, by target."""
        return {target: "\n".join(notes) for target, notes in self._notes.items()}

    def take(self, target: str) -> str | None:
        """The note for a call that goes out now, or None; nobody gets it twice."""
        notes = self._notes.pop(target, None)
        return "\n\n".join(notes) if notes else None

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Let no new request go out while the person decides. Those in flight go on."""
        self._open.clear()
        try:
            yield
        finally:
            self._open.set()

    async def ready(self) -> None:
        """Wait until requests may go out."""
        if not self._open.is_set():
            await self._open.wait()


def note_steps(step: str) -> list[str]:
    """Where a note for a request can be recorded: at the request itself, or at an earlier attempt of the same call."""
    call, _, attempt = step.partition("#")
    numbers = range(1, int(attempt or 1) + 1)
    return [note_step(call if number == 1 else f"{call}#{number}") for number in numbers]


def note_step(step: str) -> str:
    """The step of the note that a request got. The number of an attempt stays last, as in the steps of requests."""
    call, mark, attempt = step.partition("#")
    return f"{call}{NOTE}{mark}{attempt}"
