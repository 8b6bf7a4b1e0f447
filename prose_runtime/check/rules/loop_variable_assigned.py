"""A loop variable that the loop's body assigns.

What it does
    Reports `let x = ...` and `x = ...` in the body of a loop whose variable, counter or index `x` is.

Why
    The next pass overwrites it, and how often the loop runs does not change.

Example
    ```prose
    repeat 3 as round:
      round = round + 1
    ```

Use instead
    ```prose
    repeat 3 as round:
      let next = round + 1
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import Secondary


def find(facts: Facts) -> Iterator[Finding]:
    """Assignments of a loop's own names in its body."""
    for frame in facts.scopes.all_frames:
        for name, bindings in frame.bindings.items():
            loops = [binding for binding in bindings if binding.kind in ("loop", "index")]
            for binding in bindings if loops else ():
                around = next((loop for loop in loops if loop.node.body.span.covers(binding.span)), None)  # type: ignore[attr-defined]
                if binding.kind in ("let", "const", "assign") and around is not None:
                    where = Secondary(around.span, "the loop's own name")
                    message = f"`{name}` belongs to the loop, whose next pass sets it anew"
                    yield Finding(binding.span, message, "choose another name", (where,))


RULE = Rule("loop-variable-assigned", "warning", find, __doc__)
