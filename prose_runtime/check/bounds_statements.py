"""The walk that counts calls, over statements, branches and blocks; loops stand in ``bounds_loops``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from prose_runtime import nodes as n
from prose_runtime.check.bounds_calls import Calls
from prose_runtime.check.bounds_cost import JUDGE, REQUESTS, WAIT, Exit, either_exit, opened
from prose_runtime.check.bounds_formula import ONE
from prose_runtime.check.bounds_values import (
    NULL,
    UNKNOWN,
    Anything,
    At,
    ListAt,
    Obj,
    Range,
    Row,
    State,
    Val,
    exactly,
    frozen,
    joined,
    val,
)

STOPS = {n.Break: "break", n.Continue: "continue"}


class Statements(Calls):
    """The walk over statements and the constructs that are no loops."""

    def block(self, block: n.Block) -> Val:
        """Statements one after the other; the value is that of the last one."""
        value = NULL
        for statement in block.statements:
            if self.dead:
                break
            value = self.statement(statement)
        return value

    def statement(self, node: n.Node) -> Val:
        """One statement."""
        self.step()
        visit = self.STATEMENTS.get(type(node))
        if visit is not None:
            return visit(self, node)
        return self.value(node) if isinstance(node, n.Expr) else NULL

    def expression(self, node: n.ExprStatement) -> Val:
        """``E`` alone on a line."""
        return self.value(node.value)

    def bind(self, node: n.Bind) -> Val:
        """``let x = E`` and its kin."""
        value = self.value(node.value)
        target = node.target
        if isinstance(target, n.Name):
            value = self.thawed(value, node)
            self.state.names[target.id] = value
        elif isinstance(target, n.Destructure):
            for name in target.names:
                part = self.part(value, name.id)
                part = joined(part, value) if name in self.analysis.itself else part
                self.state.names[name.id] = self.thawed(part, name)
        elif not isinstance(target, n.MadeName):
            self.value(target.object)
        return value

    def thawed(self, value: Val, node: n.Node) -> Val:
        """A value that gets a name: lists from other frames can grow from here on."""
        basics: list[Val] = []
        rows = [basic for basic in value if isinstance(basic, Row)]
        for basic in value:
            if isinstance(basic, Row):
                place = (node, self.branch, "inner" if basic.inner else "", rows.index(basic))
                basics.append(self.state.make(place, basic.size, basic.element))
            else:
                basics.append(val(basic))
        return joined(*basics) if basics else UNKNOWN

    def append(self, node: n.Append) -> Val:
        """``record E in xs``: the list is one longer."""
        value = self.value(node.value)
        if node.note is not None:
            note = self.value(node.note)
            value = val(Obj((("value", value), ("note", note))))
        target = self.value(node.target)
        places = [basic.place for basic in target if isinstance(basic, ListAt)]
        sure = len(target) == 1 and len(places) == 1
        if any(isinstance(basic, Anything) for basic in target):
            places, sure = list(self.state.lists), False
        if any(isinstance(basic, Row | At) for basic in target) or any(_is_inner(place) for place in places):
            self.loosen()
        for place in places:
            size, element = self.state.lists[place]
            grown = Range(size.low + ONE if sure else size.low, size.high + ONE)
            self.state.lists[place] = self.state.lists[place]._replace(size=grown, element=joined(element, value))
        return NULL

    def emit(self, node: n.Emit) -> Val:
        """``emit E``, ``sleep E``."""
        self.value(node.value)
        return NULL

    def sleep(self, node: n.Sleep) -> Val:
        """``sleep 2s``."""
        self.value(node.seconds)
        return NULL

    def return_(self, node: n.Return) -> Val:
        """``return E``."""
        self.leave("return", self.value(node.value) if node.value else NULL)
        self.die()
        return NULL

    def stop(self, node: n.Break | n.Continue) -> Val:
        """``break`` and ``continue``."""
        self.leave(STOPS[type(node)])
        self.die()
        return NULL

    def throw(self, node: n.Throw) -> Val:
        """``throw E``."""
        if node.value is not None:
            self.value(node.value)
        self.leave("raise")
        self.die()
        return NULL

    def output(self, node: n.Output) -> Val:
        """``output n = E``: publishes at top level, returns in a block."""
        value = self.thawed(self.value(node.value), node)
        self.state.names[node.name.id] = value
        if self.state.base is not None:
            self.leave("return", value)
            self.die()
        return value

    # branches

    def if_(self, node: n.If) -> Val:
        """``if``, ``elif``, ``else``."""
        way: Exit | None = None
        for branch in node.branches:
            held = self.condition(branch.condition)
            if held is False:
                continue
            exits = self.run(partial(self.block, branch.body), self.state)
            self.hand_on(exits)
            ran = exits.get("normal")
            way = either_exit(way, None if ran is None else ran.after(self.cost))
            if held:
                return self._meet(way)
        last = self.block(node.orelse) if node.orelse else NULL
        if not self.dead:
            way = either_exit(way, Exit(self.cost, self.state, last))
        return self._meet(way)

    def _meet(self, way: Exit | None) -> Val:
        """Go on where branches meet; their costs are counted from the beginning of the piece."""
        if way is None:
            self.die()
            return NULL
        self.dead = False
        self.cost, self.state = way.cost, way.state.copy()
        return way.value

    def choice(self, node: n.Choice) -> Val:
        """``choice CRITERIA:``; the judge names one label."""
        self.value(node.criteria)
        once = exactly(ONE)
        self.add({JUDGE: once, REQUESTS: Range(ONE, ONE + ONE), WAIT: once})
        return self.choose([partial(self.block, option.body) for option in node.options])

    def do(self, node: n.Do) -> Val:
        """``do:`` is no frame; a return in it leaves it."""
        exits = self.run(lambda: self.block(node.body), self.state)
        self.hand_on(exits, "return")
        return self.go_on(either_exit(exits.get("normal"), exits.get("return")))

    def try_(self, node: n.Try) -> Val:
        """``try`` with ``catch`` and ``finally``."""
        if node.final is None:
            return self._guarded(node)
        exits = self.run(lambda: self._guarded(node), self.state, catching=True)
        way = None
        for kind, exit_ in exits.items():
            way = either_exit(way, self._finally(kind, exit_, node.final))
        return self.go_on(way)

    def _finally(self, kind: str, way: Exit, body: n.Block) -> Exit | None:
        """What comes after the body of ``finally``; other ways than the normal one are handed on behind it."""
        last = self.run(lambda: self.block(body), way.state)
        last = {name: exit_.after(way.cost) for name, exit_ in last.items()}
        self.hand_on(last)
        through = last.get("normal")
        if through is None or kind == "normal":
            return None if through is None else Exit(through.cost, through.state, way.value)
        self.hand_on({kind: Exit(through.cost, through.state, way.value)})
        return None

    def _guarded(self, node: n.Try) -> Val:
        body = node.body
        if node.catch is None:
            return self.block(body)
        exits = self.run(lambda: self.block(body), self.state, catching=True)
        self.hand_on(exits, "raise")
        way, caught = exits.get("normal"), exits.get("raise")
        if caught is not None:
            catch = node.catch
            rest = self.run(lambda: self._catch(catch), caught.state)
            rest = {kind: exit_.after(caught.cost) for kind, exit_ in rest.items()}
            self.hand_on(rest)
            way = either_exit(way, rest.get("normal"))
        return self.go_on(way)

    def _catch(self, node: n.Catch) -> Val:
        if node.var is not None:
            self.state.names[node.var.id] = UNKNOWN
        return self.block(node.body)

    # blocks

    def do_block(self, node: n.DoBlock) -> Val:
        """``do name(args)``."""
        return self.call_block(node.block.id, node.args, node)

    def call_block(self, name: str, args: tuple[n.Argument, ...], node: n.Node) -> Val:
        """A block in a frame of its own, which reads the delegation's names."""
        definition = self.blocks.get(name)
        if definition is None:
            return UNKNOWN
        passed = self._arguments(definition, args)
        if definition in self.active:
            return self.again(node, definition, f"the block `{name}` calls itself")
        base = self.state.base or self.state
        state = State(dict(base.names), dict(base.lists), base, base.wary)
        self.active.append(definition)
        before, self.branch = self.branch, (definition, node)
        exits = self.run(lambda: self._in_block(definition, passed), state)
        self.branch = before
        self.active.pop()
        return self.take_value(opened(exits, self.shared.recursive.get(definition)))

    def _arguments(self, definition: n.BlockDef, args: tuple[n.Argument, ...]) -> dict[str, Val]:
        names = [parameter.id for parameter in definition.params]
        free = iter(names)
        passed = dict.fromkeys(names, NULL)
        for argument in args:
            value = frozen(self.value(argument.value), self.state)
            name = argument.name or next(free, None)
            if name is not None:
                passed[name] = value
        return passed

    def _in_block(self, definition: n.BlockDef, passed: dict[str, Val]) -> Val:
        for parameter in definition.params:
            self.state.names[parameter.id] = self.thawed(passed[parameter.id], parameter)
        return self.block(definition.body)

    def take_value(self, exits: dict[str, Exit]) -> Val:
        """Go on behind a frame: its cost and value count, its names do not."""
        way = self.value_of(exits)
        self.hand_on({kind: Exit(e.cost, self.state, NULL) for kind, e in exits.items() if kind == "raise"})
        if way is None:
            self.die()
            return NULL
        self.add(way.cost)
        return way.value

    def value_of(self, exits: dict[str, Exit]) -> Exit | None:
        """The way out of a frame, however its body ends, with its value as a snapshot."""
        way: Exit | None = None
        for kind, exit_ in exits.items():
            if kind != "raise":
                value = frozen(exit_.value, exit_.state) if kind in ("normal", "return") else NULL
                way = either_exit(way, Exit(exit_.cost, exit_.state, value))
        return way

    STATEMENTS: ClassVar[dict[type[n.Node], Callable[[Any, Any], Val]]] = {}


def _is_inner(place: Any) -> bool:
    return isinstance(place, tuple) and len(place) == 4 and place[2] == "inner"


Statements.STATEMENTS.update(
    {
        n.ExprStatement: Statements.expression,
        n.Bind: Statements.bind,
        n.Append: Statements.append,
        n.Emit: Statements.emit,
        n.Sleep: Statements.sleep,
        n.Return: Statements.return_,
        n.Break: Statements.stop,
        n.Continue: Statements.stop,
        n.Throw: Statements.throw,
        n.Output: Statements.output,
    }
)
Statements.VISITS.update(
    {
        n.If: Statements.if_,
        n.Choice: Statements.choice,
        n.Do: Statements.do,
        n.Try: Statements.try_,
        n.DoBlock: Statements.do_block,
    }
)
