"""The walk that counts calls, over loops, parallel constructs and pipelines.

The body of a loop is walked until what is known of names at its beginning does not change any more. The length of each
list there is a mark at first; what a pass adds to it then tells how long it can be in any pass, and the marks give way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from prose_runtime import nodes as n
from prose_runtime.check.bounds_cost import (
    CHAIN,
    FREE,
    WAIT,
    Cost,
    Exit,
    Passes,
    all_passes,
    at_most_once,
    beside,
    either,
    either_exit,
    left_early,
    passes_at_once,
)
from prose_runtime.check.bounds_formula import (
    ANY_ELEMENT,
    ONE,
    ZERO,
    Element,
    Formula,
    constant,
    count,
    least,
    most,
)
from prose_runtime.check.bounds_lists import Outwards, Settled, Solver, growth, marks, rewritten, rewritten_state
from prose_runtime.check.bounds_statements import Statements
from prose_runtime.check.bounds_values import (
    ANYTHING,
    NONE,
    NULL,
    UNKNOWN,
    At,
    Kept,
    Num,
    Range,
    Row,
    State,
    Val,
    either_state,
    element_of,
    exactly,
    frozen,
    joined,
    val,
)
from prose_runtime.check.bounds_walk import TooInvolved

PATIENT_ROUNDS = 3
"""Rounds after which what still changes at the beginning of a loop counts as anything."""

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


class Loops(Statements):
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

        def begin() -> None:
            self.state.names[node.var.id] = element
            if node.index is not None:
                self.state.names[node.index.id] = val(Num(ZERO, size.high))

        return self._loop_or_fork(node, passes, begin)

    def _over(self, node: n.Node, value: Val, size: Range, name: str) -> Passes:
        """A pass for each element; when the list stands at a path, formulas can speak of the element."""
        only = next(iter(value)) if len(value) == 1 else None
        if isinstance(only, At) and not only.fills and not self.state.wary and ANY_ELEMENT not in only.path:
            return Passes(size, only.path, Element(id(node), name))
        return Passes(size)

    def _element(self, passes: Passes, value: Val) -> Val:
        if passes.path is not None and passes.element is not None:
            return val(At((*passes.path, passes.element)))
        return element_of(value, self.state)

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
        for place, kept in list(after.lists.items()):
            if place in settle.ends:
                after.lists[place] = kept._replace(size=settle.ends[place])
        first = passes.size.low.constant
        state = after if first is not None and first >= 1 else either_state(self.state, after)
        return Exit(all_passes(passes, self._cost(each.cost, settle)), state, self._value(plan, each.value, settle))

    def _early(self, plan: Plan, each: Exit | None, last: Exit, settle: Settled) -> Exit:
        """The loop was left in some pass."""
        before = None if each is None else self._cost(each.cost, settle)
        cost = left_early(plan.passes, before, self._cost(last.cost, settle))
        return Exit(cost, self._closed(plan, last.state, settle), self._value(plan, last.value, settle))

    def _cost(self, cost: Cost, settle: Settled) -> Cost:
        """A cost without marks."""
        return {k: Range(settle.unmarked(r.low, "min"), settle.unmarked(r.high, "max")) for k, r in cost.items()}

    def _closed(self, plan: Plan, state: State, settle: Settled) -> State:
        """A state without marks, and without what only one pass knows."""
        return rewritten_state(state, self._outwards(plan.node, plan.passes, settle))

    def _value(self, plan: Plan, value: Val, settle: Settled) -> Val:
        return rewritten(value, self._outwards(plan.node, plan.passes, settle))

    def _outwards(self, node: n.Node, passes: Passes, settle: Settled | None) -> Outwards:
        return Outwards(passes, settle, lambda: self.unknown(node, "what a loop makes depends on a single pass of it"))

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

    # all passes at once

    def _fork(self, node: Any, options: n.ParallelOptions, passes: Passes, begin: Callable[[], None]) -> Val:
        wanted = self._wanted(options)
        tolerant = options.on_fail != "fail-fast" or wanted is not None
        way, raised, settle = self._branch(node, lambda: self._begun(node, begin), passes, tolerant)
        ends = _either_way(way, raised)
        if raised is not None and (not tolerant or wanted is not None):
            self.hand_on({"raise": Exit(at_most_once(passes_at_once(passes, ends)), self.state, NULL)})
        cost = passes_at_once(passes, ends if tolerant or way is None else way.cost)
        self.add(cost if wanted is None else self._some(cost, wanted, passes, way))
        self._add_to_lists([(passes, settle)], sure=not tolerant)
        element = self._values_of(way, tolerant, options, passes, settle)
        return self._joined_values(node, options, passes.size, wanted, element)

    def _some(self, cost: Cost, wanted: Range, passes: Passes, way: Exit | None) -> Cost:
        """As many branches as are wanted have surely finished."""
        each = FREE if way is None else way.cost
        enough = least((wanted.low, passes.size.low))
        deep = least((ONE, passes.size.low))
        return {
            key: Range((deep if key in (CHAIN, WAIT) else enough) * passes.any_low(each.get(key, NONE).low), found.high)
            for key, found in cost.items()
        }

    def _begun(self, node: Any, begin: Callable[[], None]) -> Val:
        begin()
        return self.block(node.body)

    def _wanted(self, options: n.ParallelOptions) -> Range | None:
        """How many successes end the construct; None when all branches run to their end."""
        if options.mode == "all":
            return None
        if options.mode == "first" or options.count is None:
            return exactly(ONE)
        found = self.passes(options.count)
        return Range(most((ONE, found.low)), most((ONE, found.high)))

    def _branch(
        self, node: Any, piece: Callable[[], Val], passes: Passes, tolerant: bool
    ) -> tuple[Exit | None, Exit | None, Settled]:
        """Walk a branch in a frame of its own: how it ends, how it fails, and what it adds to lists from outside."""
        outer = self.state
        lists = {place: Kept(marks(node, place), kept.element) for place, kept in outer.lists.items()}
        state = State(dict(outer.names), lists, None, outer.wary)
        before, self.branch = self.branch, node
        exits = self.run(piece, state, catching=tolerant)
        self.branch = before
        settle = Settled(node, {p: k.size for p, k in outer.lists.items()}, {})
        way = self.value_of(exits)
        if way is not None:
            for place in outer.lists:
                kept = way.state.lists[place]
                unknown = Range(ZERO, self.unknown(node, "a branch makes a list longer by its own length"))
                settle.ends[place] = growth(node, place, kept) or unknown
                settle.elements[place] = frozen(kept.element, way.state, 1)
        return self._unmarked(way, settle), self._unmarked(exits.get("raise"), settle), settle

    def _unmarked(self, way: Exit | None, settle: Settled) -> Exit | None:
        if way is None:
            return None
        outwards = self._outwards(settle.node, Passes(NONE), settle)
        return Exit(self._cost(way.cost, settle), rewritten_state(way.state, outwards), rewritten(way.value, outwards))

    def _add_to_lists(self, branches: list[tuple[Passes, Settled]], *, sure: bool) -> None:
        """At the join, lists from outside take over what branches added."""
        for place, kept in list(self.state.lists.items()):
            low, high, element = kept.size.low, kept.size.high, kept.element
            for passes, settle in branches:
                if place not in settle.ends:
                    continue
                growth = settle.ends[place]
                added = passes.times(Range(settle.unmarked(growth.low, "min"), settle.unmarked(growth.high, "max")))
                low = low + added.low if sure else low
                high = high + added.high
                if growth.high.terms:
                    outwards = self._outwards(settle.node, passes, settle)
                    element = joined(element, rewritten(settle.elements[place], outwards))
            self.state.lists[place] = Kept(Range(low, high), element)

    def _values_of(
        self, way: Exit | None, tolerant: bool, options: n.ParallelOptions, passes: Passes, settle: Settled
    ) -> Val:
        element = UNKNOWN if way is None else rewritten(way.value, self._outwards(settle.node, passes, settle))
        if options.mode != "all" or not tolerant:
            return element
        return joined(element, UNKNOWN if options.on_fail == "continue" else NULL)

    def _joined_values(
        self, node: Any, options: n.ParallelOptions, size: Range, wanted: Range | None, element: Val
    ) -> Val:
        if node not in self.analysis.collected:
            return NULL
        if options.mode == "first":
            return joined(element, NULL)
        if wanted is not None:
            size = Range(least((wanted.low, size.low)), least((wanted.high, size.high)))
        return val(Row(size, element))

    def parallel(self, node: n.Parallel) -> Val:
        """``parallel:``; each statement is a branch."""
        before = self.cost
        wanted = self._wanted(node.options)
        tolerant = node.options.on_fail != "fail-fast" or wanted is not None
        once = Passes(exactly(ONE))
        branches = []
        for statement in node.body.statements:
            branches.append(self._branch(statement, partial(self.statement, statement), once, tolerant))
        self._meet_branches(branches, wanted, tolerant)
        self._add_to_lists([(once, settle) for _, _, settle in branches], sure=not tolerant)
        for statement, (way, _, _) in zip(node.body.statements, branches, strict=True):
            self._publish(statement, way, tolerant)
        self.note(node, before)
        elements = [UNKNOWN if way is None else way.value for way, _, _ in branches]
        element = joined(*elements, *([UNKNOWN] if tolerant else [])) if elements else NULL
        return self._joined_values(node, node.options, exactly(constant(len(branches))), wanted, element)

    def _meet_branches(
        self, branches: list[tuple[Exit | None, Exit | None, Settled]], wanted: Range | None, tolerant: bool
    ) -> None:
        whole = [_either_way(way, raised) for way, raised, _ in branches]
        failing = any(raised is not None for _, raised, _ in branches)
        if failing and (not tolerant or wanted is not None):
            self.hand_on({"raise": Exit(beside(whole, all_finish=False), self.state, NULL)})
        if wanted is not None:
            ends = [way.cost for way, _, _ in branches if way is not None]
            cost = beside(whole, all_finish=False)
            lows = {key: [end.get(key, NONE).low for end in ends] for key in cost}
            self.add({key: Range(least(lows[key]) if ends else ZERO, found.high) for key, found in cost.items()})
        elif not tolerant and any(way is None for way, _, _ in branches):
            self.die()
        else:
            self.add(beside(whole if tolerant else [way.cost for way, _, _ in branches if way], all_finish=True))

    def _publish(self, statement: n.Node, way: Exit | None, tolerant: bool) -> None:
        """A branch that binds a name publishes it."""
        if not isinstance(statement, n.Bind):
            return
        target = statement.target
        names = target.names if isinstance(target, n.Destructure) else (target,) if isinstance(target, n.Name) else ()
        for name in names:
            value = UNKNOWN if way is None else frozen(way.state.name(name.id), way.state)
            self.state.names[name.id] = self.thawed(joined(value, UNKNOWN) if tolerant else value, name)

    # pipelines

    def pipeline(self, node: n.Pipeline) -> Val:
        """``xs | map: ... | filter: ...``."""
        before = self.cost
        value = self.value(node.source)
        for stage in node.stages:
            if self.dead:
                return NULL
            size = self.size(node.source, value)
            passes = self._over(stage, value, size, "item")
            if stage.kind == "reduce":
                high = most((ZERO, size.high.minus(ONE))) if size.high.constant is not None else size.high
                passes = Passes(Range(count(size.low.minus(ONE)), high))
            value = self._stage(stage, passes, value)
        self.note(node, before)
        return value

    def _stage(self, stage: n.Stage, passes: Passes, value: Val) -> Val:
        element = self._element(passes, value)

        def piece() -> Val:
            for name in stage.names:
                self.state.names[name.id] = joined(UNKNOWN, element)
            if stage.kind != "reduce":
                self.state.names["item"] = element
            return self.block(stage.body)

        way, raised, settle = self._branch(stage, piece, passes, False)
        spread = passes_at_once if stage.kind == "pmap" else all_passes
        if raised is not None:
            failed = spread(passes, _either_way(way, raised))
            self.hand_on({"raise": Exit(at_most_once(failed), self.state, NULL)})
        self.add(spread(passes, way.cost if way is not None else FREE))
        self._add_to_lists([(passes, settle)], sure=True)
        made = UNKNOWN if way is None else rewritten(way.value, self._outwards(settle.node, passes, settle))
        if stage.kind == "reduce":
            return joined(made, element_of(value, self.state), NULL)
        if stage.kind == "filter":
            return val(Row(Range(ZERO, passes.size.high), frozen(element_of(value, self.state), self.state, 1)))
        return val(Row(passes.size, made))


def _either_way(way: Exit | None, raised: Exit | None) -> Cost:
    """The cost of a branch, whether it fails or not."""
    if way is None or raised is None:
        return (way or raised or Exit(FREE, State(), NULL)).cost
    return either(way.cost, raised.cost)


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
        n.Parallel: Loops.parallel,
        n.Pipeline: Loops.pipeline,
    }
)
