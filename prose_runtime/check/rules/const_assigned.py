"""A constant that gets another value.

What it does
    Reports a binding of a name that a `const` of the same frame bound before.

Why
    `const` promises readers that the name keeps its value.

Example
    ```prose
    const draft = call writer
    draft = call editor
    ```

Use instead
    ```prose
    let draft = call writer
    draft = call editor
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import Secondary
from prose_runtime.nodes import Output


def find(facts: Facts) -> Iterator[Finding]:
    """Bindings behind a ``const`` of the same name and frame."""
    for frame in facts.scopes.all_frames:
        for name, bindings in frame.bindings.items():
            const = next((binding for binding in bindings if binding.kind == "const"), None)
            for other in bindings if const else ():
                published = isinstance(other.node, Output)  # `output c` hands the constant out
                if const is not None and not published and other.span > const.span:
                    where = Secondary(const.span, "the constant")
                    yield Finding(
                        other.span, f"`{name}` is a constant", "bind it with `let`, or choose a new name", (where,)
                    )


RULE = Rule("const-assigned", "error", find, __doc__)
