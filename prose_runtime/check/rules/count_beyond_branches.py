"""More winners asked for than there are branches.

What it does
    Reports `count: N` of a `parallel ("any")` block with fewer than N branches.

Why
    It can never have enough successes and always fails.

Example
    ```prose
    parallel ("any", count: 3):
      call one
      call two
    ```

Use instead
    ```prose
    parallel ("any", count: 2):
      call one
      call two
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """Counts larger than the number of branches."""
    for node in facts.all(n.Parallel):
        count = node.options.count
        branches = len(node.body.statements)
        if isinstance(count, n.Constant) and isinstance(count.value, int) and count.value > branches:
            message = f"{count.value} successes are asked for, and there are {branches} branches"
            yield Finding(count.span, message, f"ask for at most {branches}, or add branches")


RULE = Rule("count-beyond-branches", "error", find, __doc__)
