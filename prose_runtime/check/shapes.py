"""Demanded shapes: what a program does with each result, as a demand and as JSON Schema (LANGUAGE.md section 4)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, Literal

from prose_runtime import nodes as n
from prose_runtime.check.conditions import bearing
from prose_runtime.check.demand import Facts
from prose_runtime.check.demand_flow import Program
from prose_runtime.check.kinds import bound_names, kinds_of_names
from prose_runtime.check.tables import Demand, Target
from prose_runtime.check.uses import Use, demand_of, maybe
from prose_runtime.records import dataclass
from prose_runtime.syntax.config_values import ValueType, read_type

Form = Literal["object", "list", "number", "text"]

TEXT = "text"
"""The field beside the others for a value that is also used whole."""


@dataclass(frozen=True, slots=True)
class Shapes:
    """The demands on what calls, sessions, ``do`` and discretions give, and the readers of an only declared output.

    ``itself`` holds Field nodes and the Names of a Destructure that read the only declared output of a call; ``uses``
    is what the demands were made of: it knows the nodes that read each field.
    """

    demands: dict[n.Node, Demand]
    itself: frozenset[n.Node]
    uses: Mapping[n.Node, Use]


def shapes(
    spec: n.Spec, inputs: Collection[str], targets: Mapping[n.Node, Target], collected: frozenset[n.Node]
) -> Shapes:
    """What the body of a spec does with each value that it gets from outside.

    ``inputs`` are its inputs by name, ``targets`` what it calls, ``collected`` the loops and blocks in value
    position.
    What targets declare is not part of it, as a slot's binding is known only later: see ``with_declared``.
    """
    if spec.body is None:
        return Shapes({}, frozenset(), {})
    bound = bound_names(spec.body)
    declared: tuple[Any, ...] = (*spec.slots, *spec.config, *spec.components, *spec.instances)
    names = {"config", *inputs, *bound, *(item.name for item in declared if item.name)}
    facts = Facts(spec, targets, collected, names, bound, kinds_of_names(spec))
    found, settled = Program(facts).run()
    uses = found.uses if settled else {node: maybe(use) for node, use in found.uses.items()}
    return Shapes({node: demand_of(use) for node, use in uses.items()}, frozenset(found.itself), uses)


def declared(of: Target | n.Slot | n.Spec | n.Returns | None) -> dict[str, bool]:
    """The fields that a target, slot or spec declares, in order, and whether each is required.

    Returns declares a structure with two or more outputs, a slot's ``ensures`` with two or more names in one sentence.
    """
    if isinstance(of, Target):
        return {**declared(of.slot), **declared(of.spec)}
    if isinstance(of, n.Slot):
        return {name: True for promise in of.ensures if len(promise.names) > 1 for name in promise.names}
    returns = of.returns if isinstance(of, n.Spec) else of
    outputs = returns.outputs if returns else ()
    return {output.name: not output.optional for output in outputs} if len(outputs) > 1 else {}


def with_declared(demand: Demand | None, returns: n.Returns | None, slot: n.Slot | None) -> Demand:
    """The demand on a result together with what its target declares.

    Declared outputs are the whole of the value: nothing asks for a ``text`` beside them. Optional ones that the
    program does not read are asked for, never demanded. An only declared output is noted as ``bare``. What a slot
    ensures as optional is not demanded even where the program reads it: there it is null.
    """
    only = returns.outputs[0].name if returns and len(returns.outputs) == 1 else None
    merged = replace(demand or Demand(), bare=only)
    merged.required = merged.required - spared(slot)
    fields = {**declared(slot), **declared(returns)}
    if not fields:
        return _typed(merged, slot)
    merged = _borne(merged, fields)
    optional = {name for name, needed in fields.items() if not needed and name not in merged.fields}
    needed = {name for name, needed in fields.items() if needed}
    whole = replace(
        merged,
        fields={**merged.fields, **{name: Demand() for name in fields if name not in merged.fields}},
        required=merged.required | needed,
        mentioned=(merged.mentioned - needed) | optional,
        whole=False,
    )
    return _typed(whole, slot)


def _typed(demand: Demand, slot: n.Slot | None) -> Demand:
    """With the types that a slot's ``ensures`` gives to fields, where the program shows no structure of its own."""
    types = {name: spelled for promise in slot.ensures for name, spelled in promise.types.items()} if slot else {}
    hints = {name: _schema_of(read_type(spelled)) for name, spelled in types.items() if name in demand.fields}
    plain = {name: hint for name, hint in hints.items() if hint and not demand.fields[name].structured}
    return replace(demand, hints={**demand.hints, **plain})


def _schema_of(kind: ValueType) -> dict[str, object]:
    """The JSON Schema of a type; nothing where any value will do."""
    if kind.kind == "enum":
        return {"enum": list(kind.options)}
    if kind.kind == "array":
        return {"type": "array", **({"items": _schema_of(kind.item)} if kind.item else {})}
    return {"type": kind.kind} if kind.kind in _JSON_TYPES else {}


_JSON_TYPES = ("string", "integer", "number", "boolean", "object")


_OPTIONAL = re.compile(r"\boptional(?:ly)?\s+`?([A-Za-z_][\w-]*)`?")


def spared(slot: n.Slot | None) -> set[str]:
    """The fields that a slot ensures as optional: ``ensures: `score`, optional `feedback```."""
    return {name for promise in slot.ensures for name in _OPTIONAL.findall(promise.text)} if slot else set()


def _borne(demand: Demand, declared: Collection[str]) -> Demand:
    """Without the fields that conditions ask for although a declared one tells the same: that one takes their hint.

    ``if review accepts`` asks for ``accepted``, and ``if ruling says abort`` for ``ruling``; where ``approved`` or
    ``decision`` is declared, a second field would only invite a contradiction.
    """
    instead = {
        name: bearing(name, hint, declared)
        for name, hint in demand.hints.items()
        if name in demand.mentioned and name not in declared
    }
    spared = {name for name, bearer in instead.items() if bearer is not None}
    hints = {name: hint for name, hint in demand.hints.items() if name not in spared}
    for name, bearer in instead.items():
        if bearer is not None and not demand.fields.get(bearer, Demand()).structured:
            hints.setdefault(bearer, demand.hints[name])
    return replace(
        demand,
        fields={name: inner for name, inner in demand.fields.items() if name not in spared},
        required=demand.required - spared,
        mentioned=demand.mentioned - spared,
        hints=hints,
    )


def form(demand: Demand) -> Form:
    """What a value has to be: fields that are read ask for an object, those that are only mentioned give way."""
    if demand.keyed or any(name not in demand.mentioned for name in demand.fields):
        return "object"
    if demand.items is not None:
        return "list"
    return "number" if demand.number else "object" if demand.fields else "text"


def schema(demand: Demand) -> dict[str, Any] | None:
    """The open JSON Schema of a demand, or None when text is due.

    A list or number stands bare; providers that take objects only wrap it (``services.shaping``).
    """
    return _schema(demand) if demand.structured else None


def _schema(demand: Demand) -> dict[str, Any]:
    kind = form(demand)
    if kind == "number":
        return {"type": "number"}
    if kind == "list":
        return {"type": "array", "items": _schema(demand.items or Demand())}
    if kind == "text":
        return {}
    properties = {name: _property(demand, name) for name in demand.fields}
    if demand.whole:
        properties.setdefault(TEXT, {"type": "string"})
    required = [name for name in demand.fields if name in demand.required]
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _property(demand: Demand, name: str) -> dict[str, Any]:
    return deepcopy(demand.hints[name]) if demand.hints.get(name) else _schema(demand.fields[name])
