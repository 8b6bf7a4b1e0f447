"""An output that is published again.

What it does
    Reports a second `output` of one name behind the first, in the same block of statements.

Why
    The second replaces the first: what was published before is in no result.

Example
    ```prose
    output draft = session "Draft"
    output draft = session "Polish"
    ```

Use instead
    ```prose
    let first = session "Draft"
    output draft = session "Polish"
      context: first
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import Secondary


def find(facts: Facts) -> Iterator[Finding]:
    """Outputs behind one of the same name."""
    branches = {node.body for node in facts.all(n.Parallel)}
    for block in facts.all(n.Block):
        first: dict[str, n.Output] = {}
        for statement in block.statements if block not in branches else ():
            if isinstance(statement, n.Output):
                known = first.setdefault(statement.name.id, statement)
                if known is not statement:
                    message = f"the output `{statement.name.id}` is published already"
                    where = (Secondary(known.name.span, "published here"),)
                    yield Finding(statement.name.span, message, "bind the first value with `let`", where)


RULE = Rule("published-again", "warning", find, __doc__)
