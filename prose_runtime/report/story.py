"""A recorded run as a person reads it: who was asked what, when, what came back, where it came from.

Made from the JSON object of a run and its trace (``prose_runtime.trace``); the formats for reading are templates over
it. A run that did not end has a story too, up to where it came.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from prose_runtime.report.story_sources import Place, Sources, Spec
from prose_runtime.report.story_values import Origin, Origins
from prose_runtime.runtime.result import NEVER_SENT
from prose_runtime.runtime.steering import note_steps
from prose_runtime.values import NO_USAGE

Row = Mapping[str, Any]

JUDGE = "judge of conditions"
"""How the service that decides conditions is called in reports; a role may be called judge itself."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a call was shown under a name, and where the same words stood before."""

    name: str
    value: Any
    origins: tuple[Origin, ...]


@dataclass(slots=True)
class Turn:
    """One request and its answer. ``start`` and ``end`` are seconds since 1970, None where they are not known."""

    number: int
    step: str
    target: str
    service: str
    given: list[Given]
    prompt: str | None
    output: Any
    usage: Mapping[str, Any]
    place: Place | None
    error: str | None = None
    stopped: bool = False
    pending: bool = False
    attempt: int = 1
    start: float | None = None
    end: float | None = None
    note: str | None = None
    waits: list[str] = field(default_factory=list)
    beside: list[int] = field(default_factory=list)

    @property
    def seconds(self) -> float | None:
        """How long it took."""
        return None if self.start is None or self.end is None else max(0.0, self.end - self.start)


@dataclass(frozen=True, slots=True)
class Remark:
    """Something between the calls: a condition with its verdict, an emitted line or a warning."""

    kind: Literal["condition", "emitted", "warning"]
    text: Any
    place: Place | None
    number: int = 0
    verdict: bool | str | None = None
    rung: str = ""
    reason: str | None = None
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """What one role took of the run."""

    role: str
    calls: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


