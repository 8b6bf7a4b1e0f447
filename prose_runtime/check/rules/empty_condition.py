"""A condition without words.

What it does
    Reports a condition that is an empty text.

Why
    It says nothing that could be true.

Example
    ```prose
    if "":
    ```

Use instead
    ```prose
    if draft is present:
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """Conditions and criteria that are blank."""
    for node in facts.all(n.Clause, n.Choice):
        text = node.criteria if isinstance(node, n.Choice) else node.expr
        if isinstance(text, n.Template) and all(isinstance(part, str) and not part.strip() for part in text.parts):
            yield Finding(text.span, "this condition says nothing", "write what has to be true")


RULE = Rule("empty-condition", "error", find, __doc__)
