"""`let` before a field.

What it does
    Reports `let x.field = E` and `let x[i] = E`. They are read as assignments.

Why
    Only a name can be declared; the assignment of a field has no `let` in the published grammar.

Example
    ```prose
    let report.title = title
    ```

Use instead
    ```prose
    report.title = title
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import Edit, Fix
from prose_runtime.text import Span


def find(facts: Facts) -> Iterator[Finding]:
    """Declarations of fields and elements."""
    for node in facts.all(n.Bind):
        if node.keyword is not None and isinstance(node.target, n.Field | n.Index):
            word = Span(node.span.start, node.span.start + len(node.keyword))
            fix = Fix("Leave the word out", (Edit(Span(node.span.start, node.target.span.start), ""),))
            yield Finding(word, f"`{node.keyword}` before a field is not portable", "leave it out", fix=fix)


RULE = Rule("portable-let-field", "warning", find, __doc__)
