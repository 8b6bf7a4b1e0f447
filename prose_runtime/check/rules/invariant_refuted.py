"""An invariant that the program breaks.

What it does
    Reads the sentences under Invariants that are of a known form, and follows the program: who sees whose output, in
    which order and how often roles are called, which calls wait for approval, which lists only grow. Reports a sentence
    that does not hold, with the lines by which the value travels. A sentence that it cannot read is not reported.

Why
    An invariant is a promise to whoever uses the pattern. This one is broken before any model is asked.

Example
    ````markdown
    ### Slots

    - `author`
    - `clerk`
    - `judge`

    ### Invariants

    - `judge` never sees the output of `author`.

    ### Delegation

    ```prose
    let draft = call author
    call judge
      text: draft
    ```
    ````

Use instead
    ```prose
    let draft = call author
    let digest = call clerk
      text: draft
    call judge
      text: digest
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import Secondary


def find(facts: Facts) -> Iterator[Finding]:
    """Invariants that are refuted."""
    return ruled(facts, "refuted", "this does not hold", "change the program at the lines noted, or the invariant")


def ruled(facts: Facts, status: str, begins: str, help_: str) -> Iterator[Finding]:
    """The invariants of a status that the program breaks, or may break at some places."""
    if not facts.spec.invariants:
        return
    from prose_runtime.check.invariants import verdicts  # most specs have no invariants, and reading them takes time

    for verdict in verdicts(facts):
        if verdict.status == status and (verdict.places or status == "refuted"):
            places = tuple(Secondary(span, text) for span, text in verdict.places)
            yield Finding(verdict.invariant.span, f"{begins}: {verdict.how}", help_, places)


RULE = Rule("invariant-refuted", "error", find, __doc__)
