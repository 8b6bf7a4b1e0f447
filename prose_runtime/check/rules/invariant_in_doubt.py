"""An invariant that the program may break.

What it does
    Reports an invariant that a way through the program breaks, when it is not certain that a run ever takes that way:
    it depends on several conditions, on how often a loop runs, or on which element an index picks. Runs watch it.

Why
    What cannot be ruled out before a run ends some run, after its calls have been paid for.

Example
    ````markdown
    ### Slots

    - `author`
    - `clerk`
    - `judge`

    ### Config

    - `left` (integer, default: 2)
    - `rounds` (integer, default: 3)

    ### Invariants

    - `judge` never sees the output of `author`.

    ### Delegation

    ```prose
    let draft = call author
    if left < 1 and rounds > 3:
      call judge
        text: draft
    ```
    ````

Use instead
    ```prose
    let draft = call author
    if left < 1 and rounds > 3:
      let digest = call clerk
        text: draft
      call judge
        text: digest
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.rules.invariant_refuted import ruled


def find(facts: Facts) -> Iterator[Finding]:
    """Invariants that are broken on a way that a run may not take."""
    help_ = "change the program at the lines noted, or the invariant; runs watch it until then"
    return ruled(facts, "watched", "this may not hold", help_)


RULE = Rule("invariant-in-doubt", "warning", find, __doc__)
