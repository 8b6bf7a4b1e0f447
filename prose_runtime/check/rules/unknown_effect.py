"""An effect that nothing handles.

What it does
    Reports a line that names an act in words, such as `escalate topic to the owner`, when no service of that name is
    configured.

Why
    A program can change nothing outside of itself. What `escalate`, `apply` or `revert` do is for a service to say:
    it receives the words and the values that they name.

Example
    ```prose
    escalate report to the owner
    ```

Use instead
    The same line, and in prose.yml a service of that name, such as a person or a command:
    ```yaml
    services:
      escalate: {provider: command, command: ["python", "escalate.py"]}
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.resolve import Unresolved
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import did_you_mean


def find(facts: Facts) -> Iterator[Finding]:
    """Effects without a handler."""
    for missing in facts.resolution.unresolved:
        if missing.wanted == "effect":
            message = f"nothing handles `{missing.name}`, and it begins no statement of the language"
            yield Finding(missing.span, message, _help(missing, facts))


def _help(missing: Unresolved, facts: Facts) -> str:
    name = missing.name
    declared = facts.scopes.start.get(name)
    if isinstance(declared, n.BlockDef):
        return f"`{name}` is a block: write `do {name}(...)`"
    if name in missing.known:
        return f"write `call {name}` with its inputs below"
    declare = (
        f"declare a service of that name in prose.yml, which receives the words and the values: "
        f"`services: {{{name}: {{provider: human}}}}`; or let a role do it with `call`"
    )
    close = did_you_mean(name, missing.known)
    return f"{close} Else {declare}" if close else declare


RULE = Rule("unknown-effect", "error", find, __doc__)
