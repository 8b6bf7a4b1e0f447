"""Where the calls of a run stand on a line of time: lanes by role, side by side what ran at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from prose_runtime.report.story import Remark, Story, Turn

_PAUSE = 0.05
"""The share of the busy time that a pause without any call takes on the line, at most."""
_NARROWEST = 0.8
"""Percent; a bar that can still be hit."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A call: ``x`` and ``width`` in percent of the line, ``row`` within its lane from 0."""

    turn: Turn
    x: float
    width: float
    row: int


@dataclass(frozen=True, slots=True)
class Lane:
    """All calls of a role; ``rows`` is how many ran at once."""

    role: str
    bars: tuple[Bar, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class Pause:
    """A time without calls that is drawn shorter than it was: at ``x`` percent, of so many seconds."""

    x: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Chart:
    """The whole line. ``marks`` are the conditions with their place in percent."""

    lanes: tuple[Lane, ...]
    marks: tuple[tuple[Remark, float], ...]
    pauses: tuple[Pause, ...]
    seconds: float


def chart_of(story: Story) -> Chart | None:
    """The chart of a run, or None when no times are known."""
    timed = [turn for turn in story.turns if turn.start is not None]
    if not timed:
        return None
    line = _Line([(turn.start or 0.0, _end(turn, timed)) for turn in timed])
    lanes = [_lane(role, [turn for turn in timed if turn.target == role], line, timed) for role in story.roles]
    marks = [(found, line.at(found.at)) for found in story.conditions if found.at is not None]
    return Chart(tuple(lane for lane in lanes if lane.bars), tuple(marks), tuple(line.pauses), line.busy)


def _end(turn: Turn, timed: Sequence[Turn]) -> float:
    """When a call ended; one that never did reaches to the last that is known."""
    if turn.end is not None:
        return turn.end
    return max(other.end or other.start or 0.0 for other in timed)


class _Line:
    """Maps times to percent; long pauses between busy stretches are cut short."""

    def __init__(self, spans: list[tuple[float, float]]):
        self._stretches = _joined(spans)
        self.busy = sum(end - start for start, end in self._stretches)
        longest = max(self.busy * _PAUSE, 1e-6)
        drawn, self._starts = 0.0, []
        cuts: list[tuple[float, float]] = []
        for i, (start, end) in enumerate(self._stretches):
            self._starts.append(drawn)
            drawn += end - start
            if i + 1 < len(self._stretches):
                gap = self._stretches[i + 1][0] - end
                if gap > longest and gap > 1:
                    cuts.append((drawn + longest / 2, gap))
                drawn += min(gap, longest)
        self._drawn = max(drawn, 1e-6)
        self.pauses = [Pause(100 * at / self._drawn, gap) for at, gap in cuts]

    def at(self, time: float) -> float:
        """Where a time stands."""
        place = 0.0
        for begun, (start, end) in zip(self._starts, self._stretches, strict=True):
            if time < start:
                break
            place = begun + min(time, end) - start
        return round(100 * place / self._drawn, 3)


def _joined(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The stretches in which at least one call was in flight."""
    found: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _lane(role: str, turns: Sequence[Turn], line: _Line, timed: Sequence[Turn]) -> Lane:
    free: list[float] = []
    bars: list[Bar] = []
    for turn in sorted(turns, key=lambda turn: turn.start or 0.0):
        x = line.at(turn.start or 0.0)
        end = max(line.at(_end(turn, timed)), x + _NARROWEST)
        row = next((i for i, taken in enumerate(free) if taken <= x), len(free))
        free[row : row + 1] = [end]
        bars.append(Bar(turn, min(x, 100 - _NARROWEST), round(min(end, 100) - min(x, 100 - _NARROWEST), 3), row))
    return Lane(role, tuple(bars), len(free))
