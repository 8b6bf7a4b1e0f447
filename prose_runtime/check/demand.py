"""What a program does with its values, found by walking it against the order of execution.

At each point the walk knows what the rest of the program does with every name. A binding hands the use of its name
on to the bound expression, and so to the calls in it. This file treats expressions and conditions, ``demand_flow``
the statements, which decide how such knowledge is joined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any, ClassVar

from prose_runtime import nodes as n
from prose_runtime.check.conditions import asked_field, wording
from prose_runtime.check.kinds import Kind, kind_of
from prose_runtime.check.tables import Target
from prose_runtime.check.uses import (
    ASKED,
    FLAG,
    KEYED,
    LIST,
    NOTHING,
    NUMBER,
    READ,
    TESTED,
    WHOLE,
    State,
    Use,
    both,
    either_states,
    element_of,
    field_of,
    list_of,
    maybe,
    read,
    without,
)
from prose_runtime.records import dataclass

_PATH = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*")
_ORDERING = frozenset({"<", "<=", ">", ">="})


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known before the walk: names in scope, names that are bound, their kinds, and the other side tables."""

    spec: n.Spec
    targets: Mapping[n.Node, Target]
    collected: frozenset[n.Node]
    names: Collection[str]
    bound: Collection[str]
    kinds: Mapping[str, Kind]


@dataclass(slots=True)
class Findings:
    """What the walk finds: the use of each asking node's value, and the readers of an only declared output."""

    uses: dict[n.Node, Use] = field(default_factory=dict)
    itself: set[n.Node] = field(default_factory=set)


