"""The one value that a name has at a place, whichever way a run takes there; nothing is said where it may be another.

Frames copy the names around them, so a name that an inner frame binds as well has two values (LANGUAGE.md section 3,
rules 1 and 2); blocks run when they are called, maybe before what stands above them.
"""

from __future__ import annotations

from functools import lru_cache

from prose_runtime import nodes as n
from prose_runtime.check.scope import Binding, Frame, Scopes

_PLAIN = frozenset({"let", "const", "assign"})


def bindings_of(scopes: Scopes, name: n.Name) -> list[Binding]:
    """All bindings that a use of a name may read."""
    frame = scopes.frames.get(name)
    read = frames_read(scopes, frame) if frame else []
    return [binding for one in read for binding in one.bindings.get(name.id, ())]


def frames_read(scopes: Scopes, frame: Frame) -> list[Frame]:
    """The frames whose names a place may read: its own and those around it, and in a block those that call it."""
    around = list(frame.outwards())
    if not _in_block(frame):
        return around
    return [one for one in around if one.parent] + [one for one in scopes.all_frames if not _in_block(one)]


def _in_block(frame: Frame) -> bool:
    return any(one.kind == "block" for one in frame.outwards())


def is_given(scopes: Scopes, name: n.Name) -> bool:
    """Whether a name stands for what it stands for at the start: nothing binds it anew, or changes it."""
    return name.id in scopes.start and not bindings_of(scopes, name) and name.id not in changed_names(scopes.spec.body)


@lru_cache(maxsize=64)
def changed_names(part: n.Node | None) -> frozenset[str]:
    """The names of lists and objects that a part of a program adds to, or puts something into."""
    targets = [node.target for node in n.nodes_of(part, n.Append)]
    targets += [node.target for node in n.nodes_of(part, n.Bind) if isinstance(node.target, n.Field | n.Index)]
    return frozenset(name.id for target in targets for name in target.walk() if isinstance(name, n.Name))


def only_value(scopes: Scopes, name: n.Name) -> n.Expr | None:
    """The expression that a name stands for where it has a value at all: the only one that it is ever set to."""
    bindings = bindings_of(scopes, name)
    if len(bindings) != 1 or name.id in scopes.start or bindings[0].kind not in _PLAIN:
        return None
    return bindings[0].value if isinstance(bindings[0].node, n.Bind) else None


def settled_value(scopes: Scopes, name: n.Name) -> n.Expr | None:
    """As ``only_value``, where every way to the place has bound the name before, in the same pass of all loops."""
    value = only_value(scopes, name)
    if value is None or _is_behind_a_call(scopes, name):
        return None
    bind = bindings_of(scopes, name)[0].node
    branches = {node.body for node in n.nodes_of(scopes.spec.body, n.Parallel)}
    before = bind.span.end <= name.span.start
    blocks = (block for block in n.nodes_of(scopes.spec.body, n.Block) if block.span.covers(name.span))
    return value if before and any(bind in b.statements for b in blocks if b not in branches) else None


def block_around(scopes: Scopes, name: n.Name) -> Frame | None:
    """The frame of the block that a name stands in, None outside of blocks."""
    frame = scopes.frames.get(name)
    return next((around for around in frame.outwards() if around.kind == "block"), None) if frame else None


def _is_behind_a_call(scopes: Scopes, name: n.Name) -> bool:
    """Whether the name stands in a block, and is bound outside of it."""
    block = block_around(scopes, name)
    return block is not None and not any(name.id in f.bindings for f in scopes.frames[name].outwards() if f.parent)
