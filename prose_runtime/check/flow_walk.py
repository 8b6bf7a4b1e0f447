"""The flow analysis over expressions and calls: what values are made of, and what reaches each role.

The walk goes in order of execution and keeps, for each name, what its value may be made of. ``flow_statements`` treats
statements, branches and loops; ``flow_units`` specs that are called and have calls of their own.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any, ClassVar

from prose_runtime import nodes as n
from prose_runtime.check.arguments import MODIFIERS
from prose_runtime.check.conditions import Criterion, Wording, criterion, wording
from prose_runtime.check.demand import values_named
from prose_runtime.check.flow_facts import facts_of
from prose_runtime.check.flow_findings import FREEDOMS, WHETHER, Findings, Freedom, Site, Step
from prose_runtime.check.flow_values import (
    EMPTY,
    FUZZY,
    NO_LABELS,
    NOTHING,
    OLDER,
    Cell,
    Fact,
    Label,
    Labels,
    State,
    Trace,
    Val,
    going_on,
    join_states,
    joined,
    merged,
    outdated,
)
from prose_runtime.check.scope import required_names
from prose_runtime.check.tables import Target
from prose_runtime.records import dataclass
from prose_runtime.text import Span

SESSION = "session"
"""The role of a model call without a slot, component or agent."""

PERSON = "human"
"""The role of a person whom the program asks."""

ANYBODY = "*"
"""Among the roles that a part of a program calls: which they are is open."""

_NAME = re.compile(r"[A-Za-z_][\w-]*")
_ACTING = (n.Call, n.Session, n.Ask, n.Effect, n.Discretion, n.DoBlock)
_TUNING = MODIFIERS - {"prompt"}


@dataclass(frozen=True, slots=True)
class Known:
    """What is known before the walk: the spec's tables, and what reads other specs.

    ``patterns`` are the specs of the instances, ``components`` those of the file. ``pattern`` finds the spec's name in
    a text; None when the program does not hold it.
    """

    spec: n.Spec
    targets: Mapping[n.Node, Target]
    collected: frozenset[n.Node]
    visible: Mapping[n.Node, frozenset[str]]
    inputs: Mapping[str, n.Parameter]
    units: Units
    patterns: Mapping[n.Instance, n.Spec] = field(default_factory=dict)
    components: Mapping[str, n.Spec] = field(default_factory=dict)
    pattern: re.Pattern[str] | None = None


class Units(ABC):
    """What a call of a spec with calls of its own does."""

    @abstractmethod
    def call(self, target: Target, passed: Mapping[str, Val], known: Known, span: Span) -> Outcome:
        """Whom the call reaches with what, and what it gives. ``span`` is where it stands."""


@dataclass(slots=True)
class Outcome:
    """A call of a spec: what reaches the roles inside, and the fields of its value; "" is the whole."""

    received: dict[str, dict[str, Val]] = field(default_factory=dict)
    result: dict[str, Val] = field(default_factory=dict)
    opaque: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Reading:
    """How a clause can be read: as an expression, as a claim on a name's value, or by the values that it names."""

    expr: n.Expr | None
    claim: Wording | None
    criterion: Criterion | None
    names: tuple[str, ...]


