"""A function that does not exist.

What it does
    Reports `name(...)` where `name` is none of the small functions of the language.

Why
    There is nothing to compute the value with. Slots, components and blocks are called with `call` or `do`.

Example
    ```prose
    let n = length(drafts)
    ```

Use instead
    ```prose
    let n = len(drafts)
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule, meant
from prose_runtime.diagnostics import Edit, Fix
from prose_runtime.text import Span

FUNCTIONS = frozenset("len min max sum range join split lower upper trim short round keys values json group".split())
"""The small functions of LANGUAGE.md section 3."""

_MEANT = {"length": "len", "count": "len", "size": "len", "concat": "join", "strip": "trim", "truncate": "short"}


def find(facts: Facts) -> Iterator[Finding]:
    """Calls of unknown functions."""
    for call in facts.all(n.FunctionCall):
        if call.name not in FUNCTIONS:
            help_, fix = _help(call, facts)
            yield Finding(call.name_span, f"there is no function `{call.name}`", help_, fix=fix)


def _help(call: n.FunctionCall, facts: Facts) -> tuple[str | None, Fix | None]:
    name, span = call.name, call.name_span
    declared = facts.scopes.start.get(name)
    if isinstance(declared, n.BlockDef):
        fix = Fix("Write `do`", (Edit(Span(span.start, span.start), "do "),))
        return f"`{name}` is a block: write `do {name}(...)`", fix
    if isinstance(declared, n.Slot | n.Spec | n.Instance | n.Use):
        return f"write `call {name}(...)`", None
    if name in _MEANT:
        fix = Fix(f"Write `{_MEANT[name]}`", (Edit(span, _MEANT[name]),), safe=False)
        return f"did you mean `{_MEANT[name]}`?", fix
    return meant(span, name, FUNCTIONS, "the functions are " + ", ".join(sorted(FUNCTIONS)))


RULE = Rule("unknown-function", "error", find, __doc__)
