"""The walk that counts calls, over what runs at the same time, each branch in its own frame, and over pipelines."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

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
    passes_at_once,
)
from prose_runtime.check.bounds_formula import (
    ANY_ELEMENT,
    ONE,
    ZERO,
    Element,
    constant,
    count,
    least,
    most,
)
from prose_runtime.check.bounds_lists import Outwards, Settled, growth, marks, rewritten, rewritten_state
from prose_runtime.check.bounds_statements import Statements
from prose_runtime.check.bounds_values import (
    NONE,
    NULL,
    UNKNOWN,
    At,
    Kept,
    Range,
    Row,
    State,
    Val,
    element_of,
    exactly,
    frozen,
    joined,
    val,
)

Branch: TypeAlias = tuple[Exit | None, Exit | None, Settled]
"""How a branch ends, how it fails, and what it adds to lists from outside."""


class Forks(Statements):
    """The walk over parallel constructs and pipelines."""

    def _cost(self, cost: Cost, settle: Settled) -> Cost:
        """A cost without marks."""
        return {k: Range(settle.unmarked(r.low, "min"), settle.unmarked(r.high, "max")) for k, r in cost.items()}

    def _outwards(self, node: n.Node, passes: Passes, settle: Settled | None) -> Outwards:
        return Outwards(passes, settle, lambda: self.unknown(node, "what a loop makes depends on a single pass of it"))

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

    def _branch(self, node: Any, piece: Callable[[], Val], passes: Passes, tolerant: bool) -> Branch:
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
        value = self._joined_branches(node, node.options, branches, wanted)
        for statement, (way, _, _) in zip(node.body.statements, branches, strict=True):
            self._publish(statement, way, tolerant)
        self.note(node, before)
        return value

    def _joined_branches(
        self, node: Any, options: n.ParallelOptions, branches: list[Branch], wanted: Range | None
    ) -> Val:
        """Go on behind branches that were walked each by itself."""
        tolerant = options.on_fail != "fail-fast" or wanted is not None
        self._meet_branches(branches, wanted, tolerant)
        once = Passes(exactly(ONE))
        self._add_to_lists([(once, settle) for _, _, settle in branches], sure=not tolerant)
        elements = [UNKNOWN if way is None else way.value for way, _, _ in branches]
        element = joined(*elements, *([UNKNOWN] if tolerant else [])) if elements else NULL
        return self._joined_values(node, options, exactly(constant(len(branches))), wanted, element)

    def _meet_branches(self, branches: list[Branch], wanted: Range | None, tolerant: bool) -> None:
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


Forks.VISITS.update({n.Parallel: Forks.parallel, n.Pipeline: Forks.pipeline})
