"""Spellings of `append` that only this runtime reads.

What it does
    Reports `add E to xs`, with or without a note, and `append xs E`. They are read as `append E to xs`.

Why
    Only `append E to xs` and `record E in xs` are portable.

Example
    ```prose
    add draft to drafts
    ```

Use instead
    ```prose
    append draft to drafts
    ```
    What a note says is a field: `append { draft: draft, note: "first" } to drafts`.
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import Edit, Fix
from prose_runtime.text import Span


def find(facts: Facts) -> Iterator[Finding]:
    """Other spellings."""
    for node in facts.all(n.Append):
        word = Span(node.span.start, node.span.start + len(node.word))
        if node.note is not None:
            help_ = "keep the note in the value: `append { value: ..., note: ... } to xs`"
            yield Finding(word, f"`{node.word}` with a note is not portable", help_)
        elif node.word == "add":
            fix = Fix("Write `append`", (Edit(word, "append"),))
            yield Finding(word, "`add` is not portable", "write `append`", fix=fix)
        elif node.target.span.start < node.value.span.start:
            value, target = facts.text(node.value.span), facts.text(node.target.span)
            fix = Fix("Say what is appended first", (Edit(node.span, f"append {value} to {target}"),))
            help_ = f"write `append ... to {target}`"
            yield Finding(word, "`append` with the list first is not portable", help_, fix=fix)


RULE = Rule("portable-append", "warning", find, __doc__)
