"""Runners of the oldest dialect's calls: sessions with their agents, questions to people, effects."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from prose_runtime.check.conditions import NEGATIVE
from prose_runtime.nodes import Agent, Argument, Ask, Call, Discretion, Effect, ListExpr, Name, ObjectExpr, Session
from prose_runtime.runtime.asking import Asking, ask_role
from prose_runtime.runtime.calls import (
    Passed,
    Resolved,
    gather,
    hand_over,
    refuse_when_closing,
    request_for,
    resolve,
    tries,
)
from prose_runtime.runtime.conditions import filled, named_values
from prose_runtime.runtime.core import Activation, Bracket, evaluate, expression
from prose_runtime.runtime.failures import Thrown
from prose_runtime.runtime.memory import kept_as
from prose_runtime.services.api import Request
from prose_runtime.values import Value, snapshot, to_json, to_text

REFUSED = "refused"
"""The kind of error of a gate that a person did not open."""


@expression(Session)
async def session(node: Session, act: Activation) -> Value:
    """``session "text"`` and its forms: a model call that gets its prompt, context and memory, and nothing else."""
    with Bracket(act, node, "session") as inner:
        agent = act.unit.program.agents.get(node.agent.id) if node.agent else None
        value = await (_of_agent(node, agent, inner) if agent else _of_nobody(node, inner))
        if node.name is not None:
            act.frame.bind(node.name.id, value, result=True)
        return value


async def _of_nobody(node: Session, act: Activation) -> Value:
    """A session without an agent, or with a component, slot or alias in its place."""
    passed = await _passed(node, [], act)
    if node.agent is None:
        return await _answer(node, "session", "", passed, act)
    refuse_when_closing(act, node.agent.id)
    call = Call(span=node.span, target=node.agent)
    return await hand_over(node, await resolve(call, node, act), passed, act)


async def _of_agent(node: Session, agent: Agent, act: Activation) -> Value:
    name = agent.name.id
    own = await gather([arg for arg in agent.args if arg.name not in ("context", "persist")], [], act)
    passed = await _passed(node, [arg for arg in agent.args if arg.name == "context"], act)
    passed.modifiers = {**{k: v for k, v in own.modifiers.items() if k != "prompt"}, **passed.modifiers}
    memory = act.frame.memory
    told = memory.of(name) if node.resume or kept_as(agent) else []
    if told:
        passed.inputs[_free("memory", passed.inputs)] = [dict(exchange) for exchange in told]
    prompt = passed.modifiers.get("prompt")
    value = await _answer(node, name, to_text(own.modifiers.get("prompt")), passed, act)
    exchange = {"prompt": None if prompt is None else to_text(prompt), "reply": to_json(value)}
    memory.add(name, exchange)
    await _write_down(name, exchange, act)
    return value


async def _answer(node: Session, target: str, job: str, passed: Passed, act: Activation) -> Value:
    refuse_when_closing(act, target)
    request = request_for(job, passed, passed.modifiers.get("model"), act)
    callee = act.unit.run.wiring.default()
    return await ask_role(
        Asking(node=node, target=target, callee=callee, request=request, **tries(passed.modifiers)), act
    )


async def _passed(node: Session | Ask, before: Collection[Argument], act: Activation) -> Passed:
    """A session's modifiers and context. Properties that nobody knows are data of the program, told to nobody."""
    passed = await gather([arg for arg in node.args if arg.name != "context"], [], act)
    passed.inputs = await _context([*before, *node.args], act)
    if node.prompt is not None:
        passed.modifiers["prompt"] = await evaluate(node.prompt, act)
    return passed


async def _context(args: Collection[Argument], act: Activation) -> dict[str, Value]:
    """``context: x``, ``context: [a, b]``, ``context: { a, b }``: values by the names they were given."""
    found: dict[str, Value] = {}
    number = 0
    for argument in args:
        if argument.name != "context":
            continue
        if isinstance(argument.value, ObjectExpr):
            found.update(await evaluate(argument.value, act))
            continue
        parts = argument.value.items if isinstance(argument.value, ListExpr) else (argument.value,)
        for part in parts:
            number += 1
            name = part.id if isinstance(part, Name) else _free(f"context_{number}", found)
            found[name] = await evaluate(part, act)
    return {name: snapshot(value) for name, value in found.items()}


