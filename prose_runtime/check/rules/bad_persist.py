"""A memory that cannot be kept under its name.

What it does
    Reports a `persist` that is neither `true` nor `false`, `project`, `user`, nor a plain name.

Why
    The memory of an agent is a file of the project or of the user; the name says which one. A path could lead
    anywhere.

Example
    ```prose
    agent writer:
      persist: "../elsewhere"
    ```

Use instead
    ```prose
    agent writer:
      persist: "drafts"
    ```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule

_NAME = re.compile(r"\w[\w.-]{0,99}")


def find(facts: Facts) -> Iterator[Finding]:
    """Values of ``persist`` that name no memory."""
    for agent in facts.all(n.Agent):
        for argument in agent.args:
            if argument.name == "persist" and not _is_memory(argument.value):
                text = facts.text(argument.value.span)
                message = f"`{text}` names no memory" if text.isprintable() and "`" not in text else "this is no memory"
                help_ = "write `true` (this run), `project`, `user`, or a name of letters, digits, `-` and `.`"
                yield Finding(argument.value.span, message, help_)


def _is_memory(value: n.Expr) -> bool:
    if isinstance(value, n.Constant):
        return isinstance(value.value, bool)
    if not isinstance(value, n.Template) or not all(isinstance(part, str) for part in value.parts):
        return False
    return _NAME.fullmatch("".join(part for part in value.parts if isinstance(part, str))) is not None


RULE = Rule("bad-persist", "error", find, __doc__)
