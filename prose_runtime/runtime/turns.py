"""Half turns: what a person had said to a request when they were interrupted is kept, and not asked for again."""

from __future__ import annotations

from typing import Any

from prose_runtime.journal import Answer, RunRecord
from prose_runtime.runtime.steering import beside
from prose_runtime.services.api import Request, Turn

SAID = "~said"
"""What the step of a half turn has behind the step of its call."""


class HalfTurns:
    """Keeps what people say to requests until they have said all of it; without a record, as long as this run lives.

    It counts for the same request only: for a further attempt, and when the run goes on.
    """

    def __init__(self, record: RunRecord | None):
        self._record = record
        self._kept: dict[str, Answer] = {}

    def begun(self, step: str, digest: str, request: Request) -> Request:
        """The request with the turn of the person who is asked, in which they may have said something already."""
        place = beside(step, SAID)[-1]

        def keep(parts: dict[str, Any]) -> None:
            self._keep(Answer(place, digest, "event", dict(parts), ""))

        return request.with_(turn=Turn(self._said(step, digest), keep))

    def over(self, step: str) -> list[Answer]:
        """What to keep along with the whole answer: nothing of its parts."""
        places = [place for place in beside(step, SAID) if (kept := self._at(place)) and kept.value]
        emptied = [Answer(place, "", "event", {}, "") for place in places]
        self._kept |= {answer.step: answer for answer in emptied}
        return emptied

    def _said(self, step: str, digest: str) -> dict[str, Any]:
        kept = (self._at(place) for place in reversed(beside(step, SAID)))
        return next((dict(answer.value) for answer in kept if answer and answer.digest == digest), {})

    def _at(self, place: str) -> Answer | None:
        return self._kept.get(place) or (self._record.answer(place) if self._record else None)

    def _keep(self, answer: Answer) -> None:
        self._kept[answer.step] = answer
        if self._record is not None:
            self._record.keep_now(answer)
