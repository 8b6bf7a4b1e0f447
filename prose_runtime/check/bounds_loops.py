"""The walk that counts calls, over loops.

The body of a loop is walked until what is known of names at its beginning does not change any more. The length of each
list there is a mark at first; what a pass adds to it then tells how long it can be in any pass, and the marks give way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from prose_runtime import nodes as n
from prose_runtime.check.bounds_cost import (
    FREE,
    Exit,
    Passes,
    all_passes,
    either_exit,
    left_early,
)
from prose_runtime.check.bounds_forks import Forks
from prose_runtime.check.bounds_formula import (
    ONE,
    ZERO,
    Formula,
    KnownValue,
    constant,
    least,
)
from prose_runtime.check.bounds_lists import Settled, Solver, marks, rewritten, rewritten_state
from prose_runtime.check.bounds_values import (
    ANYTHING,
    NONE,
    NULL,
    At,
    Fill,
    Kept,
    Num,
    Range,
    Ref,
    State,
    Val,
    either_state,
    exactly,
    joined,
    val,
)
from prose_runtime.check.bounds_walk import TooInvolved
from prose_runtime.records import dataclass

PATIENT_ROUNDS = 3
"""Rounds after which what still changes at the beginning of a loop counts as anything."""

MOST_UNLIKE = 16
"""Bindings of a list slot up to which each is looked at by itself."""

MOST_ROUNDS = 12
"""Rounds after which the program is too involved."""


@dataclass(slots=True)
class Plan:
    """A loop that is walked: how often, and what each pass does.

    ``surely_ends``: it ends by itself when its passes are made.
    """

    node: Any
    passes: Passes
    piece: Callable[[], Val]
    collected: bool
    surely_ends: bool = True


class Loops(Forks):
    """The walk over loops."""

    def repeat(self, node: n.Repeat) -> Val:
        """``repeat N as i:``."""
        size = self.passes(node.count)

        def begin() -> None:
            if node.var is not None:
                self.state.names[node.var.id] = val(Num(ONE, size.high))

        return self._loop_or_fork(node, Passes(size), begin)

    def for_each(self, node: n.ForEach) -> Val:
        """``for x, i in xs:``."""
        value = self.value(node.iterable)
        size = self.size(node.iterable, value)
        passes = self._over(node, value, size, node.var.id)
        if node.maximum is not None:
            bound = self.passes(node.maximum)
            size = Range(least((size.low, bound.low)), least((size.high, bound.high)))
            passes = Passes(size)
        element = self._element(passes, value)

        def begin(element: Val = element) -> None:
            self.state.names[node.var.id] = element
            if node.index is not None:
                self.state.names[node.index.id] = val(Num(ZERO, size.high))

        fills = self._unlike(value) if node.maximum is None else ()
        if not fills:
            return self._loop_or_fork(node, passes, begin)
        before = self.cost
        pieces = [partial(begin, val(Ref((fill,)))) for fill in fills]
        value = self._one_by_one(node, pieces) if node.parallel is None else self._each(node, node.parallel, pieces)
        self.note(node, before)
        return value

    def _unlike(self, value: Val) -> tuple[Fill, ...]:
        """The bindings of a list slot, when they differ in what a call of them costs; else nothing."""
        only = next(iter(value)) if len(value) == 1 else None
        fills = only.fills if isinstance(only, At) and isinstance(only.path[0], KnownValue) else ()
        return fills if any(fill.unit for fill in fills) and len(set(fills)) > 1 and len(fills) <= MOST_UNLIKE else ()

    def _one_by_one(self, node: n.ForEach, begins: Sequence[Callable[[], None]]) -> Val:
        """A loop whose passes are walked one after the other, as each costs something else."""
        ways: list[Exit] = []
        values = []
        for begin in begins:
            exits = self.run(partial(self._pass, node, begin), self.state)
            self.hand_on(exits, "break")
            if "break" in exits:
                ways.append(exits["break"].after(self.cost))
            values.append(self.go_on(exits.get("normal")))
            if self.dead:
                break
        if not self.dead:
            ways.append(Exit(self.cost, self.state, NULL))
        way: Exit | None = None
        for one in ways:
            way = either_exit(way, one)
        self._meet(way)
        size = constant(len(begins))
        plan = Plan(node, Passes(NONE), lambda: NULL, node in self.analysis.collected)
        return (
            NULL if self.dead else self._collected(plan, Range(ZERO if len(ways) > 1 else size, size), joined(*values))
        )

    def _each(self, node: n.ForEach, options: n.ParallelOptions, begins: Sequence[Callable[[], None]]) -> Val:
        """Branches that are walked one by one, as each costs something else."""
        once = Passes(exactly(ONE))
        wanted = self._wanted(options)
        tolerant = options.on_fail != "fail-fast" or wanted is not None
        branches = [self._branch(node, partial(self._begun, node, begin), once, tolerant) for begin in begins]
        return self._joined_branches(node, options, branches, wanted)

    def _loop_or_fork(self, node: n.Repeat | n.ForEach, passes: Passes, begin: Callable[[], None]) -> Val:
        before = self.cost
        if node.parallel is not None:
            value = self._fork(node, node.parallel, passes, begin)
        else:
            value = self._run_loop(Plan(node, passes, lambda: self._pass(node, begin), node in self.analysis.collected))
        self.note(node, before)
        return value

    def _pass(self, node: Any, begin: Callable[[], None]) -> Val:
        """One pass: ``continue`` ends it, and in a loop with a value so does ``return``."""
        begin()
        exits = self.run(lambda: self.block(node.body), self.state)
        collected = node in self.analysis.collected
        ends = ("continue", "return") if collected else ("continue",)
        self.hand_on(exits, *ends)
        way = exits.get("normal")
        for kind in ends:
            way = either_exit(way, exits.get(kind))
        return self.go_on(way)

    def loop(self, node: n.Loop) -> Val:
        """``loop until C (max: N):``."""
        before = self.cost
        bound = self.passes(node.maximum, Range(ONE, self._no_bound(node)))
        low = least((ONE, bound.low)) if node.kind is not None else bound.low

        def begin() -> None:
            if node.kind == "while":
                self._leave_when(node, False)
            if node.var is not None:
                self.state.names[node.var.id] = val(Num(ONE, bound.high))

        def piece() -> Val:
            value = self._pass(node, begin) if node.kind != "while" else self._while(node, begin)
            if node.kind == "until" and not self.dead:
                self._leave_when(node, True)
            return value

        passes = Passes(Range(ZERO if node.kind == "while" else low, bound.high))
        plan = Plan(node, passes, piece, node in self.analysis.collected, node.maximum is not None)
        value = self._run_loop(plan)
        self.note(node, before)
        return value

    def _while(self, node: n.Loop, begin: Callable[[], None]) -> Val:
        begin()
        return NULL if self.dead else self._pass(node, lambda: None)

    def _no_bound(self, node: n.Loop) -> Formula:
        line = self.where(node.span).line
        return self.unknown(node, f"the loop at line {line} has no max")

    def _leave_when(self, node: n.Loop, verdict: bool) -> None:
        """The loop ends here when its condition says so."""
        assert node.condition is not None
        held = self.condition(node.condition)
        if held is None or held is verdict:
            self.leave("done")
        if held is verdict:
            self.die()

    # one pass after another

    def _run_loop(self, plan: Plan) -> Val:
        passes = plan.passes
        if passes.size.high.constant == 0:
            return self._collected(plan, NONE, NULL)
        exits, settle = self._settled(plan)
        each = exits.get("normal")
        ways: list[Exit] = []
        if plan.surely_ends:
            ways.append(self._natural(plan, each, settle))
        for kind in ("break", "done"):
            if kind in exits:
                ways.append(self._early(plan, each, exits[kind], settle))
        for kind, way in exits.items():
            if kind not in ("normal", "break", "done"):
                self.hand_on({kind: self._early(plan, each, way, settle)})
        if not ways and each is not None:
            endless = {key: Range(ZERO, passes.high(found.high)) for key, found in each.cost.items()}
            self.hand_on({"raise": Exit(endless, self.state, NULL)})
        values = [way.value for kind, way in exits.items() if kind in ("normal", "done")]
        value = self._value(plan, joined(*values), settle) if values else NULL
        way_on: Exit | None = None
        for way in ways:
            way_on = either_exit(way_on, way)
        whole = plan.surely_ends and "break" not in exits and "done" not in exits
        self.go_on(way_on)
        low = passes.size.low if whole else ZERO
        return NULL if self.dead else self._collected(plan, Range(low, passes.size.high), value)

    def _collected(self, plan: Plan, size: Range, element: Val) -> Val:
        if not plan.collected:
            return NULL
        return self.state.make(self.place(plan.node), size, element)

    def _natural(self, plan: Plan, each: Exit | None, settle: Settled) -> Exit:
        """All passes were made."""
        if each is None:
            return Exit(FREE, self.state, NULL)
        passes = plan.passes
        after = self._closed(plan, each.state, settle)
        for place, bound in settle.bounds.items():
            if place in after.lists:
                size = settle.ends.get(place) or Range(after.lists[place].size.low, bound.high)
                after.lists[place] = after.lists[place]._replace(size=size)
        first = passes.size.low.constant
        state = after if first is not None and first >= 1 else either_state(self.state, after)
        return Exit(all_passes(passes, self._cost(each.cost, settle)), state, self._value(plan, each.value, settle))

    def _early(self, plan: Plan, each: Exit | None, last: Exit, settle: Settled) -> Exit:
        """The loop was left in some pass."""
        before = None if each is None else self._cost(each.cost, settle)
        cost = left_early(plan.passes, before, self._cost(last.cost, settle))
        return Exit(cost, self._closed(plan, last.state, settle), self._value(plan, last.value, settle))

    def _closed(self, plan: Plan, state: State, settle: Settled) -> State:
        """A state without marks, and without what only one pass knows."""
        return rewritten_state(state, self._outwards(plan.node, plan.passes, settle))

    def _value(self, plan: Plan, value: Val, settle: Settled) -> Val:
        return rewritten(value, self._outwards(plan.node, plan.passes, settle))

    def _settled(self, plan: Plan) -> tuple[dict[str, Exit], Settled]:
        """Walk the body until nothing changes, then find out how long lists get."""
        entry = self.state
        names, lists = dict(entry.names), dict(entry.lists)
        outwards = self._outwards(plan.node, plan.passes, None)
        for number in range(MOST_ROUNDS):
            kept = {place: Kept(marks(plan.node, place), found.element) for place, found in lists.items()}
            exits = self.run(plan.piece, State(dict(names), kept, entry.base, entry.wary))
            each = exits.get("normal")
            if each is None:
                return exits, self._solved(plan, entry, lists, None)
            before = names, lists
            names, lists = _next_pass(names, lists, rewritten_state(each.state, outwards))
            if (names, lists) == before:
                return exits, self._solved(plan, entry, lists, each)
            if number >= PATIENT_ROUNDS:
                names, lists = _widened(before, names, lists)
        raise TooInvolved

    def _solved(self, plan: Plan, entry: State, lists: dict[Any, Kept], each: Exit | None) -> Settled:
        found = Settled(plan.node)
        entries = {place: entry.lists[place].size if place in entry.lists else None for place in lists}
        solver = Solver(plan.node, plan.passes, entries, each)
        unknown = Range(ZERO, self.unknown(plan.node, "a list grows with its own length while the loop runs"))
        for place in lists:
            found.bounds[place] = solver.bound(place) or unknown
            end = solver.end(place)
            if end is not None:
                found.ends[place] = end
        return found


Known = tuple[dict[str, Val], dict[Any, Kept]]
"""Names and lists."""


def _next_pass(names: dict[str, Val], lists: dict[Any, Kept], back: State) -> Known:
    """What is known where the next pass begins."""
    both = dict.fromkeys([*names, *back.names])
    found = dict(lists)
    for place, kept in back.lists.items():
        before = found.get(place, Kept(NONE, kept.element))
        found[place] = before._replace(element=joined(before.element, kept.element))
    return {name: joined(names.get(name, NULL), back.name(name)) for name in both}, found


def _widened(before: Known, names: dict[str, Val], lists: dict[Any, Kept]) -> Known:
    """What has changed once more counts as anything."""
    old_names, old_lists = before
    return (
        {name: value if old_names.get(name) == value else ANYTHING for name, value in names.items()},
        {
            place: kept if old_lists.get(place) == kept else kept._replace(element=ANYTHING)
            for place, kept in lists.items()
        },
    )


Loops.VISITS.update(
    {
        n.Repeat: Loops.repeat,
        n.ForEach: Loops.for_each,
        n.Loop: Loops.loop,
    }
)