@dataclass(slots=True)
class Story:
    """All that a report shows."""

    run: str
    spec: str
    status: str
    started: float | None
    result: Any
    error: Mapping[str, Any] | None
    events: list[Turn | Remark]
    invariants: list[tuple[Row, Place | None]]
    shares: list[Share]
    usage: Mapping[str, Any]
    specs: list[Spec]
    inputs: Mapping[str, Any]
    waiting: list[Row]
    error_place: Place | None = None

    @property
    def turns(self) -> list[Turn]:
        """The calls in order."""
        return [event for event in self.events if isinstance(event, Turn)]

    @property
    def conditions(self) -> list[Remark]:
        """The conditions in order."""
        return [event for event in self.events if isinstance(event, Remark) and event.kind == "condition"]

    @property
    def roles(self) -> list[str]:
        """Who was called, in order of first appearance."""
        return list(dict.fromkeys(turn.target for turn in self.turns))

    @property
    def seconds(self) -> float | None:
        """The time in which something was in flight, pauses between resumed parts left out."""
        spans = sorted((turn.start, turn.end) for turn in self.turns if turn.start is not None and turn.end is not None)
        total, reached = 0.0, float("-inf")
        for start, end in spans:
            total += max(0.0, end - max(start, reached))
            reached = max(reached, end)
        return total if spans else None


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the record holds of a run: the object of ``runs show --json``, its trace, request, and answers by step."""

    shown: Mapping[str, Any]
    trace: Sequence[Row]
    request: Mapping[str, Any]
    answers: Mapping[str, Any]


def story_of(recorded: Recorded, sources: Sources) -> Story:
    """Tell a run. ``sources`` gives the texts of its specs."""
    shown = recorded.shown
    inputs = {**recorded.request.get("config", {}), **recorded.request.get("inputs", {})}
    events = _Teller(recorded, sources, inputs).told()
    turns = [event for event in events if isinstance(event, Turn)]
    usage = shown["usage"] if shown["status"] not in ("running", "interrupted") else _used(turns)
    error = shown.get("error")
    main = sources.main(recorded.trace)
    return Story(
        run=shown["run"] or "",
        spec=shown["spec"],
        status=shown["status"],
        started=next((row["at"] for row in recorded.trace), None) or _started(shown["run"]),
        result=shown.get("result"),
        error=error,
        events=events,
        invariants=[(row, sources.place(main, row.get("line"))) for row in shown["invariants"]],
        shares=_shares(turns, usage),
        usage=usage,
        specs=sources.specs,
        inputs=inputs,
        waiting=list(shown.get("waiting", [])),
        error_place=sources.place(error.get("file"), error.get("line")) if error else None,
    )


def note_of(step: str, answers: Mapping[str, Any]) -> str | None:
    """The note from the person watching that the request of a step was given."""
    kept = (answers.get(at) for at in note_steps(step))
    return next((str(answer.value) for answer in kept if answer is not None), None)


def timeline(trace: Iterable[Row]) -> dict[str, tuple[float, float | None]]:
    """For each step of a call when it started and ended, in seconds since 1970; None while it runs.

    A resumed run passes again what it had: the times are those of when the call was really made.
    """
    spans: dict[str, tuple[float, float | None]] = {}
    begun: dict[str, float] = {}
    for row in trace:
        if row["event"] == "call_started":
            begun[row["step"]] = row["at"]
            spans.setdefault(row["step"], (row["at"], None))
        elif row["event"] == "call_finished" and row["step"] in begun:
            start = begun.pop(row["step"])
            known = spans.get(row["step"], (start, None))
            longer = known[1] is None or not row["error"] or row["at"] - start > known[1] - known[0]
            if not row["recorded"] and longer:
                spans[row["step"]] = (start, row["at"])
    return spans


class _Teller:
    """Walks the last part of a trace: a resumed run passes all that happened before once more, in order."""

    def __init__(self, recorded: Recorded, sources: Sources, inputs: Mapping[str, Any]):
        self.recorded = recorded
        self.sources = sources
        self.outputs = {call["step"]: call for call in recorded.shown["calls"]}
        self.spans = timeline(recorded.trace)
        self.origins = Origins(inputs)
        self.turns: dict[str, Turn] = {}
        self.events: list[Turn | Remark] = []

    def told(self) -> list[Turn | Remark]:
        rows = _last_part(self.recorded.trace)
        if not rows:
            self._without_trace()
        for row in rows:
            tell = getattr(self, f"_{row['event']}", None)
            if tell is not None:
                tell(row)
        self._find_beside()
        return self.events

    def _call_started(self, row: Row) -> None:
        self._begin(row, self._place(row))

    def _begin(self, row: Row, place: Place | None) -> None:
        step = row["step"]
        start, end = self.spans.get(step, (None, None))
        call = self.outputs.get(step, {})
        turn = Turn(
            number=len(self.turns) + 1,
            step=step,
            target=row["target"] or step,
            service=row["service"],
            given=[Given(name, value, self.origins.of(value)) for name, value in (row["inputs"] or {}).items()],
            prompt=row["prompt"],
            output=call.get("output"),
            usage={**NO_USAGE.as_json(), **(call.get("usage") or {})},
            place=place,
            pending=True,
            attempt=row.get("attempt", 1),
            start=start,
            end=end,
            note=note_of(step, self.recorded.answers),
        )
        self.turns[step] = turn
        self.events.append(turn)

    def _call_finished(self, row: Row) -> None:
        turn = self.turns.get(row["step"])
        if turn is None:
            return
        error = row["error"]
        if error is not None and error["kind"] in NEVER_SENT:
            self.events.remove(turn)
            del self.turns[row["step"]]
            return
        turn.pending = False
        turn.usage = row["usage"]
        if error is not None:
            turn.error, turn.stopped, turn.output = error["message"], error["kind"] == "cancelled", None
            return
        kept = self.recorded.answers.get(row["step"])
        if turn.step not in self.outputs and kept is not None:
            turn.output = kept.value
        self.origins.add(turn.number, turn.target, turn.output)

    def _call_retry(self, row: Row) -> None:
        turn = self.turns.get(row["step"])
        if turn is not None:
            turn.waits.append(f"{row['reason']}; asked again after {row['delay']:.3g} s")

    def _condition(self, row: Row) -> None:
        self._decided(row, self._place(row))

    def _decided(self, row: Row, place: Place | None) -> None:
        number = 1 + sum(isinstance(event, Remark) and event.kind == "condition" for event in self.events)
        self.events.append(
            Remark("condition", row["text"], place, number, row["verdict"], row["rung"], row["reason"], row.get("at"))
        )

    def _emitted(self, row: Row) -> None:
        self.events.append(Remark("emitted", row["value"], self._place(row), at=row["at"]))

    def _warned(self, row: Row) -> None:
        self.events.append(Remark("warning", row["message"], self._place(row), at=row["at"]))

    def _place(self, row: Row) -> Place | None:
        where = row.get("where")
        return None if where is None else self.sources.place(where["file"], where["line"])

    def _without_trace(self) -> None:
        """A run of an earlier version: its calls, then its conditions; nobody knows when."""
        for call in self.recorded.shown["calls"]:
            self._begin({**call, "inputs": call["inputs"] or {}}, self.sources.place(None, call["line"]))
            turn = self.turns[call["step"]]
            turn.pending = False
            self.origins.add(turn.number, turn.target, turn.output)
        for row in self.recorded.shown["conditions"]:
            self._decided(row, self.sources.place(None, row["line"]))
        for value in self.recorded.shown["emitted"]:
            self.events.append(Remark("emitted", value, None))

    def _find_beside(self) -> None:
        """Which calls were in flight at the same time."""
        turns = [turn for turn in self.turns.values() if turn.start is not None and turn.end is not None]
        turns.sort(key=lambda turn: turn.start or 0.0)
        for i, turn in enumerate(turns):
            for later in turns[i + 1 :]:
                if (later.start or 0.0) >= (turn.end or 0.0):
                    break
                turn.beside.append(later.number)
                later.beside.append(turn.number)


def _last_part(trace: Sequence[Row]) -> Sequence[Row]:
    starts = [i for i, row in enumerate(trace) if row["event"] == "run_started"]
    return trace[starts[-1] :] if starts else ()


def _started(run: str | None) -> float | None:
    """The name of a run begins with its date and time."""
    try:
        return datetime.strptime((run or "")[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _shares(turns: Sequence[Turn], usage: Mapping[str, Any]) -> list[Share]:
    """What each role took, the most expensive first; what no call accounts for was the judge's."""
    roles: dict[str, list[Turn]] = {}
    for turn in turns:
        roles.setdefault(turn.target, []).append(turn)
    found = [
        Share(role, len(taken), *(_sum(turn.usage.get(name) for turn in taken) for name in _FIGURES))
        for role, taken in roles.items()
    ]
    rest = (usage.get("calls") or 0) - sum(share.calls for share in found)
    if rest > 0:
        figures = (_rest(usage.get(name), [getattr(share, name) for share in found]) for name in _FIGURES)
        found.append(Share(JUDGE, rest, *figures))
    return sorted(found, key=lambda share: (-(share.cost_usd or 0), -(share.output_tokens or 0), -share.calls))


def _used(turns: Sequence[Turn]) -> dict[str, Any]:
    """What a run used that did not end, as far as it came."""
    return {"calls": len(turns), **{name: _sum(turn.usage.get(name) for turn in turns) for name in _FIGURES}}


_FIGURES = ("input_tokens", "output_tokens", "cost_usd")


def _sum(figures: Iterable[Any]) -> Any:
    known = [figure for figure in figures if figure is not None]
    return sum(known) if known else None


def _rest(total: Any, parts: Sequence[Any]) -> Any:
    if total is None:
        return None
    rest = total - sum(part or 0 for part in parts)
    return rest if rest > 1e-9 else 0
