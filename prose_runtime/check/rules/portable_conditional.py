"""A value that depends on a condition, in one line.

What it does
    Reports `x if C else y` and `if C then x else y`.

Why
    Both are outside the published grammar. `x or default` and `if` blocks are portable.

Example
    ```prose
    let tone = "short" if rounds > 2 else "long"
    ```

Use instead
    ```prose
    let tone = "long"
    if rounds > 2:
      tone = "short"
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.portable import outermost, outside_conditions
from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """Conditional expressions, the outermost ones."""
    for node in outermost(outside_conditions(facts.all(n.Conditional), facts)):
        help_ = "bind the value in the branches of an `if`"
        yield Finding(facts.first_line(node.span), "a conditional expression is not portable", help_)


RULE = Rule("portable-conditional", "warning", find, __doc__)
