"""Runners of calls: find the target, gather inputs and modifiers, hand over, check what comes back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from prose_runtime.errors import RunFailed, ServiceError
from prose_runtime.nodes import (
    Argument,
    Call,
    DoBlock,
    Expr,
    Name,
    Slot,
    Spec,
)
from prose_runtime.runtime.asking import Asking, ask_role
from prose_runtime.runtime.blocks import run_block
from prose_runtime.runtime.contracts import check_requires, plain
from prose_runtime.runtime.core import Activation, Bracket, evaluate, expression
from prose_runtime.runtime.delegate import run_unit
from prose_runtime.runtime.functions import described
from prose_runtime.runtime.jobs import function_job, function_model, slot_job
from prose_runtime.runtime.unit import Callee, FunctionCallee, ServiceCallee, UnitCallee
from prose_runtime.services.api import Request
from prose_runtime.values import ServiceRef, Value, number, snapshot, to_json, to_text

MODIFIERS = frozenset({"model", "retry", "backoff", "prompt"})


@dataclass(slots=True)
class Resolved:
    """A call's target: who answers, under which name it is reported, and the slot whose contract holds."""

    callee: Callee
    name: str
    slot: Slot | None = None


@dataclass(slots=True)
class Passed:
    """What a call passes: inputs in order, and modifiers by name."""

    inputs: dict[str, Value] = field(default_factory=dict)
    modifiers: dict[str, Value] = field(default_factory=dict)


@expression(Call)
async def call(node: Call, act: Activation) -> Value:
    """``call target``."""
    target = act.unit.program.analysis.targets.get(node)
    if target is not None and target.kind == "block":
        return await _call_block(node, target.name, act)
    with Bracket(act, node, "call") as inner:
        resolved = await resolve(node, node, inner)
        passed = await _gather(node, _declared(resolved), inner)
        refuse_when_closing(inner, resolved.name)
        return await hand_over(node, resolved, passed, inner)


async def _call_block(node: Call, name: str, act: Activation) -> Value:
    with Bracket(act, node, "call") as inner:
        block = Name(span=node.target.span, id=name)
        return await run_block(DoBlock(span=node.span, block=block, args=node.args), inner)


def refuse_when_closing(act: Activation, name: str) -> None:
    """Let no call go out in the body of a ``finally`` after a limit or a cancellation.

    Raises:
        ServiceError: The run is ending (kind ``cancelled``).
    """
    if act.closing:
        raise ServiceError(f"`{name}` is not called any more: the run is ending", kind="cancelled")


async def resolve(node: Call, key_node: Expr, act: Activation) -> Resolved:
    """LANGUAGE.md section 3, rule 9."""
    unit = act.unit
    target = unit.program.analysis.targets.get(key_node)
    if target is None or target.kind in ("slot", "reference"):
        known = target is not None and target.kind == "slot" and target.name in unit.slots
        value = unit.slots[target.name] if known and target else await evaluate(node.target, act)
        return _by_reference(value, node, act)
    key = target.instance or target.spec
    if key not in unit.callees:
        assert target.spec is not None
        wiring = unit.run.wiring
        if target.instance:
            unit.callees[key] = wiring.instance(unit, target.instance, target.spec)
        else:
            unit.callees[key] = wiring.spec(unit.program, target.spec, target.name)
    return Resolved(unit.callees[key], target.name)


def _by_reference(value: Value, node: Call, act: Activation) -> Resolved:
    if not isinstance(value, ServiceRef):
        what = "is a list of services; call one of them by its index" if isinstance(value, list) else "is no service"
        raise RunFailed(
            f"cannot call {described(value)}: it {what}", kind="value", where=act.unit.program.where(node.target.span)
        )
    slot = act.unit.program.slots.get(value.slot or "")
    return Resolved(value.target, value.slot or value.name, slot)


