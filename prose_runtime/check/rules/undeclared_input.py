"""An input that no section declares.

What it does
    Reports a name that the program reads and never binds, and that a slot's `requires` mentions (or `task_brief`):
    it is taken as an input that the caller passes.

Why
    Callers learn of inputs from Parameters. One that is only used cannot be described, typed or given a default.

Example
    ````markdown
    ### Slots

    - `writer`
      - requires: topic

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
      - requires: topic

    ### Parameters

    - `topic`: what to write on

    ### Delegation

    ```prose
    return call writer
      topic: topic
    ```
    ````
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """The first use of each undeclared input."""
    for name, use in facts.scopes.undeclared.items():
        message = f"`{name}` is read as an input, but no section declares it"
        yield Finding(use.name.span, message, f"declare it under Parameters: - `{name}`: what it is")


RULE = Rule("undeclared-input", "warning", find, __doc__)
