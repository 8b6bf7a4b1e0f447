"""Runners of branches and blocks: if, choice, try, do, block calls, pipelines."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from prose_runtime.errors import ProseError, RunFailed
from prose_runtime.events import ConditionDecided
from prose_runtime.nodes import Block, Choice, Do, DoBlock, If, Pipeline, Stage, Try
from prose_runtime.runtime import judge
from prose_runtime.runtime.concurrency import run_all
from prose_runtime.runtime.conditions import decide, named_values
from prose_runtime.runtime.constructs import construct
from prose_runtime.runtime.core import (
    NOTHING,
    Activation,
    Bracket,
    Completion,
    evaluate,
    execute,
    expression,
)
from prose_runtime.runtime.failures import as_value, catchable, handled
from prose_runtime.runtime.frame import Frame
from prose_runtime.runtime.functions import described
from prose_runtime.runtime.statements import CAUGHT
from prose_runtime.values import Value, snapshot, truthy

MAX_DEPTH = 64


@construct(If)
async def branch(node: If, act: Activation) -> Completion:
    """``if``, ``elif``, ``else``; the value is that of the branch that ran."""
    with Bracket(act, node, "if") as inner:
        for option in node.branches:
            if await decide(option.condition, inner):
                return await execute(option.body, inner)
        return await execute(node.orelse, inner) if node.orelse else NOTHING


@construct(Choice)
async def choice(node: Choice, act: Activation) -> Completion:
    """``choice CRITERIA:``; the judge names exactly one label."""
    with Bracket(act, node, "choice") as inner:
        text = await evaluate(node.criteria, inner)
        where = act.unit.program.where(node.criteria.span)
        visible = act.unit.program.analysis.visible.get(node.criteria, frozenset())
        spelled = " ".join(p if isinstance(p, str) else p.raw for p in node.criteria.parts)
        labels = tuple(option.label for option in node.options)
        label, reason = await judge.choose(text, labels, named_values(spelled, act, visible), inner, where)
        act.emit(ConditionDecided(inner.path, text, "judge", label, reason, where))
        chosen = next(option for option in node.options if option.label == label)
        return await execute(chosen.body, inner)


@construct(Do)
async def do(node: Do, act: Activation) -> Completion:
    """``do:`` is no frame; a return in it leaves it."""
    with Bracket(act, node, "do") as inner:
        done = await execute(node.body, inner)
        return Completion("normal", done.value) if done.kind == "return" else done


@construct(Try)
async def attempt(node: Try, act: Activation) -> Completion:
    """``try`` with ``catch`` and ``finally``: the latter runs whatever ended the body."""
    with Bracket(act, node, "try") as inner:
        try:
            done = await _caught(node, inner)
        except (ProseError, asyncio.CancelledError) as error:
            if node.final:
                await _finally_after(error, node.final, inner.at("finally"))
            raise
        if node.final:
            last = await execute(node.final, inner.at("finally"))
            return done if last.normal else last
        return done


async def _caught(node: Try, act: Activation) -> Completion:
    try:
        return await execute(node.body, act)
    except ProseError as error:
        if node.catch is None or not catchable(error):
            raise
        handled(error)
        names = act.frame.names
        before = names.get(CAUGHT)
        names[CAUGHT] = as_value(error)
        if node.catch.var:
            act.frame.bind(node.catch.var.id, names[CAUGHT])
        try:
            return await execute(node.catch.body, act.at("catch"))
        finally:
            names[CAUGHT] = before


async def _finally_after(error: BaseException, body: Block, act: Activation) -> None:
    """Run the body of ``finally`` after an error. When calls may go out no more, they fail there at once."""
    if isinstance(error, ProseError) and catchable(error):
        await execute(body, act)
        return
    try:
        await execute(body, act.shut())
    except ProseError:
        return


@expression(DoBlock)
async def call_block(node: DoBlock, act: Activation) -> Value:
    """``do name(args)``: a frame of its own that reads the delegation's names."""
    with Bracket(act, node, "do") as inner:
        return await run_block(node, inner)


async def run_block(node: DoBlock, act: Activation) -> Value:
    """Call a block with the arguments of the node; the value is what it returns.

    Raises:
        RunFailed: Blocks call each other without end (kind ``value``).
    """
    block = act.unit.program.blocks[node.block.id]
    if act.path.count("/do ") > MAX_DEPTH:
        raise RunFailed(f"`{node.block.id}` calls itself more than {MAX_DEPTH} times", kind="value", step=act.path)
    names = [parameter.id for parameter in block.params]
    arguments: dict[str, Value] = dict.fromkeys(names)
    positional = iter(names)
    for argument in node.args:
        name = argument.name or next(positional, None)
        # A value that the block has no name for is worked out all the same: it may be the first half of `A -> do B`.
        value = await evaluate(argument.value, act)
        if name is not None:
            arguments[name] = snapshot(value)
    return (await execute(block.body, act.within(act.frame.block(arguments)))).value


@expression(Pipeline)
async def pipeline(node: Pipeline, act: Activation) -> Value:
    """``xs | map: ... | filter: ...``; each body is a frame and calls the element ``item``."""
    with Bracket(act, node, "pipeline") as inner:
        value = await evaluate(node.source, inner)
        for i, stage in enumerate(node.stages, 1):
            if not isinstance(value, list):
                where = act.unit.program.where(stage.span)
                raise RunFailed(f"{stage.kind} needs a list, not {described(value)}", kind="value", where=where)
            # The elements are those at the start: what a body adds to the list itself is not walked.
            value = await _STAGES[stage.kind](stage, [*value], inner.at(f"{stage.kind}~{i}"))
        return value


async def _body(stage: Stage, names: dict[str, Value], act: Activation) -> tuple[Value, Frame]:
    frame = act.frame.branch({name: snapshot(value) for name, value in names.items()})
    return (await execute(stage.body, act.within(frame))).value, frame


async def _map(stage: Stage, items: list[Value], act: Activation) -> Value:
    values = []
    for i, entry in enumerate(items, 1):
        value, frame = await _body(stage, {"item": entry}, act.at(i))
        act.frame.join([frame])
        values.append(value)
    return values


async def _pmap(stage: Stage, items: list[Value], act: Activation) -> Value:
    def one(i: int, entry: Value) -> Callable[[], Awaitable[tuple[Value, Frame]]]:
        return lambda: _body(stage, {"item": entry}, act.at(i))

    outcomes = await run_all([one(i, entry) for i, entry in enumerate(items, 1)], tolerant=False)
    done = [outcome.value for outcome in outcomes if outcome.value is not None]
    act.frame.join([frame for _, frame in done])
    return [value for value, _ in done]


async def _filter(stage: Stage, items: list[Value], act: Activation) -> Value:
    kept = await _map(stage, items, act)
    return [entry for entry, keep in zip(items, kept, strict=True) if truthy(keep)]


async def _reduce(stage: Stage, items: list[Value], act: Activation) -> Value:
    """Starts with the first element; null for an empty list."""
    if not items:
        return None
    total = items[0]
    first, second = (name.id for name in stage.names)
    for i, entry in enumerate(items[1:], 1):
        total, frame = await _body(stage, {first: total, second: entry}, act.at(i))
        act.frame.join([frame])
    return total


_STAGES: dict[str, Callable[[Stage, list[Value], Activation], Awaitable[Value]]] = {
    "map": _map,
    "pmap": _pmap,
    "filter": _filter,
    "reduce": _reduce,
}
