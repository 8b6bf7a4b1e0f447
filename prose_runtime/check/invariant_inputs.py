"""Proofs of what invariants claim about inputs: that all calls of some roles get the same."""

from __future__ import annotations

from itertools import combinations
from typing import Literal

from prose_runtime import nodes as n
from prose_runtime.check.flow_order import Way, inside_units, is_beside, is_loop, relation, shared, ways
from prose_runtime.check.invariant_claims import SameInputs
from prose_runtime.check.invariant_members import member_loop
from prose_runtime.check.invariant_proofs import Ground, Ruling, worst
from prose_runtime.check.scope import Binding
from prose_runtime.check.settled import bindings_of, block_around, changed_names, is_given, settled_value
from prose_runtime.text import Span

Sureness = Literal["no", "maybe", "yes"]

_SURENESS: tuple[Sureness, ...] = ("no", "maybe", "yes")
_ANSWERS = (n.Call, n.Session, n.Discretion, n.DoBlock, n.Ask, n.Effect)
_COMPUTING = (n.Binary, n.Unary, n.FunctionCall, n.Index, n.Conditional, n.Predicate, n.Group)
_COUNTING = frozenset({"loop", "index", "item"})
_DEEP = 5
_MANY = 40
"""Places of calls up to which each is compared with each."""


def same_inputs(claim: SameInputs, ground: Ground) -> Ruling:
    """All calls get the same."""
    found = {who: ways(ground.findings, who) for who in claim.who}
    if any(inside_units(ground.findings, who) for who in claim.who) or not all(found.values()):
        return Ruling("open", "the calls are made inside a spec")
    everyone = [(who, way) for who, ways_ in found.items() for way in ways_]
    if len(everyone) > _MANY:
        return Ruling("open", "there are too many places of calls")
    rulings = [_steady(who, way, claim, ground) for who, way in everyone]
    rulings += [_alike(one, other, claim, ground) for one, other in combinations(everyone, 2)]
    return worst(rulings)


def _inputs(way: Way, claim: SameInputs) -> dict[str, n.Argument] | None:
    node = way.site.node
    if not isinstance(node, n.Call) or node.spread is not None:
        return None
    given = {argument.name or str(number): argument for number, argument in enumerate(node.args)}
    kept = {name: a for name, a in given.items() if name not in ("model", "retry", "backoff")}
    if not claim.names:
        return kept
    return {name: a for name, a in kept.items() if name in claim.names or _is_named(a.value, claim.names)}


def _is_named(value: n.Expr, names: tuple[str, ...]) -> bool:
    return isinstance(value, n.Name) and value.id in names


# one place


def _steady(who: str, way: Way, claim: SameInputs, ground: Ground) -> Ruling:
    """Whether one place of a call always passes the same: of a list slot, in one walk over its members.

    Walks in rounds one after the other may differ. Walks side by side are no rounds.
    """
    inputs = _inputs(way, claim)
    if inputs is None:
        return Ruling("open", f"what {who} gets is made in a run")
    member = member_loop(way, who, ground) if who in ground.lists else None
    loops = [node for node, _ in way.path if is_loop(node) and (not member or node is member or is_beside(node))]
    varying, doubtful = Varying(ground), ""
    for name, argument in inputs.items():
        for loop in loops:
            varies = varying.varies(argument.value, loop)
            if varies == "yes" and way.sole and (member or loop) is loop:
                place = (argument.span, f"this input of {who} is another one in each pass")
                return Ruling("refuted", f"the input {name} of {who} is not the same in all calls", (place,))
            doubtful = doubtful or (name if varies != "no" else "")
    if doubtful:
        return Ruling("open", f"the input {doubtful} of {who} may not be the same in all calls")
    return Ruling("proved", f"what {who} gets does not change between its calls")


class Varying:
    """Whether an expression can have another value in another pass of a loop."""

    def __init__(self, ground: Ground):
        self.scopes = ground.facts.scopes

    def varies(self, expr: n.Node, loop: n.Node, depth: int = _DEEP) -> Sureness:
        """Whether the passes of a loop give it different values."""
        if isinstance(expr, _ANSWERS):
            return "yes"
        if isinstance(expr, n.Block | n.MadeName):
            return "maybe"
        if isinstance(expr, n.Name):
            return self._name(expr, loop, depth)
        found = [self.varies(part, loop, depth) for part in expr.children()]
        most: Sureness = max(found, key=_SURENESS.index, default="no")
        return most if most != "yes" or _tells_apart(expr, found) else "maybe"

    def _name(self, name: n.Name, loop: n.Node, depth: int) -> Sureness:
        inside = [binding for binding in bindings_of(self.scopes, name) if self._in_pass(binding, name, loop)]
        changed = self._is_changed(name, loop)
        if not inside:
            return "no" if not changed else "maybe" if is_beside(loop) else "yes"
        if any(binding.kind in _COUNTING for binding in inside):
            return "yes"
        value = settled_value(self.scopes, name)
        if changed or not depth:
            return "maybe"
        if value is not None:
            return self.varies(value, loop, depth - 1)
        values = [binding.value for binding in inside if isinstance(binding.node, n.Bind) and binding.value]
        return "yes" if any(self.varies(value, loop, depth - 1) == "yes" for value in values) else "maybe"

    def _in_pass(self, binding: Binding, name: n.Name, loop: n.Node) -> bool:
        """Whether a name is bound in each pass: in the loop, or in the block that is called in it."""
        return any(part.span.covers(binding.span) for part in self._run(name, loop))

    def _run(self, name: n.Name, loop: n.Node) -> list[n.Node]:
        """The parts of the program with the loop's passes and the name: a block is run by a call in the loop."""
        block = block_around(self.scopes, name)
        node = block.node if block is not None else None
        return [loop] if node is None or node.span.covers(loop.span) else [loop, node]

    def _is_changed(self, name: n.Name, loop: n.Node) -> bool:
        """Whether a list or object of that name is changed in a pass."""
        return any(name.id in changed_names(part) for part in self._run(name, loop))


