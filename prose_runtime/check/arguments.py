"""What a call passes, and what the called side takes (LANGUAGE.md section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts
from prose_runtime.check.scope import required_names
from prose_runtime.check.tables import Target
from prose_runtime.records import dataclass

MODIFIERS = frozenset({"model", "retry", "backoff", "prompt"})
"""Argument names that steer the call itself, unless the target declares an input of that name."""


@dataclass(slots=True)
class Signature:
    """What a target takes.

    Attributes:
        names: All inputs that it knows, in the order in which positional arguments fill them.
        needed: Those that must be there.
        closed: Whether any other input is certainly of no use to it.
        spreads: Whether an unknown object fills inputs by its field names.
        extra: Further names that it takes, but not by position.
    """

    names: list[str] = field(default_factory=list)
    needed: list[str] = field(default_factory=list)
    closed: bool = False
    spreads: bool = False
    extra: frozenset[str] = frozenset()


def signature(target: Target, facts: Facts) -> Signature | None:
    """The inputs of a target, or None when nothing is known of them."""
    if target.slot is not None:
        return _of_slot(target.slot, facts)
    if target.kind == "block":
        return _of_block(target.name, facts)
    return _of_spec(target.spec, facts) if target.spec is not None else None


def _of_slot(slot: n.Slot, facts: Facts) -> Signature:
    closed = bool(slot.requires) and all(item.name for item in slot.requires)
    needed = [
        item.name for item in slot.requires if item.name and not item.optional and not _optional(item.name, facts)
    ]
    return Signature(list(required_names(slot)), needed, closed)


def _optional(name: str, facts: Facts) -> bool:
    """Whether a name is an optional input or config, which may be absent from a call."""
    row = facts.scopes.inputs.get(name)
    item = next((item for item in facts.spec.config if item.name == name), None)
    return bool((row and row.optional) or (item and item.optional))


def _of_block(name: str, facts: Facts) -> Signature | None:
    definition = facts.scopes.start.get(name)
    if not isinstance(definition, n.BlockDef):
        return None
    names = [parameter.id for parameter in definition.params]
    settled = set(_defaulted(definition.body))
    return Signature(names, [name for name in names if name not in settled], closed=True)


def _defaulted(body: n.Block) -> Iterator[str]:
    """The names that a body begins with giving a value when they are absent."""
    for statement in body.statements:
        value = statement.value if isinstance(statement, n.ExprStatement) else None
        test = value.branches[0].condition.test if isinstance(value, n.If) else None
        expr = test.expr if isinstance(test, n.Clause) else None
        if not isinstance(expr, n.Predicate) or expr.op != "absent" or not isinstance(expr.subject, n.Name):
            return
        yield expr.subject.id


def _of_spec(spec: n.Spec, facts: Facts) -> Signature:
    inputs = facts.inputs_of(spec)
    needed = [name for name, row in inputs.items() if not row.optional and not row.has_default]
    extra = frozenset(item.name for item in spec.config) | frozenset(slot.name for slot in spec.slots)
    return Signature(list(inputs), needed, closed=bool(inputs), spreads=True, extra=extra)


def passed(args: tuple[n.Argument, ...], takes: Signature) -> dict[str, n.Argument]:
    """The inputs that arguments fill, by name; a positional one fills the next name of the target's order."""
    free = iter(takes.names)
    found: dict[str, n.Argument] = {}
    for argument in args:
        name = argument.name if argument.name is not None else next(free, None)
        if name is not None and not (name in MODIFIERS and name not in takes.names):
            found[name] = argument
    return found


def modifiers(name: str, facts: Facts) -> Iterator[n.Argument]:
    """Arguments of this name that steer a call: of agents, of sessions, and of calls whose target has no such input."""
    for call in facts.all(n.Call, n.Session, n.Agent):
        target = facts.targets.get(call) if isinstance(call, n.Call) else None
        takes = signature(target, facts) if target else None
        if takes is None or name not in takes.names:
            yield from (argument for argument in call.args if argument.name == name)


def may_spread(argument: n.Argument, takes: Signature) -> bool:
    """Whether an argument of an unknown name can be an object whose fields fill inputs."""
    plain = (n.Template, n.Constant, n.ListExpr, n.Unary)
    return takes.spreads and not isinstance(argument.value, plain)
