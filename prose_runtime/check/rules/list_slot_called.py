"""A list slot called as if it were one service.

What it does
    Reports `call x` where `x` is a slot that its Parameters row types as a list (`x: string[]`).

Why
    A list slot holds several services. Which of them is meant, or whether all are, only the program can say.

Example
    ```prose
    let text = call stages
      text: text
    ```

Use instead
    ```prose
    for stage in stages:
      let text = call stage
        text: text
    ```
    or `call stages[0]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """Calls of a whole list."""
    for missing in facts.resolution.unresolved:
        if missing.reason == "list":
            name = missing.name
            help_ = f"call one of them: `for each x in {name}:` with `call x`, or `call {name}[0]`"
            yield Finding(missing.span, f"`{name}` is a list of services and cannot be called as one", help_)


RULE = Rule("list-slot-called", "error", find, __doc__)
