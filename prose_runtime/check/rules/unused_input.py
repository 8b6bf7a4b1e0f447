"""An input that nothing reads.

What it does
    Reports a declared input that the program never mentions. It is quiet where a judge decides a condition, and for
    functions without a program of their own, whose model reads all inputs.

Why
    Callers go to the trouble of passing it, and nobody gets to see it.

Example
    ````markdown
    ### Slots

    - `writer`

    ### Parameters

    - `topic`: what to write on
    - `audience`: for whom

    ### Delegation

    ```prose
    return call writer
      topic: topic
    ```
    ````

Use instead
    ````markdown
    ### Slots

    - `writer`

    ### Parameters

    - `topic`: what to write on
    - `audience`: for whom

    ### Delegation

    ```prose
    return call writer
      topic: topic
      audience: audience
    ```
    ````
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.mentions import asks_judge, mentions
from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """Declared inputs that are not mentioned."""
    used = mentions(facts)
    if used is None or asks_judge(facts):
        return
    for name, row in facts.scopes.inputs.items():
        if name not in used and name not in facts.scopes.undeclared:
            yield Finding(row.name_span, f"nothing reads the input `{name}`", "read it in the program, or remove it")


RULE = Rule("unused-input", "warning", find, __doc__)
