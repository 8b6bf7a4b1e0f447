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
_FRAMES: dict[type[n.Node], str] = {
    n.BlockDef: "a block",
    n.Stage: "a pipeline body",
    n.Parallel: "a parallel branch",
}


def find(facts: Facts) -> Iterator[Finding]:
    """Jumps that no loop takes."""
    for node in facts.all(n.Break, n.Continue):
        outer = [each for each in facts.around(node) if isinstance(each, _LOOPS) or type(each) in _FRAMES]
        if not outer or type(outer[0]) in _FRAMES:
            looped = any(isinstance(each, _LOOPS) for each in outer)
            yield _finding(node, _FRAMES[type(outer[0])] if looped else None)


def _finding(node: n.Node, hidden: str | None) -> Finding:
    word = "break" if isinstance(node, n.Break) else "continue"
    if hidden:
        return Finding(
            node.span, f"`{word}` cannot leave {hidden}", "end it with `return`, and test its value in the loop"
        )
    return Finding(node.span, f"`{word}` stands outside a loop", "to end the run here, write `return`")


RULE = Rule("misplaced-jump", "error", find, __doc__)
