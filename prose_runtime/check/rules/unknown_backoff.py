"""A `backoff` that is no way to wait.

What it does
    Reports `backoff` with another text than `"none"`, `"linear"` or `"exponential"`.

Why
    The call would be tried again at once, as often as `retry` says.

Example
    ```prose
    call writer
      topic: topic
      retry: 3
      backoff: "slowly"
    ```

Use instead
    ```prose
    call writer
      topic: topic
      retry: 3
      backoff: "linear"
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.arguments import modifiers
from prose_runtime.check.rule import Facts, Finding, Rule, meant
from prose_runtime.text import Span

BACKOFFS = ("none", "linear", "exponential")


def find(facts: Facts) -> Iterator[Finding]:
    """Modifiers ``backoff`` whose text or value is none of the known words."""
    for modifier in modifiers("backoff", facts):
        value = modifier.value
        if isinstance(value, n.Template) and all(isinstance(part, str) for part in value.parts):
            word = "".join(part for part in value.parts if isinstance(part, str))
        elif isinstance(value, n.Constant) and value.value is not None:
            word = facts.text(value.span)
        else:
            continue
        if word not in BACKOFFS:
            inner = Span(value.span.start + 1, value.span.end - 1)
            known = "write `none`, `linear` or `exponential`"
            help_, fix = meant(inner, word, BACKOFFS, known)
            yield Finding(value.span, f"{facts.text(value.span)} is no backoff", help_, fix=fix)


RULE = Rule("unknown-backoff", "error", find, __doc__)
