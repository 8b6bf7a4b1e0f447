"""A `catch` after which nobody knows of the failure.

What it does
    Reports a `catch` whose body neither reads the error nor sets, appends, emits, returns or throws anything, nor
    calls anybody.

Why
    Every failed call would vanish without a trace, also those that nobody thought of.

Example
    ```prose
    try:
      let answer = call worker
    catch:
      continue
    ```

Use instead
    ```prose
    try:
      let answer = call worker
    catch as problem:
      record problem.message in failures
      continue
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule

_TELLING = (n.Bind, n.Append, n.Emit, n.Throw, n.Call, n.Session, n.DoBlock, n.Ask, n.Effect, n.Output, n.Invalid)


def find(facts: Facts) -> Iterator[Finding]:
    """Catches without an effect."""
    for catch in facts.all(n.Catch):
        if not any(_tells(node, catch) for node in catch.body.walk()):
            message = "this `catch` swallows every failure, and nothing tells of it"
            help_ = "keep the error: `catch as problem:` and `record problem.message in failures`, or `emit` it"
            yield Finding(facts.word(catch.span, "catch"), message, help_)


def _tells(node: n.Node, catch: n.Catch) -> bool:
    if isinstance(node, n.Return):
        return node.value is not None and not (isinstance(node.value, n.Constant) and node.value.value is None)
    if isinstance(node, n.Name):
        return catch.var is not None and node.id == catch.var.id
    return isinstance(node, _TELLING)


RULE = Rule("swallowed-error", "warning", find, __doc__)
