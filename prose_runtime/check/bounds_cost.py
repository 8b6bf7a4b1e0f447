"""What a piece of program costs: ranges of calls, of requests, of the longest chain, and how they add up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from prose_runtime.check.bounds_formula import (
    ONE,
    ZERO,
    Element,
    Formula,
    Path,
    elements_of,
    generalised,
    least,
    most,
    total,
)
from prose_runtime.check.bounds_values import NONE, Range, State, Val, either_range, either_state, joined
from prose_runtime.records import dataclass

Measure = Literal["calls", "target", "judge", "requests", "chain", "wait", "service", "characters"]


class Key(NamedTuple):
    """What is counted: all calls, those of a target, the judge's decisions, requests with repairs and retries.

    ``chain`` counts the calls that wait for each other, ``wait`` the judge's decisions among them as well;
    ``service`` the calls that a binding answers, and ``characters`` what it is told in them.
    """

    measure: Measure
    name: str = ""


CALLS, JUDGE, REQUESTS, CHAIN, WAIT = (Key(m) for m in ("calls", "judge", "requests", "chain", "wait"))

Cost: TypeAlias = Mapping[Key, Range]
FREE: Cost = {}


def then(one: Cost, two: Cost) -> Cost:
    """One after the other."""
    if not one or not two:
        return one or two
    found = dict(one)
    for key, more in two.items():
        has = found.get(key)
        found[key] = more if has is None else Range(has.low + more.low, has.high + more.high)
    return found


def either(one: Cost, two: Cost) -> Cost:
    """One or the other."""
    keys = dict.fromkeys([*one, *two])
    return {key: either_range(one.get(key, NONE), two.get(key, NONE)) for key in keys}


def opened(exits: Mapping[str, Exit], unknown: Formula | None) -> dict[str, Exit]:
    """Ways out of a piece that runs again within itself, any number of times: what it costs once, it may cost again."""
    if unknown is None:
        return dict(exits)
    more = Range(ZERO, unknown)
    return {kind: way.after(dict.fromkeys(way.cost, more)) for kind, way in exits.items()}


def at_most_once(cost: Cost) -> Cost:
    """It, or nothing."""
    return {key: Range(ZERO, found.high) for key, found in cost.items()}


def beside(costs: Iterable[Cost], *, all_finish: bool) -> Cost:
    """At the same time. Without ``all_finish`` a failure elsewhere may cancel what has not begun."""
    found: dict[Key, Range] = {}
    parts = list(costs)
    for key in dict.fromkeys(key for part in parts for key in part):
        ranges = [part.get(key, NONE) for part in parts]
        if key in (CHAIN, WAIT):
            found[key] = Range(most(r.low for r in ranges), most(r.high for r in ranges))
        else:
            found[key] = Range(_added(r.low for r in ranges), _added(r.high for r in ranges))
        if not all_finish:
            found[key] = Range(ZERO, found[key].high)
    return found


def _added(formulas: Iterable[Formula]) -> Formula:
    result = ZERO
    for formula in formulas:
        result = result + formula
    return result


@dataclass(frozen=True, slots=True)
class Passes:
    """How often something is done; ``path`` and ``element`` are set when it is once for each element of a list."""

    size: Range
    path: Path | None = None
    element: Element | None = None

    def low(self, each: Formula) -> Formula:
        """At least so much for all passes."""
        if self.path is not None and self.element is not None and self.element in elements_of(each):
            return total(self.path, self.element, each)
        return self.size.low * each

    def high(self, each: Formula) -> Formula:
        """At most so much for all passes."""
        if self.path is not None and self.element is not None and self.element in elements_of(each):
            return total(self.path, self.element, each)
        return self.size.high * each

    def times(self, each: Range) -> Range:
        """All passes, one after the other or at once."""
        return Range(self.low(each.low), self.high(each.high))

    def deepest(self, each: Range) -> Range:
        """The longest of passes at once."""
        low = self.any_low(each.low)
        return Range(least((ONE, self.size.low)) * low, self.any_high(each.high))

    def any_low(self, each: Formula) -> Formula:
        """What every pass has at least."""
        if self.element is None or self.path is None:
            return each
        return generalised(each, self.element, self.path, "min") or ZERO

    def any_high(self, each: Formula) -> Formula:
        """What every pass has at most."""
        if self.element is None or self.path is None:
            return each
        found = generalised(each, self.element, self.path, "max")
        return self.high(each) if found is None else found

    def ended(self, each: Formula | None, last: Formula) -> Formula:
        """At most so much for passes the last of which leaves the loop."""
        if each is None:
            return self.any_high(last)
        needs = elements_of(each) | elements_of(last)
        if self.element is not None and self.element in needs:
            return self.high(most((each, last)))
        more = last.minus(each)
        if more.positive:
            return self.high(each) + more
        return self.high(each) if each.minus(last).positive else self.high(each) + last


def all_passes(passes: Passes, each: Cost) -> Cost:
    """A loop that runs to its end."""
    return {key: passes.times(found) for key, found in each.items()}


def passes_at_once(passes: Passes, each: Cost) -> Cost:
    """A loop whose passes run at the same time."""
    return {key: passes.deepest(found) if key in (CHAIN, WAIT) else passes.times(found) for key, found in each.items()}


def left_early(passes: Passes, each: Cost | None, last: Cost) -> Cost:
    """A loop that is left in some pass: at least that pass, at most all others before it."""
    keys = dict.fromkeys([*(each or ()), *last])
    return {
        key: Range(
            passes.any_low(last.get(key, NONE).low),
            passes.ended(None if each is None else each.get(key, NONE).high, last.get(key, NONE).high),
        )
        for key in keys
    }


@dataclass(frozen=True, slots=True, eq=False)
class Exit:
    """One way out of a piece of program: its cost since the piece began, the state there, the value."""

    cost: Cost
    state: State
    value: Val

    def after(self, cost: Cost) -> Exit:
        """The same way out, seen from earlier."""
        return Exit(then(cost, self.cost), self.state, self.value)


def either_exit(one: Exit | None, other: Exit | None) -> Exit | None:
    """One of two ways out."""
    if one is None or other is None:
        return one or other
    return Exit(either(one.cost, other.cost), either_state(one.state, other.state), joined(one.value, other.value))
