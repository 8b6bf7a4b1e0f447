"""Contracts around calls and results (LANGUAGE.md section 4, Contracts)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from prose_runtime.errors import ContractError
from prose_runtime.nodes import ObjectExpr, Parameter, Return, Returns, Slot, Spec
from prose_runtime.runtime.program import Program
from prose_runtime.text import Where
from prose_runtime.values import Value

_WORD = re.compile(r"[A-Za-z_$][\w$]*")


def check_requires(slot: Slot, inputs: Mapping[str, Value], optional: Collection[str], where: Where, step: str) -> None:
    """Every required item of a slot is passed and not null.

    Raises:
        ContractError: One is missing; all of them are named.
    """
    if not slot.requires:
        return
    given = {plain(name) for name, value in inputs.items() if value is not None}
    spared = {plain(name) for name in optional}
    missing = [
        item.name
        for item in slot.requires
        if item.name and not item.optional and plain(item.name) not in given | spared
    ]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        message = f"`{slot.name}` requires {names}, which this call does not pass or passes as null"
        raise ContractError(message, where=where, step=step, help=f"pass {names}, or mark it optional in the slot")


def check_parameters(name: str, parameters: Mapping[str, Parameter], inputs: Mapping[str, Value]) -> None:
    """Every required parameter of a spec that a program calls is passed and not null.

    Raises:
        ContractError: One is missing; all of them are named.
    """
    missing = [p.name for p in parameters.values() if not (p.optional or p.has_default) and inputs.get(p.name) is None]
    if missing:
        names = ", ".join(f"`{item}`" for item in missing)
        raise ContractError(f"`{name}` requires {names}, which this call does not pass or passes as null")


def plain(name: str) -> str:
    """A name as it is compared: ``quality-bar`` and ``quality_bar`` are the same input."""
    return name.replace("-", "_").lower()


def bare(returns: Returns | None, value: Value) -> Value:
    """The result as it is handed on: with exactly one declared output, an object of just that is its value."""
    if returns and len(returns.outputs) == 1 and isinstance(value, dict) and list(value) == [returns.outputs[0].name]:
        return value[returns.outputs[0].name]
    return value


def check_returns(program: Program, value: Value) -> None:
    """At the end Returns holds: a declared output that no ``return`` delivers is a breach.

    Raises:
        ContractError: Such an output is missing in the result.
    """
    spec = program.spec
    if not spec.returns or len(spec.returns.outputs) < 2:
        return
    delivered, dynamic = delivered_names(spec)
    held = set(value) if isinstance(value, dict) else set()
    missing = [o.name for o in spec.returns.outputs if not o.optional and o.name not in delivered | held]
    if missing and not (dynamic and isinstance(value, dict) and not delivered):
        names = ", ".join(f"`{name}`" for name in missing)
        message = f"{spec.name} declares {names} under Returns, but no `return` delivers it"
        raise ContractError(
            message, where=program.where(spec.returns.span), help="return it, or take it out of Returns"
        )


def delivered_names(spec: Spec) -> tuple[set[str], bool]:
    """The names that return statements spell out, and whether some return gives a value that is not spelled out.

    JavaScript may deliver every name that stands in it.
    """
    if spec.javascript is not None:
        return {"result", *_WORD.findall(spec.source.text[slice(*spec.javascript.content)])}, False
    delivered: set[str] = set()
    dynamic = False
    for value in _returned(spec):
        if isinstance(value, ObjectExpr):
            delivered |= {entry.key for entry in value.entries}
        else:
            dynamic = True
    return delivered, dynamic


def _returned(spec: Spec) -> Iterator[Any]:
    for node in spec.body.walk() if spec.body else ():
        if isinstance(node, Return):
            yield node.value
