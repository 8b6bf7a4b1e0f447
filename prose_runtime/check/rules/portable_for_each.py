"""`for each`, which only this runtime reads.

What it does
    Reports `for each x in xs` and `loop for x in xs`. They are read as `for x in xs`.

Why
    Only `for x in xs` is portable.

Example
    ```prose
    for each draft in drafts:
    ```

Use instead
    ```prose
    for draft in drafts:
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import Edit, Fix
from prose_runtime.text import Span, compiled

_HEAD = r"(?:parallel[ \t]+)?(?P<spelled>(?P<loop>loop[ \t]+)?for(?P<each>[ \t]+each)?(?=[ \t]))"


def find(facts: Facts) -> Iterator[Finding]:
    """Loops over lists with further words in their heads."""
    for node in facts.all(n.ForEach):
        match = compiled(_HEAD).match(facts.spec.source.text, node.span.start)
        if match is None or not (match["each"] or match["loop"]):
            continue
        span = Span(match.start("spelled"), match.end("spelled"))
        fix = Fix("Write `for`", (Edit(span, "for"),)) if node.maximum is None else None
        message = f"`{match['spelled']}` is not portable"
        help_ = f"write `for {node.var.id} in ...`" + ("" if fix else " and leave it with `break`")
        yield Finding(span, message, help_, fix=fix)


RULE = Rule("portable-for-each", "warning", find, __doc__)
