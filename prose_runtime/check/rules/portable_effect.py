"""An act that is named in words.

What it does
    Reports a line such as `escalate report to the owner`, even when a service of that name is configured for it.

Why
    The published grammar has no such statements. A `call` says what happens and what is passed.

Example
    ```prose
    escalate report to the owner
    ```

Use instead
    ```prose
    call escalate
      report: report
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """Effects that have a handler; the others are errors of their own."""
    for node in facts.all(n.Effect):
        if node in facts.targets:
            message = f"`{node.name}` in words is not portable"
            yield Finding(node.name_span, message, "declare a slot of that name, and `call` it with its inputs below")


RULE = Rule("portable-effect", "warning", find, __doc__)
