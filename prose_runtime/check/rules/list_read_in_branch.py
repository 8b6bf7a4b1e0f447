"""A list that parallel branches both extend and read.

What it does
    Reports a branch or iteration that reads a list from outside while branches of the same block append to it.

Why
    A branch sees its own additions only. Those of the others arrive at the join, so what is read here is neither the
    old list nor the whole one.

Example
    ```prose
    parallel for task in tasks:
      let done = call worker
        task: task
        others: results
      append done to results
    ```

Use instead
    ```prose
    for task in tasks:
      let done = call worker
        task: task
        others: results
      append done to results
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.scope import Frame, Use
from prose_runtime.diagnostics import Secondary
from prose_runtime.text import Span


def find(facts: Facts) -> Iterator[Finding]:
    """Reads of a list inside of the parallel construct that extends it."""
    for append in facts.all(n.Append):
        frame = facts.scopes.frames.get(append)
        if frame is None or not isinstance(append.target, n.Name):
            continue
        construct = _construct(append.target.id, frame, facts)
        for use in facts.scopes.uses if construct else ():
            if construct and _reads(use, append.target, construct, facts):
                where = Secondary(append.target.span, "extended here")
                message = (
                    f"`{use.name.id}` is extended by branches that run at once, and each sees its own additions only"
                )
                yield Finding(use.name.span, message, "read it behind the block, or do without `parallel`", (where,))


def _construct(name: str, frame: Frame, facts: Facts) -> Span | None:
    """The outermost parallel construct inside of the frame in which a list is bound."""
    inner: list[Frame] = []
    for around in frame.outwards():
        if name in around.bindings or not _at_once(around):
            break
        inner.append(around)
    if not inner or inner[-1].node is None:
        return None
    node = inner[-1].node
    return next((p.span for p in facts.all(n.Parallel) if node in p.body.statements), node.span)


def _at_once(frame: Frame) -> bool:
    if isinstance(frame.node, n.Stage):
        return frame.node.kind == "pmap"
    return frame.kind in ("branch", "iteration")


def _reads(use: Use, target: n.Name, construct: Span, facts: Facts) -> bool:
    if use.name.id != target.id or use.kind not in ("expression", "interpolation"):
        return False
    return construct.covers(use.name.span) and not any(append.target is use.name for append in facts.all(n.Append))


RULE = Rule("list-read-in-branch", "warning", find, __doc__)
