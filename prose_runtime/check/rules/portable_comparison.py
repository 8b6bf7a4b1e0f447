"""A comparison as a value.

What it does
    Reports comparisons, `and`, `not`, `in` and English predicates outside of conditions.

Why
    The published grammar knows them in conditions only, where they are English. There they are portable.

Example
    ```prose
    let enough = drafts.length > 3
    ```

Use instead
    ```prose
    let enough = false
    if drafts.length > 3:
      enough = true
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.portable import outermost, outside_conditions
from prose_runtime.check.rule import Facts, Finding, Rule

_VALUES = frozenset({"+", "-", "*", "/", "%", "or"})


def find(facts: Facts) -> Iterator[Finding]:
    """Comparisons outside of conditions, the outermost ones. The bodies of filters ask as conditions do."""
    filters = [stage.body.span for stage in facts.all(n.Stage) if stage.kind == "filter"]
    found = [node for node in facts.all(n.Binary, n.Predicate, n.Unary) if _compares(node)]
    for node in outermost(outside_conditions(found, facts)):
        if not any(span.covers(node.span) for span in filters):
            help_ = "decide it in an `if`, and bind true or false there"
            yield Finding(facts.first_line(node.span), "a comparison as a value is not portable", help_)


def _compares(node: n.Node) -> bool:
    if isinstance(node, n.Binary):
        return node.op not in _VALUES
    return isinstance(node, n.Predicate) or (isinstance(node, n.Unary) and node.op == "not")


RULE = Rule("portable-comparison", "warning", find, __doc__)
