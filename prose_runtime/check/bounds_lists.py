"""How long lists get while a loop runs, and what is known of values behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from prose_runtime.check.bounds_cost import Exit, Passes
from prose_runtime.check.bounds_formula import (
    ANY_ELEMENT,
    ZERO,
    Formula,
    Mark,
    Pick,
    at_most,
    atom,
    changed,
    generalised,
    least,
    most,
)
from prose_runtime.check.bounds_values import NONE, At, Kept, Num, Range, Row, State, Text, Val, mapped
from prose_runtime.records import dataclass


def marks(loop: Any, place: Any) -> Range:
    """The length of a list where a pass begins, as long as it is not known."""
    return Range(atom(Mark(id(loop), place, "min")), atom(Mark(id(loop), place, "max")))


@dataclass(slots=True, eq=False)
class Settled:
    """What was found out of a loop: how long lists are where any pass begins, and what comes of them.

    ``ends`` is the length behind all passes, or for a branch what it adds; ``elements`` what it adds may be.
    """

    node: Any
    bounds: dict[Any, Range] = field(default_factory=dict)
    ends: dict[Any, Range] = field(default_factory=dict)
    elements: dict[Any, Val] = field(default_factory=dict)

    def unmarked(self, formula: Formula, pick: Pick = "max") -> Formula:
        """The formula with the lengths that were found out."""
        mine = id(self.node)

        def replace(found: Any) -> Formula | None:
            if not isinstance(found, Mark) or found.loop != mine or found.place not in self.bounds:
                return None
            bound = self.bounds[found.place]
            return bound.low if found.pick == "min" else bound.high

        return changed(formula, replace)


@dataclass(frozen=True, slots=True, eq=False)
class Outwards:
    """Brings what is known in a pass of a loop to the outside: ``unknown`` makes a number that is not."""

    passes: Passes
    settle: Settled | None
    unknown: Callable[[], Formula]

    def number(self, formula: Formula | None, pick: Pick) -> Formula | None:
        """An end of a number's range; None when it is not known outside."""
        if formula is None:
            return None
        if self.settle is not None:
            formula = self.settle.unmarked(formula, pick)
        if self.passes.element is None or self.passes.path is None:
            return formula
        return generalised(formula, self.passes.element, self.passes.path, pick)

    def size(self, size: Range) -> Range:
        """The range of a length."""
        low, high = self.number(size.low, "min"), self.number(size.high, "max")
        return Range(ZERO if low is None else low, self.unknown() if high is None else high)

    def basic(self, basic: Any) -> Any:
        """One alternative of a value; what is inside it was treated already."""
        if isinstance(basic, Num):
            return Num(self.number(basic.low, "min"), self.number(basic.high, "max"))
        if isinstance(basic, Row):
            return Row(self.size(basic.size), basic.element, basic.inner)
        if isinstance(basic, Text):
            return Text(self.size(Range(ZERO, basic.size)).high)
        element = self.passes.element
        if isinstance(basic, At) and element is not None and element in basic.path and self.passes.path is not None:
            return At((*self.passes.path, ANY_ELEMENT, *basic.path[basic.path.index(element) + 1 :]), basic.fills)
        return basic


def rewritten(value: Val, outwards: Outwards) -> Val:
    """A value as it is known outside of a loop."""
    return mapped(value, outwards.basic)


def rewritten_state(state: State, outwards: Outwards) -> State:
    """A state as it is known outside of a loop."""
    names = {name: rewritten(value, outwards) for name, value in state.names.items()}
    lists = {p: Kept(outwards.size(k.size), rewritten(k.element, outwards)) for p, k in state.lists.items()}
    return State(names, lists, state.base, state.wary)


def growth(loop: Any, place: Any, kept: Kept) -> Range | None:
    """How much longer than its mark a list is; None when that cannot be told."""
    start = marks(loop, place)
    low, high = kept.size.low.minus(start.low), kept.size.high.minus(start.high)
    if not high.positive or _marked(high, id(loop)):
        return None
    return Range(low if low.positive and not _marked(low, id(loop)) else ZERO, high)


def _marked(formula: Formula, loop: int) -> bool:
    return any(isinstance(found, Mark) and found.loop == loop for found in formula.atoms)


@dataclass(slots=True, eq=False)
class Solver:
    """Finds out how long lists are where a pass begins, from their length at its end.

    ``entries`` are the lengths before the loop, None for a list that only the loop makes.
    """

    node: Any
    passes: Passes
    entries: Mapping[Any, Range | None]
    each: Exit | None

    def bound(self, place: Any) -> Range | None:
        """The length in any pass; None when it grows in a way that is not understood."""
        entry = self.entries[place] or NONE
        if self.each is None or place not in self.each.state.lists:
            return entry
        kept = self.each.state.lists[place]
        high = self._high(place, entry, kept)
        return None if high is None else Range(self._low(place, entry, kept), high)

    def end(self, place: Any) -> Range | None:
        """The length behind all passes, where it grows by as much in each; None otherwise."""
        entry = self.entries[place]
        if entry is None or self.each is None or place not in self.each.state.lists:
            return None
        kept = self.each.state.lists[place]
        grown = growth(self.node, place, kept)
        if grown is None or not at_most(marks(self.node, place).low, kept.size.low):
            return None
        added = self.passes.times(grown)
        return Range(entry.low + added.low, entry.high + added.high)

    def _high(self, place: Any, entry: Range, kept: Kept) -> Formula | None:
        high = kept.size.high
        if not _marked(high, id(self.node)):
            return most((entry.high, self.passes.any_high(high)))
        grown = growth(self.node, place, kept)
        if grown is not None:
            return entry.high + self.passes.high(grown.high)
        return self._together(place)

    def _together(self, place: Any) -> Formula | None:
        """Lists that are made of each other: each pass makes the longest of them longer by at most so much."""
        assert self.each is not None
        lists = self.each.state.lists
        common = atom(Mark(id(self.node), "longest", "max"))
        pending, coupled, steps = [place], [place], list[Formula]()
        while pending:
            high = lists[pending.pop()].size.high
            found = [m for m in high.atoms if isinstance(m, Mark) and m.loop == id(self.node)]
            fresh = [m.place for m in found if m.place not in coupled and m.place in lists]
            pending += fresh
            coupled += fresh
            step = changed(high, lambda m: common if isinstance(m, Mark) and m.loop == id(self.node) else None)
            step = step.minus(common) if _marked(step, id(self.node)) else step
            if _marked(step, id(self.node)) or not step.positive:
                return None
            steps.append(step)
        before = most((self.entries.get(p) or NONE).high for p in coupled)
        return before + self.passes.high(most(steps))

    def _low(self, place: Any, entry: Range, kept: Kept) -> Formula:
        if at_most(marks(self.node, place).low, kept.size.low):
            return entry.low
        return ZERO if _marked(kept.size.low, id(self.node)) else least((entry.low, self.passes.any_low(kept.size.low)))
