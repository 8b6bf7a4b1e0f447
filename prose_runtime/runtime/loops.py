"""Runners of loops in sequence, as statements and as lists (LANGUAGE.md section 3, rules 3 to 6)."""

from __future__ import annotations

import asyncio

from prose_runtime.nodes import ForEach, Loop, Node, Repeat
from prose_runtime.runtime.conditions import decide
from prose_runtime.runtime.constructs import construct
from prose_runtime.runtime.core import NOTHING, Activation, Bracket, Completion, execute
from prose_runtime.runtime.counts import count, elements
from prose_runtime.runtime.parallel import parallel_for, parallel_repeat
from prose_runtime.values import Value

_BREATH = 256


class Collector:
    """Gathers a loop's values when it is in value position, and says when the loop ends."""

    def __init__(self, node: Node, act: Activation):
        self.values: list[Value] | None = [] if node in act.collecting else None
        self.left: Completion | None = None

    def ended_by(self, done: Completion) -> bool:
        """Take an iteration's completion; True ends the loop."""
        if done.kind == "break":
            return True
        if self.values is None:
            self.left = done if done.kind == "return" else None
            return self.left is not None
        self.values.append(None if done.kind == "continue" else done.value)
        return False

    @property
    def completion(self) -> Completion:
        """How the loop itself completes."""
        return self.left or (NOTHING if self.values is None else Completion("normal", self.values))


@construct(Repeat)
async def repeat(node: Repeat, act: Activation) -> Completion:
    """``repeat N as i:``; counters start at 1."""
    if node.parallel:
        return await parallel_repeat(node, act)
    with Bracket(act, node, "repeat") as inner:
        collector = Collector(node, inner)
        for i in range(1, await count(node.count, inner) + 1):
            if node.var:
                act.frame.bind(node.var.id, i)
            if collector.ended_by(await execute(node.body, inner.at(i))):
                break
            await breathe(i)
        return collector.completion


@construct(ForEach)
async def for_each(node: ForEach, act: Activation) -> Completion:
    """``for x, i in xs:``; the index starts at 0."""
    if node.parallel:
        return await parallel_for(node, act)
    with Bracket(act, node, "for") as inner:
        collector = Collector(node, inner)
        for i, value in enumerate(await elements(node, inner)):
            act.frame.bind(node.var.id, value)
            if node.index:
                act.frame.bind(node.index.id, i)
            if collector.ended_by(await execute(node.body, inner.at(i + 1))):
                break
            await breathe(i)
        return collector.completion


@construct(Loop)
async def loop(node: Loop, act: Activation) -> Completion:
    """``loop until C`` tests after each pass, ``loop while C`` before; ``max`` is a hard bound."""
    with Bracket(act, node, "loop") as inner:
        collector = Collector(node, inner)
        bound = await count(node.maximum, inner) if node.maximum else None
        i = 0
        while bound is None or i < bound:
            i += 1
            here = inner.at(i)
            if node.kind == "while" and not await _holds(node, here):
                break
            if node.var:
                act.frame.bind(node.var.id, i)
            if collector.ended_by(await execute(node.body, here)):
                break
            if node.kind == "until" and await _holds(node, here):
                break
            await breathe(i)
        return collector.completion


async def _holds(node: Loop, act: Activation) -> bool:
    assert node.condition is not None
    return await decide(node.condition, act)


async def breathe(i: int) -> None:
    """Let cancellation and other branches in, once in a while, even when nothing is awaited."""
    if i % _BREATH == 0:
        await asyncio.sleep(0)
