"""A call that passes less than its slot requires.

What it does
    Reports a call with fewer inputs than its slot's `requires` has items in prose that are not optional. Items that
    are names are reported one by one (`missing-input`).

Why
    Something that the role needs for its job does not reach it.

Example
    ```prose
    call right              # requires: the motion, the case to answer
      motion: motion
    ```

Use instead
    ```prose
    call right
      motion: motion
      case: said_left
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.arguments import MODIFIERS
from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """Calls of slots whose requirements are more than the inputs."""
    for call in facts.all(n.Call):
        target = facts.targets.get(call)
        slot = target.slot if target else None
        if target is None or slot is None or call.spread is not None:
            continue
        needed = [item for item in slot.requires if not item.optional]
        given = [argument for argument in call.args if argument.name not in MODIFIERS]
        names = {argument.name for argument in given}
        if len(given) >= len(needed) or all(item.name for item in needed):
            continue
        if any(item.name and item.name not in names for item in needed):
            continue  # a missing name is a fault of its own
        asked = "; ".join(item.text for item in needed)
        message = f"`{target.name}` requires {len(needed)} things, and this call passes {len(given)}"
        yield Finding(call.target.span, message, f"it requires: {asked}")


RULE = Rule("too-few-inputs", "warning", find, __doc__)
