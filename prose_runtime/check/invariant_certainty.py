"""Whether a run can really take the way by which a claim was found to be broken.

The flow analysis takes every way through a program for possible, also one that no run takes: conditions may exclude
each other, an index may pick another element. A refutation is kept where at most one decision, or decisions that are
free of each other, lie on its way and every value is followed exactly; else a run has to tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from prose_runtime import nodes as n
from prose_runtime.check.flow_findings import Findings
from prose_runtime.check.rule import Facts
from prose_runtime.text import Span

_FORKS = (n.If, n.Choice, n.Conditional, n.Try)
_LOOPS = (n.Repeat, n.ForEach, n.Loop, n.Pipeline)
_JUMPS = (n.Return, n.Throw, n.Break, n.Continue)
_ASKING = (n.Call, n.Session, n.Ask, n.Effect, n.Discretion)
_INEXACT = (n.Conditional, n.Group, n.FunctionCall, n.DoBlock, n.MadeName, n.Pipeline)
_MANY = 400
"""Nodes that make a value, beyond which nobody follows by eye what a refutation says."""


def doubt_of_way(
    facts: Facts,
    findings: Findings,
    places: Sequence[Span],
    *,
    data: bool,
    counted: bool = False,
    decided: bool = True,
) -> str | None:
    """Why it is not certain that a run gets to all places; None when it is.

    ``data``: a value is passed on by the places, to the input that the last one is. ``counted``: how often loops run
    was looked at. ``decided``: roles have to decide which way is taken, not what the run is given.
    """
    way = _Way(facts, findings, counted=counted, decided=decided)
    reached = list(places)
    if data and places:
        made = way.made_by(places[-1])
        if made is None:
            return "the value on its way may be another one"
        reached += made
    return way.doubt(reached)


class _Way:
    """The parts of one program that decide where control goes."""

    def __init__(self, facts: Facts, findings: Findings, *, counted: bool, decided: bool):
        self.facts = facts
        self.counted = counted
        self.decided = decided
        self.findings = findings
        body = facts.spec.body
        self.body = n.everything(body) if body else ()
        self.binds: dict[str, list[n.Node]] = {}
        for node in self.body:
            for name in _bound(node):
                self.binds.setdefault(name, []).append(node)

    # values

    def made_by(self, sink: Span) -> list[Span] | None:
        """The places that make the value of an input; None when one of them does not tell what it gives."""
        waiting: list[n.Node] = [node for node in self.body if sink.covers(node.span) and _is_value(node)][:1]
        names: set[str] = set()
        found: list[Span] = []
        while waiting:
            node = waiting.pop()
            found.append(node.span)
            parts = list(_passed_on(node))
            if len(found) > _MANY or any(_is_inexact(part) for part in parts):
                return None
            for name in {part.id for part in parts if isinstance(part, n.Name)} - names:
                names.add(name)
                for bind in self.binds.get(name, ()):
                    source = _source(bind)
                    if source is None or self.in_block(bind.span):
                        return None
                    waiting.append(source)
                    found.append(bind.span)
        return found

    def in_block(self, span: Span) -> bool:
        """Whether a place stands in a block, which several calls may run."""
        return any(isinstance(node, n.BlockDef) and node.span.covers(span) for node in self.body)

    # control

    def doubt(self, places: list[Span]) -> str | None:
        """Why a run may not get to all places."""
        last = max((span.end for span in places), default=0)
        decisions = [node for node in self.body if self.decides(node, places, last)]
        conditions = [condition for node in decisions for condition in _conditions(node)]
        if any(isinstance(node, n.Conditional) for node in decisions) or any(map(self.in_block, places)):
            return "it depends on how the program gets there"
        if not self.counted and any(not self.may_run(node, places) for node in self.body if isinstance(node, _LOOPS)):
            return "it depends on how often a loop runs"
        if self.decided and not all(self.findings.free.get(one) == "surely" for one in conditions):
            return "it depends on a condition that roles alone do not decide"
        return None if len(decisions) <= 1 or self.apart(conditions) else "it depends on several conditions at once"

    def decides(self, node: n.Node, places: list[Span], last: int) -> bool:
        """Whether a construct decides whether control gets to a place: it holds one, or may leave before one."""
        if isinstance(node, n.Loop):
            return node.condition is not None and any(node.body.span.covers(span) for span in places)
        if not isinstance(node, _FORKS) or (isinstance(node, n.Try) and node.catch is None):
            return False
        if any(body.span.covers(span) for body in _bodies(node) for span in places):
            return True
        return node.span.start < last and any(isinstance(part, _JUMPS) for part in node.walk())

    def may_run(self, loop: n.Node, places: list[Span]) -> bool:
        """Whether nothing keeps a loop that holds a place from making passes enough."""
        loops: tuple[Any, ...] = loop.stages if isinstance(loop, n.Pipeline) else (loop,)
        if not any(part.body.span.covers(span) for part in loops for span in places):
            return True
        if isinstance(loop, n.Repeat):
            return self.is_given(loop.count) or _at_least_two(loop.count)
        if isinstance(loop, n.ForEach | n.Pipeline):
            source = loop.iterable if isinstance(loop, n.ForEach) else loop.source
            reduced = isinstance(loop, n.Pipeline) and any(stage.kind == "reduce" for stage in loop.stages)
            return self.is_given(source) or (isinstance(source, n.ListExpr) and len(source.items) > 1 + reduced)
        return isinstance(loop, n.Loop) and (
            loop.maximum is None or _at_least_two(loop.maximum) or self.is_given(loop.maximum)
        )

    def is_given(self, expr: n.Expr) -> bool:
        """Whether a name stands for what the run is given, and for nothing else."""
        while isinstance(expr, n.Field):
            expr = expr.object
        if not isinstance(expr, n.Name):
            return False
        bound = self.binds.get(expr.id, [])
        if bound:
            return all(isinstance(node, n.ForEach) and self.is_given(node.iterable) for node in bound)
        spec = self.facts.spec
        given = {item.name for item in spec.config} | {slot.name for slot in spec.slots}
        return expr.id in given or expr.id in self.facts.scopes.inputs

    def apart(self, conditions: list[n.Condition]) -> bool:
        """Whether conditions look at answers of different calls, each of which gives its name once."""
        seen: set[str] = set()
        for condition in conditions:
            names = {name for name in self.binds if name in condition.text.replace(".", " ").split()}
            sure = names and not names & seen and all(self.is_answer(name) for name in names)
            if not sure:
                return False
            seen |= names
        return True

    def is_answer(self, name: str) -> bool:
        """Whether a name is only ever what one call answers."""
        return len(self.binds[name]) == 1 and isinstance(_source(self.binds[name][0]), _ASKING)


def _bound(node: n.Node) -> Iterator[str]:
    """The names to which a node gives a value, or into whose value it puts something."""
    if isinstance(node, n.Bind | n.Append):
        target: Any = node.target
        for part in target.names if isinstance(target, n.Destructure) else (target,):
            yield from (name.id for name in part.walk() if isinstance(name, n.Name))
    elif isinstance(node, n.ForEach):
        yield node.var.id
        yield from [node.index.id] if node.index else []
    elif isinstance(node, n.Repeat | n.Loop | n.Catch):
        yield from [node.var.id] if node.var else []
    elif isinstance(node, n.Output):
        yield node.name.id


def _source(bind: n.Node) -> n.Expr | None:
    """The value that a node gives a name; None when that is not plainly one."""
    if isinstance(bind, n.Bind):
        return bind.value if isinstance(bind.target, n.Name) else None
    if isinstance(bind, n.ForEach):
        return bind.iterable
    return bind.value if isinstance(bind, n.Append) and isinstance(bind.target, n.Name) else None


def _passed_on(node: n.Node) -> Iterator[n.Node]:
    """The parts of an expression that its value is made of: not what is told to a role that answers."""
    yield node
    if not isinstance(node, _ASKING):
        for child in node.children():
            yield from _passed_on(child)


def _is_inexact(node: n.Node) -> bool:
    if isinstance(node, n.Index):
        return not isinstance(node.index, n.Template)
    return isinstance(node, _INEXACT) or (isinstance(node, n.Binary) and node.op in ("or", "and"))


def _is_value(node: n.Node) -> bool:
    return isinstance(node, n.Argument | n.Expr)


def _conditions(node: n.Node) -> list[n.Condition]:
    if isinstance(node, n.If):
        return [branch.condition for branch in node.branches]
    return [node.condition] if isinstance(node, n.Loop) and node.condition is not None else []


def _bodies(node: n.Node) -> list[n.Node]:
    """The parts of a construct of which only some run."""
    if isinstance(node, n.If):
        return [*(branch.body for branch in node.branches), *([node.orelse] if node.orelse else [])]
    if isinstance(node, n.Choice):
        return [option.body for option in node.options]
    if isinstance(node, n.Conditional):
        return [node.then, node.orelse]
    return [node.body, *([node.catch.body] if node.catch else [])] if isinstance(node, n.Try) else []


def _at_least_two(expr: n.Expr) -> bool:
    return isinstance(expr, n.Constant) and isinstance(expr.value, int) and expr.value > 1
