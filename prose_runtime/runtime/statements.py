"""Runners of simple statements: binding, lists, emit, leaving, waiting, definitions."""

from __future__ import annotations

from typing import Any

from prose_runtime.check.declared import error_names
from prose_runtime.errors import RunFailed
from prose_runtime.events import Emitted
from prose_runtime.nodes import (
    Agent,
    Append,
    Ask,
    Bind,
    BlockDef,
    Break,
    Call,
    Continue,
    Destructure,
    Discretion,
    DoBlock,
    Emit,
    Expr,
    ExprStatement,
    Field,
    Index,
    Input,
    MadeName,
    Name,
    Node,
    Output,
    Return,
    Session,
    Sleep,
    Throw,
    Use,
)
from prose_runtime.runtime.constructs import CONSTRUCTS
from prose_runtime.runtime.core import NOTHING, Activation, Completion, evaluate, statement
from prose_runtime.runtime.expressions import spelled
from prose_runtime.runtime.failures import Thrown, thrown
from prose_runtime.runtime.functions import described
from prose_runtime.values import Value, field, number, snapshot, to_json

_CALLS = (Ask, Call, Session, DoBlock, Discretion)


@statement(Bind)
async def bind(node: Bind, act: Activation) -> Completion:
    """``let``, ``const`` and plain assignment: the name lives in the frame, wherever the statement stands."""
    value = await evaluate(node.value, act)
    result = isinstance(node.value, _CALLS)
    if isinstance(node.target, Name):
        act.frame.bind(node.target.id, value, result=result)
    elif isinstance(node.target, MadeName):
        act.frame.make(await spelled(node.target, act), value, result=result)
    elif isinstance(node.target, Destructure):
        itself = act.unit.program.analysis.itself
        for name in node.target.names:
            own = name in itself and not (isinstance(value, dict) and name.id in value)
            act.frame.bind(name.id, value if own else field(value, name.id), result=result)
    else:
        await _store(node.target, value, act)
    return Completion("normal", value)


async def _store(target: Field | Index, value: Value, act: Activation) -> None:
    holder = await evaluate(target.object, act)
    key: Any = target.name if isinstance(target, Field) else await evaluate(target.index, act)
    if isinstance(holder, dict) and isinstance(key, str):
        holder[key] = value
        return
    position = number(key)
    if isinstance(holder, list) and isinstance(position, int) and -len(holder) <= position < len(holder):
        holder[position] = value
        return
    raise _wrong(f"{described(holder)} has no place {described(key)} to assign to", target, act)


@statement(Append)
async def append(node: Append, act: Activation) -> Completion:
    """``record``, ``append`` and ``add``: no value. A note is kept beside the value in an object."""
    value = await evaluate(node.value, act)
    if node.note is not None:
        kept = value if isinstance(value, dict) else {"value": value}
        value = {**kept, "note": await evaluate(node.note, act)}
    target = await evaluate(node.target, act)
    if not isinstance(target, list):
        raise _wrong(f"{node.word} needs a list, not {described(target)}", node.target, act)
    act.frame.append(target, value)
    return NOTHING


@statement(Emit)
async def emit(node: Emit, act: Activation) -> Completion:
    """``emit E``: a line for the person watching."""
    value = to_json(await evaluate(node.value, act))
    act.emit(Emitted(act.path, value, act.unit.program.where(node.span)))
    return NOTHING


@statement(Return)
async def leave(node: Return, act: Activation) -> Completion:
    """``return [E]``."""
    return Completion("return", await evaluate(node.value, act) if node.value else None)


@statement(Break)
async def stop(_node: Break, _act: Activation) -> Completion:
    """``break``."""
    return Completion("break")


@statement(Continue)
async def skip(_node: Continue, _act: Activation) -> Completion:
    """``continue``."""
    return Completion("continue")


@statement(Throw)
async def throw(node: Throw, act: Activation) -> Completion:
    """``throw [E]``; without a value, and in a ``catch`` with the error itself, the caught error goes on.

    The name of an error that the spec declares is thrown as an error of that kind.
    """
    value = await evaluate(node.value, act) if node.value else act.frame.names.get(CAUGHT)
    error = thrown(value, act.unit.program.where(node.span), act.path)
    if isinstance(error, Thrown) and isinstance(value, str) and value in error_names(act.unit.program.spec):
        error.kind = value
    raise error


CAUGHT = "*caught"
"""Where a frame keeps the error of the ``catch`` it is in; no program can spell this name."""


@statement(Sleep)
async def sleep(node: Sleep, act: Activation) -> Completion:
    """``sleep 2s``."""
    seconds = number(await evaluate(node.seconds, act))
    if seconds is None or seconds < 0:
        raise _wrong("sleep needs a number of seconds", node.seconds, act)
    if not act.closing:
        step = act.at(act.unit.program.labels.get(node, "sleep")).path
        await act.unit.run.host.sleep(step, seconds)
    return NOTHING


@statement(Output)
async def output(node: Output, act: Activation) -> Completion:
    """``output n = E``: publishes at top level, returns in a block (LANGUAGE.md section 3, rule 11)."""
    value = await evaluate(node.value, act)
    act.frame.bind(node.name.id, value)
    if act.frame.base is not act.frame:
        return Completion("return", value)
    act.unit.outputs[node.name.id] = snapshot(value)
    return Completion("normal", value)


@statement(ExprStatement)
async def expression_statement(node: ExprStatement, act: Activation) -> Completion:
    """A call, a loop or another construct as a statement of its own."""
    construct = CONSTRUCTS.get(type(node.value))
    if construct is not None:
        return await construct(node.value, act)
    return Completion("normal", await evaluate(node.value, act))


async def _definition(_node: Node, _act: Activation) -> Completion:
    """Definitions are collected before anything runs."""
    return NOTHING


for _kind in (Agent, BlockDef, Input, Use):
    statement(_kind)(_definition)


def _wrong(message: str, node: Expr, act: Activation) -> RunFailed:
    return RunFailed(message, kind="value", where=act.unit.program.where(node.span), step=act.path)
