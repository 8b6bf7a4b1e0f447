"""A program that can end without returning what it declares.

What it does
    Reports a program with declared outputs some paths of which end in `return` and others at its last line.

Why
    On those paths nothing is delivered: the result is null, and the run ends with a breach of its contract.

Example
    ```prose
    repeat rounds:
      let draft = call writer
      if draft accepted:
        return { text: draft }
    ```

Use instead
    ```prose
    repeat rounds:
      let draft = call writer
      if draft accepted:
        return { text: draft }
    return { text: draft }
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.rules.return_missing import ending_returns
from prose_runtime.check.rules.unreachable import block_ends


def find(facts: Facts) -> Iterator[Finding]:
    """The last statement when the end behind it can be reached."""
    returns, body = facts.spec.returns, facts.spec.body
    if returns is None or body is None or not body.statements or facts.all(n.Invalid, n.Output):
        return
    needed = [output for output in returns.outputs if not output.optional]
    if not needed or block_ends(body) or not ending_returns(facts):
        return
    last = body.statements[-1]
    message = "the program can end behind this without returning anything"
    yield Finding(facts.first_line(last.span), message, "end it with `return`")


RULE = Rule("end-without-return", "warning", find, __doc__)
