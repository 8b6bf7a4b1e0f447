"""The walk that counts calls, over expressions and conditions.

It goes in order of execution and keeps what the way from the beginning of the current piece costs, and what is known of
names and lists. Ways out of a piece (``return``, ``break``, a failure) are kept apart, with the cost up to there.
``bounds_statements`` treats statements, branches and loops; ``bounds_calls`` what is called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, ClassVar

from prose_runtime import nodes as n
from prose_runtime.check import bounds_fold
from prose_runtime.check.bounds_characters import characters
from prose_runtime.check.bounds_cost import (
    FREE,
    JUDGE,
    REQUESTS,
    WAIT,
    Cost,
    Exit,
    either,
    either_exit,
    then,
)
from prose_runtime.check.bounds_formula import ONE, ZERO, Formula, Open, applied, atom, constant, count
from prose_runtime.check.bounds_units import Outside
from prose_runtime.check.bounds_values import (
    ANYTHING,
    FLAG,
    NONE,
    NULL,
    UNKNOWN,
    Answer,
    Anything,
    At,
    Fill,
    Null,
    Num,
    Obj,
    Range,
    Ref,
    Row,
    State,
    Text,
    UnitFill,
    Val,
    Wanted,
    either_state,
    element_of,
    inner,
    joined,
    known,
    list_size,
    literal,
    may_be_reference,
    numeric,
    size_of,
    truth,
    val,
)
from prose_runtime.check.conditions import criterion, wording
from prose_runtime.check.demand import values_named
from prose_runtime.check.tables import Demand
from prose_runtime.records import dataclass
from prose_runtime.text import Span, Where
from prose_runtime.values import number

MOST_STEPS = 20_000
"""Visits of nodes after which a program counts as too involved to be counted."""

NUMERIC_TYPES = ("integer", "number", "int", "float")


class TooInvolved(Exception):
    """The program takes too long to be counted."""


class Loosened(Exception):
    """The program adds to lists by other names than those that are followed."""


@dataclass(slots=True)
class Site:
    """A place that asks somebody. ``demand`` is what the answer has to fill, the target's own declarations included."""

    fill: Fill
    node: n.Node
    unit: UnitFill
    inputs: tuple[str, ...]
    slot: n.Slot | None
    demand: Demand


@dataclass(slots=True)
class Shared:
    """What the walks of a spec and of all that it calls have in common.

    ``heavy`` notes what each loop and call of the outermost spec costs; ``outside`` knows what names mean beyond the
    spec. ``recursive`` are the blocks and specs that run within themselves. ``references`` are all bindings that a
    value may stand for, ``guessed`` how many of them were known when a value of which nothing is known was called.
    """

    outside: Outside
    wary: bool = False
    sites: list[Site] = field(default_factory=list)
    heavy: dict[n.Node, Range] = field(default_factory=dict)
    steps: int = 0
    inside: list[n.Spec] = field(default_factory=list)
    demands: dict[Any, Demand] = field(default_factory=dict)
    references: dict[Any, Fill] = field(default_factory=dict)
    recursive: dict[n.Node, Formula] = field(default_factory=dict)
    guessed: int | None = None

    def refer(self, unit: UnitFill) -> None:
        """From here on, a value may stand for what fills a unit's slots."""
        for fill in (fill for fills in unit.slots.values() for fill in fills):
            self.references.setdefault(fill.key, fill)

    def meant(self, value: Val) -> list[Fill]:
        """The bindings that a value, or an element of it, may refer to: any of the run where nothing is known of it."""
        found: dict[Fill, None] = {}
        for basic in value:
            if isinstance(basic, Ref | At):
                found.update(dict.fromkeys(basic.fills))
            elif isinstance(basic, Row):
                found.update(dict.fromkeys(self.meant(basic.element)))
            elif may_be_reference(basic):
                self.guessed = len(self.references)
                found.update(dict.fromkeys(self.references.values()))
        return list(found)

    def begin_again(self) -> None:
        """Forget what a walk noted, for another one; what lists and references there are stays known."""
        self.sites, self.heavy, self.inside = [], {}, []
        self.guessed, self.steps = None, 0

    @property
    def settled(self) -> bool:
        """Whether all references of the run were known wherever one had to be guessed."""
        return self.guessed is None or self.guessed == len(self.references)


