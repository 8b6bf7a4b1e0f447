"""`throw` without an error, outside of a `catch`.

What it does
    Reports a `throw` that names no error and stands in no `catch` of its program.

Why
    In a `catch`, a bare `throw` raises again what was caught. Elsewhere there is nothing to raise, and whoever sees the
    error learns nothing of what went wrong.

Example
    ```prose
    if draft is absent:
      throw
    ```

Use instead
    ```prose
    if draft is absent:
      throw "the writer gave no draft"
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """Bare throws that no ``catch`` is around; a block may be called from one."""
    around = [node.span for node in facts.all(n.Catch, n.BlockDef)]
    for throw in facts.all(n.Throw):
        if throw.value is None and not any(span.covers(throw.span) for span in around):
            message = "`throw` has nothing to raise here: no error was caught"
            yield Finding(throw.span, message, 'say what went wrong: throw "..."')


RULE = Rule("nothing-to-throw", "warning", find, __doc__)
