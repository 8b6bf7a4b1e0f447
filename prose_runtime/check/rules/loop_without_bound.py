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

import re
from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.text import Span

_WORD = re.compile(r"\W")


def find(facts: Facts) -> Iterator[Finding]:
    """Loops without a maximum."""
    for loop in facts.all(n.Loop):
        if loop.maximum is None:
            message = "this loop has no bound and can run into the limits of the run"
            word = Span(loop.span.start, loop.span.start + len(_WORD.split(facts.text(loop.span), maxsplit=1)[0]))
            yield Finding(word, message, "give it one: `(max: N)` before the colon")


RULE = Rule("loop-without-bound", "warning", find, __doc__)
