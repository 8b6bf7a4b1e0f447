"""One result in two inputs of a call.

What it does
    Reports a call that passes the result of another call twice, under two names.

Why
    Each input has a meaning of its own. When two of them hold the same answer, one was probably to be another value.

Example
    ```prose
    let work = call worker
    let review = call critic
      task_brief: work
      work: work
    ```

Use instead
    ```prose
    let work = call worker
    let review = call critic
      task_brief: task_brief
      work: work
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import Secondary


def find(facts: Facts) -> Iterator[Finding]:
    """Results among the inputs of a call that were there before."""
    for call in facts.all(n.Call):
        first: dict[str, n.Argument] = {}
        for argument in call.args:
            value = argument.value
            if not isinstance(value, n.Name) or argument.name is None:
                continue
            other = first.setdefault(value.id, argument)
            if other is not argument and _is_result(value, facts):
                wrong, right = (other, argument) if argument.name == value.id else (argument, other)
                where = Secondary(right.span, "passed here too")
                message = f"`{value.id}` is passed twice, as {right.name} and as {wrong.name}"
                yield Finding(wrong.value.span, message, f"what is `{wrong.name}` to be?", (where,))


def _is_result(name: n.Name, facts: Facts) -> bool:
    frame = facts.scopes.frames.get(name)
    bindings = frame.lookup(name.id) if frame else []
    return any(isinstance(binding.value, n.Call | n.Session) for binding in bindings)


RULE = Rule("passed-twice", "warning", find, __doc__)
