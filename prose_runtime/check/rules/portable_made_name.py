"""A name that is made in a loop.

What it does
    Reports the assignment of names such as `result_{topic}`, which each pass of a loop makes anew.

Why
    The published grammar has fixed names only.

Example
    ```prose
    parallel for topic in topics:
      result_{topic} = call writer
        topic: topic
    ```

Use instead
    ```prose
    let results = parallel for topic in topics:
      call writer
        topic: topic
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """Assignments of made names."""
    for bind in facts.all(n.Bind):
        if isinstance(bind.target, n.MadeName):
            message = f"the name `{facts.text(bind.target.span)}` is made in the program, which is not portable"
            yield Finding(bind.target.span, message, "bind the loop itself: `let results = ...`, and read `results`")


RULE = Rule("portable-made-name", "warning", find, __doc__)
