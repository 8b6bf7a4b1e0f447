"""Runners of expressions: what has a value without asking anybody."""

from __future__ import annotations

from typing import Any

from prose_runtime.errors import RunFailed
from prose_runtime.nodes import (
    Binary,
    Conditional,
    Constant,
    Expr,
    Field,
    FunctionCall,
    Group,
    Index,
    Interpolation,
    ListExpr,
    MadeName,
    Name,
    ObjectExpr,
    Predicate,
    Template,
    Unary,
)
from prose_runtime.runtime import functions, operators
from prose_runtime.runtime.conditions import decide
from prose_runtime.runtime.core import Activation, evaluate, expression
from prose_runtime.values import Value, field, item, snapshot, to_text, truthy


@expression(Constant)
async def constant(node: Constant, _act: Activation) -> Value:
    """A literal other than text."""
    return snapshot(node.value)


@expression(Name)
async def name(node: Name, act: Activation) -> Value:
    """A name; one that no executed path has bound is null, and a plain word of a list in lines is a text."""
    if node in act.unit.program.analysis.words:
        return node.id
    return act.frame.names.get(node.id)


@expression(MadeName)
async def made_name(node: MadeName, act: Activation) -> Value:
    """``research_{trend}``: the value of the name that the letters and values make; null when nothing has made it."""
    return act.frame.names.get(await spelled(node, act))


async def spelled(node: MadeName, act: Activation) -> str:
    """The name that letters and values make."""
    pieces = [p if isinstance(p, str) else to_text(await evaluate(p.value, act)) for p in node.parts]
    return "".join(pieces)


@expression(Template)
async def template(node: Template, act: Activation) -> str:
    """A string: only names that resolve are replaced, and what is inserted is not looked at again."""
    visible = act.unit.program.analysis.visible.get(node, frozenset())
    pieces = [p if isinstance(p, str) else await _interpolated(p, act, visible) for p in node.parts]
    try:
        return functions.bounded("".join(pieces))
    except functions.BadArgument as error:
        raise bad_value(error, node, act) from None


async def _interpolated(part: Interpolation, act: Activation, visible: frozenset[str]) -> str:
    if isinstance(part.value, MadeName):
        inner = [p.value for p in part.value.parts if isinstance(p, Interpolation)]
        known = part.value.pattern in act.unit.program.analysis.made
        resolves = known and all(_root(value) in visible for value in inner)
        return to_text(await evaluate(part.value, act)) if resolves else part.raw
    return to_text(await evaluate(part.value, act)) if _root(part.value) in visible else part.raw


def _root(value: Expr) -> str | None:
    """The name that ``a.b[i]`` begins with."""
    while isinstance(value, Field | Index):
        value = value.object
    return value.id if isinstance(value, Name) else None


@expression(Field)
async def field_of(node: Field, act: Activation) -> Value:
    """``a.b``; the only declared output of a call gives the value itself."""
    value = await evaluate(node.object, act)
    found = field(value, node.name)
    return value if found is None and node in act.unit.program.analysis.itself else found


@expression(Index)
async def index_of(node: Index, act: Activation) -> Value:
    """``a[i]``."""
    return item(await evaluate(node.object, act), await evaluate(node.index, act))


@expression(ListExpr)
async def list_of(node: ListExpr, act: Activation) -> Value:
    """``[a, b]``."""
    return [await evaluate(entry, act) for entry in node.items]


@expression(ObjectExpr)
async def object_of(node: ObjectExpr, act: Activation) -> Value:
    """``{ a: 1, b }``."""
    return {entry.key: await evaluate(entry.value, act) for entry in node.entries}


@expression(Unary)
async def unary(node: Unary, act: Activation) -> Value:
    """``not a`` and ``-a``."""
    value = await evaluate(node.operand, act)
    if node.op == "not":
        return not truthy(value)
    try:
        return -functions.numeric(value, "what follows -")
    except functions.BadArgument as error:
        raise bad_value(error, node, act) from None


@expression(Binary)
async def binary(node: Binary, act: Activation) -> Value:
    """Operators; ``and`` and ``or`` give one of their sides and evaluate the right one only when it decides."""
    left = await evaluate(node.left, act)
    if node.op in ("and", "or"):
        return left if truthy(left) == (node.op == "or") else await evaluate(node.right, act)
    right = await evaluate(node.right, act)
    try:
        return _combined(node.op, left, right)
    except functions.BadArgument as error:
        raise bad_value(error, node, act) from None


def _combined(op: str, left: Value, right: Value) -> Value:
    if op in ("==", "!="):
        return operators.equal(left, right) == (op == "==")
    if op == "in":
        return operators.member(left, right)
    if op in ("<", "<=", ">", ">="):
        return operators.ordered(op, left, right)
    return operators.arithmetic(op, left, right)


@expression(Predicate)
async def predicate(node: Predicate, act: Activation) -> Value:
    """``is present``, ``meets T`` and so on: a boolean, or null when the words have no meaning for the value."""
    value = await evaluate(node.subject, act)
    operand = await evaluate(node.operand, act) if node.operand else None
    if node.op == "has":
        spelled = node.operand.id if isinstance(node.operand, Name) else to_text(operand)
        held: bool | None = operators.has(value, spelled, operand)
    else:
        held = operators.PREDICATES[node.op](value, operand)
    return held if held is None else held != node.negated


@expression(Conditional)
async def conditional(node: Conditional, act: Activation) -> Value:
    """``x if C else y``."""
    return await evaluate(node.then if await decide(node.condition, act) else node.orelse, act)


@expression(FunctionCall)
async def function(node: FunctionCall, act: Activation) -> Value:
    """``len(xs)`` and the other small functions."""
    arguments = [await evaluate(argument, act) for argument in node.args]
    try:
        return functions.FUNCTIONS[node.name](*arguments)
    except functions.BadArgument as error:
        raise bad_value(error, node, act) from None
    except TypeError:
        raise bad_value(f"{node.name} does not take {len(arguments)} arguments", node, act) from None


@expression(Group)
async def grouped(node: Group, act: Activation) -> Value:
    """``group(xs by field)``."""
    try:
        return functions.group(await evaluate(node.source, act), node.field)
    except functions.BadArgument as error:
        raise bad_value(error, node, act) from None


def bad_value(reason: Any, node: Expr, act: Activation) -> RunFailed:
    """The error for an operation that has no meaning for its values."""
    return RunFailed(str(reason), kind="value", where=act.unit.program.where(node.span), step=act.path)
