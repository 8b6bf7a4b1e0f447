"""Statements that are never reached.

What it does
    Reports the first statement behind a `return`, `throw`, `break` or `continue`, behind an `if` or `choice` all of
    whose ways end so, and behind a `loop:` without a bound or a `break`.

Why
    They look as if they did something.

Example
    ```prose
    return draft
    emit "done"
    ```

Use instead
    ```prose
    emit "done"
    return draft
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule

_JUMPS = (n.Return, n.Throw, n.Break, n.Continue)
_DEFINITIONS = (n.BlockDef, n.Agent, n.Use, n.Input)


def find(facts: Facts) -> Iterator[Finding]:
    """The first unreachable statement of each block."""
    branches = {node.body for node in facts.all(n.Parallel)}
    for block in facts.all(n.Block):
        if block not in branches:
            yield from _in_block(block, facts)


def _in_block(block: n.Block, facts: Facts) -> Iterator[Finding]:
    ended: n.Node | None = None
    for statement in block.statements:
        if ended is not None and not isinstance(statement, _DEFINITIONS):
            if not isinstance(statement, n.Invalid):
                message = f"this is never reached: what starts on line {facts.line(ended.span)} never gets here"
                yield Finding(facts.first_line(statement.span), message, "move it up, or remove it")
            return
        if ended is None and (ends(statement) or (isinstance(statement, n.Output) and _in_definition(block, facts))):
            ended = statement


def _in_definition(block: n.Block, facts: Facts) -> bool:
    """Whether an ``output`` there ends a block of the program that was called."""
    return any(isinstance(outer, n.BlockDef) for outer in facts.around(block))


def ends(statement: n.Node) -> bool:
    """Whether nothing behind a statement is ever reached."""
    node = statement.value if isinstance(statement, n.ExprStatement) else statement
    if isinstance(node, _JUMPS):
        return True
    if isinstance(node, n.If):
        return node.orelse is not None and all(block_ends(b) for b in (*(x.body for x in node.branches), node.orelse))
    if isinstance(node, n.Choice):
        return bool(node.options) and all(block_ends(option.body) for option in node.options)
    if isinstance(node, n.Try):
        caught = node.catch is None or block_ends(node.catch.body)
        return (node.final is not None and block_ends(node.final)) or (block_ends(node.body) and caught)
    return isinstance(node, n.Loop) and node.kind is None and node.maximum is None and not _breaks(node.body)


def block_ends(block: n.Block) -> bool:
    """Whether a block is always left by a jump."""
    return any(ends(statement) for statement in block.statements)


def _breaks(node: n.Node) -> bool:
    """Whether a loop's body holds a ``break`` of its own; inner loops take theirs."""
    if isinstance(node, n.Break | n.Invalid):
        return True
    if isinstance(node, n.Repeat | n.ForEach | n.Loop):
        return False
    return any(_breaks(child) for child in node.children())


RULE = Rule("unreachable", "warning", find, __doc__)
