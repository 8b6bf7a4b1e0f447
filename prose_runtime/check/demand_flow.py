"""The walk of ``demand`` over statements, loops, branches and blocks: how what comes later joins at each of them.

A loop's end leads to its own start, which the walk has not seen yet. So the program is walked in rounds: each round
takes from the one before it what happens from a loop's start on, until nothing changes any more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

from prose_runtime import nodes as n
from prose_runtime.check.demand import Expressions, Facts, Findings
from prose_runtime.check.kinds import bound_names
from prose_runtime.check.uses import (
    NOTHING,
    NUMBER,
    READ,
    WHOLE,
    State,
    Use,
    beside_errors,
    both,
    both_states,
    either,
    either_states,
    element_of,
    field_of,
    list_of,
    maybe,
    maybe_state,
    read,
    without,
)
from prose_runtime.records import dataclass

ROUNDS = 500
"""More rounds than this mean a chain of that many variables through a loop; nothing is then held to be certain."""


OUTER = "+"
"""Before a name: what the frame around this one does with a list after the join, for what branches append to it."""


@dataclass(frozen=True, slots=True)
class Exits:
    """Where control goes: after ``return`` with its value, after ``break``, ``continue`` and ``throw``."""

    value: Use
    leave: State
    breaks: State | None = None
    continues: State | None = None
    thrown: State | None = None

    def through(self, state: State) -> Exits:
        """The same exits with a ``finally`` body in between."""
        return replace(self, leave=state, breaks=state, continues=state, thrown=None if self.thrown is None else state)


class Program(Expressions):
    """The walk over a whole program."""

    def __init__(self, facts: Facts):
        super().__init__(facts)
        self.exits = Exits(WHOLE, {})
        self.heads: dict[n.Node, State] = {}
        self.changed = False
        self.blocks = {definition.name.id: definition for definition in n.nodes_of(facts.spec.body, n.BlockDef)}
        self.returned: dict[n.BlockDef, Use] = {}
        self.entered: dict[n.BlockDef, State] = {}
        self.visited: set[n.BlockDef] = set()
        self.active: set[n.BlockDef] = set()
        self.leaving: dict[n.Node, bool] = {}
        self.own: dict[n.Node, frozenset[str]] = {}

    def run(self) -> tuple[Findings, bool]:
        """Walk until nothing changes. Gives the findings, and whether what is certain in them can be relied on."""
        for _ in range(ROUNDS):
            self.changed = False
            self.visited.clear()
            self.state, self.exits = {}, Exits(WHOLE, {})
            if self.facts.spec.body is not None:
                self.block(self.facts.spec.body, NOTHING)
            for definition in self.blocks.values():
                if definition not in self.visited:
                    self.enter(definition, NOTHING)
            if not self.changed:
                return self.found, True
        return self.found, False

    def may_raise(self) -> None:
        """A call inside a ``try`` may lead to its ``catch``."""
        if self.exits.thrown is not None:
            self.state = either_states(self.state, self.exits.thrown)

    @contextmanager
    def going(self, **exits: Any) -> Iterator[None]:
        """Walk with other exits."""
        outer = self.exits
        self.exits = replace(outer, **exits)
        try:
            yield
        finally:
            self.exits = outer

    def block(self, block: n.Block, use: Use) -> None:
        """Statements one after the other; the last one's value is used so."""
        for statement in reversed(block.statements):
            self.statement(statement, use)
            use = NOTHING

    def statement(self, node: n.Node, use: Use) -> None:
        """One statement, whose value is used so when it has one."""
        visit = self.STATEMENTS.get(type(node))
        if visit is not None:
            visit(self, node, use)
        elif isinstance(node, n.Expr):
            self.value(node, use)

    def expression(self, node: n.ExprStatement, use: Use) -> None:
        """``E`` alone on a line."""
        self.value(node.value, use)

    def bind(self, node: n.Bind, use: Use) -> None:
        """``let x = E``: what is done with ``x`` is done with E."""
        target = node.target
        if isinstance(target, n.Destructure):
            for name in reversed(target.names):
                use = both(read(name.id, self.taken(name), READ, name), use)
        elif isinstance(target, n.Name):
            use = both(use, self.taken(target))
        else:
            use = both(use, self.use_of(target))
            if isinstance(target, n.Field) and isinstance(target.object, n.Name):
                holder = target.object.id
                self.state[holder] = without(self.state.get(holder, NOTHING), target.name)
        self.value(node.value, use)

    def append(self, node: n.Append, use: Use) -> None:
        """``record E in xs``: what is done with the elements of the list is done with E."""
        inside = element_of(self.use_of(node.target))
        if isinstance(node.target, n.Name):
            inside = both(inside, element_of(self.state.get(OUTER + node.target.id, NOTHING)))
        if node.note is not None:
            self.value(node.note, field_of(inside, "note"))
            inside = both(without(without(inside, "note"), "value"), field_of(inside, "value"))
        self.value(node.value, inside)

    def emit(self, node: n.Emit, use: Use) -> None:
        """``emit E``."""
        self.value(node.value, WHOLE)

    def sleep(self, node: n.Sleep, use: Use) -> None:
        """``sleep 2s``."""
        self.value(node.seconds, NUMBER)

    def leave(self, node: n.Return, use: Use) -> None:
        """``return E``."""
        self.state = dict(self.exits.leave)
        if node.value is not None:
            self.value(node.value, self.exits.value)

    def output(self, node: n.Output, use: Use) -> None:
        """``output n = E``: publishes at top level, returns in a block."""
        later = self.taken(node.name)
        if self.active:
            self.state = dict(self.exits.leave)
        self.value(node.value, self.exits.value if self.active else both(WHOLE, later))

    def throw(self, node: n.Throw, use: Use) -> None:
        """``throw E``."""
        self.state = dict(self.exits.thrown or {})
        if node.value is not None:
            self.value(node.value, WHOLE)

    def end_loop(self, node: n.Break, use: Use) -> None:
        """``break``."""
        self.state = dict(self.exits.breaks or {})

    def next_pass(self, node: n.Continue, use: Use) -> None:
        """``continue``."""
        self.state = dict(self.exits.continues or {})

    def agent(self, node: n.Agent, use: Use) -> None:
        """``agent name:`` with its properties."""
        self.values((argument.value for argument in node.args), WHOLE)

    def if_(self, node: n.If, use: Use, level: int = READ) -> None:
        """``if``: a branch, or what comes after."""
        after = self.state
        self.state = dict(after)
        if node.orelse is not None:
            self.block(node.orelse, use)
        for branch in reversed(node.branches):
            otherwise = self.state
            self.state = dict(after)
            self.block(branch.body, use)
            self.state = either_states(self.state, otherwise)
            self.condition(branch.condition)

    def choice(self, node: n.Choice, use: Use, level: int = READ) -> None:
        """``choice``: exactly one of the options."""
        after = self.state
        joined: State | None = None
        for option in node.options:
            self.state = dict(after)
            self.block(option.body, use)
            joined = self.state if joined is None else either_states(joined, self.state)
        self.state = after if joined is None else joined
        self.template(node.criteria, WHOLE, READ)
        self.named_in("".join(part for part in node.criteria.parts if isinstance(part, str)))

    def do(self, node: n.Do, use: Use, level: int = READ) -> None:
        """``do:``, which ``return`` leaves."""
        with self.going(value=use, leave=dict(self.state)):
            self.block(node.body, use)

    def try_(self, node: n.Try, use: Use, level: int = READ) -> None:
        """``try``, ``catch``, ``finally``."""
        if node.final is None:
            self.guarded(node, use)
            return
        if any(isinstance(part, n.Return | n.Break | n.Continue) for part in node.walk()):
            for state in (self.exits.leave, self.exits.breaks, self.exits.continues):
                self.state = self.state if state is None else either_states(self.state, state)
        self.block(node.final, NOTHING)
        outer = self.exits
        self.exits = outer.through(dict(self.state))
        self.guarded(node, use)
        self.exits = outer

    def guarded(self, node: n.Try, use: Use) -> None:
        """``try`` and ``catch`` without their ``finally``."""
        after = dict(self.state)
        thrown = self.exits.thrown
        if node.catch is not None:
            self.block(node.catch.body, use)
            self.taken(node.catch.var)
            thrown = self.state
        self.state = after
        with self.going(thrown=thrown):
            self.block(node.body, use)

    def repeat(self, node: n.Repeat, use: Use, level: int = READ) -> None:
        """``repeat N``."""
        inside = self.element_use(node, use)
        once = _positive(node.count)
        if node.parallel:
            self.iterations(node, node.parallel, inside, once)
        else:
            after = self.state
            start = self.passes(node, after, inside, self.head(node, after))
            self.taken(node.var)
            self.keep(node, after, start)
            self.state = start if once else either_states(after, start)
        self.value(node.count, NUMBER)

    def for_each(self, node: n.ForEach, use: Use, level: int = READ) -> None:
        """``for x in xs``: what is done with ``x`` is done with each element."""
        inside = self.element_use(node, use)
        if node.parallel:
            element = self.iterations(node, node.parallel, inside, False)
        else:
            after = self.state
            start = self.passes(node, after, inside, self.head(node, after))
            self.taken(node.index)
            element = self.taken(node.var)
            self.keep(node, after, start)
            self.state = either_states(after, start)
        certain = node.maximum is None and not self.leaves_early(node)
        self.value(node.iterable, list_of(element if certain else maybe(element)))
        if node.maximum is not None:
            self.value(node.maximum, NUMBER)

    def loop(self, node: n.Loop, use: Use, level: int = READ) -> None:
        """``loop until C``, ``loop while C``, ``loop``."""
        inside = self.element_use(node, use)
        after = self.state
        start = self.passes(node, after, inside, self.tested(node, self.head(node, after)))
        self.taken(node.var)
        self.keep(node, after, start)
        once = node.kind != "while" and (node.maximum is None or _positive(node.maximum))
        self.state = start if once else either_states(after, start)
        if node.kind == "while":
            self.state = self.tested(node, self.state)
        if node.maximum is not None:
            self.value(node.maximum, NUMBER)

    def tested(self, node: n.Loop, state: State) -> State:
        """What happens from the place on where a loop's condition is decided."""
        self.state = dict(state)
        if node.condition is not None:
            self.condition(node.condition)
        return self.state

    def element_use(self, node: n.Node, use: Use) -> Use:
        """What is done with the value of one iteration."""
        return element_of(use) if node in self.facts.collected else NOTHING

    def head(self, node: n.Node, after: State) -> State:
        """What happens when an iteration is over: another one, as the last round saw it, or what comes after."""
        again = self.heads.get(node, {})
        return {**after, **{name: either(after.get(name, NOTHING), use) for name, use in again.items()}}

    def passes(self, node: n.Repeat | n.ForEach | n.Loop, after: State, inside: Use, end: State) -> State:
        """What happens from the start of an iteration on; ``end`` is what happens behind its last statement."""
        exits = {"value": inside, "leave": end} if node in self.facts.collected else {}
        self.state = dict(end)
        with self.going(**exits, breaks=after, continues=end):
            self.block(node.body, inside)
        return self.state

    def keep(self, node: n.Node, after: State, start: State) -> None:
        """Note for the next round what an iteration does with names, other than what comes after the loop does."""
        known = self.heads.setdefault(node, {})
        for name in {**after, **start}:
            use = start.get(name, NOTHING)
            if use is after.get(name):
                continue
            joined = either(known[name], use) if name in known else use
            if name not in known or joined != known[name]:
                self.changed = True
                known[name] = joined

    def leaves_early(self, node: n.Repeat | n.ForEach) -> bool:
        """Whether some elements of the list may not get their turn."""
        if node not in self.leaving:
            stays = node in self.facts.collected or node.parallel is not None
            kinds = (n.Break, n.Throw) if stays else (n.Break, n.Throw, n.Return)
            body = self.facts.spec.body
            assert body is not None
            jumps = n.nodes_of(body, *kinds)
            self.leaving[node] = any(outer is node.body for jump in jumps for outer in n.around(jump, body))
        return self.leaving[node]

    def iterations(self, node: n.Repeat | n.ForEach, options: n.ParallelOptions, inside: Use, once: bool) -> Use:
        """Parallel iterations, each a frame. Gives the use of the loop variable in one of them."""
        after = self.state
        start = self.frame(node.body, _given(inside, options), {})
        if isinstance(node, n.ForEach) and node.index is not None:
            start.pop(node.index.id, None)
        element = start.pop(node.var.id, NOTHING) if node.var else NOTHING
        self.joins(after, [start], once and _all_finish(options))
        self.finish(options)
        return element

    def frame(self, body: n.Node, value: Use, published: State) -> State:
        """A piece of program whose changes to names stay inside. Gives what it does with the names around it.

        ``value`` is the use of what it gives or returns, ``published`` of what the frame around takes over from it.
        """
        outer, after = self.exits, self.state
        if body not in self.own:
            self.own[body] = bound_names(body)
        end = _inside_frame(after, self.own[body])
        self.state = {**end, **published}
        self.exits = Exits(value, dict(self.state), end, end)
        if isinstance(body, n.Block):
            self.block(body, value)
        else:
            self.statement(body, value)
        start = {name: use for name, use in self.state.items() if not name.startswith(OUTER)}
        self.state, self.exits = after, outer
        return start

    def joins(self, after: State, starts: list[State], certain: bool) -> None:
        """All frames run side by side, then what comes after."""
        self.state = after
        for start in reversed(starts):
            self.state = both_states(start if certain else maybe_state(start), self.state)

    def finish(self, options: n.ParallelOptions) -> None:
        """A parallel construct may raise at its join."""
        self.may_raise()
        if options.count is not None:
            self.value(options.count, NUMBER)

    def parallel(self, node: n.Parallel, use: Use, level: int = READ) -> None:
        """``parallel:``, each statement a branch."""
        after = dict(self.state)
        branches = [(branch, _published(branch, after)) for branch in node.body.statements]
        for _, published in branches:
            for name in published:
                after.pop(name, None)
        self.state = after
        inside = NOTHING
        if node in self.facts.collected:
            inside = _given(use if node.options.mode == "first" else element_of(use), node.options)
        starts = [
            self.frame(branch, inside, {name: _given(part, node.options) for name, part in published.items()})
            for branch, published in branches
        ]
        self.joins(after, starts, _all_finish(node.options))
        self.finish(node.options)

    def pipeline(self, node: n.Pipeline, use: Use, level: int = READ) -> None:
        """``xs | map:`` and so on, from the last stage to the first."""
        for stage in reversed(node.stages):
            inside = element_of(use)
            if stage.kind == "reduce":
                use = list_of(self.folded(stage, use))
            elif stage.kind == "filter":
                use = list_of(both(self.staged(stage, NOTHING), inside))
            else:
                use = list_of(self.staged(stage, inside))
        self.value(node.source, use)

    def staged(self, stage: n.Stage, value: Use) -> Use:
        """One stage over its elements. Gives what it does with an element."""
        after = self.state
        start = self.frame(stage.body, value, {})
        names = {"item", *(name.id for name in stage.names)}
        used = [start.pop(name, NOTHING) for name in sorted(names)]
        self.joins(after, [start], False)
        element = NOTHING
        for part in used:
            element = both(element, part)
        return element

    def folded(self, stage: n.Stage, use: Use) -> Use:
        """``reduce(acc, x)``: the first element and the body's values become ``acc``, the others ``x``."""
        acc, item = [*(name.id for name in stage.names), "acc", "item"][:2] if stage.names else ("acc", "item")
        after = self.state
        value = either(use, self.heads.get(stage, {}).get(acc, use))
        start = self.frame(stage.body, value, {})
        first, other = start.pop(acc, NOTHING), start.pop(item, NOTHING)
        self.keep(stage, {}, {acc: first})
        self.joins(after, [start], False)
        return either(either(first, use), other)

    def do_block(self, node: n.DoBlock, use: Use, level: int = READ) -> None:
        """``do name(args)``."""
        definition = self.blocks.get(node.block.id)
        if definition is None:
            self.ask(node, use)
            self.values((argument.value for argument in node.args), WHOLE)
        else:
            self.call_block(node, definition, node.args, use)

    def call(self, expr: n.Call, use: Use, level: int = READ) -> None:
        """``call x``, which may be a block."""
        target = self.facts.targets.get(expr)
        definition = self.blocks.get(target.name) if target and target.kind == "block" else None
        if definition is None:
            super().call(expr, use, level)
        else:
            self.call_block(expr, definition, expr.args, use)

    def call_block(self, node: n.Expr, definition: n.BlockDef, args: tuple[n.Argument, ...], use: Use) -> None:
        """A block is run with arguments and gives a value."""
        self.ask(node, use)
        inside = dict(self.enter(definition, use))
        params = [name.id for name in definition.params]
        uses = {name: inside.pop(name, NOTHING) for name in params}
        self.state = both_states(inside, self.state)
        positions = iter(params)
        named = [(a.name if a.name is not None else next(positions, ""), a.value) for a in args]
        for name, value in reversed(named):
            self.value(value, uses.get(name, WHOLE))

    def enter(self, definition: n.BlockDef, use: Use) -> State:
        """What a block does with its parameters and the names around it, its value being used so.

        The uses of all its calls are joined, so that its body is walked about once a round however often it is called.
        """
        known = self.returned.get(definition)
        joined = use if known is None else either(known, use)
        stale = joined != known or definition not in self.visited
        if joined != known:
            self.changed = True
            self.returned[definition] = joined
        if stale and definition not in self.active:
            self.walk_block(definition, joined)
        return self.entered.get(definition, {})

    def walk_block(self, definition: n.BlockDef, use: Use) -> None:
        """Walk the body of a block whose value is used so."""
        outer, after = self.exits, self.state
        self.active.add(definition)
        self.visited.add(definition)
        self.state, self.exits = {}, Exits(use, {})
        self.block(definition.body, use)
        start, known = self.state, self.entered.get(definition)
        joined = start if known is None else either_states(known, start)
        if joined != known:
            self.changed = True
            self.entered[definition] = joined
        self.active.discard(definition)
        self.state, self.exits = after, outer

    CONSTRUCTS: ClassVar[dict[type[n.Node], Callable[[Any, Any, Use, int], None]]] = {
        n.If: if_,
        n.Choice: choice,
        n.Do: do,
        n.Try: try_,
        n.Repeat: repeat,
        n.ForEach: for_each,
        n.Loop: loop,
        n.Parallel: parallel,
        n.Pipeline: pipeline,
        n.DoBlock: do_block,
        n.Call: call,
    }
    VISITS: ClassVar[dict[type[n.Node], Callable[[Any, Any, Use, int], None]]] = {**Expressions.VISITS, **CONSTRUCTS}
    STATEMENTS: ClassVar[dict[type[n.Node], Callable[[Any, Any, Use], None]]] = {
        n.ExprStatement: expression,
        n.Bind: bind,
        n.Append: append,
        n.Emit: emit,
        n.Sleep: sleep,
        n.Return: leave,
        n.Output: output,
        n.Throw: throw,
        n.Break: end_loop,
        n.Continue: next_pass,
        n.Agent: agent,
    }