class Expressions:
    """The walk over expressions. ``state`` is what the program does from here on; it grows as the walk goes back."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self.found = Findings()
        self.state: State = {}

    def value(self, expr: n.Expr, use: Use, level: int = READ) -> None:
        """An expression is evaluated and its value used so."""
        visit = self.VISITS.get(type(expr))
        if visit is not None:
            visit(self, expr, use, level)

    def values(self, exprs: Iterable[n.Expr], use: Use, level: int = READ) -> None:
        """Several expressions are evaluated and used alike."""
        for expr in reversed(list(exprs)):
            self.value(expr, use, level)

    def use_name(self, name: str, use: Use) -> None:
        """A use of a name's value comes on top of what the program does with it later."""
        if use is not NOTHING:
            self.state[name] = both(use, self.state.get(name, NOTHING))

    def taken(self, name: n.Name | None) -> Use:
        """What is done with a name that is bound here; before this point it has another value."""
        return self.state.pop(name.id, NOTHING) if name else NOTHING

    def use_of(self, expr: n.Expr) -> Use:
        """What the program does from here on with the value that a place (name, field, index) holds."""
        if isinstance(expr, n.Name):
            return self.state.get(expr.id, NOTHING)
        if isinstance(expr, n.Field):
            return field_of(self.use_of(expr.object), expr.name)
        return element_of(self.use_of(expr.object)) if isinstance(expr, n.Index) else NOTHING

    def kind(self, expr: n.Expr) -> Kind | None:
        """The kind of value that an expression surely has."""
        return kind_of(expr, self.facts.kinds)

    def nothing(self, expr: n.Expr, use: Use, level: int) -> None:
        """Has no parts that matter."""

    def name(self, expr: n.Name, use: Use, level: int) -> None:
        """``x``."""
        self.use_name(expr.id, use)

    def field_expr(self, expr: n.Field, use: Use, level: int) -> None:
        """``a.b``; ``a.length`` measures a list."""
        inside = LIST if expr.name == "length" else read(expr.name, use, level, expr)
        self.value(expr.object, inside, level)

    def index(self, expr: n.Index, use: Use, level: int) -> None:
        """``a["b"]`` reads a field, ``a[i]`` an element."""
        key = _spelled(expr.index)
        if key is not None:
            self.value(expr.object, read(key, use, level), level)
            return
        by_text = self.kind(expr.index) == "text"
        self.value(expr.index, WHOLE if by_text else NUMBER, level)
        self.value(expr.object, KEYED if by_text else list_of(maybe(use)), level)

    def template(self, expr: n.Template, use: Use, level: int) -> None:
        """``"text {name}"``."""
        for part in reversed(expr.parts):
            if isinstance(part, n.Interpolation):
                self.value(part.value, WHOLE, level)

    def list_expr(self, expr: n.ListExpr, use: Use, level: int) -> None:
        """``[a, b]``: each element is used as those of the list are."""
        self.values(expr.items, element_of(use), level)

    def object_expr(self, expr: n.ObjectExpr, use: Use, level: int) -> None:
        """``{ a: 1 }``: each entry is used as the field is."""
        for entry in reversed(expr.entries):
            self.value(entry.value, field_of(use, entry.key), level)

    def unary(self, expr: n.Unary, use: Use, level: int) -> None:
        """``not a`` and ``-a``."""
        self.value(expr.operand, NUMBER if expr.op == "-" else _flag(level), level)

    def binary(self, expr: n.Binary, use: Use, level: int) -> None:
        """Operators."""
        if expr.op in ("and", "or"):
            self.alternatives(expr, use, level)
            return
        for side, other in ((expr.right, expr.left), (expr.left, expr.right)):
            self.value(side, self.operand(expr, side, other, use), level)

    def alternatives(self, expr: n.Binary, use: Use, level: int) -> None:
        """``a or b``: the right side is evaluated when the left one does not decide."""
        after = self.state
        self.state = dict(after)
        self.value(expr.right, use, level)
        self.state = either_states(self.state, after)
        self.value(expr.left, maybe(use), level)

    def operand(self, expr: n.Binary, side: n.Expr, other: n.Expr, use: Use) -> Use:
        """What an operator does with one of its sides."""
        kinds = {self.kind(side), self.kind(other)}
        if expr.op in ("==", "!="):
            return _compared_with(other)
        if expr.op == "in":
            return WHOLE
        if expr.op == "+" and "list" in kinds:
            return use
        return WHOLE if "text" in kinds and (expr.op == "+" or expr.op in _ORDERING) else NUMBER

    def predicate(self, expr: n.Predicate, use: Use, level: int) -> None:
        """``a is present``, ``a meets T``: English with an exact meaning."""
        subject = NOTHING
        if expr.op == "has":
            key = expr.operand.id if isinstance(expr.operand, n.Name) else _spelled(expr.operand)
            subject = read(key, NOTHING, TESTED) if key else WHOLE
        elif expr.op in ("meets", "exceeds", "at_most"):
            subject = NUMBER
        elif expr.op in ("true", "false"):
            subject = FLAG
        elif expr.op == "is":
            subject = _compared_with(expr.operand)
        elif expr.op == "contains":
            subject = WHOLE
        if expr.operand is not None and expr.op != "has":
            against = subject if expr.op in ("meets", "exceeds", "at_most") else _compared_with(expr.subject)
            self.value(expr.operand, against, level)
        self.value(expr.subject, subject, level)

    def conditional(self, expr: n.Conditional, use: Use, level: int) -> None:
        """``x if C else y``."""
        after = self.state
        self.state = dict(after)
        self.value(expr.orelse, use, level)
        otherwise = self.state
        self.state = dict(after)
        self.value(expr.then, use, level)
        self.state = either_states(self.state, otherwise)
        self.condition(expr.condition)

    def function(self, expr: n.FunctionCall, use: Use, level: int) -> None:
        """``len(xs)`` and the other small functions."""
        uses = [self.argument_use(expr, number, use) for number in range(len(expr.args))]
        for argument, inside in reversed(list(zip(expr.args, uses, strict=True))):
            self.value(argument, inside, level)

    def argument_use(self, expr: n.FunctionCall, number: int, use: Use) -> Use:
        """What a small function does with one of its arguments."""
        first, alone = number == 0, len(expr.args) == 1
        if expr.name in ("sum", "min", "max"):
            return list_of(NUMBER) if alone else NUMBER
        if expr.name in ("range", "round"):
            return NUMBER
        if expr.name == "join" and first:
            return list_of(WHOLE)
        if expr.name == "len" and self.kind(expr.args[0]) != "text":
            return LIST
        return KEYED if expr.name in ("keys", "values") else WHOLE

    def group(self, expr: n.Group, use: Use, level: int) -> None:
        """``group(xs by field)``: lists of elements by key."""
        inside = both(read(expr.field, WHOLE, level), maybe(element_of(element_of(use))))
        self.value(expr.source, list_of(inside), level)

    def discretion(self, expr: n.Discretion, use: Use, level: int) -> None:
        """``**question**``."""
        self.ask(expr, use)
        self.named_in(expr.text)

    def made_name(self, expr: n.MadeName, use: Use, level: int) -> None:
        """``research_{trend}``: which name it is shows at run time."""
        for part in reversed(expr.parts):
            if isinstance(part, n.Interpolation):
                self.value(part.value, WHOLE, level)

    def question(self, expr: n.Ask, use: Use, level: int) -> None:
        """``ask "text"``."""
        self.ask(expr, use)
        self.values((argument.value for argument in expr.args), WHOLE)
        if expr.prompt is not None:
            self.value(expr.prompt, WHOLE)

    def effect(self, expr: n.Effect, use: Use, level: int) -> None:
        """``escalate topic``."""
        self.ask(expr, use)
        self.values((argument.value for argument in expr.args), WHOLE)
        self.named_in(expr.text)

    def call(self, expr: n.Call, use: Use, level: int) -> None:
        """``call x``: its inputs are used whole."""
        self.ask(expr, use)
        if expr.spread is not None:
            self.value(expr.spread, WHOLE)
        self.values((argument.value for argument in expr.args), WHOLE)

    def session(self, expr: n.Session, use: Use, level: int) -> None:
        """``session "text"``, which may bind a name."""
        if expr.name is not None:
            use = both(use, self.taken(expr.name))
        self.ask(expr, use)
        self.values((argument.value for argument in expr.args), WHOLE)
        if expr.prompt is not None:
            self.value(expr.prompt, WHOLE)

    def ask(self, node: n.Expr, use: Use) -> None:
        """A node gets its value from outside: note what is done with it."""
        name = only_output(self.facts.targets.get(node))
        if name is not None and name in use.fields:
            inside = use.fields[name]
            self.found.itself |= inside.readers
            use = both(without(use, name), inside)
        self.found.uses[node] = use
        self.may_raise()

    def may_raise(self) -> None:
        """From here the program may go on in a ``catch``: what comes next is no longer certain."""

    def condition(self, condition: n.Condition) -> None:
        """A condition is decided."""
        self.test(condition.test)

    def test(self, test: n.Test) -> None:
        """A condition or one of its parts: all but the first part of a junction may be left out."""
        if isinstance(test, n.Clause):
            self.clause(test)
        elif isinstance(test, n.Junction):
            for number, part in reversed(list(enumerate(test.parts))):
                after = self.state
                self.state = dict(after)
                self.test(part)
                if number:
                    self.state = either_states(self.state, after)

    def clause(self, clause: n.Clause) -> None:
        """The rungs of a condition in their order: expression, structure, judge."""
        if clause.expr is not None and all(name.id in self.facts.names for name in values_named(clause.expr)):
            self.value(clause.expr, FLAG, TESTED)
            return
        claim = wording(clause.text, self.facts.bound, self.facts.names)
        if claim is None:
            self.named_in(clause.text)
            return
        name, hint = asked_field(claim)
        use = read(name, Use(hint=hint), ASKED)
        for part in reversed(claim.path):
            use = read(part, use, TESTED)
        self.use_name(claim.subject, use)

    def named_in(self, text: str) -> None:
        """A judge is shown the values that a text names."""
        for path in dict.fromkeys(_PATH.findall(text)):
            name, *fields = path.split(".")
            if name in self.facts.bound:
                use = WHOLE
                for part in reversed(fields):
                    use = read(part, use, TESTED)
                self.use_name(name, use)

    VISITS: ClassVar[dict[type[n.Node], Callable[[Any, Any, Use, int], None]]] = {
        n.Name: name,
        n.Field: field_expr,
        n.Index: index,
        n.Template: template,
        n.ListExpr: list_expr,
        n.ObjectExpr: object_expr,
        n.Unary: unary,
        n.Binary: binary,
        n.Predicate: predicate,
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


def only_output(target: Target | None) -> str | None:
    """The name of the only declared output of a target, whose value is bare (LANGUAGE.md section 1, Returns)."""
    returns = target.spec.returns if target and target.spec else None
    return returns.outputs[0].name if returns and len(returns.outputs) == 1 else None


@lru_cache(maxsize=1024)
def values_named(expr: n.Node) -> tuple[n.Name, ...]:
    """The names whose values an expression reads: the operand of ``has`` is a word.

    What was asked last is kept, as the walks through a loop ask it of a condition again and again.
    """
    if isinstance(expr, n.Name):
        return (expr,)
    if isinstance(expr, n.Predicate) and expr.op == "has":
        return values_named(expr.subject)
    return tuple(name for child in expr.children() for name in values_named(child))


def _spelled(expr: n.Expr | None) -> str | None:
    """The text of a string without interpolation."""
    if isinstance(expr, n.Template) and all(isinstance(part, str) for part in expr.parts):
        return "".join(part for part in expr.parts if isinstance(part, str))
    return expr.value if isinstance(expr, n.Constant) and isinstance(expr.value, str) else None


def _flag(level: int) -> Use:
    return FLAG if level == TESTED else NOTHING


def _compared_with(other: n.Expr | None) -> Use:
    """What an equality does with the value on its one side, given the other side."""
    if isinstance(other, n.Constant):
        if isinstance(other.value, bool):
            return FLAG
        return NOTHING if other.value is None else NUMBER
    return WHOLE if not isinstance(other, n.Template) else Use(whole=True, hint={"type": "string"})