class Expressions(ABC):
    """The walk over expressions. Methods change the state that they are given."""

    def __init__(self, known: Known):
        self.known = known
        self.found = Findings()
        self.catchers: list[list[State]] = []
        self.called: set[str] = set()
        self.asked: list[tuple[str, bool]] = []
        self.sometimes: set[str] = set()  # called where it may be another role, or nobody
        self.meanwhile: frozenset[str] = frozenset()
        self.inside = 0
        self.path: list[Step] = []
        self.readings: dict[n.Clause, Reading] = {}
        self.made: dict[str, re.Pattern[str]] = {}
        self.slots = {slot.name: slot for slot in known.spec.slots}

    @contextmanager
    def at(self, node: n.Node, part: int) -> Iterator[None]:
        """Walk a part of a construct."""
        self.path.append((node, part))
        try:
            yield
        finally:
            self.path.pop()

    # values

    def value(self, expr: n.Expr, state: State) -> Val:
        """What the value of an expression may be made of."""
        visit = self.VISITS.get(type(expr))
        return visit(self, expr, state) if visit else NOTHING

    def in_turn(self, exprs: Iterable[n.Expr], state: State) -> list[Val]:
        """The values of several expressions, one after the other: what a later one asks makes an earlier one old."""
        found = [(self.value(expr, state), len(self.asked)) for expr in exprs]
        return [self.stale(value, since) for value, since in found]

    def stale(self, value: Val, since: int) -> Val:
        """A value that no name held while roles were asked: what they gave before is no longer their latest output."""
        data = value.data
        for surely in (True, False):
            roles = frozenset(role for role, sure in self.asked[since:] if sure is surely)
            data = outdated(data, roles, surely) if roles else data
        return value if data is value.data else Val(data, value.control, value.places)

    def whole(self, expr: n.Expr, state: State) -> Val:
        """The same with all that is inside it."""
        return state.deep(self.value(expr, state))

    def name(self, expr: n.Name, state: State) -> Val:
        """``x``, which a loop may have made."""
        known = state.names.get(expr.id)
        if known is None and self.made:
            families = [key for key, family in self.made.items() if family.fullmatch(expr.id)]
            return self.mixed(state.deep(state.names.get(key, NOTHING)) for key in families)
        return NOTHING if known is None else known

    def made_name(self, expr: n.MadeName, state: State) -> Val:
        """``research_{trend}``: any name of the family."""
        return state.names.get(expr.pattern, NOTHING)

    def field(self, expr: n.Field, state: State) -> Val:
        """``a.b``."""
        return state.field(self.value(expr.object, state), expr.name)

    def index(self, expr: n.Index, state: State) -> Val:
        """``a["b"]``, ``a[i]``."""
        holder = self.value(expr.object, state)
        key = expr.index
        if isinstance(key, n.Template) and len(key.parts) == 1 and isinstance(key.parts[0], str):
            return state.field(holder, key.parts[0])
        since = len(self.asked)
        chosen = self.whole(key, state)
        return state.element(self.stale(holder, since)).under(merged(chosen.data, chosen.control))

    def template(self, expr: n.Template, state: State) -> Val:
        """``"text {name}"``."""
        parts = [part.value for part in expr.parts if isinstance(part, n.Interpolation)]
        made = self.computed(parts, state) if parts else NOTHING
        pattern = self.known.pattern
        if pattern is not None and any(isinstance(part, str) and pattern.search(part) for part in expr.parts):
            named = {Label("name", self.known.spec.name): Trace(expr.span)}
            return Val(merged(made.data, named), made.control)
        return made

    def parts(self, expr: n.Expr, state: State) -> Val:
        """A value computed from all parts of an expression."""
        return self.computed([part for part in expr.children() if isinstance(part, n.Expr)], state)

    def computed(self, exprs: Iterable[n.Expr], state: State) -> Val:
        """A value computed from some expressions."""
        return self.mixed(state.deep(value) for value in self.in_turn(exprs, state))

    def mixed(self, values: Iterable[Val]) -> Val:
        """A value made of several."""
        data, control = NO_LABELS, NO_LABELS
        for value in values:
            data, control = merged(data, value.data), merged(control, value.control)
        return Val(data, control)

    def list_expr(self, expr: n.ListExpr, state: State) -> Val:
        """``[a, b]``."""
        items = NOTHING
        for item, value in zip(expr.items, self.in_turn(expr.items, state), strict=True):
            items = joined(items, _placed(value, item.span))
        return state.make(expr, Cell({}, items), not self.inside)

    def object_expr(self, expr: n.ObjectExpr, state: State) -> Val:
        """``{ a: 1 }``."""
        values = self.in_turn((entry.value for entry in expr.entries), state)
        fields = {entry.key: _placed(value, entry.span) for entry, value in zip(expr.entries, values, strict=True)}
        return state.make(expr, Cell(fields), not self.inside)

    def binary(self, expr: n.Binary, state: State) -> Val:
        """``a or b`` and ``a + b`` may hand on a list or object; other operators compute."""
        if expr.op in ("or", "and"):
            left = self.value(expr.left, state)
            tested = state.deep(left)
            control = merged(tested.data, tested.control)
            since = len(self.asked)
            right = self.arm(expr, 1, expr.right, control, state)
            return joined(self.stale(left, since), right).under(control)
        left, right = self.in_turn((expr.left, expr.right), state)
        if expr.op == "+" and (left.places or right.places):
            elements = joined(state.element(left), state.element(right))
            made = state.make(expr, Cell({}, elements), not self.inside)
            return Val(merged(left.data, right.data), merged(left.control, right.control), made.places)
        return self.mixed((state.deep(left), state.deep(right)))

    def conditional(self, expr: n.Conditional, state: State) -> Val:
        """``x if C else y``."""
        control = self.condition(expr.condition, state)
        other = state.copy()
        state.facts |= facts_of(expr.condition.test, True, self, state)
        other.facts |= facts_of(expr.condition.test, False, self, other)
        one = self.arm(expr, 1, expr.then, control, state)
        two = self.arm(expr, 2, expr.orelse, control, other)
        state.become(join_states([state, other]))
        return joined(one, two).under(control)

    def arm(self, node: n.Expr, part: int, expr: n.Expr, control: Labels, state: State) -> Val:
        """A part of an expression that is only reached under a condition; most make no call and change nothing."""
        if not any(isinstance(inner, _ACTING) for inner in expr.walk()):
            return self.value(expr, state)
        inside = state.copy()
        inside.control = merged(inside.control, control)
        with self.at(node, part):
            value = self.value(expr, inside)
        before = state.control
        state.become(join_states([state.copy(), inside]))
        state.control = before
        return value

    def function(self, expr: n.FunctionCall, state: State) -> Val:
        """``len(xs)``, ``join(xs, ", ")``."""
        if expr.name == "len" and len(expr.args) == 1:
            return state.size(self.value(expr.args[0], state))
        return self.computed(expr.args, state)

    def group(self, expr: n.Group, state: State) -> Val:
        """``group(xs by field)``."""
        source = self.value(expr.source, state)
        inner = state.make(expr.source, Cell({}, state.element(source)), not self.inside)
        return state.make(expr, Cell({}, inner), not self.inside)

    # conditions

    def condition(self, condition: n.Condition, state: State) -> Labels:
        """What a condition looks at, one place further."""
        labels = going_on(self.test(condition.test, state), condition.span)
        known = self.found.free.get(condition, "surely")
        self.found.free[condition] = min(known, self.freedom(condition.test, state), key=FREEDOMS.index)
        return labels

    def freedom(self, test: n.Test, state: State) -> Freedom:
        """Whether a condition looks at answers of roles, beside them at most at what comes from outside."""
        if isinstance(test, n.Junction):
            return min((self.freedom(part, state) for part in test.parts), key=FREEDOMS.index)
        assert isinstance(test, n.Clause)
        reading = self.reading(test)
        if reading.expr is None:
            return "surely"
        given = swayed = False
        sure = True
        for name in values_named(reading.expr):
            kinds = {label.kind for label in state.deep(state.names.get(name.id, NOTHING)).data}
            held = state.held.get(name.id)
            given = given or held is not None
            swayed = swayed or "output" in kinds
            if not kinds or "counter" in kinds:
                return "no"
            sure = sure and (held is not None or "output" not in kinds)
        if not swayed:
            return "no"
        sure = sure and given and not any(_is_always_there(part, state) for part in reading.expr.walk())
        return "surely" if sure else "maybe"

    def test(self, test: n.Test, state: State) -> Labels:
        """What a condition or a part of it looks at."""
        if isinstance(test, n.Junction):
            labels = NO_LABELS
            for part in test.parts:
                labels = merged(labels, self.test(part, state))
            return labels
        assert isinstance(test, n.Clause)
        reading = self.reading(test)
        values = [state.deep(state.names[name]) for name in reading.names if name in state.names]
        if reading.expr is not None:
            values.append(self.whole(reading.expr, state))
        elif not values:
            values = list(self.shown(state))
        seen = self.mixed(values)
        return merged(seen.data, seen.control)

    def shown(self, state: State) -> Iterator[Val]:
        """What a judge is shown when a question names nothing: the results of calls."""
        for value in state.names.values():
            deep = state.deep(value)
            if any(label.kind == "output" for label in deep.data):
                yield deep

    def reading(self, clause: n.Clause) -> Reading:
        """How a clause can be read."""
        if clause not in self.readings:
            visible = self.known.visible.get(clause, frozenset())
            expr = clause.expr
            if expr is not None and all(name.id in visible for name in values_named(expr)):
                self.readings[clause] = Reading(expr, None, None, ())
            else:
                names = tuple(name for name in dict.fromkeys(_NAME.findall(clause.text)) if name in visible)
                claim, missing = wording(clause.text, visible), criterion(clause.text, visible)
                self.readings[clause] = Reading(None, claim, missing, names)
        return self.readings[clause]

    def named_in(self, text: str, state: State) -> Val:
        """The values that a question to a model names; the results of calls when it names none."""
        values = [state.deep(state.names[name]) for name in _NAME.findall(text) if name in state.names]
        return self.mixed(values or self.shown(state))

    # calls

    def discretion(self, expr: n.Discretion, state: State) -> Val:
        """``**question**`` as a value: the default service answers."""
        return self.ask(expr, [SESSION], [("prompt", self.named_in(expr.text, state), expr.span)], state)

    def session(self, expr: n.Session, state: State) -> Val:
        """``session "text"`` and its forms."""
        role = expr.agent.id if expr.agent else SESSION
        args = self.arguments(list(self.told(expr, state)), expr.prompt, state)
        if self.remembers(expr):
            self.found.remembering.add(role)
            args.append(("memory", Val({Label("output", role, OLDER): Trace(expr.span)}), expr.span))
        result = self.ask(expr, [role], args, state)
        if expr.name is not None:
            self.bind(expr.name, result, state)
        return result

    def arguments(self, args: Sequence[n.Argument], prompt: n.Expr | None, state: State) -> list[tuple[str, Val, Span]]:
        """Properties by name, and the prompt."""
        parts = [(a.name or WHETHER, a.value, a.span) for a in args]
        parts += [("prompt", prompt, prompt.span)] if prompt is not None else []
        values = self.in_turn((value for _, value, _ in parts), state)
        return [(name, value, span) for (name, _, span), value in zip(parts, values, strict=True)]

    def told(self, expr: n.Session, state: State) -> Iterator[n.Argument]:
        """The properties of a session, and of its agent, that reach the model; others are told to nobody."""
        agent = self.agent(expr)
        for argument in (*(agent.args if agent else ()), *expr.args):
            if argument.name in ("prompt", "context"):
                yield argument

    def agent(self, expr: n.Session) -> n.Agent | None:
        """The agent of a session."""
        body = self.known.spec.body
        agents = (node for node in (body.statements if body else ()) if isinstance(node, n.Agent))
        return next((a for a in agents if expr.agent and a.name.id == expr.agent.id), None)

    def remembers(self, expr: n.Session) -> bool:
        """Whether an agent is told what it was asked and what it answered before."""
        agent = self.agent(expr)
        return agent is not None and (expr.resume or any(argument.name == "persist" for argument in agent.args))

    def question(self, expr: n.Ask, state: State) -> Val:
        """``ask "text"``: a person answers."""
        return self.ask(expr, [PERSON], self.arguments(expr.args, expr.prompt, state), state)

    def effect(self, expr: n.Effect, state: State) -> Val:
        """``escalate topic``: a service gets the words, and the values that they name."""
        args = self.arguments(expr.args, None, state)
        named = [state.deep(state.names[name]) for name in _NAME.findall(expr.text) if name in state.names]
        return self.ask(expr, [expr.name], [*args, ("prompt", self.mixed(named), expr.span)], state)

    def bind(self, name: n.Name, value: Val, state: State) -> None:
        """Give a name its value."""
        state.names[name.id] = _placed(value, name.span).under(state.control)
        state.held.pop(name.id, None)

    def call(self, expr: n.Call, state: State) -> Val:
        """``call x``: a role, a block, or a spec with calls of its own."""
        target = self.known.targets.get(expr)
        if target is not None and target.kind == "block":
            return self.call_block(expr, target.name, expr.args, state)
        passed = self.passed(expr, target, state)
        if target is not None and is_unit(target):
            return self.call_unit(expr, target, passed, state)
        return self.ask(expr, self.roles(expr, target, state), passed, state)

    @abstractmethod
    def call_block(self, node: n.Expr, name: str, args: tuple[n.Argument, ...], state: State) -> Val:
        """``do name(args)``."""

    def passed(self, expr: n.Call, target: Target | None, state: State) -> list[tuple[str, Val, Span]]:
        """The inputs of a call and its prompt, by name."""
        names = self.declared(target)
        free = iter(names)
        found = []
        given = [argument.value for argument in expr.args] + ([expr.spread] if expr.spread is not None else [])
        values = self.in_turn(given, state)
        for number, (argument, value) in enumerate(zip(expr.args, values, strict=False), 1):
            name = argument.name or next(free, None) or f"input_{number}"
            if name not in _TUNING or name in names:
                found.append((name, value, argument.span))
        if expr.spread is not None:
            found += self.spread(values[-1], expr.spread.span, state)
        return found

    def spread(self, value: Val, span: Span, state: State) -> list[tuple[str, Val, Span]]:
        """``with x``: the fields of an object are the inputs."""
        fields = {name for place in value.places for name in state.cells.get(place, EMPTY).fields}
        whole = [] if fields else [("with", value, span)]
        return whole + [(name, state.field(value, name), span) for name in sorted(fields)]

    def declared(self, target: Target | None) -> list[str]:
        """The inputs that a target declares, in order."""
        if target is None:
            return []
        if target.slot is not None:
            return list(required_names(target.slot))
        return [parameter.name for parameter in target.spec.parameters] if target.spec else []

    def roles(self, expr: n.Call, target: Target | None, state: State) -> list[str]:
        """The roles that a call may reach."""
        if target is not None and target.kind != "reference":
            return [target.name]
        value = state.deep(self.value(expr.target, state))
        slots = sorted({label.name for label in value.data if label.kind == "reference"})
        if slots:
            return slots
        if target is not None and target.slot is not None:
            return [target.slot.name]
        return [target.name] if target is not None else []

    def ask(self, node: n.Expr, roles: list[str], args: list[tuple[str, Val, Span]], state: State) -> Val:
        """A role gets its inputs and gives an answer."""
        site = self.site(node, roles, state)
        doubt = FUZZY if len(roles) > 1 else 0  # which of them it is shows in a run
        for name, value, span in args:
            deep = state.deep(value)
            got = Val(self.outdated(going_on(deep.data, span)), merged(deep.control, state.control)).flagged(doubt)
            site.data.update(got.data)
            for role in roles:
                self.found.receive(role, name, got)
        for role in roles:
            self.found.receive(role, WHETHER, Val(NO_LABELS, going_on(state.control, node.span)).flagged(doubt))
        self.raising(roles, node, state)
        self.sometimes.update(roles if doubt else ())
        state.called(roles, surely=not doubt)
        self.asked += [(role, not doubt) for role in roles]
        given = {Label("output", role, doubt): Trace(_first_line(node, self.known.spec)) for role in roles}
        return Val(given, NO_LABELS, state.make(node, EMPTY, False).places) if roles else NOTHING

    def outdated(self, labels: Labels) -> Labels:
        """The same labels, and that they may be of earlier answers where a role is called in another branch as well."""
        if not self.meanwhile:
            return labels
        roles = {label.name for label in labels if self.is_called_meanwhile(label.name)}
        return outdated(labels, roles, surely=False)

    def lasting(self, facts: frozenset[Fact]) -> frozenset[Fact]:
        """The facts without what another branch may undo by calling the role again."""
        if not self.meanwhile:
            return facts
        return frozenset(Fact(fact.role, 0) if self.is_called_meanwhile(fact.role) else fact for fact in facts)

    def is_called_meanwhile(self, role: str) -> bool:
        """Whether another branch, or another iteration, may be calling a role."""
        return role in self.meanwhile or ANYBODY in self.meanwhile

    def site(self, node: n.Node, roles: Iterable[str], state: State) -> Site:
        """Note that control gets to a call."""
        known = self.found.sites.get(node)
        names = tuple(roles)
        facts = self.lasting(state.facts)
        if known is None:
            known = self.found.sites[node] = Site(node, names, facts)
        else:
            known.facts &= facts
            known.roles = tuple(dict.fromkeys((*known.roles, *names)))
        known.control.update(state.control)
        path = tuple(self.path)
        known.paths.setdefault(path, len(self.found.sites))
        known.reached[path] = known.reached.get(path, frozenset()) | frozenset(names)
        self.called.update(names)
        return known

    def raising(self, roles: Iterable[str], node: n.Node, state: State) -> None:
        """A call may fail: control may go on in a ``catch``."""
        if self.catchers:
            failing = state.copy()
            failing.called(roles, surely=len(set(roles)) < 2)
            error = {Label("error", role): Trace(node.span) for role in roles}
            failing.names[CAUGHT] = Val(error)
            failing.control = merged(failing.control, error)
            self.catchers[-1].append(failing)

    def call_unit(self, expr: n.Call, target: Target, passed: list[tuple[str, Val, Span]], state: State) -> Val:
        """A spec with calls of its own."""
        given: dict[str, Val] = {}
        span = _first_line(expr, self.known.spec)
        for name, value, place in passed:
            deep = state.deep(value)
            given[name] = Val(going_on(deep.data, place), merged(deep.control, state.control))
        outcome = self.known.units.call(target, given, self.known, span)
        site = self.site(expr, [target.name, *outcome.received], state)
        site.unit = True
        for role, inputs in outcome.received.items():
            for name, value in inputs.items():
                got = value.under(state.control)
                site.data.update(got.data)
                self.found.receive(role, name, got)
        self.found.opaque |= outcome.opaque
        self.raising(outcome.received, expr, state)
        state.called(outcome.received)
        self.asked += [(role, True) for role in outcome.received]
        fields = {n_: Val(going_on(v.data, span), v.control) for n_, v in outcome.result.items() if n_ != WHETHER}
        whole = outcome.result.get(WHETHER, NOTHING)
        made = state.make(expr, Cell(fields), False)
        return Val(going_on(whole.data, span), whole.control, made.places)

    VISITS: ClassVar[dict[type[n.Node], Callable[[Any, Any, State], Val]]] = {
        n.Name: name,
        n.Field: field,
        n.Index: index,
        n.Template: template,
        n.ListExpr: list_expr,
        n.ObjectExpr: object_expr,
        n.Unary: parts,
        n.Binary: binary,
        n.Predicate: parts,
        n.Conditional: conditional,
        n.FunctionCall: function,
        n.Group: group,
        n.Discretion: discretion,
        n.Call: call,
        n.Session: session,
        n.MadeName: made_name,
        n.Ask: question,
        n.Effect: effect,
    }


CAUGHT = "*caught"
"""Where a state keeps the error on its way to a ``catch``; no program can spell this name."""


def _is_always_there(expr: n.Node, state: State) -> bool:
    """Whether an expression asks if there is an answer at all, where a call surely gave one."""
    asks = isinstance(expr, n.Predicate) and expr.op in ("present", "absent", "set", "null", "empty")
    return asks and isinstance(expr, n.Predicate) and isinstance(expr.subject, n.Name) and expr.subject.id in state.held


def is_unit(target: Target) -> bool:
    """Whether a target is a spec with calls of its own; any other answers itself."""
    if target.kind == "instance":
        return True
    spec = target.spec
    return spec is not None and (spec.body is not None or bool(spec.slots) or spec.javascript is not None)


def _placed(value: Val, span: Span) -> Val:
    """The same value, one place further."""
    return Val(going_on(value.data, span), value.control, value.places) if value.data else value


def _first_line(node: n.Node, spec: n.Spec) -> Span:
    """The part of a call on its first line: its inputs stand below."""
    line = spec.source.line_span(spec.source.place(node.span.start).line)
    return Span(node.span.start, max(node.span.start, min(node.span.end, line.end)))
