"""Proofs about the members of list slots: which loop calls them, and that it takes them in their order."""

from __future__ import annotations

from prose_runtime import nodes as n
from prose_runtime.check.flow_order import Way, inside_units, is_beside, is_sequential, ways
from prose_runtime.check.invariant_claims import InOrder
from prose_runtime.check.invariant_proofs import Ground, Ruling, worst
from prose_runtime.check.settled import bindings_of, is_given


def in_order(claim: InOrder, ground: Ground) -> Ruling:
    """The members of a list slot are called in turn, all of them before one is called again."""
    return worst([_in_turn(slot, ground) for slot in claim.who])


def _in_turn(slot: str, ground: Ground) -> Ruling:
    found = ways(ground.findings, slot)
    loop = member_loop(found[0], slot, ground) if len(found) == 1 else None
    if slot not in ground.lists:
        return Ruling("unsure", f"{slot} has no members")
    if loop is None or inside_units(ground.findings, slot):
        return Ruling("open", f"the order in which {slot} are called cannot be told before a run")
    place = (ground.facts.first_line(found[0].site.node.span), f"{slot} are called here")
    if not is_sequential(loop):
        return Ruling("refuted", f"{slot} are called at the same time", (place,))
    steps = [node for node, _ in found[0].path]
    if any(is_beside(node) for node in steps[: steps.index(loop)]):
        return Ruling("open", f"several loops over {slot} may run at the same time", (place,))
    return Ruling("proved", f"a loop takes {slot} in order")


def member_loop(way: Way, slot: str, ground: Ground) -> n.ForEach | None:
    """The loop over a list slot whose variable is what is called."""
    node, scopes = way.site.node, ground.facts.scopes
    target = node.target if isinstance(node, n.Call) else None
    if not isinstance(target, n.Name):
        return None
    walks = [loop for loop, _ in way.path if isinstance(loop, n.ForEach) and loop.var.id == target.id]
    over = walks[-1].iterable if walks else None
    if not isinstance(over, n.Name) or over.id != slot or not is_given(scopes, over):
        return None
    bindings = bindings_of(scopes, target)
    others = (b for b in bindings if b.node is not walks[-1] and (b.kind != "loop" or walks[-1].span.covers(b.span)))
    return walks[-1] if bindings and not any(others) else None
