"""What a proof does not follow: a program that does one of these has its invariants watched instead of proved."""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts

_ALIASES = (n.Name, n.Field, n.Index)
_TAKES_APART = frozenset({"keys", "values"})


def doubt(facts: Facts) -> str | None:
    """Why nothing is proved of a program, or None: lists and objects with two names, or as in ``recursion``."""
    if (found := facts.shared(recursion)) is not None:
        return found
    if any(call.name in _TAKES_APART for call in facts.all(n.FunctionCall)):
        return "what keys and values give is not followed before a run"
    if _changed_under_another_name(facts):
        return "a list or object is changed under another name, which is not followed before a run"
    return None


def recursion(facts: Facts) -> str | None:
    """Why nothing is ruled on a program at all, or None: blocks that call themselves."""
    blocks = {node.name.id: node for node in facts.all(n.BlockDef)}
    calls = {name: {called for called in _called(block) if called in blocks} for name, block in blocks.items()}
    for start, first in calls.items():
        seen: set[str] = set()
        waiting = [*first]
        while waiting:
            name = waiting.pop()
            if name == start:
                return "a block calls itself, which is not followed before a run"
            if name not in seen:
                seen.add(name)
                waiting += calls[name]
    return None


def _called(block: n.BlockDef) -> Iterator[str]:
    for node in block.body.walk():
        if isinstance(node, n.DoBlock):
            yield node.block.id
        elif isinstance(node, n.Call) and isinstance(node.target, n.Name):
            yield node.target.id


def _changed_under_another_name(facts: Facts) -> bool:
    """Whether something is added to or assigned in that has, or is, a second name for a value."""
    targets = [node.target for node in facts.all(n.Append)]
    inside = {_root(bind.target) for bind in facts.all(n.Bind) if isinstance(bind.target, n.Field | n.Index)}
    inside |= {_root(target) for target in targets if isinstance(target, n.Field | n.Index)}
    changed = inside | {_root(target) for target in targets}
    if any(loop.var.id in changed for loop in facts.all(n.ForEach)):
        return True
    return any(_is_second_name(bind, changed, inside) for bind in facts.all(n.Bind) if isinstance(bind.value, _ALIASES))


def _is_second_name(bind: n.Bind, changed: set[str | None], inside: set[str | None]) -> bool:
    """Whether a value is changed through the name bound here, or through the one that it had before.

    What is only added to a list or object leaves the elements, which this may be one of, as they are.
    """
    targets = bind.target.names if isinstance(bind.target, n.Destructure) else (bind.target,)
    touched = changed if isinstance(bind.value, n.Name) else inside
    return _root(bind.value) in touched or any(_root(target) in changed for target in targets)


def _root(expr: n.Node) -> str | None:
    while isinstance(expr, n.Field | n.Index):
        expr = expr.object
    return expr.id if isinstance(expr, n.Name) else None
