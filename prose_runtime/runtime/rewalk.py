"""What an edit would do to a recorded run: the program is walked with the record alone, before anybody is asked.

Where the program asks something else than is recorded, the walk goes on with the recorded answer, for want of another.
Where nothing is recorded, that branch ends.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import Any

from prose_runtime.errors import Paused, RecordError
from prose_runtime.events import Event
from prose_runtime.journal import Answer, RunRecord
from prose_runtime.runtime.digests import parts_of
from prose_runtime.runtime.host import LocalHost
from prose_runtime.runtime.limits import Limits, Meter
from prose_runtime.services.api import Reply, Request, Service

MOST_SHOWN = 20
"""Steps of a kind that are listed one by one."""
MOST_LOOKED_AT = 200
"""Later steps that are looked at to tell whether the program has passed a place."""


@dataclass(slots=True)
class Changes:
    """What would become of the recorded answers.

    Attributes:
        reused: Steps whose request is the same, as far as new answers do not change it.
        again: Steps that ask something else now, with what changed.
        orphaned: Steps that the program does not come to any more, with why.
        later: Steps behind the first that is asked anew: reused if they still fit.
    """

    reused: list[str] = field(default_factory=list)
    again: dict[str, str] = field(default_factory=dict)
    orphaned: dict[str, str] = field(default_factory=dict)
    later: list[str] = field(default_factory=list)

    @property
    def harmless(self) -> bool:
        """Whether every recorded answer is used as it stands."""
        return not self.again and not self.orphaned

    def lines(self) -> list[str]:
        """The changes for a person."""
        lines = [f"  reused: {_answers(len(self.reused))}"] if self.reused else []
        for title, steps in (("asked again", self.again), ("orphaned", self.orphaned)):
            lines += [f"  {title}: {_answers(len(steps))}"] if steps else []
            shown = list(steps.items())[:MOST_SHOWN]
            lines += [f"    {step}: {reason}" for step, reason in shown]
            lines += [f"    and {len(steps) - MOST_SHOWN} more"] if len(steps) > MOST_SHOWN else []
        return lines + ([f"  reused if they still fit: {_answers(len(self.later))}"] if self.later else [])


def _answers(number: int) -> str:
    return "1 answer" if number == 1 else f"{number} answers"


class EditedError(RecordError):
    """The program asks something else at a recorded step: spec, inputs or bindings were edited.

    ``changes`` says what would become of the record.
    """

    kind = "edited"

    def __init__(self, changes: Changes):
        super().__init__(
            "the spec, its inputs or its bindings were edited since this run was recorded",
            help="go on all the same with `--reask`, or start a new run",
        )
        self.changes = changes


class RewalkHost(LocalHost):
    """Answers from the record alone, and notes how each step fits it."""

    def __init__(self, record: RunRecord):
        super().__init__(record, Meter(Limits(max_calls=None)), [])
        self.changes = Changes()
        self.ended = False
        self._seen: set[str] = set()
        self._reused: set[str] = set()

    def emit(self, event: Event) -> None:
        """Nothing happens."""

    async def sleep(self, step: str, seconds: float) -> None:
        """No time passes."""

    async def witness(self, step: str, happening: Callable[[], Awaitable[Any]]) -> Any:
        """What is recorded. Raises Paused when nothing is."""
        kept = self.record.answer(step) if self.record else None
        if kept is None:
            raise self._end(step)
        return kept.value

    async def ask(self, step: str, service: Service, request: Request) -> Reply:
        """The recorded answer, whether or not it fits. Raises Paused when there is none."""
        kept = self.record.answer(step) if self.record else None
        if kept is None or kept.reopened:
            self._seen.add(step)
            raise self._end(step)
        self._seen.add(step)
        request = await self._noted_down(step, request, kept)
        if self._digest(service, request) == kept.digest:
            self.changes.reused.append(step)
            self._reused.add(step)
        else:
            self.changes.again[step] = _difference(kept, service, request)
        return self._replay(kept)

    def _end(self, step: str) -> Paused:
        self.ended = True
        return Paused("nothing is recorded here", step=step)

    def finish(self) -> Changes:
        """What came of the walk, once it is over."""
        assert self.record is not None
        recorded = [step for step, kept in self.record.answers.items() if kept.kind != "event"]
        met = [i for i, step in enumerate(recorded) if step in self.changes.again or step in self._reused]
        for i, step in enumerate(recorded):
            if step in self._seen:
                continue
            behind = (recorded[k] for k in reversed(met[-MOST_LOOKED_AT:]) if k > i)
            if not self.ended or any(not _side_by_side(step, other) for other in behind):
                self.changes.orphaned[step] = "the program does not come there any more"
            else:
                self.changes.later.append(step)
        return self.changes


_BRANCH = re.compile(r"((?:parallel|pmap|rlm)[^/]*)\[[^/]*\]")


def _side_by_side(one: str, other: str) -> bool:
    """Whether two steps stand in branches of one construct, so that either may come first."""
    pairs = zip(one.split("/"), other.split("/"), strict=False)
    mine, its = next(((a, b) for a, b in pairs if a != b), ("", ""))
    found = _BRANCH.fullmatch(mine), _BRANCH.fullmatch(its)
    return found[0] is not None and found[1] is not None and found[0][1] == found[1][1]


def _difference(kept: Answer, service: Service, request: Request) -> str:
    if kept.service != service.name:
        return f"it goes to {service.name}, not to {kept.service}"
    if kept.parts is None:
        return "it asks something else"
    now = parts_of(request)
    changed = [name for name in now if name in kept.parts and now[name] != kept.parts[name]]
    rows = (("changed", changed), ("new", _beside(now, kept.parts)), ("gone", _beside(kept.parts, now)))
    return (
        "; ".join(f"{', '.join(names)} {_is(names)} {word}" for word, names in rows if names) or "it asks it otherwise"
    )


def _is(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _beside(parts: Mapping[str, str], others: Mapping[str, str]) -> list[str]:
    return [name for name in parts if name not in others]


def digest_of_sources(texts: Iterable[str], asked: Any) -> str:
    """A digest of what decides a run: the texts of its specs, and what was asked for."""
    content = json.dumps([sorted(texts), asked], sort_keys=True, default=_named)
    return hashlib.sha256(content.encode("ascii")).hexdigest()[:32]


def _named(value: Any) -> Any:
    """What stands for a value that is no JSON; a function is known by its name only."""
    name = getattr(value, "__name__", None) or getattr(value, "name", None)
    return name if isinstance(name, str) else repr(value) if is_dataclass(value) else str(type(value))
