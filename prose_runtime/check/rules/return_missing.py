"""A declared output that no `return` delivers.

What it does
    Reports an output under Returns that is in none of the objects that the program returns. Outputs that say
    "optional", and programs that return something other than an object written in place, are passed over.

Why
    Callers count on it. The run ends with a broken contract (exit 3): the breach can be foreseen.

Example
    ```prose
    return { text }          # Returns: `text`, `rounds`
    ```

Use instead
    ```prose
    return { text, rounds }
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import did_you_mean


def find(facts: Facts) -> Iterator[Finding]:
    """Outputs outside all returned objects."""
    returns, body = facts.spec.returns, facts.spec.body
    if returns is None or body is None or facts.all(n.Invalid):
        return
    given = delivered(body, facts)
    if given is None or (len(returns.outputs) == 1 and given):
        return
    for output in returns.outputs:
        if output.name not in given and not output.optional:
            close = did_you_mean(output.name, given - {o.name for o in returns.outputs})
            help_ = close or f"add it: `return {{ {output.name}: ... }}`"
            yield Finding(output.name_span, f"the output `{output.name}` is in nothing that is returned", help_)


def delivered(body: n.Block, facts: Facts) -> set[str] | None:
    """The fields of all returned objects; None when they cannot be known."""
    fields = {node.name.id for node in facts.all(n.Output)}
    ends = ending_returns(facts)
    for end in ends:
        if not isinstance(end.value, n.ObjectExpr):
            return None
        fields |= {entry.key for entry in end.value.entries}
    return fields if ends or fields else None


def ending_returns(facts: Facts) -> list[n.Return]:
    """The ``return`` statements that end the delegation itself (LANGUAGE.md section 3, rule 4)."""
    return [node for node in facts.all(n.Return) if not any(_takes(outer, facts) for outer in facts.around(node))]


def _takes(node: n.Node, facts: Facts) -> bool:
    """Whether a ``return`` inside a construct only ends that."""
    if node in facts.collected or isinstance(node, n.BlockDef | n.Do | n.Stage | n.Parallel):
        return True
    return isinstance(node, n.Repeat | n.ForEach) and node.parallel is not None


RULE = Rule("return-missing", "warning", find, __doc__)
