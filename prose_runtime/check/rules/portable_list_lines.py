"""A list of lines with dashes.

What it does
    Reports a list in a program that is written as lines starting with `-`.

Why
    Only lists in brackets are portable.

Example
    ```prose
    call writer
      topics:
        - tides
        - storms
    ```

Use instead
    ```prose
    call writer
      topics: ["tides", "storms"]
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.portable import outermost
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import Edit, Fix
from prose_runtime.text import Span


def find(facts: Facts) -> Iterator[Finding]:
    """Lists with dashes, the outermost ones."""
    text = facts.spec.source.text
    for node in outermost(
        [node for node in facts.all(n.ListExpr) if text[node.span.start : node.span.start + 1] == "-"]
    ):
        span = Span(node.span.start, node.span.start + 1)
        yield Finding(span, "a list of lines with `-` is not portable", "write it as `[a, b]`", fix=_fix(node, facts))


def _fix(node: n.ListExpr, facts: Facts) -> Fix | None:
    """The list in brackets behind the colon above it, when each entry is one line and there are no comments."""
    source = facts.spec.source
    start = len(source.text[: node.span.start].rstrip())
    words = facts.scopes.words
    items = [f'"{facts.text(item.span)}"' if item in words else facts.text(item.span) for item in node.items]
    if source.text[start - 1 : start] != ":" or "#" in facts.text(node.span) or any("\n" in item for item in items):
        return None
    return Fix("Write it in brackets", (Edit(Span(start, node.span.end), f" [{', '.join(items)}]"),))


RULE = Rule("portable-list-lines", "warning", find, __doc__)