class Expressions:
    """The walk over expressions. ``cost`` and ``state`` are those of the way to the current node."""

    def __init__(self, unit: UnitFill, shared: Shared):
        self.unit = unit
        self.analysis = unit.analysis
        self.spec = unit.analysis.spec
        self.shared = shared
        self.cost: Cost = FREE
        self.active: list[n.BlockDef] = []
        self.dead = False
        self.catching = 0
        self.exits: dict[str, Exit] = {}
        self.branch: Any = None
        body = list(self.spec.body.walk()) if self.spec.body else []
        self.blocks = {d.name.id: d for d in body if isinstance(d, n.BlockDef)}
        self.agents = {d.name.id: d for d in body if isinstance(d, n.Agent)}
        self.assigned, self.indexed = _stores(body)
        self.made = _made_names(body)
        self.wary = shared.wary or bool(self.assigned)
        self.state = State(wary=self.wary)
        self.slots = {slot.name: slot for slot in self.spec.slots}
        self.given = self._given(body)
        self.typed = {item.name for item in self.spec.config if item.type in NUMERIC_TYPES and item.default is not None}

    def _given(self, body: list[n.Node]) -> frozenset[str]:
        """Names that stand for something from outside and are never bound: no results of calls."""
        outside = {*(item.name for item in self.spec.config), *self.analysis.inputs, *self.slots, "config"}
        return frozenset(
            outside - {b.target.id for b in body if isinstance(b, n.Bind) and isinstance(b.target, n.Name)}
        )

    # ways

    def add(self, cost: Cost) -> None:
        """Go on after something that costs so much."""
        self.cost = then(self.cost, cost)

    def leave(self, kind: str, value: Val = NULL) -> None:
        """Note a way out from here."""
        if not self.dead:
            here = Exit(self.cost, self.state.copy(), value)
            self.exits[kind] = either_exit(self.exits.get(kind), here) or here

    def die(self) -> None:
        """Nothing comes after this on the current way."""
        self.dead = True
        self.state = State(wary=self.wary)

    def may_raise(self) -> None:
        """A failure here may be caught."""
        if self.catching:
            self.leave("raise")

    def run(self, piece: Callable[[], Val], state: State, *, catching: bool = False) -> dict[str, Exit]:
        """All ways out of a piece of program, ``normal`` among them, counted from its beginning."""
        before = self.cost, self.state, self.dead, self.exits
        self.cost, self.state, self.dead, self.exits = FREE, state.copy(), False, {}
        self.catching += catching
        try:
            value = piece()
            self.leave("normal", value)
            return self.exits
        finally:
            self.catching -= catching
            self.cost, self.state, self.dead, self.exits = before

    def go_on(self, way: Exit | None) -> Val:
        """Go on behind a piece, or nowhere when it has no such way out."""
        if way is None:
            self.die()
            return NULL
        self.add(way.cost)
        self.state = way.state.copy()
        return way.value

    def hand_on(self, exits: Mapping[str, Exit], *but: str) -> None:
        """Hand the ways out of a piece to what is around it, all but some."""
        if self.dead:
            return
        for kind, way in exits.items():
            if kind not in but and kind != "normal":
                outer = way.after(self.cost)
                self.exits[kind] = either_exit(self.exits.get(kind), outer) or outer

    def maybe(self, piece: Callable[[], Val]) -> Val:
        """A piece that runs or does not; its value is what it gives when it runs."""
        exits = self.run(piece, self.state)
        self.hand_on(exits)
        ran = exits.get("normal")
        if ran is None:
            return UNKNOWN
        self.add(either(FREE, ran.cost))
        self.state = either_state(self.state, ran.state)
        return ran.value

    def choose(self, pieces: list[Callable[[], Val]]) -> Val:
        """One of several pieces."""
        way: Exit | None = None
        for piece in pieces:
            exits = self.run(piece, self.state)
            self.hand_on(exits)
            way = either_exit(way, exits.get("normal"))
        return self.go_on(way)

    # places

    def where(self, span: Span) -> Where:
        """The place of a span of this spec."""
        return self.spec.source.where(span)

    def spelled(self, span: Span) -> str:
        """The program's own text of a span, on one line."""
        return " ".join(self.spec.source.slice(span).split())

    def unknown(self, node: n.Node, reason: str, label: str | None = None) -> Formula:
        """A number without a bound."""
        return atom(Open(reason, self.where(node.span), label))

    def size(self, expr: n.Expr, value: Val) -> Range:
        """How many elements the value of an expression has where a list is due."""
        spelled = self.spelled(expr.span)
        reason = f"how long `{spelled}` is shows only while the program runs"
        unknown = self.unknown(expr, reason, f"len({spelled})")
        return list_size(value, self.state, unknown)

    def passes(self, expr: n.Expr | None, otherwise: Range = NONE) -> Range:
        """The number of passes that an expression gives."""
        if expr is None:
            return otherwise
        found = numeric(self.value(expr))
        spelled = self.spelled(expr.span)
        reason = f"the number `{spelled}` shows only while the program runs"
        high = self.unknown(expr, reason, spelled) if found.high is None else count(found.high)
        return Range(ZERO if found.low is None else count(found.low), high)

    def step(self) -> None:
        """Count a visit of a node.

        Raises:
            TooInvolved: It is one too many.
        """
        self.shared.steps += 1
        if self.shared.steps > MOST_STEPS:
            raise TooInvolved

    def loosen(self) -> None:
        """The program adds to a list of which the state keeps no account.

        Raises:
            Loosened: The analysis did not know; it begins again.
        """
        if not self.shared.wary:
            raise Loosened

    # values

    def value(self, expr: n.Node) -> Val:
        """What is known of the value of an expression, after what evaluating it costs."""
        self.step()
        visit = self.VISITS.get(type(expr))
        return visit(self, expr) if visit else UNKNOWN

    def values(self, exprs: Any) -> list[Val]:
        """Several expressions in order."""
        return [self.value(expr) for expr in exprs]

    def constant(self, expr: n.Constant) -> Val:
        """``12``, ``true``, ``null``."""
        return literal(expr.value)

    def template(self, expr: n.Template) -> Val:
        """A string."""
        if all(isinstance(part, str) for part in expr.parts):
            return literal("".join(part for part in expr.parts if isinstance(part, str)))
        size = ZERO
        for part in expr.parts:
            inside = None if isinstance(part, str) else self.value(part.value)
            length = constant(len(part)) if isinstance(part, str) else self.characters(inside or UNKNOWN)
            size = size + length
        return val(Text(size))

    def name(self, expr: n.Name) -> Val:
        """``x``; one that may be a name made of letters and values holds anything."""
        if self.made is not None and self.made.fullmatch(expr.id):
            return ANYTHING
        return self.state.name(expr.id)

    def field(self, expr: n.Field) -> Val:
        """``a.b``; the only declared output of a call gives the value itself."""
        holder = self.value(expr.object)
        found = self.part(holder, expr.name)
        return joined(found, holder) if expr in self.analysis.itself else found

    def part(self, holder: Val, name: str) -> Val:
        """A field of a value; one that the program assigns anywhere holds anything."""
        if name in self.assigned or "" in self.assigned:
            return ANYTHING
        return joined(*(self._field(basic, name) for basic in holder)) if holder else UNKNOWN

    def _field(self, basic: Any, name: str) -> Val:
        if name == "length":
            size = size_of(basic, self.state)
            return UNKNOWN if size is None else val(Num(size.low, size.high))
        if isinstance(basic, At) and not basic.fills:
            return _looked_up(At((*basic.path, name)))
        if isinstance(basic, Obj):
            return inner(dict(basic.fields).get(name, NULL))
        if isinstance(basic, Answer):
            return val(_part(basic, name))
        return ANYTHING if isinstance(basic, Anything) else NULL

    def index(self, expr: n.Index) -> Val:
        """``a[0]``, ``a["b"]``."""
        holder, key = self.value(expr.object), self.value(expr.index)
        is_known, content = known(key)
        if isinstance(content, str):
            return self.part(holder, content)
        if self.indexed:
            return ANYTHING
        found = element_of(frozenset(b for b in holder if not isinstance(b, Obj)), self.state)
        if is_known and isinstance(content, int) and not isinstance(content, bool) and len(holder) == 1:
            (basic,) = holder
            if isinstance(basic, At) and not basic.fills:
                return _looked_up(At((*basic.path, content)))
        fields = [inside for basic in holder if isinstance(basic, Obj) for _, inside in basic.fields]
        return joined(inner(found), NULL, *fields)

    def list_expr(self, expr: n.ListExpr) -> Val:
        """``[a, b]``."""
        items = self.values(expr.items)
        size = constant(len(items))
        return self.state.make(self.place(expr), Range(size, size), joined(*items) if items else NULL)

    def place(self, node: n.Node) -> Any:
        """What names a list that is made at a node: branches have lists of their own."""
        return (node, self.branch)

    def object_expr(self, expr: n.ObjectExpr) -> Val:
        """``{ a: 1 }``."""
        return val(Obj(tuple({entry.key: self.value(entry.value) for entry in expr.entries}.items())))

    def unary(self, expr: n.Unary) -> Val:
        """``not a``, ``-a``."""
        value = self.value(expr.operand)
        if expr.op == "-":
            return bounds_fold.negative(value)
        held = truth(value, self.state)
        return FLAG if held is None else literal(not held)

    def binary(self, expr: n.Binary) -> Val:
        """Operators; ``and`` and ``or`` evaluate their right side only when it decides."""
        left = self.value(expr.left)
        if expr.op in ("and", "or"):
            return self._either(expr, left)
        right = self.value(expr.right)
        unknown = self.unknown(expr, f"how long `{self.spelled(expr.span)}` is shows only while the program runs")
        return bounds_fold.binary(expr.op, left, right, self.state, unknown)

    def _either(self, expr: n.Binary, left: Val) -> Val:
        held = truth(left, self.state)
        if held is not None:
            return left if held == (expr.op == "or") else self.value(expr.right)
        right = self.maybe(lambda: self.value(expr.right))
        if expr.op == "or":
            first, second = numeric(left), numeric(right)
            only_number = len(left) == 1 and all(isinstance(b, At) for b in left) and isinstance(known(right)[1], int)
            if only_number and first.high is not None and second.high is not None:
                found = applied("or", first.high, second.high)
                return val(Num(found, found))
            left = frozenset(basic for basic in left if not isinstance(basic, Null))
        return joined(left, right) if left else right

    def conditional(self, expr: n.Conditional) -> Val:
        """``x if C else y``."""
        held = self.condition(expr.condition)
        if held is not None:
            return self.value(expr.then if held else expr.orelse)
        return self.choose([lambda: self.value(expr.then), lambda: self.value(expr.orelse)])

    def predicate(self, expr: n.Predicate) -> Val:
        """``x is present``, ``score meets threshold``."""
        subject = self.value(expr.subject)
        operand = NULL if expr.operand is None or expr.op == "has" else self.value(expr.operand)
        held = None if expr.op in ("has", "contains") else bounds_fold.predicate(expr.op, subject, operand, self.state)
        return FLAG if held is None else literal(held != expr.negated)

    def function(self, expr: n.FunctionCall) -> Val:
        """``len(xs)``."""
        args = self.values(expr.args)
        spelled = self.spelled(expr.span)
        unknown = self.unknown(expr, f"`{spelled}` shows only while the program runs", spelled)
        return bounds_fold.function(expr.name, args, self.state, unknown)

    def group(self, expr: n.Group) -> Val:
        """``group(xs by field)``."""
        self.value(expr.source)
        return UNKNOWN

    def characters(self, value: Val, depth: int = 0) -> Formula:
        """How long a value is as a role is shown it."""
        return characters(value, self.state, depth)

    # conditions

    def condition(self, condition: n.Condition) -> bool | None:
        """What a condition says, None when that shows only while the program runs; the judge may have to be asked."""
        held, judge = self.test(condition.test)
        if held is None and judge is not None:
            self.add({JUDGE: judge, REQUESTS: Range(judge.low, judge.high + judge.high), WAIT: judge})
        return held

    def test(self, test: n.Test) -> tuple[bool | None, Range | None]:
        """What a part of a condition says, and how often it asks the judge when it leaves that open."""
        if isinstance(test, n.Junction):
            return self._junction(test)
        assert isinstance(test, n.Clause)
        return self._clause(test)

    def _junction(self, test: n.Junction) -> tuple[bool | None, Range | None]:
        ending = test.op == "or"
        asks: Range | None = None
        settled = True
        for part in test.parts:
            found: list[tuple[bool | None, Range | None]] = []

            def piece(part: n.Test = part, found: Any = found) -> Val:
                found.append(self.test(part))
                return NULL

            if settled:
                piece()
            else:
                self.maybe(piece)
            held, judge = found[0]
            if held == ending:
                return ending, None
            settled = settled and held is not None
            asks = _optional(judge if asks is None else asks)
        return (not ending, None) if settled else (None, asks)

    def _clause(self, clause: n.Clause) -> tuple[bool | None, Range | None]:
        visible = self.analysis.visible.get(clause, frozenset())
        expr = clause.expr
        open_ = False
        if expr is not None and all(name.id in visible for name in values_named(expr)):
            held = truth(self.value(expr), self.state)
            if held is not None or not self._may_have_no_meaning(expr):
                return held, None
            open_ = True
        missing = criterion(clause.text, visible)
        if missing is not None:
            is_known, content = known(self.state.name(missing.name))
            if is_known and content is None:
                return missing.verdict, None
            open_ = open_ or not is_known
        open_ = open_ or wording(clause.text, visible - self.given) is not None
        return None, Range(ZERO if open_ else ONE, ONE)

    def _may_have_no_meaning(self, expr: n.Expr) -> bool:
        """Whether a predicate may say nothing of its values, so that a later rung is needed."""
        if not isinstance(expr, n.Predicate) or expr.op not in ("meets", "exceeds", "at_most"):
            return False
        parts = [part for part in (expr.subject, expr.operand) if part is not None]
        return not all(self._is_number(self._quietly(part)) for part in parts)

    def _quietly(self, expr: n.Expr) -> Val:
        """The value of an expression whose cost is counted already."""
        found: list[Val] = []

        def piece() -> Val:
            found.append(self.value(expr))
            return NULL

        self.run(piece, self.state)
        return found[0]

    def _is_number(self, value: Val) -> bool:
        return all(self._surely(basic) for basic in value)

    def _surely(self, basic: Any) -> bool:
        if isinstance(basic, Answer):
            return basic.number
        is_known, content = known(val(basic))
        if is_known:
            return number(content) is not None
        declared = isinstance(basic, At) and len(basic.path) == 1 and basic.path[0] in self.typed
        return isinstance(basic, Num) or declared

    VISITS: ClassVar[dict[type[n.Node], Callable[[Any, Any], Val]]] = {}


