"""One role's answer: attempts, backoff, the demanded shape with its one repair, promises (LANGUAGE.md section 4)."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any, Literal

from prose_runtime.check.declared import error_names
from prose_runtime.check.shapes import schema as schema_of
from prose_runtime.check.shapes import with_declared
from prose_runtime.check.tables import Demand
from prose_runtime.errors import ContractError, ProseError, ServiceError
from prose_runtime.events import CallFinished, CallRetry, CallStarted, CallText
from prose_runtime.nodes import Node, Slot, Spec
from prose_runtime.runtime import judge
from prose_runtime.runtime.core import Activation
from prose_runtime.runtime.declared_errors import raised, with_error
from prose_runtime.runtime.failures import as_value
from prose_runtime.runtime.fit import fit
from prose_runtime.runtime.program import Expected
from prose_runtime.runtime.unit import ServiceCallee
from prose_runtime.services.api import Reply, Request
from prose_runtime.services.retrying import spent
from prose_runtime.values import NO_USAGE, ErrorValue, Value, to_json

BASE_DELAY = 1.0


@dataclass(slots=True)
class Asking:
    """A call that goes to a service.

    ``slot`` and ``spec`` are what declares the answer's structure. ``attempts`` counts requests so far; retries and
    the repair each make a new one, with a ``step`` of its own.
    """

    node: Node
    target: str
    callee: ServiceCallee
    request: Request
    slot: Slot | None = None
    spec: Spec | None = None
    retries: int = 0
    backoff: Literal["none", "linear", "exponential"] = "none"
    attempts: int = 0
    step: str = ""


async def ask_role(asking: Asking, act: Activation) -> Value:
    """Ask until there is an answer of the demanded shape.

    Raises:
        ServiceError: The service failed, also when tried again as often as the call says, or its reply is an error
            that the function declares.
        ContractError: The answer lacks what the program reads (kind ``shape``), or what the target declares
            (kind ``contract``), also after one repair.
    """
    expected = _expected(asking, act)
    asking.request = asking.request.with_(
        schema=expected.schema,
        target=asking.target,
        line=expected.where.line,
        retries=0 if asking.retries else None,  # the call's own take the place of the service's
        on_text=lambda text: act.emit(CallText(asking.step, text)),
        on_retry=lambda n, seconds, reason: act.emit(CallRetry(asking.step, n, seconds, reason)),
        **act.unit.run.told(asking.callee.additions),
    )
    reply = await _attempt(asking, expected, act)
    fitted = fit(reply.value, expected.wanted)
    if fitted.faults:
        rejected = reply.value if isinstance(reply.value, str) else json.dumps(reply.value, ensure_ascii=False)
        asking.request = asking.request.with_(rejected=rejected, fault="; ".join(fitted.faults))
        reply = await _attempt(asking, expected, act)
        fitted = fit(reply.value, expected.wanted)
    if fitted.faults:
        raise _unmet(asking, fitted.faults, bool(fit(reply.value, expected.demand).faults), act)
    if act.unit.run.contracts == "judge" and asking.slot:
        await _judge_promises(asking, fitted.value, act)
    return fitted.value


def _expected(asking: Asking, act: Activation) -> Expected:
    contracts = act.unit.run.contracts != "off"
    known, key = act.unit.program.expected, (asking.node, asking.slot, asking.spec, contracts)
    if key not in known:
        demand = act.unit.program.analysis.demands.get(asking.node) or Demand(whole=True)
        returns = asking.spec.returns if asking.spec else None
        wanted = with_declared(demand, returns, asking.slot) if contracts else demand
        errors = error_names(asking.spec)
        where = act.unit.program.where(asking.node.span)
        known[key] = Expected(demand, wanted, with_error(schema_of(wanted), errors), errors, where)
    return known[key]


def _unmet(asking: Asking, faults: tuple[str, ...], demanded: bool, act: Activation) -> ContractError:
    where = act.unit.program.where(asking.node.span)
    message = (
        f"{asking.callee.name} did not give what line {where.line} needs from `{asking.target}`, "
        f"also when asked again: {'; '.join(faults)}"
    )
    kind = "shape" if demanded else "contract"
    return ContractError(message, kind=kind, where=where, step=act.path)


async def _attempt(asking: Asking, expected: Expected, act: Activation) -> Reply:
    """One answer, with as many retries as the call allows."""
    failures = 0
    while True:
        try:
            return await _request(asking, expected, act)
        except ServiceError as error:
            failures += 1
            if failures > asking.retries or not error.retryable:
                raise
            delay = max(_delay(asking.backoff, failures), error.retry_after or 0.0)
            act.emit(CallRetry(act.path, failures, delay, error.message))
            if delay:
                await act.unit.run.host.sleep(f"{act.path}#{asking.attempts}", delay)


def _delay(backoff: str, failures: int) -> float:
    if backoff == "linear":
        return BASE_DELAY * failures
    return BASE_DELAY * 2.0 ** (failures - 1) if backoff == "exponential" else 0.0


async def _request(asking: Asking, expected: Expected, act: Activation) -> Reply:
    """One request to the service: an entry of the run's calls."""
    asking.attempts += 1
    step = asking.step = act.path if asking.attempts == 1 else f"{act.path}#{asking.attempts}"
    request, where = asking.request, expected.where
    inputs: dict[str, Any] = dict(request.inputs)
    act.emit(CallStarted(step, asking.target, asking.callee.name, inputs, request.prompt, where, asking.attempts))
    try:
        reply = await act.unit.run.host.ask(step, asking.callee.service, request)
        _raise_declared(reply, expected, asking)
    except ProseError as error:
        _place(error, asking, where, step)
        usage = spent(error) if isinstance(error, ServiceError) else NO_USAGE
        act.emit(CallFinished(step, error=as_value(error).as_json(), usage=usage))
        raise
    except asyncio.CancelledError:
        act.emit(CallFinished(step, error=ErrorValue("cancelled", "cancelled", asking.callee.name).as_json()))
        raise
    act.emit(CallFinished(step, output=to_json(reply.value), usage=reply.usage, recorded=reply.recorded))
    return reply


def _raise_declared(reply: Reply, expected: Expected, asking: Asking) -> None:
    found = raised(reply.value, expected.errors)
    if found is not None:
        name, message = found
        raise ServiceError(message, kind=name, service=asking.callee.name)


def _place(error: ProseError, asking: Asking, where: Any, step: str) -> None:
    error.where = error.where or where
    error.step = error.step or step
    if isinstance(error, ServiceError) and error.service is None:
        error.service = asking.callee.name


async def _judge_promises(asking: Asking, value: Value, act: Activation) -> None:
    """``--contracts judge``: the judge reads each promise in prose beside the answer."""
    assert asking.slot is not None
    where = act.unit.program.where(asking.node.span)
    for i, promise in enumerate(asking.slot.ensures, 1):
        if promise.names:
            continue
        here = act.at(f"promise~{i}")
        held, reason = await judge.verdict(
            f"the answer keeps this promise: {promise.text}", {"answer": to_json(value)}, here, where
        )
        if not held:
            message = f"`{asking.target}` promises {promise.text!r}, which its answer does not keep"
            raise ContractError(f"{message}: {reason or 'no reason given'}", where=where, step=act.path)
