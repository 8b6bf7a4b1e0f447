"""The walk of ``flow_walk`` over loops and frames.

A loop is walked until another pass adds nothing. What is found on the way only grows, so every walk adds to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from prose_runtime import nodes as n
from prose_runtime.check.flow_facts import facts_of
from prose_runtime.check.flow_statements import Statements
from prose_runtime.check.flow_values import (
    NO_LABELS,
    NOTHING,
    Cell,
    Held,
    Label,
    Labels,
    State,
    Trace,
    Val,
    going_on,
    join_states,
    joined,
    merged,
)
from prose_runtime.check.flow_walk import ANYBODY, SESSION, Known, is_unit
from prose_runtime.check.scope import published_names

PASSES = 60
"""More passes of a loop than this cannot add anything: there are not that many labels on the way."""

_DEEPEST = 8
"""How many blocks deep calls are followed."""

Passing = n.Repeat | n.ForEach | n.Loop


class Walk(Statements):
    """The walk over a whole program."""

    def __init__(self, known: Known):
        super().__init__(known)
        self.calling: dict[n.Node, frozenset[str]] = {}

    # loops

    def repeat(self, node: n.Repeat, state: State) -> Val:
        """``repeat N``."""
        number = self.whole(node.count, state)
        control = going_on(merged(number.data, number.control), node.count.span)
        counter = Val({Label("counter", node.var.id): Trace(node.var.span)}) if node.var else NOTHING
        heads = [(node.var, counter)]
        if node.parallel is not None:
            return self.side_by_side(node, node.body, heads, control, state)
        return self.passes(node, heads, control, None, state)

    def for_each(self, node: n.ForEach, state: State) -> Val:
        """``for x in xs``."""
        source = self.value(node.iterable, state)
        size = state.size(source)
        control = going_on(merged(size.data, size.control), node.iterable.span)
        if node.maximum is not None:
            bound = self.whole(node.maximum, state)
            control = merged(control, merged(bound.data, bound.control))
        counter = Val({Label("counter", node.index.id): Trace(node.index.span)}) if node.index else NOTHING
        heads = [(node.var, self.taken(state.element(source), node.body)), (node.index, counter)]
        if node.parallel is not None:
            return self.side_by_side(node, node.body, heads, control, state)
        return self.passes(node, heads, control, None, state)

    def loop(self, node: n.Loop, state: State) -> Val:
        """``loop until C``, ``loop while C``, ``loop``."""
        control = NO_LABELS
        if node.maximum is not None:
            bound = self.whole(node.maximum, state)
            control = going_on(merged(bound.data, bound.control), node.maximum.span)
        counter = Val({Label("counter", node.var.id): Trace(node.var.span)}) if node.var else NOTHING
        return self.passes(node, [(node.var, counter)], control, node, state)

    def passes(
        self,
        node: Passing,
        heads: list[tuple[n.Name | None, Val]],
        control: Labels,
        tested: n.Loop | None,
        state: State,
    ) -> Val:
        """Walk the passes of a loop one after the other until another one adds nothing."""
        before, leavings, since = state.control, self.leavings, len(self.asked)
        head = state.copy()
        head.control = merged(head.control, control)
        value = NOTHING
        kept = node in self.known.collected
        for _ in range(PASSES):
            with self.alone() as called:
                ends, last, back = self.once(node, heads, tested, head)
            if called and self.loops == 0 and not self.inside:
                back.next_pass()
            value = joined(value, last)
            again = join_states([head, back])
            if again.is_like(head):
                break
            head = again
        if not _always_once(node):
            ends.append(head.copy())
        state.become(join_states(ends))
        state.control = merged(before, self.left) if self.leavings != leavings else before
        return self.gathered(node, self.stale(value, since), control, state) if kept else NOTHING

    def taken(self, element: Val, body: n.Block) -> Val:
        """The element that each pass takes: an earlier pass may have asked again whom it is from."""
        if not any(label.kind == "output" for label in element.data):
            return element
        with self.beside([body]):
            return self.ageing(element)

    def once(
        self, node: Passing, heads: list[tuple[n.Name | None, Val]], tested: n.Loop | None, head: State
    ) -> tuple[list[State], Val, State]:
        """One pass: the states in which the loop ends, the pass's value, and the state in which the next one begins."""
        state = head.copy()
        ends: list[State] = []
        condition = tested.condition if tested is not None else None
        if tested is not None and tested.kind == "while" and condition is not None:
            ends.append(self.decided(condition, False, state))
            state = self.decided(condition, True, state)
        for name, value in heads:
            if name is not None:
                self.bind(name, value, state)
        broken: list[State] = []
        last = self.run_pass(node, state, broken)
        if tested is not None and tested.kind == "until" and condition is not None and not state.dead:
            ends.append(self.decided(condition, True, state))
            state = self.decided(condition, False, state)
        ends += [*broken, state.copy()]
        for end in broken:
            state.control = merged(state.control, end.control)
        return ends, last, state

    def run_pass(self, node: Passing, state: State, broken: list[State]) -> Val:
        """The body of a pass, with the states in which it goes on to the next one joined."""
        continued: list[State] = []
        self.breaks.append(broken)
        self.continues.append(continued)
        self.loops += 1
        with self.at(node, 0):
            last = self.body(node.body, state) if node in self.known.collected else self.block(node.body, state)
        self.loops -= 1
        self.breaks.pop()
        self.continues.pop()
        if continued:
            state.become(join_states([state.copy(), *continued]))
        return last

    def decided(self, condition: n.Condition, yes: bool, state: State) -> State:
        """The state after a loop's condition came out so."""
        control = self.condition(condition, state)
        made = state.copy()
        made.facts |= facts_of(condition.test, yes, self, state)
        made.control = merged(made.control, control)
        return made

    def gathered(self, node: n.Node, value: Val, control: Labels, state: State) -> Val:
        """The list that a loop in value position gives."""
        return state.make(node, Cell({}, value.under(control)), not self.inside).under(control)

    # frames

    @contextmanager
    def frame(self) -> Iterator[None]:
        """A frame: loops and lists outside are out of its reach."""
        breaks, continues = self.breaks, self.continues
        self.breaks, self.continues = [], []
        self.inside += 1
        try:
            yield
        finally:
            self.inside -= 1
            self.breaks, self.continues = breaks, continues

    def side_by_side(
        self, node: n.Node, body: n.Block, heads: list[tuple[n.Name | None, Val]], control: Labels, state: State
    ) -> Val:
        """Iterations that do not see each other: one of them stands for all."""
        branch = state.copy()
        branch.control = merged(branch.control, control)
        with self.alone() as called, self.frame(), self.at(node, 0), self.beside([body]):
            for name, value in heads:
                if name is not None:
                    self.bind(name, value, branch)
            value = self.ageing(self.body(body, branch))
            branch.each(self.ageing)
        self.join(state, [branch], called)
        return self.gathered(node, value, control, state) if node in self.known.collected else NOTHING

    @contextmanager
    def beside(self, others: list[n.Node]) -> Iterator[None]:
        """Walk a branch while others run, which may call roles of which something was known before."""
        known = self.meanwhile
        for other in others:
            self.meanwhile |= self.may_call(other)
        try:
            yield
        finally:
            self.meanwhile = known

    def ageing(self, value: Val) -> Val:
        """What a branch hands on: another one may have got a later answer meanwhile."""
        return Val(self.outdated(value.data), value.control, value.places)

    def may_call(self, part: n.Node) -> frozenset[str]:
        """The roles that a part of the program, and the blocks that it calls, may call."""
        if part not in self.calling:
            self.calling[part] = frozenset()  # a block that calls itself finds this
            self.calling[part] = frozenset(role for node in part.walk() for role in self.called_by(node))
        return self.calling[part]

    def called_by(self, node: n.Node) -> Iterable[str]:
        """The roles that an expression itself may call."""
        target = self.known.targets.get(node) if isinstance(node, n.Call) else None
        name = node.block.id if isinstance(node, n.DoBlock) else target.name if target else ""
        if isinstance(node, n.DoBlock) or (target is not None and target.kind == "block"):
            return self.may_call(self.blocks[name]) if name in self.blocks else (ANYBODY,)
        if isinstance(node, n.Call):
            slot = target.slot if target is not None and target.kind == "reference" else None
            plain = target is not None and target.kind != "reference" and not is_unit(target)
            return (name,) if plain else (slot.name if slot is not None else ANYBODY,)
        if isinstance(node, n.Session):
            return (node.agent.id if node.agent else SESSION,)
        return (ANYBODY,) if isinstance(node, n.Ask | n.Effect | n.Discretion) else ()

    @contextmanager
    def alone(self) -> Iterator[set[str]]:
        """Gives the roles that are called inside."""
        outer, self.called = self.called, set()
        try:
            yield self.called
        finally:
            outer |= self.called  # whoever waits for what is called outside holds this very set
            self.called = outer

    def again(self, called: set[str], state: State) -> None:
        """Roles were called in a part of the program: surely, where it may not be another role, or nobody."""
        state.called(called - self.sometimes)
        state.called(called & self.sometimes, surely=False)

    def join(self, state: State, branches: list[State], called: set[str]) -> None:
        """Branches are done: what they added to lists is taken over."""
        self.again(called, state)
        for branch in branches:
            if not branch.dead:
                state.take_in(branch)

    def parallel(self, node: n.Parallel, state: State) -> Val:
        """``parallel:``, each statement a branch; one that binds names publishes them."""
        ends: list[tuple[n.Node, State]] = []
        values = NOTHING
        with self.alone() as called:
            for number, statement in enumerate(node.body.statements):
                branch = state.copy()
                others = [other for other in node.body.statements if other is not statement]
                with self.frame(), self.at(node, number), self.beside(others):
                    values = joined(values, self.ageing(self.body(self.lone(statement), branch)))
                    branch.each(self.ageing)
                ends.append((statement, branch))
        self.join(state, [branch for _, branch in ends], called)
        for statement, branch in ends:
            for name in published_names(statement):
                state.names[name.id] = branch.names.get(name.id, NOTHING)
                state.held.pop(name.id, None)
                held = branch.held.get(name.id)
                if held is not None and self.is_sure(node, statement, held.role):
                    state.held[name.id] = held
        if node not in self.known.collected:
            return NOTHING
        return values if node.options.mode == "first" else self.gathered(node, values, NO_LABELS, state)

    def is_sure(self, node: n.Parallel, branch: n.Node, role: str) -> bool:
        """Whether what a branch publishes is surely there at the join, and the latest answer of a role."""
        others = [self.may_call(other) for other in node.body.statements if other is not branch]
        alone = not any(role in roles or ANYBODY in roles for roles in others)
        return alone and (node.options.mode, node.options.on_fail) == ("all", "fail-fast")

    def lone(self, statement: n.Node) -> n.Block:
        """A statement as a body of its own."""
        if statement not in self.branches:
            self.branches[statement] = n.Block(span=statement.span, statements=(statement,))
        return self.branches[statement]

    def pipeline(self, node: n.Pipeline, state: State) -> Val:
        """``xs | map:`` and so on."""
        value = self.value(node.source, state)
        for stage in node.stages:
            size = state.size(value)
            element = self.taken(state.element(value), stage.body)
            since = len(self.asked)
            got = self.stage(stage, element, merged(size.data, size.control), state)
            if stage.kind == "reduce":
                value = got
                continue
            if stage.kind == "filter":
                tested = state.deep(got)
                got = element.under(going_on(merged(tested.data, tested.control), stage.body.span))
            value = self.gathered(stage, self.stale(got, since), size.control, state)
        return value

    def stage(self, stage: n.Stage, element: Val, control: Labels, state: State) -> Val:
        """The body of one stage over all elements; ``reduce`` hands its value to the next one."""
        total, value = element, NOTHING
        for number in range(PASSES):
            branch = state.copy()
            branch.control = merged(branch.control, control)
            names = [name.id for name in stage.names] or ["item"]
            branch.names.update(zip(names, (total, element), strict=False) if stage.names else [("item", element)])
            for name in names:
                branch.held.pop(name, None)
            others: list[n.Node] = [stage.body] if stage.kind == "pmap" else []
            with self.alone() as called, self.frame(), self.at(stage, 0), self.beside(others):
                value = joined(value, self.ageing(self.body(stage.body, branch)))
            self.join(state, [branch], called)
            wider = joined(total, value) if stage.kind == "reduce" else total
            settled = (wider.data.keys(), wider.places) == (total.data.keys(), total.places)
            if settled and (number or not called):
                break
            total = wider
        return joined(total, value) if stage.kind == "reduce" else value

    def do_block(self, node: n.DoBlock, state: State) -> Val:
        """``do name(args)``."""
        return self.call_block(node, node.block.id, node.args, state)

    def call_block(self, node: n.Expr, name: str, args: tuple[n.Argument, ...], state: State) -> Val:
        """A block reads the delegation's names and has its own parameters."""
        definition = self.blocks.get(name)
        values = list(zip((a.name for a in args), self.in_turn((a.value for a in args), state), strict=True))
        outer = state.outer if state.outer is not None else state.names
        if definition is None or name in self.active or len(self.active) >= _DEEPEST:
            seen = [state.deep(value) for value in (*outer.values(), *(value for _, value in values))]
            return self.mixed(seen)
        free = iter([parameter.id for parameter in definition.params])
        given = {given or next(free, ""): value for given, value in values}
        inside = state.copy()
        inside.outer = dict(outer)
        inside.names = {**outer, **dict.fromkeys((p.id for p in definition.params), NOTHING), **given}
        inside.held = self.handed_on(args, definition, state)
        self.active.append(name)
        with self.alone() as called, self.frame(), self.at(node, 0):
            value = self.body(definition.body, inside)
        self.active.pop()
        self.again(called, state)
        state.take_in(inside)
        return value

    def handed_on(self, args: tuple[n.Argument, ...], block: n.BlockDef, state: State) -> dict[str, Held]:
        """The names in a block that surely hold an answer: parameters, and names from outside."""
        free = iter([parameter.id for parameter in block.params])
        names = {argument.name or next(free, ""): self.held(argument.value, state) for argument in args}
        found = dict(state.held) if state.outer is None else {}
        for name in (*names, *(parameter.id for parameter in block.params)):
            held = names.get(name)
            found.pop(name, None)
            if held is not None:
                found[name] = held
        return found

    VISITS: ClassVar[dict[type[n.Node], Callable[[Any, Any, State], Val]]] = {
        **Statements.VISITS,
        n.Repeat: repeat,
        n.ForEach: for_each,
        n.Loop: loop,
        n.Parallel: parallel,
        n.Pipeline: pipeline,
        n.DoBlock: do_block,
    }


def _always_once(node: n.Node) -> bool:
    """Whether a loop surely makes a pass."""
    if isinstance(node, n.Loop):
        return node.kind != "while"
    count = node.count if isinstance(node, n.Repeat) else None
    return isinstance(count, n.Constant) and isinstance(count.value, int) and count.value > 0