def _free(name: str, taken: Collection[str]) -> str:
    """The name, or with the first number that makes it another one than those taken."""
    number, found = 2, name
    while found in taken:
        number, found = number + 1, f"{name}_{number}"
    return found


# memory beyond a run


async def recall(act: Activation) -> None:
    """At the start of a program, read what its agents remember of earlier runs. It becomes part of the record."""
    unit = act.unit
    for name, agent in unit.program.agents.items():
        store = unit.run.wiring.memory(kept_as(agent) or "run", name)
        if store is not None:
            found = await unit.run.host.witness(act.at(f"memory {name}").path, store.recall)
            act.frame.memory.start(name, found["exchanges"])
            unit.memories[name] = (store, found["id"])


async def _write_down(agent: str, exchange: dict[str, Any], act: Activation) -> None:
    kept = act.unit.memories.get(agent)
    if kept is None:
        return
    store, key = kept

    async def write() -> bool:
        await store.remember(exchange, f"{key} {act.path}")
        return True

    await act.unit.run.host.witness(f"{act.path}/remembered", write)


# people and effects


@expression(Ask)
async def ask(node: Ask, act: Activation) -> Value:
    """``ask "text"`` and ``gate name: "text"``: a person answers.

    Raises:
        Thrown: The answer to a gate refuses, and nothing in the program reads it (kind ``refused``).
    """
    with Bracket(act, node, "ask") as inner:
        passed = await _passed(node, [], inner)
        options = next((arg.value for arg in node.args if arg.name == "options"), None)
        if options is not None:
            passed.inputs["options"] = snapshot(await evaluate(options, inner))
        refuse_when_closing(inner, "human")
        person = Resolved(act.unit.run.wiring.person(), "human")
        value = await hand_over(node, person, passed, inner)
        gate = act.unit.program.closed_gates.get(node)
        if gate is not None and _refuses(value):
            where = act.unit.program.where(node.span)
            error = Thrown(f"the gate `{gate}` was not passed: {to_text(value)}", value, where=where, step=inner.path)
            error.kind = REFUSED
            raise error
        return value


def _refuses(value: Value) -> bool:
    """Whether an answer begins with a word of refusal."""
    if isinstance(value, bool):
        return not value
    words = to_text(value).lower().replace(",", " ").replace(".", " ").replace("!", " ").split()
    return bool(words) and (words[0] in NEGATIVE or words[0].removesuffix("ed") in NEGATIVE)


@expression(Effect)
async def effect(node: Effect, act: Activation) -> Value:
    """``escalate topic``: the service of that name receives the words and the values that they name."""
    with Bracket(act, node, "effect") as inner:
        refuse_when_closing(inner, node.name)
        visible = frozenset(act.frame.names)
        passed = await gather(node.args, [], inner)
        passed.inputs = {**named_values(node.text, act, visible, strictly=True), **passed.inputs}
        passed.modifiers.setdefault("prompt", filled(f"{node.name} {node.text}", act, visible))
        handler = act.unit.run.wiring.configured(node.name)
        assert handler is not None, "the checker refuses effects without a handler"
        return await hand_over(node, Resolved(handler, node.name), passed, inner)


@expression(Discretion)
async def question(node: Discretion, act: Activation) -> Value:
    """``**question**`` as a value: the default service answers it from the values that it names."""
    with Bracket(act, node, "question") as inner:
        refuse_when_closing(inner, "question")
        visible = frozenset(act.frame.names)
        request = Request(prompt=node.text, inputs=named_values(node.text, act, visible))
        callee = act.unit.run.wiring.default()
        return await ask_role(Asking(node=node, target="session", callee=callee, request=request), inner)
