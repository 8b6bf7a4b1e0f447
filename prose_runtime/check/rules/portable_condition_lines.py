"""A condition over several lines.

What it does
    Reports a condition that goes on on the next line.

Why
    The published grammar ends a condition at the end of its line.

Example
    ```prose
    if review.score > 3 and
        review.accepted:
    ```

Use instead
    ```prose
    if review.score > 3 and review.accepted:
    ```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import Edit, Fix

_BREAK = re.compile(r"[ \t]*\n\s*")


def find(facts: Facts) -> Iterator[Finding]:
    """Conditions with a line break."""
    for condition in facts.all(n.Condition):
        text = facts.text(condition.span)
        if "\n" not in text:
            continue
        safe = not any(sign in text for sign in ('"', "#", "\\", "*"))
        fix = Fix("Write it on one line", (Edit(condition.span, _BREAK.sub(" ", text)),)) if safe else None
        message = "a condition over several lines is not portable"
        yield Finding(facts.first_line(condition.span), message, "write it on one line", fix=fix)


RULE = Rule("portable-condition-lines", "warning", find, __doc__)
