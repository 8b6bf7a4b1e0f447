"""A job for a slot that does not exist.

What it does
    Reports a line under `delegates` of Shape whose name is no slot, but close to one that has no line.

Why
    The line is the role's job. Under another name it reaches nobody.

Example
    ```markdown
    - `delegates`:
      - `writr`: Write what the brief asks for.
    ```

Use instead
    ```markdown
    - `delegates`:
      - `writer`: Write what the brief asks for.
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule, meant


def find(facts: Facts) -> Iterator[Finding]:
    """Delegates beside the slots."""
    delegates = facts.spec.shape.delegates if facts.spec.shape else ()
    slots = {slot.name for slot in facts.spec.slots}
    left = slots - {delegate.slot for delegate in delegates}
    for delegate in delegates:
        span = facts.word(delegate.span, delegate.slot)
        help_, fix = meant(span, delegate.slot, left) if delegate.slot not in slots else (None, None)
        if help_:
            yield Finding(span, f"`{delegate.slot}` is no slot, so nobody is given this job", help_, fix=fix)


RULE = Rule("unknown-delegate", "warning", find, __doc__)