def _optional(judge: Range | None) -> Range | None:
    return None if judge is None else Range(ZERO, judge.high)


def _looked_up(at: At) -> Val:
    is_known, content = known(val(at))
    return NULL if is_known and content is None else val(at)


def _part(answer: Answer, name: str) -> Answer:
    """A field of an answer, with what the program demands of it."""
    demand = answer.demand.demand if answer.demand else None
    part = demand.fields.get(name) if demand else None
    if demand is None or part is None:
        return Answer(answer.target)
    sure = name in demand.required and part.number and not part.fields and part.items is None
    return Answer(answer.target, Wanted(part), sure)


def _made_names(body: list[n.Node]) -> re.Pattern[str] | None:
    """The names that the program may make of letters and values, None when it makes none."""
    targets = [b.target for b in body if isinstance(b, n.Bind) and isinstance(b.target, n.MadeName)]
    spelt = ["".join(re.escape(part) if isinstance(part, str) else ".*" for part in t.parts) for t in targets]
    return re.compile("|".join(spelt)) if spelt else None


def _stores(body: list[n.Node]) -> tuple[frozenset[str], bool]:
    """The fields that the program assigns anywhere, "" for whichever, and whether it assigns elements of lists."""
    fields = {b.target.name for b in body if isinstance(b, n.Bind) and isinstance(b.target, n.Field)}
    indexed = any(isinstance(b, n.Bind) and isinstance(b.target, n.Index) for b in body)
    return frozenset({*fields, ""} if indexed else fields), indexed


Expressions.VISITS.update(
    {
        n.Constant: Expressions.constant,
        n.Template: Expressions.template,
        n.Name: Expressions.name,
        n.Field: Expressions.field,
        n.Index: Expressions.index,
        n.ListExpr: Expressions.list_expr,
        n.ObjectExpr: Expressions.object_expr,
        n.Unary: Expressions.unary,
        n.Binary: Expressions.binary,
        n.Conditional: Expressions.conditional,
        n.Predicate: Expressions.predicate,
        n.FunctionCall: Expressions.function,
        n.Group: Expressions.group,
    }
)