def _declared(resolved: Resolved) -> list[str]:
    """Input names that the target declares, in their order: positional inputs follow it."""
    if resolved.slot is not None and resolved.slot.requires:
        return [item.name for item in resolved.slot.requires if item.name]
    callee = resolved.callee
    if isinstance(callee, ServiceCallee):
        return []
    inputs = callee.program.analysis.inputs or {p.name: p for p in callee.program.spec.parameters}
    return list(inputs)


async def _gather(node: Call, declared: list[str], act: Activation) -> Passed:
    passed = await gather(node.args, declared, act)
    if node.spread is not None:
        value = await evaluate(node.spread, act)
        if not isinstance(value, dict):
            where = act.unit.program.where(node.spread.span)
            raise RunFailed(f"with needs an object, not {described(value)}", kind="value", where=where)
        passed.inputs.update(snapshot(value))
    return passed


async def gather(args: Collection[Argument], declared: list[str], act: Activation) -> Passed:
    """Evaluate arguments: modifiers apart, unless the target declares an input of that name."""
    passed = Passed()
    positional = iter(declared)
    for i, argument in enumerate(args):
        value = snapshot(await _argument(argument, act))
        name = argument.name or next(positional, None) or f"input_{i + 1}"
        if argument.name in MODIFIERS and plain(name) not in map(plain, declared):
            passed.modifiers[name] = value
        else:
            passed.inputs[name] = value
    return passed


async def _argument(argument: Argument, act: Activation) -> Value:
    """An argument's value; a bare word that names nothing is the name of a model behind ``model:``."""
    if argument.name == "model" and isinstance(argument.value, Name) and argument.value.id not in act.frame.names:
        return argument.value.id
    return await evaluate(argument.value, act)


async def hand_over(node: Expr, resolved: Resolved, passed: Passed, act: Activation) -> Value:
    """Give a target what a call passes, after its contract is checked, and return its answer."""
    unit = act.unit
    where = unit.program.where(node.span)
    if resolved.slot is not None and unit.run.contracts != "off":
        check_requires(resolved.slot, passed.inputs, unit.program.optional, where, act.path)
    callee = resolved.callee
    if isinstance(callee, UnitCallee):
        inputs = dict(passed.inputs)
        if passed.modifiers.get("prompt") is not None:
            inputs.setdefault("prompt", passed.modifiers["prompt"])
        return await run_unit(callee, inputs, unit.run, act.path, unit.depth + 1)
    return await ask_role(_asking(node, resolved, passed, act), act)


def _asking(node: Expr, resolved: Resolved, passed: Passed, act: Activation) -> Asking:
    callee, slot = resolved.callee, resolved.slot
    jobs = [slot_job(act.unit.program.spec, slot)] if slot else []
    spec: Spec | None = None
    model: Any = passed.modifiers.get("model")
    if isinstance(callee, FunctionCallee):
        spec = callee.program.spec
        jobs.insert(0, function_job(spec, act.unit.run.wiring.skills(spec)))
        model = model or function_model(spec)
        callee = callee.model
    assert isinstance(callee, ServiceCallee)
    return Asking(
        node=node,
        target=resolved.name,
        callee=callee,
        slot=slot,
        spec=spec,
        request=request_for("\n".join(job for job in jobs if job), passed, model, act),
        **(tries(passed.modifiers) if passed.modifiers else {}),
    )


def request_for(job: str, passed: Passed, model: Value, act: Activation) -> Request:
    """What a service is told: a job, the inputs, the prompt, and the model that the call names."""
    prompt = passed.modifiers.get("prompt")
    return Request(
        job=job,
        inputs=to_json(passed.inputs),
        prompt=None if prompt is None else to_text(prompt),
        model=None if model is None else act.unit.run.wiring.model(to_text(model)),
    )


def tries(modifiers: Mapping[str, Value]) -> dict[str, Any]:
    """How often and after how long a failed call is tried again."""
    retries = number(modifiers.get("retry"))
    backoff = to_text(modifiers.get("backoff"))
    return {
        "retries": max(0, int(retries or 0)),
        "backoff": backoff if backoff in ("linear", "exponential") else "none",
    }
