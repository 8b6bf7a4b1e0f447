"""A slot that nothing calls.

What it does
    Reports a slot whose name the delegation never mentions.

Why
    Its user has to bind a service that never gets to work.

Example
    ````markdown
    ### Slots

    - `writer`
    - `editor`

    ### Delegation

    ```prose
    return call writer
    ```
    ````

Use instead
    ````markdown
    ### Slots

    - `writer`
    - `editor`

    ### Delegation

    ```prose
    let draft = call writer
    return call editor
      draft: draft
    ```
    ````
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.mentions import mentions
from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """Slots that are not mentioned."""
    used = mentions(facts)
    for slot in facts.spec.slots:
        if used is not None and slot.name not in used:
            yield Finding(slot.name_span, f"nothing calls the slot `{slot.name}`", "call it, or remove the slot")


RULE = Rule("unused-slot", "warning", find, __doc__)
