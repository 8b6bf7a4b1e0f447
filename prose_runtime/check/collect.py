"""Which loops and blocks stand in value position (LANGUAGE.md section 3, rules 2, 3 and 10)."""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.nodes import (
    Bind,
    Block,
    BlockDef,
    Choice,
    Do,
    Expr,
    ExprStatement,
    ForEach,
    If,
    Loop,
    Node,
    Output,
    Parallel,
    Repeat,
    Return,
    Spec,
    Stage,
    Throw,
    Try,
    around,
    nodes_of,
)

_LOOPS = (Repeat, ForEach, Loop)
_FORKS = (Do, If, Try, Choice)
_CONSTRUCTS = (*_LOOPS, *_FORKS, Parallel)


def collected(spec: Spec) -> frozenset[Node]:
    """The loops, ``parallel:`` and other blocks of a spec's body whose value is used.

    That is: what is bound, returned or passed, and what ends a body with a value, namely that of a collected
    iteration, a branch of a ``parallel:`` in value position, a pipeline stage or a ``block``. A loop or ``parallel:``
    at such an end counts when its own body ends unconditionally in a value or ``return``. An ``if``, ``try``,
    ``choice`` or ``do:`` there always counts: its value is that of the branch which ran.
    """
    found: set[Node] = set()
    if spec.body is not None:
        for node in _with_values(spec.body):
            _collect(node, found)
    return frozenset(found)


def bodies(node: Node) -> Iterator[Block]:
    """The bodies one of which gives an ``if``, ``try``, ``choice`` or ``do:`` its value."""
    if isinstance(node, If):
        yield from (branch.body for branch in node.branches)
        if node.orelse:
            yield node.orelse
    elif isinstance(node, Choice):
        yield from (option.body for option in node.options)
    elif isinstance(node, Try):
        yield node.body
        if node.catch:
            yield node.catch.body
    elif isinstance(node, Do):
        yield node.body


def bare(statement: Node) -> Node:
    """The expression of a statement that consists of one, else the statement."""
    return statement.value if isinstance(statement, ExprStatement) else statement


def ends_in_value(block: Block) -> bool:
    """Whether a body ends unconditionally in a value or ``return``."""
    if not block.statements:
        return False
    last = bare(block.statements[-1])
    if isinstance(last, Bind):
        return last.keyword is not None
    if isinstance(last, Repeat | ForEach | Loop | Parallel):
        return ends_in_value(last.body)
    if isinstance(last, If) and last.orelse is None:
        return False
    if isinstance(last, Do | If | Try | Choice):
        return all(map(ends_in_value, bodies(last)))
    return isinstance(last, Expr | Return | Output | Throw)


def _with_values(body: Block) -> Iterator[Node]:
    """The constructs bound, returned or passed anywhere, and the definitions and stages, whose bodies have a value."""
    yield from nodes_of(body, BlockDef, Stage)
    for construct in nodes_of(body, *_CONSTRUCTS):
        if not isinstance(next(around(construct, body)), Block | ExprStatement):
            yield construct


def _collect(node: Node, found: set[Node]) -> None:
    """Note a construct in value position, and those at the ends of its bodies."""
    pending = [node]
    while pending:
        node = pending.pop()
        if node in found:
            continue
        if isinstance(node, _CONSTRUCTS):
            found.add(node)
        pending.extend(end for end in _ends(node) if _counts(end))


def _ends(node: Node) -> Iterator[Node]:
    """The statements that give a construct its value."""
    if isinstance(node, Parallel):
        yield from map(bare, node.body.statements)
        return
    inner = [node.body] if isinstance(node, (*_LOOPS, BlockDef, Stage)) else bodies(node)
    for block in inner:
        if block.statements:
            yield bare(block.statements[-1])


def _counts(end: Node) -> bool:
    if isinstance(end, Repeat | ForEach | Loop | Parallel):
        return ends_in_value(end.body)
    return isinstance(end, _FORKS)
