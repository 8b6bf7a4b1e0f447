"""Proofs of what invariants claim about calls: their order and number; and about lists that grow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from prose_runtime import nodes as n
from prose_runtime.check.flow_counts import (
    ENDLESS,
    ZERO,
    Counted,
    Counter,
    Numbers,
    Poly,
    at_most,
    claimed,
    shown,
    value_of,
)
from prose_runtime.check.flow_order import (
    Way,
    inside_units,
    is_loop,
    is_sequential,
    order_fault,
    relation,
    roles_called,
    shared,
    ways,
)
from prose_runtime.check.invariant_claims import Count, Grows, InOrder, Order, Rounds, SameInputs
from prose_runtime.check.invariant_inputs import same_inputs
from prose_runtime.check.invariant_members import in_order, member_loop
from prose_runtime.check.invariant_proofs import Ground, Prove, Ruling, worst
from prose_runtime.check.scope import Binding
from prose_runtime.check.settled import block_around
from prose_runtime.text import Span

# order


def order(claim: Order, ground: Ground) -> Ruling:
    """One role is called before another."""
    pairs = [(first, then) for first in claim.first for then in claim.then if first != then]
    return worst([_ordered(first, then, claim, ground) for first, then in pairs])


def _ordered(first: str, then: str, claim: Order, ground: Ground) -> Ruling:
    if inside_units(ground.findings, first) or inside_units(ground.findings, then):
        return Ruling("open", f"{first} and {then} are called inside a spec")
    if not ways(ground.findings, then):
        return Ruling("proved", f"{then} is never called")
    if claim.over:
        return _over(first, then, claim.each_round, ground)
    fault = order_fault(ground.findings, first, then, claim.each_round, _makes_a_pass(ground))
    if fault is None:
        where = " in every round" if claim.each_round else ""
        return Ruling("proved", f"each call of {then} comes after one of {first}{where}")
    open_ = {
        "unsure": f"it depends on a condition whether {first} is called before {then}",
        "beside": f"{first} and {then} are called at the same time, in no sure order",
        "several": f"which of several roles is called shows in a run, and so whether {first} comes before {then}",
    }
    if fault.kind in open_:
        return Ruling("open", open_[fault.kind])
    again = fault.late is not None and any(is_loop(node) for node, _ in shared(fault.early.path, fault.late.path))
    behind = f"in a first pass {then} is called before {first}" if again else f"{first} is only called after {then}"
    words = {
        "behind": behind,
        "together": f"{first} and {then} are called at the same time",
        "without": f"{then} is called without {first} before it",
    }
    if not ways(ground.findings, first):
        words["without"] = f"{first} is never called"
    late = [(_line(fault.late, ground), f"{first} is called here")] if fault.late else []
    return Ruling("refuted", words[fault.kind], ((_line(fault.early, ground), f"{then} is called here"), *late))


def _over(first: str, then: str, each_round: bool, ground: Ground) -> Ruling:
    """Whether no call of a role comes after one of another."""
    for way in ways(ground.findings, then):
        for other in ways(ground.findings, first):
            common = [node for node, _ in shared(way.path, other.path) if is_loop(node)]
            again = common[1:] if each_round and common and is_sequential(common[0]) else common
            how = relation(other, way)
            if how == "after" and not common and way.sole and other.sole:
                places = ((_line(way, ground), f"{then} is called here"), (_line(other, ground), f"{first} afterwards"))
                return Ruling("refuted", f"{first} is called after {then}", places)
            if how not in ("before", "either") or again:
                return Ruling("open", f"{first} may be called after {then}")
    return Ruling("proved", f"no call of {first} comes after one of {then}")


def _makes_a_pass(ground: Ground) -> Callable[[n.Node], bool]:
    """Tells whether a loop surely makes a pass: what is given to the run may be nothing, or empty."""
    numbers = Numbers(ground.facts.scopes)
    return lambda loop: numbers.passes(loop).low.get((), 0) > 0


def _line(way: Way, ground: Ground) -> Span:
    return ground.facts.first_line(way.site.node.span)


# numbers


def count(claim: Count, ground: Ground) -> Ruling:
    """How often roles are called."""
    roles = [role for role in claim.who if role in set(roles_called(ground.findings)) | set(ground.findings.received)]
    if claim.together:
        return _together(claim, ground)
    missing = [Ruling(*_uncalled(role, claim)) for role in claim.who if role not in roles]
    return worst(missing + [_counted(role, claim, ground) for role in roles])


def _uncalled(role: str, claim: Count) -> tuple[Any, str]:
    return ("proved" if claim.kind == "at most" else "refuted", f"{role} is never called")


def _together(claim: Count, ground: Ground) -> Ruling:
    if any(site.unit for site in ground.findings.sites.values()):
        return Ruling("open", "specs that are called make calls of their own")
    found = [way for role in roles_called(ground.findings) for way in ways(ground.findings, role)]
    return _compared("a role", _counter(ground).count(list(dict.fromkeys(found))), claim, ground, found)


@lru_cache(maxsize=4)
def _counter(ground: Ground, leave_out: n.Node | None = None) -> Counter:
    return Counter(ground.findings, Numbers(ground.facts.scopes), ground.facts.collected, leave_out)


def _counted(role: str, claim: Count, ground: Ground) -> Ruling:
    found = ways(ground.findings, role)
    if inside_units(ground.findings, role):
        return Ruling("open", f"{role} is called inside a spec")
    if claim.per == "round":
        common = found[0].path
        for way in found[1:]:
            common = shared(common, way.path)
        rounds = [at for at, (node, _) in enumerate(common) if is_sequential(node)]
        if not rounds:
            return Ruling("unsure", f"there is no loop around all calls of {role}")
        return _compared(role, _counter(ground).count(found, rounds[0] + 1), claim, ground, found)
    if claim.per == "member" and role in ground.lists:
        loops = {member_loop(way, role, ground) for way in found}
        if len(loops) != 1 or None in loops:
            return Ruling("open", f"which of {role} is called cannot be told before a run")
        return _compared(role, _counter(ground, loops.pop()).count(found), claim, ground, found)
    return _compared(role, _counter(ground).count(found), claim, ground, found)


def _compared(role: str, counted: Counted, claim: Count, ground: Ground, found: list[Way]) -> Ruling:
    bound = claimed(claim.bound)
    low, high = at_most(bound, counted.low), at_most(counted.high, bound)
    holds = {"at most": high, "at least": low, "exactly": high and low}[claim.kind]
    where = {"run": "", "round": " in a round", "member": " each"}[claim.per]
    if holds:
        kind = "at most " if claim.kind == "at most" and counted.high != bound else f"{claim.kind} "
        number = counted.high if claim.kind != "at least" else counted.low
        return Ruling("proved", f"{role} is called {kind}{_times(number)}{where}")
    defaults = _defaults(ground)

    def places(reached: Iterable[Way]) -> tuple[tuple[Span, str], ...]:
        return tuple((_line(way, ground), "a call is made here") for way in dict.fromkeys(reached))

    if claim.kind != "at least" and _exceeds(counted.sure, bound, defaults):
        how = f"{role} can be called {_times(counted.sure)}{where}"
        return Ruling("refuted", how, places(counted.reached), certain=ENDLESS[()] in counted.sure.values())
    if claim.kind != "at most" and _exceeds(bound, counted.high, defaults):
        how = f"{role} is called at most {_times(counted.high)}{where}"
        return Ruling("refuted", how, places(found), certain=True)
    return Ruling("open", f"how often {role} is called depends on the run")


def _times(poly: Poly) -> str:
    text = shown(poly)
    return "once" if text == "1" else "never" if text == "0" else f"{text} times"


def _exceeds(number: Poly, bound: Poly, defaults: Mapping[str, float]) -> bool:
    """Whether a number is above a bound for the defaults, or for all values other than zero."""
    if any(name[:1] == "?" for names in (*number, *bound) for name in names):
        return False
    if at_most(bound, number) and _strictly(number, bound):
        return True
    one, other = value_of(number, defaults), value_of(bound, defaults)
    return one is not None and other is not None and one > other


def _strictly(number: Poly, bound: Poly) -> bool:
    return any(factor > bound.get(names, 0) for names, factor in number.items())


def _defaults(ground: Ground) -> dict[str, float]:
    found: dict[str, float] = {}
    for item in ground.spec.config:
        if isinstance(item.default, int) and not isinstance(item.default, bool):
            found[item.name] = item.default
        elif isinstance(item.default, list):
            found[f"#{item.name}"] = len(item.default)
    return found


def rounds(claim: Rounds, ground: Ground) -> Ruling:
    """How many passes the outermost loops around calls make, wherever these stand."""
    found = [way.path for role in roles_called(ground.findings) for way in ways(ground.findings, role)]
    ends = [next((at for at, (node, _) in enumerate(path, 1) if is_sequential(node)), 0) for path in found]
    loops = list(dict.fromkeys(path[:end] for path, end in zip(found, ends, strict=True) if end))
    if not loops:
        return Ruling("unsure", "there is no loop around calls")
    counter, bound = _counter(ground), claimed(claim.bound)
    total = counter.high(loops, 0)
    if at_most(total, bound):
        return Ruling("proved", f"the loop makes at most {shown(total)} passes")
    sure = counter.surely(loops[0], 0) if len(loops) == 1 else ZERO
    if _exceeds(sure, bound, _defaults(ground)) and sum(is_loop(node) for node, _ in loops[0]) == 1:
        place = (ground.facts.first_line(loops[0][-1][0].span), "this loop goes beyond it")
        how = f"the loop makes {shown(sure)} of passes" if sure == ENDLESS else f"up to {shown(sure)} passes are made"
        return Ruling("refuted", how, (place,))
    return Ruling("unsure", "how many rounds there are depends on the run")


# lists


def grows(claim: Grows, ground: Ground) -> Ruling:
    """A list is only added to."""
    scopes = ground.facts.scopes
    name = _variable(claim.name, ground)
    frame = next((frame for frame in scopes.all_frames if name in frame.bindings), None)
    if frame is None:
        return Ruling("unsure", f"{claim.name} is no list of the program")
    targets = [node.target for node in ground.facts.all(n.Append)]
    block = next((around for around in frame.outwards() if around.kind == "block"), None)
    names = [target for target in targets if isinstance(target, n.Name) and target.id == name]
    adds = [target for target in names if block_around(scopes, target) is block]  # blocks change no list from outside
    for binding in frame.bindings[name]:
        if not _only_adds(binding, name) and _may_follow(binding, adds, frame.bindings[name], ground):
            return Ruling("refuted", f"{name} is set anew", ((_binding_line(binding, ground), "it is set anew here"),))
    if any(not isinstance(binding.node, n.Bind) for binding in frame.bindings[name]) or _published(name, ground):
        return Ruling("unsure", f"{name} is bound in more ways than by assignment")
    if _set_twice(name, frame.bindings[name], ground):
        return Ruling("unsure", f"what {name} held before may not be in what it is set to")
    for node in ground.facts.all(n.Bind):
        inside = isinstance(node.target, n.Index | n.Field) and _root(node.target) == name
        if inside and claim.strict:
            return Ruling("refuted", f"an entry of {name} is replaced", ((node.target.span, "it is replaced here"),))
    return Ruling("proved", f"{name} is only added to")


def _set_twice(name: str, bindings: list[Binding], ground: Ground) -> bool:
    """Whether a name may be set to another list after one that was not empty."""
    plain = [binding for binding in bindings if not _only_adds(binding, name)]
    filled = [b for b in plain if not (isinstance(b.value, n.ListExpr) and not b.value.items)]
    loops = ground.facts.all(n.Repeat, n.ForEach, n.Loop, n.BlockDef, n.Pipeline)
    again = any(loop.span.covers(one.span) for loop in loops for one in filled)
    return again or any(one.span.start < other.span.start for one in filled for other in plain)


def _published(name: str, ground: Ground) -> bool:
    """Whether a destructuring or a branch of a ``parallel:`` binds the name."""
    apart = [node.target for node in ground.facts.all(n.Bind) if isinstance(node.target, n.Destructure)]
    branches = [s for node in ground.facts.all(n.Parallel) for s in node.body.statements if isinstance(s, n.Bind)]
    named = {part.id for target in apart for part in target.names}
    return name in named | {b.target.id for b in branches if isinstance(b.target, n.Name)}


def _variable(name: str, ground: Ground) -> str:
    """The variable behind the name of an output."""
    if any(name in frame.bindings for frame in ground.facts.scopes.all_frames):
        return name
    for node in ground.facts.all(n.Return):
        if isinstance(node.value, n.ObjectExpr):
            for entry in node.value.entries:
                if entry.key == name and isinstance(entry.value, n.Name):
                    return entry.value.id
    return name


def _root(expr: n.Expr) -> str | None:
    while isinstance(expr, n.Field | n.Index):
        expr = expr.object
    return expr.id if isinstance(expr, n.Name) else None


def _only_adds(binding: Binding, name: str) -> bool:
    """``xs = xs + [x]``."""
    value = binding.value
    while isinstance(value, n.Binary) and value.op == "+":
        value = value.left
        if isinstance(value, n.Name) and value.id == name:
            return True
    return False


def _binding_line(binding: Binding, ground: Ground) -> Span:
    return ground.facts.first_line(binding.span)


def _may_follow(binding: Binding, adds: list[n.Name], bindings: list[Binding], ground: Ground) -> bool:
    """Whether a binding may come after something was added: behind it in the text, or in a loop with it."""
    if binding.kind == "loop":
        return True
    growing = [node.span for node in adds] + [b.span for b in bindings if _only_adds(b, binding.name)]
    if any(span.start < binding.span.start for span in growing):
        return True
    loops = [node for node in ground.facts.all(n.Repeat, n.ForEach, n.Loop) if node.span.covers(binding.span)]
    return any(loop.span.covers(span) and not _is_parallel(loop) for loop in loops for span in growing)


def _is_parallel(loop: n.Node) -> bool:
    return isinstance(loop, n.Repeat | n.ForEach) and loop.parallel is not None


CALLS: dict[type[Any], Prove] = {
    Order: order,
    InOrder: in_order,
    Count: count,
    Rounds: rounds,
    SameInputs: same_inputs,
    Grows: grows,
}
"""How each kind of claim about calls and lists is proved."""
