"""Two options of a choice with one label.

What it does
    Reports an option of a `choice` whose label another option of it has too.

Why
    The judge answers with a label. The second option can never be chosen.

Example
    ```prose
    choice **how to go on**:
      option "revise":
        call writer
      option "revise":
        call critic
    ```

Use instead
    ```prose
    choice **how to go on**:
      option "revise":
        call writer
      option "review":
        call critic
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import Secondary
from prose_runtime.text import Span


def find(facts: Facts) -> Iterator[Finding]:
    """Labels that were there before."""
    for choice in facts.all(n.Choice):
        first: dict[str, Span] = {}
        for option in choice.options:
            span = facts.word(option.span, option.label)
            if option.label in first:
                where = Secondary(first[option.label], "the other one")
                message = "an option with this label stands above, so this one can never be chosen"
                yield Finding(span, message, "give it a label of its own, or join the two", (where,))
            first.setdefault(option.label, span)


RULE = Rule("duplicate-option", "error", find, __doc__)
