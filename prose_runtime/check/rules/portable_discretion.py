"""A question in stars as a value.

What it does
    Reports `**question**` where a value stands. The default service answers it.

Why
    In the published grammar such a question is a condition. As a value it is a call of the default service, which a
    `session`, or better a `call` of a slot, says openly.

Example
    ```prose
    let topic = **what should come next?**
    ```

Use instead
    ```prose
    let topic = call planner
      task_brief: task_brief
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """Discretions as values."""
    for node in facts.all(n.Discretion):
        help_ = 'ask with `session "question"`, or `call` a slot with what it needs to know'
        yield Finding(facts.first_line(node.span), "a question in stars as a value is not portable", help_)


RULE = Rule("portable-discretion", "warning", find, __doc__)
