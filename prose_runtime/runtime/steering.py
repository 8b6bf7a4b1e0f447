"""How the person who watches a run can have a say in it: hold new calls back, and give a note to the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from prose_runtime.journal import Answer, RunRecord

NOTE = "~note"
"""What the step of a recorded note has behind the step of its call; one that waits stands at ``~note/1`` and so on."""


@dataclass(frozen=True, slots=True)
class Note:
    """What the person watching wants a target's next call to know. ``step`` is where the record keeps it."""

    target: str
    text: str
    step: str

    def kept(self, call: str | None = None) -> Answer:
        """The row of the record: ``call`` is the step that got the note, or None while it waits."""
        return Answer(self.step, "", "event", {"target": self.target, "note": self.text, "call": call}, "")


class Steering:
    """The wishes of the person watching, for a host to follow.

    Notes wait for the next request to their target that really goes out, and go into the record at its step: a resumed
    run gives the same note at the same place. With a record they wait there, too, and survive the process.
    """

    def __init__(self) -> None:
        self._notes: list[Note] = []
        self._count = 0
        self._record: RunRecord | None = None
        self._open = asyncio.Event()
        self._open.set()

    def keep_in(self, record: RunRecord) -> None:
        """Keep notes in a record from now on; those that wait in it wait here again. Raises RecordError."""
        if self._record is record:
            return
        rows = [kept for step, kept in record.answers.items() if step.startswith(f"{NOTE}/")]
        fresh, self._notes = (
            self._notes,
            [Note(kept.value["target"], kept.value["note"], kept.step) for kept in rows if kept.value["call"] is None],
        )
        self._count, self._record = len(rows), record
        for note in fresh:
            self.redirect(note.target, note.text)

    def redirect(self, target: str, text: str) -> None:
        """Give a note to the next call of a slot, component or agent; several become paragraphs of one.

        Raises:
            RecordError: It cannot be kept; it is given all the same, as long as this process lives.
        """
        self._count += 1
        note = Note(target, text, f"{NOTE}/{self._count}")
        self._notes.append(note)
        if self._record is not None:
            self._record.keep_now(note.kept())

    def waiting(self) -> dict[str, str]:
        """The notes that no call has got yet, by target."""
        targets = dict.fromkeys(note.target for note in self._notes)
        return {target: "\n".join(note.text for note in self._notes if note.target == target) for target in targets}

    def take(self, target: str) -> list[Note]:
        """The notes for a call that goes out now; nobody gets one twice."""
        taken = [note for note in self._notes if note.target == target]
        if taken:
            self._notes = [note for note in self._notes if note.target != target]
        return taken

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
    return beside(step, NOTE)


def beside(step: str, mark: str) -> list[str]:
    """The steps of something that belongs to a request, at each attempt of its call from the first to this one.

    The number of an attempt stays last, as in the steps of requests.
    """
    call, _, attempt = step.partition("#")
    return [f"{call}{mark}{'' if number == 1 else f'#{number}'}" for number in range(1, int(attempt or 1) + 1)]
