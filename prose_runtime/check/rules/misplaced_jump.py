"""`break` or `continue` outside a loop.

What it does
    Reports `break` and `continue` that stand in no loop of their own frame. A parallel branch, a block and a pipeline
    body are frames: a jump in them cannot reach a loop around them.

Why
    There is nothing to leave or to go on with.

Example
    ```prose
    if verdict accepted:
      break
    ```

Use instead
    ```prose
    if verdict accepted:
      return draft
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule

_LOOPS = (n.Repeat, n.ForEach, n.Loop)


def find(facts: Facts) -> Iterator[Finding]:
    """Jumps that no loop takes."""
    if facts.spec.body is not None and facts.all(n.Break, n.Continue):
        yield from _visit(facts.spec.body, None, facts)


def _visit(node: n.Node, around: str | None, facts: Facts) -> Iterator[Finding]:
    """``around`` is "loop" inside one, the name of a frame that hides one, or None."""
    if isinstance(node, n.Break | n.Continue):
        if around != "loop":
            yield _finding(node, around)
        return
    inside = _around(node, around)
    if isinstance(node, n.Parallel):
        inside = "a parallel branch" if around else None
    for child in node.children():
        yield from _visit(child, inside, facts)


def _around(node: n.Node, around: str | None) -> str | None:
    if isinstance(node, _LOOPS):
        return "loop"
    if isinstance(node, n.BlockDef):
        return "a block" if around else None
    if isinstance(node, n.Stage):
        return "a pipeline body" if around else None
    return around


def _finding(node: n.Node, hidden: str | None) -> Finding:
    word = "break" if isinstance(node, n.Break) else "continue"
    if hidden:
        return Finding(
            node.span, f"`{word}` cannot leave {hidden}", "end it with `return`, and test its value in the loop"
        )
    return Finding(node.span, f"`{word}` stands outside a loop", "to end the run here, write `return`")


RULE = Rule("misplaced-jump", "error", find, __doc__)