def _positive(count: n.Expr) -> bool:
    """Whether a number of passes surely is one or more."""
    return isinstance(count, n.Constant) and isinstance(count.value, int) and count.value > 0


def _inside_frame(after: State, own: Collection[str]) -> State:
    """What happens behind the end of a frame: all that leaves it is what it appends to lists bound outside.

    ``own`` are the names that it binds itself: a list of that name outside is another one.
    """
    end = {name: use for name, use in after.items() if name.startswith(OUTER) and name.removeprefix(OUTER) not in own}
    for name, use in after.items():
        if not name.startswith(OUTER) and name not in own:
            end[OUTER + name] = both(use, end.get(OUTER + name, NOTHING))
    return end


def _published(branch: n.Node, after: State) -> State:
    """The names that a branch of a ``parallel:`` hands out, and what is done with them."""
    if not isinstance(branch, n.Bind):
        return {}
    names = branch.target.names if isinstance(branch.target, n.Destructure) else (branch.target,)
    return {name.id: after[name.id] for name in names if isinstance(name, n.Name) and name.id in after}


def _given(use: Use, options: n.ParallelOptions) -> Use:
    """The use of what a branch gives, where the program may get its error in its place."""
    return beside_errors(use) if options.on_fail == "continue" else use


def _all_finish(options: n.ParallelOptions) -> bool:
    """Whether what follows a ``parallel`` means that every branch has come to its end."""
    return options.mode == "all" and options.on_fail == "fail-fast"
