"""Invariants in a run: what was not proved before is watched by the events, and judged when the run has ended.

What a role answered is found again in what another one is told by its very words; that cannot tell everything, and
what it cannot tell is reported as unchecked (LANGUAGE.md section 4, Invariants).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from prose_runtime.check.invariant_claims import Claim, OnlyIf
from prose_runtime.errors import ContractError
from prose_runtime.events import CallFinished, CallStarted, Event, StepFinished, StepStarted
from prose_runtime.nodes import Ask, Call, Discretion, Effect, Node, Session
from prose_runtime.runtime.program import Program
from prose_runtime.text import Where
from prose_runtime.values import Value

if TYPE_CHECKING:
    from prose_runtime.check.invariants import Verdict

Status = Literal["proved", "held", "broken", "unchecked"]

_CALLS = (Call, Session, Discretion, Ask, Effect)
_ROUND = re.compile(r"(?:^|/)(?:repeat|for|loop)\b[^/\[]*\[\d+\]")
SHORTEST = 12
"""Characters that a text needs, so that finding it elsewhere means that it was passed on."""


@dataclass(slots=True)
class Called:
    """A call that the spec itself made. What a nested spec was told and gave is not known here."""

    role: str
    step: str
    inputs: dict[str, Any] = field(default_factory=dict)
    prompt: str | None = None
    service: str | None = None
    output: Any = None
    answered: bool = False
    seen: int = 0
    """How many answers there were when it began."""

    @property
    def round(self) -> str | None:
        """The pass of the outermost loop in which it was made, or None when it was made in no loop."""
        found = _ROUND.search(self.step)
        return self.step[: found.end()] if found else None


@dataclass(slots=True)
class Story:
    """What happened in a run, as claims want to know it: calls in order of their start, answers in order of arrival."""

    program: Program
    values: Mapping[str, Value]
    slots: Mapping[str, Value]
    calls: list[Called] = field(default_factory=list)
    answers: list[Called] = field(default_factory=list)
    completed: bool = False

    def of(self, role: str) -> list[Called]:
        """The calls of a role."""
        return [call for call in self.calls if call.role == role]


class Watch:
    """Listens to a run and says what became of the invariants of its spec.

    ``strict``: a call that a role's refusal forbids ends the run before it is made.
    """

    def __init__(
        self, program: Program, values: Mapping[str, Value], slots: Mapping[str, Value], *, strict: bool = False
    ):
        self.program = program
        self.story = Story(program, values, slots)
        self.verdicts: tuple[Verdict, ...] = program.analysis.verdicts
        self._open: dict[str, Called] = {}
        guarded = strict and program.spec.javascript is None
        self._guarded = [verdict for verdict in self.verdicts if guarded and any(map(_is_guard, verdict.claims))]
        self.watching = any(v.claims for v in self.verdicts)
        self._nodes = self._places() if self.watching else {}
        content = program.spec.javascript.content if program.spec.javascript else None
        source = program.source
        self._script = (source.place(content.start).line, source.place(content.end).line) if content else None

    def _places(self) -> dict[Where, Node]:
        nodes = self.program.body.walk() if self.program.body else iter(())
        return {self.program.where(node.span): node for node in nodes if isinstance(node, _CALLS)}

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if not self.watching:
            return
        if isinstance(event, StepStarted):
            self._begun(event)
        elif isinstance(event, CallStarted):
            self._asked(event)
        elif isinstance(event, CallFinished):
            self._answered(event)
        elif isinstance(event, StepFinished):
            self._open.pop(event.step, None)

    def _begun(self, event: StepStarted) -> None:
        node = self._nodes.get(event.where)
        scripted = self._script is not None and event.kind == "call" and self._in_script(event.where)
        if (node is None and not scripted) or self._inside(event.step):
            return
        target = self.program.analysis.targets.get(node) if node is not None else None
        if target is not None and target.kind == "block":
            return
        role = target.name if target is not None and target.kind != "reference" else ""
        self._open[event.step] = called = Called(role, event.step, seen=len(self.story.answers))
        self.story.calls.append(called)

    def _inside(self, step: str) -> bool:
        """Whether a step lies in that of an open call."""
        while "/" in step:
            step = step.rpartition("/")[0]
            if step in self._open:
                return True
        return False

    def _in_script(self, where: Where) -> bool:
        assert self._script is not None
        return where.file == self.program.source.path and self._script[0] <= where.line <= self._script[1]

    def _asked(self, event: CallStarted) -> None:
        called = self._open.get(event.step)
        if called is not None:
            called.role, called.service = event.target, event.service
            called.inputs, called.prompt = event.inputs, event.prompt
            self._allowed(called)

    def _allowed(self, called: Called) -> None:
        """Raise ContractError for a call that its guard has not allowed."""
        from prose_runtime.runtime.invariant_claims import judge

        story = replace(self.story, calls=[called])
        for verdict in self._guarded:
            for claim in filter(_is_guard, verdict.claims):
                status, how = judge(claim, story)
                if status == "broken":
                    raise self._broken(verdict, how)

    def _broken(self, verdict: Verdict, how: str) -> ContractError:
        message = f'the run broke the invariant "{verdict.invariant.text}": {how}'
        return ContractError(message, kind="invariant", where=self.program.where(verdict.invariant.span))

    def _answered(self, event: CallFinished) -> None:
        called = self._open.get(event.step.partition("#")[0])
        if called is not None and event.error is None:
            called.output = event.output
            if not called.answered:
                called.answered = True
                self.story.answers.append(called)

    def close(self, completed: bool) -> list[dict[str, Any]]:
        """The entries of the result's ``invariants``; ``completed``: the run came to its end without an error."""
        self.story.completed = completed
        return [self._entry(verdict) for verdict in self.verdicts]

    def _entry(self, verdict: Verdict) -> dict[str, Any]:
        status, how = self._judged(verdict)
        line = self.program.where(verdict.invariant.span).line
        return {"text": verdict.invariant.text, "line": line, "status": status, "how": how}

    def _judged(self, verdict: Verdict) -> tuple[Status, str]:
        if verdict.status == "proved":
            return "proved", verdict.how
        if not verdict.claims:
            return "unchecked", verdict.how
        from prose_runtime.runtime.invariant_claims import judge  # most runs have nothing left to watch

        found = [judge(claim, self.story) for claim in verdict.claims]
        for status in ("broken", "unchecked", "held"):
            hows = [how for one, how in found if one == status]
            if hows:
                return status, "; ".join(hows)
        raise AssertionError("a claim has one of these three outcomes")

    def error(self, entries: list[dict[str, Any]]) -> ContractError | None:
        """The error of a run that broke an invariant, the first one of several."""
        for entry, verdict in zip(entries, self.verdicts, strict=True):
            if entry["status"] == "broken":
                return self._broken(verdict, entry["how"])
        return None


_BRANCH = re.compile(r"(parallel[^/\[]*|pmap[^/\[]*)\[(\d+)\]")


def is_beside(one: str, other: str) -> bool:
    """Whether two steps are in different branches or iterations of something parallel, so that neither is known to
    the other one.
    """
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            first, second = _BRANCH.fullmatch(left), _BRANCH.fullmatch(right)
            return first is not None and second is not None and first[1] == second[1]
    return False


def _is_guard(claim: Claim) -> bool:
    return isinstance(claim, OnlyIf)


def texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """The texts inside a JSON value, each with the name of the field that it stands in."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for key, inside in value.items():
            yield from texts(inside, name or str(key))
    elif isinstance(value, list):
        for inside in value:
            yield from texts(inside, name)
