"""A config item that nothing reads.

What it does
    Reports a config item that the program never mentions, neither by its name nor as `config.name`. It is quiet where a
    judge decides a condition: a criterion can reach it through the spec's own text.

Why
    Setting it changes nothing, which its user cannot see.

Example
    ````markdown
    ### Slots

    - `writer`

    ### Config

    - `rounds` (integer, default: 3)

    ### Delegation

    ```prose
    repeat 3:
      call writer
    ```
    ````

Use instead
    ````markdown
    ### Slots

    - `writer`

    ### Config

    - `rounds` (integer, default: 3)

    ### Delegation

    ```prose
    repeat rounds:
      call writer
    ```
    ````
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.mentions import asks_judge, mentions
from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """Config items that are not mentioned."""
    used = mentions(facts)
    if used is None or asks_judge(facts) or "config" in used:
        return
    for item in facts.spec.config:
        if item.name not in used:
            help_ = "read it in the delegation, or remove the item"
            yield Finding(item.name_span, f"nothing reads the config item `{item.name}`", help_)


RULE = Rule("unused-config", "warning", find, __doc__)
