"""Something that a slot may be given, and that no call gives it.

What it does
    Reports an optional name in a slot's `requires` that none of the slot's calls passes.

Why
    The role is described as one that takes it. Often a line is missing: a critique that never reaches the worker, a
    history that nobody hands on.

Example
    ```prose
    let work = call worker          # requires: task_brief, optional critique
      task_brief: task_brief
    ```

Use instead
    ```prose
    let work = call worker
      task_brief: task_brief
      critique: critique
    ```
    or take the name out of `requires`.
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.arguments import passed, signature
from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """Optional requirements without a call that meets them. Those that are not optional are faults of each call."""
    calls: dict[str, list[n.Call]] = {}
    for call in facts.all(n.Call):
        target = facts.targets.get(call)
        if target is not None and target.slot is not None:
            calls.setdefault(target.slot.name, []).append(call)
    for slot in facts.spec.slots:
        yield from _in_slot(slot, calls.get(slot.name, []), facts)


def _in_slot(slot: n.Slot, calls: list[n.Call], facts: Facts) -> Iterator[Finding]:
    if not calls or any(call.spread is not None for call in calls):
        return
    given: set[str] = set()
    for call in calls:
        takes = signature(facts.targets[call], facts)
        given |= set(passed(call.args, takes)) if takes else set()
        needed = set(takes.needed) if takes else set()
        if any(argument.name not in (None, *(takes.names if takes else ())) for argument in call.args):
            return  # an input under another name may be meant
    for item in slot.requires:
        if item.name and item.name not in given and item.name not in needed:
            message = f"no call of {slot.name} passes `{item.name}`"
            yield Finding(
                facts.word(item.span, item.name), message, f"pass it: `{item.name}: ...`, or leave it out here"
            )


RULE = Rule("requirement-never-passed", "warning", find, __doc__)
