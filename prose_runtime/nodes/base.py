"""What all nodes share: a span, a walk over what is below, a form to compare by content."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

from prose_runtime.records import init_of, refuse_to_delete, refuse_to_set, set_state, state_of, write_later
from prose_runtime.text import Source, Span

_Kind = TypeVar("_Kind", bound=type)


@dataclass_transform(eq_default=False, kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def node(kind: _Kind) -> _Kind:
    """A frozen, slotted dataclass of keywords for a kind of node.

    ``Node`` has all methods but ``__init__``, which is written when the first node of a kind is made.
    """
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=True, match_args=False)(kind)
    write_later(made, "__init__", init_of)
    found: _Kind = made
    return found


@node
class Node:
    """Anything that stands somewhere in a file."""

    span: Span

    __setattr__ = refuse_to_set
    __delattr__ = refuse_to_delete
    __getstate__ = state_of
    __setstate__ = set_state

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in fields(self))})"

    def children(self) -> list[Node]:
        """The nodes directly below, in source order."""
        kind = type(self)
        names = _HOLDING.get(kind)
        found: list[Node] = []
        for name in _holding_nodes(kind) if names is None else names:
            value = getattr(self, name)
            if isinstance(value, Node):
                found.append(value)
            elif value and type(value) is tuple:
                for entry in value:
                    if isinstance(entry, Node):
                        found.append(entry)
                    else:
                        _gather(entry, found)
        return found

    def walk(self) -> Iterator[Node]:
        """This node and all below it, in source order."""
        waiting: list[Node] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            below = node.children()
            below.reverse()
            waiting += below


def everything(node: Node) -> Sequence[Node]:
    """What ``walk`` gives. The last few are kept, because whoever looks at a program does it many times."""
    return _index(node).nodes


def nodes_of(node: Node | None, *kinds: type[Any]) -> Sequence[Any]:
    """The nodes of exactly these kinds, from a node on downwards, in source order; a kept table knows them."""
    if node is None:
        return ()
    by_kind = _index(node).by_kind
    found = [by_kind[kind] for kind in kinds if kind in by_kind]
    if len(found) < 2:
        return found[0] if found else ()
    return sorted(chain.from_iterable(found), key=_span_of)


def around(node: Node, root: Node) -> Iterator[Node]:
    """The nodes that a node below ``root`` stands in, the innermost first and ``root`` last."""
    parents = _index(root).parents
    while node is not root:
        node = parents[node]
        yield node


class _Index:
    """The nodes from one on downwards in source order, those of each kind, and what each stands in."""

    __slots__ = ("by_kind", "nodes", "parents")

    def __init__(self, root: Node):
        self.nodes: list[Node] = []
        self.by_kind: dict[type, list[Node]] = {}
        self.parents: dict[Node, Node] = {}
        by_kind, parents = self.by_kind, self.parents
        waiting = [root]
        while waiting:
            node = waiting.pop()
            self.nodes.append(node)
            kind = type(node)
            if kind in by_kind:
                by_kind[kind].append(node)
            else:
                by_kind[kind] = [node]
            below = node.children()
            if below:
                parents.update(dict.fromkeys(below, node))
                below.reverse()
                waiting += below


_index = lru_cache(maxsize=64)(_Index)

_span_of = attrgetter("span")


_PLAIN = frozenset("str int float bool None Span Source Any Mapping tuple".split())
_WORD = re.compile(r"[A-Za-z_]\w*")


_HOLDING: dict[type[Any], tuple[str, ...]] = {}


def _holding_nodes(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a kind of node whose declared type lets them hold nodes, in order."""
    if kind not in _HOLDING:
        _HOLDING[kind] = tuple(
            field.name
            for field in fields(kind)
            if not str(field.type).startswith("Literal") and set(_WORD.findall(str(field.type))) - _PLAIN
        )
    return _HOLDING[kind]


def _gather(value: Any, found: list[Node]) -> None:
    if isinstance(value, Node):
        found.append(value)
    elif type(value) is tuple:
        for entry in value:
            _gather(entry, found)


def dump(node: Any) -> Any:
    """A tree as plain lists and dicts without spans, to compare or print. What is absent, empty or false is left out.

    A constant shows its value whatever it is.
    """
    if isinstance(node, Node):
        kind = type(node).__name__
        values = {f.name: getattr(node, f.name) for f in fields(node)}
        shown = {name: dump(value) for name, value in values.items() if not isinstance(value, Span | Source)}
        return {"node": kind, **{k: v for k, v in shown.items() if kind == "Constant" or not _absent(v)}}
    if isinstance(node, tuple | list) and not isinstance(node, Span):
        return [dump(entry) for entry in node]
    if isinstance(node, Mapping):
        return {str(k): dump(v) for k, v in node.items()}
    return node


def _absent(value: Any) -> bool:
    return value is None or value is False or value in ([], {})
