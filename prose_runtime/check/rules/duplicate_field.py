"""One field of an object twice.

What it does
    Reports a key that an object has twice, and a name that stands twice in `let { ... } =` or among the parameters of
    a block.

Why
    The second takes the place of the first, whose value is lost.

Example
    ```prose
    return { result: draft, result: review }
    ```

Use instead
    ```prose
    return { result: draft, review: review }
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import Secondary
from prose_runtime.text import Span


def find(facts: Facts) -> Iterator[Finding]:
    """Keys, names and parameters that were there before."""
    for node in facts.all(n.ObjectExpr, n.Destructure, n.BlockDef):
        first: dict[str, Span] = {}
        for name, span in _names(node, facts):
            if name in first:
                where = Secondary(first[name], "first given here")
                yield Finding(span, f"`{name}` is given twice", "keep one of them, or give one another name", (where,))
            first.setdefault(name, span)


def _names(node: n.ObjectExpr | n.Destructure | n.BlockDef, facts: Facts) -> Iterator[tuple[str, Span]]:
    if isinstance(node, n.ObjectExpr):
        yield from ((entry.key, facts.word(entry.span, entry.key)) for entry in node.entries)
    else:
        names = node.names if isinstance(node, n.Destructure) else node.params
        yield from ((name.id, name.span) for name in names)


RULE = Rule("duplicate-field", "error", find, __doc__)
