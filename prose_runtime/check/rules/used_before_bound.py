"""A name that is read before anything can have bound it.

What it does
    Reports a name that only gets a value further down, or in another branch of the same `if`.

Why
    A name that no executed path has bound is null: nothing is passed, and nobody is told.

Example
    ```prose
    emit "starting from {draft}"
    let draft = call writer
    ```

Use instead
    ```prose
    let draft = call writer
    emit "starting from {draft}"
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.mentions import known
from prose_runtime.check.order import Order
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.scope import Binding, Use
from prose_runtime.diagnostics import Secondary

ASKING = frozenset({"present", "absent", "null", "empty"})
"""The predicates that ask whether a value is there."""


def find(facts: Facts) -> Iterator[Finding]:
    """Uses that no binding reaches."""
    order = facts.shared(Order)
    for use, bindings in facts.shared(unreached):
        if any(order.sibling(b.span, use.name.span) for b in bindings):
            continue
        where = Secondary(bindings[0].span, "bound here")
        message = f"`{use.name.id}` has no value yet: nothing before this binds it"
        yield Finding(use.name.span, message, "bind it first: `let " + use.name.id + " = null`", (where,))


def unreached(facts: Facts) -> list[tuple[Use, list[Binding]]]:
    """Uses of names that are bound in their frames, but nowhere from where the value could come, with the bindings."""
    order = facts.shared(Order)
    found = []
    for use in facts.scopes.uses:
        if use.kind in ("word", "target") or use.name.id in facts.scopes.start:
            continue
        bindings = order.bindings(use)
        if not bindings or any(order.reaches(binding, use.name.span) for binding in bindings):
            continue
        if use.kind != "clause" or _read(use, facts):
            found.append((use, bindings))
    return found


def _read(use: Use, facts: Facts) -> bool:
    """Whether a name in a condition is part of an expression, which does not ask whether it is there."""
    for clause in facts.all(n.Clause):
        if clause.span.covers(use.name.span):
            asked = {p.subject for p in clause.walk() if isinstance(p, n.Predicate) and p.op in ASKING}
            return known(clause, facts) and use.name not in asked
    return False


RULE = Rule("used-before-bound", "warning", find, __doc__)
