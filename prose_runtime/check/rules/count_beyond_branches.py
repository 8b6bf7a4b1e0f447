"""More winners asked for than there are branches.

What it does
    Reports `count: N` of a `parallel ("any")` block with fewer than N branches, and of a parallel loop that is known to
    have fewer iterations; also a count below 1, and one without `"any"`, which alone counts winners.

Why
    It can never have enough successes and always fails, or the number has no effect.

Example
    ```prose
    parallel ("any", count: 3):
      call one
      call two
    ```

Use instead
    ```prose
    parallel ("any", count: 2):
      call one
      call two
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """Counts larger than the number of branches or iterations."""
    for node in facts.all(n.Parallel, n.Repeat, n.ForEach):
        options = node.options if isinstance(node, n.Parallel) else node.parallel
        count = _whole(options.count) if options else None
        branches = _branches(node)
        if options and options.count and options.mode != "any":
            message = f'only "any" counts winners, and this is "{options.mode}"'
            yield Finding(options.count.span, message, 'write "any", or leave the count out')
        elif options and options.count and count is not None and count < 1:
            yield Finding(options.count.span, "a count of winners is at least 1", "ask for one, or for more")
        elif options and options.count and count is not None and branches is not None and count > branches:
            what = "branches" if isinstance(node, n.Parallel) else "iterations"
            message = f"{count} successes are asked for, and there are {branches} {what}"
            yield Finding(options.count.span, message, f"ask for at most {branches}, or add {what}")


def _branches(node: n.Node) -> int | None:
    """How many branches or iterations there are, when the text says so."""
    if isinstance(node, n.Parallel):
        return len(node.body.statements)
    if isinstance(node, n.Repeat):
        return _whole(node.count)
    over = node.iterable if isinstance(node, n.ForEach) else None
    return len(over.items) if isinstance(over, n.ListExpr) else None


def _whole(expr: n.Expr | None) -> int | None:
    value = expr.value if isinstance(expr, n.Constant) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


RULE = Rule("count-beyond-branches", "error", find, __doc__)
