"""Which names a spec's program mentions at all: in expressions, targets, strings, and plain English."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts
from prose_runtime.diagnostics import near

_WORD = re.compile(r"[A-Za-z_](?:[\w-]*\w)?")


def mentions(facts: Facts) -> set[str] | None:
    """The names that a program reads, or None when the spec has no program that could read any.

    ``config`` is among them when the config is used as a whole.
    """
    return facts.shared(_mentions)


def _mentions(facts: Facts) -> set[str] | None:
    spec = facts.spec
    if spec.javascript is not None:
        return set(_WORD.findall(spec.source.text[slice(*spec.javascript.content)]))
    if spec.body is None:
        return None
    used = {use.name.id for use in facts.scopes.uses} - {"config"}
    used.update(_config_fields(facts), _agents(facts), *(_bound(i.bindings) for i in spec.instances))
    for node in facts.all(n.Invalid, n.Clause, n.Discretion, n.Effect):
        used.update(_WORD.findall(node.text))
    return used | _meant(used, facts)


def _meant(used: set[str], facts: Facts) -> set[str]:
    """Names that a misspelt one stands for: one fault shall not bring forth others."""
    if used.issuperset(facts.scopes.start.keys() - {"config"}):
        return set()
    return {close for name in _wrong(used, facts) for close in near(name, facts.scopes.start)}


def _wrong(used: Iterable[str], facts: Facts) -> set[str]:
    wrong = {missing.name for missing in facts.resolution.unresolved}
    return wrong | {name for name in used if name not in facts.scopes.start and not facts.scopes.bound_anywhere(name)}


def wrong_names(facts: Facts) -> set[str]:
    """The names that are read and that nothing has."""
    return _wrong((use.name.id for use in facts.scopes.uses), facts)


def _config_fields(facts: Facts) -> Iterator[str]:
    """``x`` of each ``config.x``; ``config`` itself where it stands alone."""
    named = set()
    for node in facts.all(n.Field, n.Index):
        if isinstance(node.object, n.Name) and node.object.id == "config":
            named.add(node.object)
            if isinstance(node, n.Field):
                yield node.name
            else:
                yield from _literal(node.index)
    if any(use.name.id == "config" and use.name not in named for use in facts.scopes.uses):
        yield "config"


def _literal(index: n.Expr) -> Iterator[str]:
    text = [part for part in index.parts if isinstance(part, str)] if isinstance(index, n.Template) else []
    yield "".join(text) if text else "config"


def _agents(facts: Facts) -> Iterator[str]:
    for node in facts.all(n.Session):
        if node.agent is not None:
            yield node.agent.id


def _bound(binding: Any) -> set[str]:
    """The names in an instance's bindings."""
    if isinstance(binding, str):
        return {binding}
    if isinstance(binding, n.Instance):
        return _bound(binding.bindings)
    values = binding.values() if hasattr(binding, "values") else binding if isinstance(binding, list | tuple) else ()
    return {name for value in values for name in _bound(value)}


def asks_judge(facts: Facts) -> bool:
    """Whether a judge may have to decide: it gets the spec's own note on what a condition means."""
    return facts.shared(_asks_judge)


def _asks_judge(facts: Facts) -> bool:
    if facts.all(n.Discretion, n.Choice):
        return True
    return any(clause.expr is None or not known(clause, facts) for clause in facts.all(n.Clause))


def known(clause: n.Clause, facts: Facts) -> bool:
    """Whether all names of a clause's expression resolve, so that it is one."""
    visible = facts.scopes.visible.get(clause, frozenset())
    return clause.expr is not None and names_read(clause.expr) <= visible


def names_read(expr: n.Node) -> set[str]:
    """The names that an expression reads, those in its strings left out."""
    if isinstance(expr, n.Name):
        return {expr.id}
    if isinstance(expr, n.Template):
        return set()
    if isinstance(expr, n.Predicate) and expr.op == "has":
        return names_read(expr.subject)
    return {name for child in expr.children() for name in names_read(child)}
