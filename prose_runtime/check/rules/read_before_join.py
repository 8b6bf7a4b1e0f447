"""The result of a parallel branch that is read before the branches are joined.

What it does
    Reports a name that one branch of a `parallel:` binds and another branch of the same block reads.

Why
    Branches run at once and publish their names at the join. Inside of the block the name is null.

Example
    ```prose
    parallel:
      let facts = call finder
        topic: topic
      let text = call writer
        facts: facts
    ```

Use instead
    ```prose
    let facts = call finder
      topic: topic
    let text = call writer
      facts: facts
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.order import Order
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.rules.used_before_bound import unreached
from prose_runtime.diagnostics import Secondary


def find(facts: Facts) -> Iterator[Finding]:
    """Uses whose value another branch would have to give."""
    if not facts.scopes.published:
        return
    order = facts.shared(Order)
    for use, bindings in facts.shared(unreached):
        other = next((b for b in bindings if order.sibling(b.span, use.name.span)), None)
        if other is not None:
            where = Secondary(other.span, "the branch that binds it")
            message = f"`{use.name.id}` is the result of another branch, and both run at once"
            yield Finding(use.name.span, message, "read it behind the `parallel:` block, or bind it before", (where,))


RULE = Rule("read-before-join", "warning", find, __doc__)