def _tells_apart(expr: n.Node, operands: list[Sureness]) -> bool:
    """Whether other values of its operands surely make another value of an expression: ``i * 0`` is always nought."""
    if isinstance(expr, n.Binary):
        return expr.op in ("+", "-") and operands.count("no") == 1
    return isinstance(expr, (n.Template, n.Interpolation, n.ListExpr, n.ObjectExpr, n.Entry, n.Field))


# two places


def _alike(one: tuple[str, Way], other: tuple[str, Way], claim: SameInputs, ground: Ground) -> Ruling:
    """Whether two places of calls pass the same."""
    if relation(one[1], other[1]) == "either" and not any(
        is_loop(node) for node, _ in shared(one[1].path, other[1].path)
    ):
        return Ruling("proved", "only one of the calls is made")
    left, right = _inputs(one[1], claim), _inputs(other[1], claim)
    if left is None or right is None:
        return Ruling("open", "what they get is made in a run")
    who = f"{one[0]} and {other[0]}" if one[0] != other[0] else one[0]
    ruling = _compared(left, right, who, Spelling(ground))
    if ruling.status == "refuted" and not (one[1].sole and other[1].sole):
        return Ruling("open", f"which of several roles is called shows in a run, and so what {who} get")
    return ruling


def _compared(left: dict[str, n.Argument], right: dict[str, n.Argument], who: str, spelling: Spelling) -> Ruling:
    doubtful = ""
    for name in {**left, **right}:
        argument = right.get(name) or left[name]
        place = (argument.span, "this input is another one")
        if name not in left or name not in right:
            return Ruling("refuted", f"only one of the calls of {who} gets the input {name}", (place,))
        first, second = (spelling.spelt(side[name].value) for side in (left, right))
        unknown = first is None or second is None or (left[name] is right[name] and _ANSWER in first)
        if unknown or (first != second and _COMPUTED in f"{first}{second}"):
            doubtful = doubtful or name
        elif first != second:
            return Ruling("refuted", f"the calls of {who} get different values as {name}", (place,))
    if doubtful:
        return Ruling("open", f"{doubtful} may change between the calls of {who}")
    return Ruling("proved", f"the calls of {who} get the same values")


_ANSWER = "answer at "
_COMPUTED = "\0"
"""Marks a text with operators in it: another text may compute the same value."""


class Spelling:
    """Writes expressions so that the same text has the same value, wherever it stands in one pass of all loops."""

    def __init__(self, ground: Ground):
        self.facts = ground.facts
        self.scopes = ground.facts.scopes
        self.changed = changed_names(ground.spec.body)

    def spelt(self, expr: n.Expr, depth: int = _DEEP) -> str | None:
        """The text; None when an expression may have several values."""
        parts = n.everything(expr)
        if any(isinstance(part, n.MadeName) for part in parts) or not depth:
            return None
        if any(isinstance(part, _ANSWERS) for part in parts):
            return f"{_ANSWER}{expr.span.start}"
        if any(isinstance(part, n.Block) for part in parts):
            return None
        text, at = _COMPUTED if any(isinstance(part, _COMPUTING) for part in parts) else "", expr.span.start
        for name in sorted((part for part in parts if isinstance(part, n.Name)), key=lambda part: part.span):
            known = self._name(name, depth)
            if known is None:
                return None
            text += self.facts.text(Span(at, name.span.start)) + known
            at = name.span.end
        return " ".join((text + self.facts.text(Span(at, expr.span.end))).replace("config.", "").split())

    def _name(self, name: n.Name, depth: int) -> str | None:
        if name.id in self.changed:
            return None
        if is_given(self.scopes, name):
            return name.id
        value = settled_value(self.scopes, name)
        if value is not None:
            return self.spelt(value, depth - 1)
        bindings = bindings_of(self.scopes, name)
        sole = bindings[0] if len(bindings) == 1 else None
        counts = sole is not None and sole.kind in _COUNTING and sole.node.span.covers(name.span)
        return f"{name.id} at {sole.span.start}" if sole is not None and counts else None
