"""A name that is set where nobody outside can see it.

What it does
    Reports an assignment in a parallel branch or iteration, or in a pipeline body, of a name that is bound outside of
    it and read behind it; in an iteration also a `let`, and everywhere the assignment of a field of such a value. In a
    block it reports every assignment without `let` of an outer name.

Why
    These bodies work on a copy of the names around them. What is set inside stays inside, and the reader further down
    gets the old value.

Example
    ```prose
    let best = null
    parallel for draft in drafts:
      best = call judge
        draft: draft
    return best
    ```

Use instead
    ```prose
    let views = parallel for draft in drafts:
      call judge
        draft: draft
    return views
    ```
    A list bound outside can also be filled with `append`; all its additions arrive behind the block.
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.scope import Binding, Frame
from prose_runtime.diagnostics import Secondary
from prose_runtime.text import Span

_PLACES = {
    "branch": "this parallel branch",
    "iteration": "this parallel iteration",
    "stage": "this pipeline body",
    "block": "this block",
}


def find(facts: Facts) -> Iterator[Finding]:
    """Settings that stay inside although the name is read outside."""
    if len(facts.scopes.all_frames) == 1:
        return
    for frame in facts.scopes.all_frames[1:]:
        for name, bindings in frame.bindings.items():
            if any(b.kind in ("loop", "index", "parameter", "item", "catch") for b in bindings):
                continue
            outer = _outer(name, frame, facts)
            first = next((b for b in bindings if _sets(b, frame)), None)
            if first and outer is not None and _matters(name, frame, bindings, facts):
                yield _finding(name, first.span, frame, outer)
    yield from _fields(facts)


def _sets(binding: Binding, frame: Frame) -> bool:
    """Whether a binding looks as if it were meant to set the outer name: a ``let`` in a branch may be a local one."""
    return binding.kind == "assign" or (binding.kind == "let" and frame.kind == "iteration")


def _outer(name: str, frame: Frame, facts: Facts) -> n.Node | None:
    """What binds or declares the name outside of a frame."""
    outside = frame.parent.lookup(name) if frame.parent else []
    if outside:
        return outside[0].node
    declared = facts.scopes.start.get(name)
    return declared if isinstance(declared, n.Parameter | n.ConfigItem) else None


def _matters(name: str, frame: Frame, bindings: list[Binding], facts: Facts) -> bool:
    """Whether somebody outside waits for the value: in a block only an assignment without ``let`` looks like that."""
    if frame.kind == "block":
        return all(b.kind == "assign" and isinstance(b.node, n.Bind) for b in bindings)
    return _read_behind(name, frame, facts)


def _read_behind(name: str, frame: Frame, facts: Facts) -> bool:
    around = frame.node.span if frame.node else None
    for use in facts.scopes.uses:
        if around and use.name.id == name and use.name.span.start >= around.end and _sees_past(use.frame, frame):
            return True
    return False


def _sees_past(reader: Frame, frame: Frame) -> bool:
    """Whether a reader stands in a frame around the given one, so that it waits for what that one does."""
    return reader in list(frame.outwards())[1:]


def _fields(facts: Facts) -> Iterator[Finding]:
    """``x.f = E`` where x is a copy."""
    for bind in facts.all(n.Bind):
        root: n.Node = bind.target
        while isinstance(root, n.Field | n.Index):
            root = root.object
        frame = facts.scopes.frames.get(bind)
        if root is bind.target or not isinstance(root, n.Name) or frame is None:
            continue
        inner = [f for f in frame.outwards() if f.kind != "delegation"]
        if not inner or any(root.id in f.bindings for f in inner):
            continue
        outer = _outer(root.id, inner[-1], facts)
        if outer is not None and _read_behind(root.id, inner[-1], facts):
            yield _finding(root.id, root.span, inner[-1], outer)


def _finding(name: str, span: Span, frame: Frame, outer: n.Node) -> Finding:
    place = outer.target.span if isinstance(outer, n.Bind) else getattr(outer, "name_span", outer.span)
    where = Secondary(place, "the name outside")
    message = f"`{name}` changes only inside {_PLACES[frame.kind]}; outside it keeps its value"
    help_ = "give the value back: `return` it, or `append` it to a list that is bound outside"
    return Finding(span, message, help_, (where,))


RULE = Rule("shadowed-name", "warning", find, __doc__)
