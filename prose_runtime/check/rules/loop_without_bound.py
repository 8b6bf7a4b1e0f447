"""A loop without a `max`.

What it does
    Reports `loop`, `loop until` and `loop while` without `(max: N)`.

Why
    Nobody can say how many calls such a loop makes. It ends when its condition says so or at the run's limits, and
    then the run is lost.

Example
    ```prose
    loop until review accepted:
    ```

Use instead
    ```prose
    loop until review accepted (max: 5):
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """Loops without a maximum."""
    for loop in facts.all(n.Loop):
        if loop.maximum is None:
            message = "this loop has no bound and can run into the limits of the run"
            yield Finding(facts.word(loop.span, "loop"), message, "give it one: `(max: N)` before the colon")


RULE = Rule("loop-without-bound", "warning", find, __doc__)
