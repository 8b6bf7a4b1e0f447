"""A parameter of a block that the block never reads.

What it does
    Reports a name between the brackets of `block name(...)` that nothing in its body reads.

Why
    Whoever runs the block hands over a value that has no effect; often the body reads another name than was meant.

Example
    ```prose
    block speak(task):
      call writer
        topic: topic
    ```

Use instead
    ```prose
    block speak(task):
      call writer
        topic: topic
        prompt: task
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """Parameters without a use inside of their block."""
    for block in facts.all(n.BlockDef):
        text = facts.text(block.body.span)
        read = {use.name.id for use in facts.scopes.uses if block.body.span.covers(use.name.span)}
        mentioned = any(isinstance(node, n.Invalid | n.Condition) for node in block.body.walk())
        for name in block.params:
            if name.id not in read and not (mentioned and name.id in text):
                yield Finding(name.span, f"the block never reads `{name.id}`", "read it, or leave the parameter out")


RULE = Rule("unused-parameter", "warning", find, __doc__)
