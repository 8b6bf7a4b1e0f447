"""A field or element of something that has none.

What it does
    Reports `x.field` and `x[i]` where `x` is certainly a number or a boolean, and `x.field` where it is a list.

Why
    The result is always null.

Example
    ```prose
    let drafts = [one, two]
    emit drafts.text
    ```

Use instead
    ```prose
    emit drafts[0].text
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.types import types_of


def find(facts: Facts) -> Iterator[Finding]:
    """Members of values without members."""
    types = facts.shared(types_of)
    for node in facts.all(n.Field, n.Index):
        kind = types.of(node.object)
        if isinstance(node, n.Index):
            if kind in ("number", "boolean"):
                yield Finding(node.span, f"a {kind} has no elements, so this is always null")
        elif node.name != "length" and kind in ("number", "boolean", "list"):
            help_ = "take one of its elements first: `[0]`, or a loop" if kind == "list" else None
            yield Finding(node.name_span, f"a {kind} has no field `{node.name}`, so this is always null", help_)


RULE = Rule("member-of-plain-value", "warning", find, __doc__)
