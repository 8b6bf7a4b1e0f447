"""The walk of ``flow_walk`` over statements and branches: how what is known joins where paths meet."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar

from prose_runtime import nodes as n
from prose_runtime.check.flow_facts import facts_of, held_by
from prose_runtime.check.flow_findings import WHETHER, Findings
from prose_runtime.check.flow_values import (
    EMPTY,
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
from prose_runtime.check.flow_walk import CAUGHT, Expressions, Known

Given = list[tuple[State, Val]]
"""The states in which ``return`` leaves a body, and its values."""


class Statements(Expressions):
    """The walk over statements and branches."""

    def __init__(self, known: Known):
        super().__init__(known)
        self.returns: list[Given] = []
        self.breaks: list[list[State]] = []
        self.continues: list[list[State]] = []
        self.loops = 0
        self.left: Labels = NO_LABELS
        self.leavings = 0
        self.active: list[str] = []
        self.branches: dict[n.Node, n.Block] = {}
        body = known.spec.body
        definitions = body.statements if body else ()
        self.blocks = {d.name.id: d for d in definitions if isinstance(d, n.BlockDef)}

    def run(self) -> Findings:
        """Walk the program and give what was found."""
        body = self.known.spec.body
        state = self.start()
        given: Given = []
        self.returns.append(given)
        if body is not None:
            last = self.block(body, state)
            self.returns.pop()
            if not state.dead and WHETHER not in self.found.result:
                given.append((state, last))
            for end, value in given:
                self.give(value, end)
        for role in self.found.remembering:
            self.found.receive(role, "memory", self.found.received[role].get("prompt", NOTHING))
        return self.found

    def start(self) -> State:
        """The names in scope at the start."""
        state = State({}, {})
        config = {}
        for slot in self.known.spec.slots:
            state.names[slot.name] = Val({Label("reference", slot.name): Trace(slot.name_span)})
        for item in self.known.spec.config:
            config[item.name] = self.origin(Label("config", item.name), item, item.name_span, state)
        for name, row in self.known.inputs.items():
            state.names[name] = self.origin(Label("input", name), row, row.name_span, state)
        state.names.update(config)
        state.names["config"] = state.make(self.known.spec, Cell(config), False)
        return state

    def origin(self, label: Label, node: n.Node, span: Any, state: State) -> Val:
        """What comes from outside, which may be a list or object that the program changes."""
        return Val({label: Trace(span)}, NO_LABELS, state.make(node, EMPTY, False).places)

    def give(self, value: Val, state: State) -> None:
        """The program's result, by its fields."""
        self.publish(WHETHER, Val(value.data, value.control, value.places), state)
        for place in value.places:
            for name, inside in state.cells.get(place, EMPTY).fields.items():
                self.publish(name, inside, state)

    def publish(self, name: str, value: Val, state: State) -> None:
        """An output of the program."""
        deep = state.deep(value).under(state.control)
        self.found.result[name] = joined(self.found.result.get(name, NOTHING), deep)

    # statements

    def block(self, block: n.Block, state: State) -> Val:
        """Statements one after the other. Gives the value of the last one."""
        last = NOTHING
        for number, statement in enumerate(block.statements):
            self.path.append((block, number))
            last = self.statement(statement, state)
            self.path.pop()
            if state.dead:
                return NOTHING
        return last

    def statement(self, node: n.Node, state: State) -> Val:
        """One statement, and its value when it has one."""
        visit = self.STATEMENTS.get(type(node))
        if visit is not None:
            return visit(self, node, state)
        return self.value(node, state) if isinstance(node, n.Expr) else NOTHING

    def expression(self, node: n.ExprStatement, state: State) -> Val:
        """``E`` alone on a line."""
        return self.value(node.value, state)

    def assign(self, node: n.Bind, state: State) -> Val:
        """``let x = E``."""
        value = self.value(node.value, state)
        target = node.target
        if state.dead:
            return NOTHING
        if isinstance(target, n.Name | n.Destructure):
            held = self.held(node.value, state)
            for name in target.names if isinstance(target, n.Destructure) else (target,):
                part = state.field(value, name.id) if isinstance(target, n.Destructure) else value
                self.bind(name, part, state)
                if held is not None:
                    state.held[name.id] = held._replace(field=name.id) if isinstance(target, n.Destructure) else held
        elif isinstance(target, n.MadeName):
            self.make_name(target, value, state)
        elif isinstance(target, n.Field):
            state.held.clear()
            self.store(target.object, target.name, value, state)
        else:
            state.held.clear()
            key = target.index
            text = key.parts[0] if isinstance(key, n.Template) and len(key.parts) == 1 else None
            self.store(target.object, text if isinstance(text, str) else None, value, state)
        return value

    def held(self, expr: n.Expr, state: State) -> Held | None:
        """The role whose latest answer, or part of it, an expression surely is."""
        site = self.found.sites.get(expr) if isinstance(expr, n.Call | n.Session) else None
        if site is None:
            return held_by(expr, state)
        return Held(site.roles[0]) if len(site.roles) == 1 and not site.unit else None

    def make_name(self, target: n.MadeName, value: Val, state: State) -> None:
        """``research_{trend} = E``: one of a family of names, all of which are taken for one."""
        family = target.pattern
        state.held.clear()
        self.made.setdefault(family, re.compile(".+".join(map(re.escape, family.split("{}")))))
        made = Val(going_on(value.data, target.span), value.control, value.places).under(state.control)
        state.names[family] = joined(state.names.get(family, NOTHING), made)

    def store(self, holder: n.Expr, name: str | None, value: Val, state: State) -> None:
        """A value goes into a list or object; where that is not known, into all that the holder's name holds."""
        made = Val(going_on(value.data, holder.span), value.control, value.places).under(state.control)
        found = self.value(holder, state)
        if found.places:
            state.put(found, name, made)
            return
        while isinstance(holder, n.Field | n.Index):
            holder = holder.object
        if isinstance(holder, n.Name):
            known = state.names.get(holder.id, NOTHING)
            state.put(known, None, made)
            if not known.places:
                state.names[holder.id] = joined(known, state.deep(made))

    def append(self, node: n.Append, state: State) -> Val:
        """``record E in xs``."""
        values = self.in_turn((node.value, node.note) if node.note is not None else (node.value,), state)
        value = joined(values[0], values[-1])
        changed = next((part for part in node.target.walk() if isinstance(part, n.Name)), None)
        if changed is not None:
            state.held.pop(changed.id, None)
        self.store(node.target, None, value, state)
        return NOTHING

    def only(self, node: n.Emit | n.Sleep, state: State) -> Val:
        """Evaluates its expression; nothing comes of it."""
        self.value(node.value if isinstance(node, n.Emit) else node.seconds, state)
        return NOTHING

    def leave(self, node: n.Return, state: State) -> Val:
        """``return E``."""
        value = self.value(node.value, state) if node.value is not None else NOTHING
        self.returned(node, value, state)
        return NOTHING

    def returned(self, node: n.Node, value: Val, state: State) -> None:
        """Control leaves the innermost body that gives a value."""
        if not state.dead:
            self.found.jumps[tuple(self.path)] = node
            self.returns[-1].append((state.copy(), value.under(state.control)))
            self.leaving(state)

    def leaving(self, state: State) -> None:
        """Control does not go on here; whatever runs later depends on that."""
        self.left = merged(self.left, state.control)
        self.leavings += 1
        state.dead = True

    def output(self, node: n.Output, state: State) -> Val:
        """``output n = E``: publishes at top level, returns in a block."""
        value = self.value(node.value, state)
        self.bind(node.name, value, state)
        if self.active:
            self.returned(node, value, state)
        else:
            self.publish(node.name.id, value, state)
            self.publish(WHETHER, NOTHING, state)
        return value

    def throw(self, node: n.Throw, state: State) -> Val:
        """``throw E``."""
        value = self.whole(node.value, state) if node.value is not None else state.names.get(CAUGHT, NOTHING)
        self.found.jumps[tuple(self.path)] = node
        if self.catchers:
            thrown = state.copy()
            thrown.names[CAUGHT] = Val(going_on(value.data, node.span), value.control).under(state.control)
            self.catchers[-1].append(thrown)
        self.leaving(state)
        return NOTHING

    def end_loop(self, node: n.Break, state: State) -> Val:
        """``break``."""
        return self.jump(node, self.breaks, state)

    def next_pass(self, node: n.Continue, state: State) -> Val:
        """``continue``."""
        return self.jump(node, self.continues, state)

    def jump(self, node: n.Node, exits: list[list[State]], state: State) -> Val:
        """Control goes to the end of the pass or of the loop."""
        self.found.jumps[tuple(self.path)] = node
        if exits:
            exits[-1].append(state.copy())
        state.dead = True
        return NOTHING

    # branches

    def if_(self, node: n.If, state: State) -> Val:
        """``if``: one of the branches, or none."""
        before, ends, value = state.control, [], NOTHING
        for number, branch in enumerate(node.branches):
            control = self.condition(branch.condition, state)
            inside = state.copy()
            inside.facts |= facts_of(branch.condition.test, True, self, state)
            state.facts |= facts_of(branch.condition.test, False, self, state)
            inside.control = merged(inside.control, control)
            state.control = merged(state.control, control)
            since = len(self.asked)
            value = joined(value, self.branch(node, number, branch.body, inside))
            if any(self.found.free[earlier.condition] != "surely" for earlier in node.branches[: number + 1]):
                perhaps = {role for role, _ in self.asked[since:]}
                self.sometimes |= perhaps
                inside.perhaps_called(perhaps)
            ends.append(inside)
        if node.orelse is not None:
            value = joined(value, self.branch(node, len(node.branches), node.orelse, state))
        return self.meet(state, [*ends, state.copy()], before, value)

    def branch(self, node: n.Node, number: int, block: n.Block, state: State) -> Val:
        """One of several ways to go on."""
        with self.at(node, number):
            value = self.block(block, state)
        self.found.dead[node, number] = state.dead and self.found.dead.get((node, number), True)
        return value

    def meet(self, state: State, ends: list[State], before: Labels, value: Val) -> Val:
        """Branches meet again. When all of them get there, what comes next no longer depends on the choice."""
        chosen = state.control
        state.become(join_states(ends))
        if not any(end.dead for end in ends):
            state.control = before
        return value.under(chosen)

    def choice(self, node: n.Choice, state: State) -> Val:
        """``choice``: exactly one of the options, which a judge names."""
        seen = self.template(node.criteria, state)
        text = " ".join(part if isinstance(part, str) else part.raw for part in node.criteria.parts)
        shown = self.mixed((seen, self.named_in(text, state)))
        before = state.control
        control = going_on(merged(shown.data, shown.control), node.criteria.span)
        ends, value = [], NOTHING
        for number, option in enumerate(node.options):
            inside = state.copy()
            inside.control = merged(inside.control, control)
            value = joined(value, self.branch(node, number, option.body, inside))
            ends.append(inside)
        state.control = merged(before, control)
        return self.meet(state, ends, before, value) if ends else NOTHING

    def do(self, node: n.Do, state: State) -> Val:
        """``do:``, which ``return`` leaves."""
        return self.body(node.body, state)

    def body(self, block: n.Block, state: State) -> Val:
        """A body that ``return`` leaves; gives its value."""
        given: Given = []
        self.returns.append(given)
        value = self.block(block, state)
        self.returns.pop()
        state.become(join_states([state.copy(), *(end for end, _ in given)]))
        for _, other in given:
            value = joined(value, other)
        return value

    def try_(self, node: n.Try, state: State) -> Val:
        """``try``, ``catch``, ``finally``: what comes last runs on every way out."""
        if node.final is None:
            return self.caught(node, state)
        exits: list[list[Any]] = [self.returns[-1], *self.breaks[-1:], *self.continues[-1:]]
        before = [len(found) for found in exits]
        given, escaping = self.returns[-1], list[State]()
        self.catchers.append(escaping)
        value = self.caught(node, state)
        self.catchers.pop()
        ways = [way for found, since in zip(exits, before, strict=True) for way in found[since:]]
        leaving = [way[0] if isinstance(way, tuple) else way for way in ways]
        since = len(self.asked)
        self.finish(node, node.final, leaving, escaping)
        if not state.dead:
            with self.at(node, 2):
                self.block(node.final, state)
        given[before[0] :] = [(end, self.stale(old, since)) for end, old in given[before[0] :]]
        return self.stale(value, since)

    def finish(self, node: n.Try, final: n.Block, leaving: list[State], escaping: list[State]) -> None:
        """``finally`` where control leaves a ``try``, or an error that nothing in it catches does."""
        if not leaving and not escaping:
            return
        last = join_states([*leaving, *escaping])
        if last.dead:
            return
        with self.at(node, 2):
            self.block(final, last)
        for state in leaving:
            state.become(last.copy())
        if escaping and self.catchers:
            self.catchers[-1].append(last)

    def caught(self, node: n.Try, state: State) -> Val:
        """``try`` and ``catch``."""
        thrown: list[State] = []
        before = state.control
        if node.catch is not None:
            self.catchers.append(thrown)
        with self.at(node, 0):
            value = self.block(node.body, state)
        if node.catch is not None:
            self.catchers.pop()
        caught = join_states(thrown)
        if node.catch is not None and not caught.dead:
            if node.catch.var is not None:
                self.bind(node.catch.var, caught.names.get(CAUGHT, NOTHING), caught)
            with self.at(node, 1):
                value = joined(value, self.block(node.catch.body, caught))
        ends = [state.copy(), caught] if thrown else [state.copy()]
        self.meet(state, ends, before, value)
        return value

    VISITS: ClassVar[dict[type[n.Node], Callable[[Any, Any, State], Val]]] = {
        **Expressions.VISITS,
        n.If: if_,
        n.Choice: choice,
        n.Do: do,
        n.Try: try_,
    }
    STATEMENTS: ClassVar[dict[type[n.Node], Callable[[Any, Any, State], Val]]] = {
        n.ExprStatement: expression,
        n.Bind: assign,
        n.Append: append,
        n.Emit: only,
        n.Sleep: only,
        n.Return: leave,
        n.Output: output,
        n.Throw: throw,
        n.Break: end_loop,
        n.Continue: next_pass,
    }
