"""A function that does not exist.

What it does
    Reports `name(...)` where `name` is none of the small functions of the language, and nothing that can be called.

Why
    There is nothing to compute the value with.

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

from prose_runtime.check.resolve import Unresolved
from prose_runtime.check.rule import Facts, Finding, Rule, meant
from prose_runtime.diagnostics import Edit, Fix
from prose_runtime.syntax.expressions import FUNCTIONS

_MEANT = {"length": "len", "count": "len", "size": "len", "concat": "join", "strip": "trim", "truncate": "short"}

_WORDS = {"session": '`session "text"`', "ask": '`ask "text"`', "call": "`call name`", "print": '`emit "text"`'}


def find(facts: Facts) -> Iterator[Finding]:
    """Calls of unknown functions."""
    for missing in facts.resolution.unresolved:
        if looks_like_function(missing, facts):
            help_, fix = _help(missing)
            yield Finding(missing.span, f"there is no function `{missing.name}`", help_, fix=fix)


def looks_like_function(missing: Unresolved, facts: Facts) -> bool:
    """Whether a target that leads nowhere is written as ``name(...)``, without ``call``."""
    text, (start, end) = facts.spec.source.text, missing.span
    bare = text.startswith("(", end) and not text[:start].rstrip(" \t").endswith(("call", "do"))
    return bare and missing.wanted == "target" and missing.reason == "missing"


def _help(missing: Unresolved) -> tuple[str | None, Fix | None]:
    name, span = missing.name, missing.span
    if name in _WORDS:
        return f"write {_WORDS[name]}", None
    if name in _MEANT:
        fix = Fix(f"Write `{_MEANT[name]}`", (Edit(span, _MEANT[name]),), safe=False)
        return f"did you mean `{_MEANT[name]}`?", fix
    return meant(span, name, FUNCTIONS | missing.known, "the functions are " + ", ".join(sorted(FUNCTIONS)))


RULE = Rule("unknown-function", "error", find, __doc__)
