"""Proofs of what invariants claim about who sees what: by the flow analysis, before anything runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, Literal

from prose_runtime import nodes as n
from prose_runtime.check.flow import WHETHER, Findings, flow_of, name_in_text
from prose_runtime.check.flow_order import Way, ways
from prose_runtime.check.flow_values import EARLIER, FUZZY, OLDER, Fact, Label, Labels, Trace
from prose_runtime.check.invariant_certainty import doubt_of_way
from prose_runtime.check.invariant_claims import (
    Independent,
    NeverSees,
    OnlyIf,
    Reaches,
    SeesOnly,
    Unaware,
)
from prose_runtime.check.rule import Facts
from prose_runtime.records import dataclass
from prose_runtime.text import Span

_SHOWS = "which of several roles is called, or what a called spec does, shows in a run"

Status = Literal["proved", "refuted", "open", "unsure"]
"""``open``: a run can tell. ``unsure``: neither the program nor a run can."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What can be said of a claim before a run: ``how`` is a short sentence, ``places`` show it.

    ``certain``: no way through the program is needed for it, as every run to the end breaks the claim.
    """

    status: Status
    how: str
    places: tuple[tuple[Span, str], ...] = ()
    certain: bool = False


@dataclass(frozen=True, slots=True)
class Flowing:
    """A label that reaches an input of a role."""

    label: Label
    trace: Trace
    input: str


class Ground:
    """What proofs stand on: a spec's facts and its flow."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self.spec = facts.spec
        self.lists = frozenset(slot.name for slot in self.spec.slots if slot.is_list)

    @cached_property
    def findings(self) -> Findings:
        """The flow of the spec."""
        facts = self.facts
        found = flow_of(self.spec, facts.project, facts.enclosing, resolution=facts.resolution, within=facts.collected)
        return found if found is not None else Findings()

    def data(self, role: str) -> Iterator[Flowing]:
        """All data that reaches a role, by input."""
        for name, value in self.findings.received.get(role, {}).items():
            if name != WHETHER:
                yield from (Flowing(label, trace, name) for label, trace in value.data.items())

    def control(self, role: str) -> Labels:
        """On what it depends whether a role is called, and what it is given."""
        found: dict[Label, Trace] = {}
        for value in self.findings.received.get(role, {}).values():
            found.update(value.control)
        return found

    def line(self, span: Span) -> int:
        """The line of a place."""
        return self.spec.source.place(span.start).line

    def way(self, flowing: Flowing, role: str) -> tuple[tuple[Span, str], ...]:
        """The places by which a value travels, a line each."""
        spans = flowing.trace.places()
        kept: list[Span] = []
        for span in spans:
            if not kept or self.line(kept[-1]) != self.line(span):
                kept.append(span)
        texts = [self._begins(flowing.label), *["it goes on here"] * (len(kept) - 2), f"it reaches {role} here"]
        if len(kept) == 1:
            texts = [f"{self._begins(flowing.label)} and reaches {role}"]
        return tuple(zip(kept, texts, strict=False))

    def _begins(self, label: Label) -> str:
        words = {"output": f"the output of {label.name}", "error": f"a failure of {label.name}"}
        return f"{words.get(label.kind, label.name)} begins here"


def never_sees(claim: NeverSees, ground: Ground) -> Ruling:
    """No answer of some roles, and nothing from some names, reaches others."""
    rulings = [_sees_role(who, role, claim.within, ground) for who, role in _pairs(claim, ground)]
    rulings += [_sees_name(who, name, ground) for who in claim.who for name in claim.names]
    return worst(rulings)


def _pairs(claim: NeverSees | Independent, ground: Ground) -> list[tuple[str, str]]:
    """Who must not see whom: a role's own answers count where it is the only one that is named, or has members."""
    others = claim.roles if isinstance(claim, NeverSees) else claim.others
    alone = len(claim.who) == 1
    return [
        (who, role)
        for who in claim.who
        for role in others
        if who != role or who in ground.lists or (alone and others == claim.who)
    ]


def _sees_role(who: str, role: str, within: bool, ground: Ground) -> Ruling:
    found = [
        flowing
        for flowing in ground.data(who)
        if flowing.label.name == role
        and flowing.label.kind in ("output", "error")
        and not (within and flowing.label.flags & EARLIER)
    ]
    outputs = [flowing for flowing in found if flowing.label.kind == "output"]
    firm = next((flowing for flowing in outputs if not flowing.label.flags & FUZZY), None)
    scope = " within a round" if within else ""
    if firm is not None and who == role and who in ground.lists and _may_be_own(firm, ground):
        return Ruling("open", f"one of {who} may see what it said itself")
    if firm is not None:
        how = f"the output of {role} reaches {who}{scope} as its input {firm.input}"
        return Ruling("refuted", how, ground.way(firm, who))
    if outputs:
        return Ruling("open", f"the output of {role} may reach {who}: {_SHOWS}")
    if found:
        return Ruling("open", f"the message of a failure of {role} reaches {who}")
    depends = any(label.kind == "output" and label.name == role for label in ground.control(who))
    only = f"; only whether {who} is called, or with which value, depends on it" if depends else ""
    return Ruling("proved", f"no data flows from {role} to {who}{scope}{only}")


def _may_be_own(flowing: Flowing, ground: Ground) -> bool:
    """Whether a member of a list may be told only what it answered itself: by another call in the same pass."""
    first, *_, last = (*flowing.trace.places(), flowing.trace.span)
    calls = [site.node for site in ground.findings.sites.values() if isinstance(site.node, n.Call)]
    asked = [call for call in calls if call.span.start == first.start or call.span.covers(last)]
    loops = ground.facts.all(n.ForEach)
    members = {loop.var.id for loop in loops}
    if not asked or not all(isinstance(call.target, n.Name) and call.target.id in members for call in asked):
        return True
    return len(asked) > 1 and any(all(loop.span.covers(call.span) for call in asked) for loop in loops)


def _sees_name(who: str, name: str, ground: Ground) -> Ruling:
    """An input, config item or variable of that name."""
    coming = _firm_first(ground.data(who))
    given = [f for f in coming if f.label.kind in ("input", "config") and f.label.name == name]
    if given:
        return _named_reaches(given[0], name, who, ground, "open")
    if name in ground.facts.scopes.inputs or any(item.name == name for item in ground.spec.config):
        return Ruling("proved", f"no data flows from {name} to {who}")
    held = [f for f in coming if f.input == name or _passes(f.trace, name, ground)]
    if held:
        return _named_reaches(held[0], name, who, ground, "unsure")
    roles = ground_roles(name, ground)
    if any(flowing.label.name in roles for flowing in coming) or not roles:
        return Ruling("unsure", f"whether {name} reaches {who} cannot be told")
    return Ruling("proved", f"no data flows from {name} to {who}")


def _named_reaches(flowing: Flowing, name: str, who: str, ground: Ground, doubt: Status) -> Ruling:
    if flowing.label.flags & FUZZY:
        return Ruling(doubt, f"{name} may reach {who}: {_SHOWS}")
    return Ruling("refuted", f"{name} reaches {who} as its input {flowing.input}", ground.way(flowing, who))


def _firm_first(found: Iterable[Flowing]) -> list[Flowing]:
    """What surely gets there before what only may."""
    return sorted(found, key=lambda flowing: flowing.label.flags & FUZZY)


def _passes(trace: Trace, name: str, ground: Ground) -> bool:
    """Whether a value travels through a variable."""
    text = ground.spec.source.text
    return any(text[span.start : span.end] == name for span in trace.places())


def ground_roles(name: str, ground: Ground) -> set[str]:
    """The roles whose answers a variable, a field of a contract or an output holds."""
    declared = {slot.name for slot in ground.spec.slots for promise in slot.ensures if name in promise.names}
    bindings = [b for frame in ground.facts.scopes.all_frames for b in frame.bindings.get(name, ())]
    found = {role for b in bindings for role in _giving(b.value or getattr(b.node, "value", None), ground, 4)}
    return found or declared


def _giving(value: Any, ground: Ground, depth: int) -> set[str]:
    """The roles whose answer an expression is, or is a part of."""
    while isinstance(value, n.Field | n.Index):
        value = value.object
    if isinstance(value, n.Call | n.Session):
        site = ground.findings.sites.get(value)
        return set(site.roles) if site else set()
    if isinstance(value, n.Name) and depth:
        frames = ground.facts.scopes.all_frames
        bound = [b for frame in frames for b in frame.bindings.get(value.id, ())]
        return {r for b in bound for r in _giving(b.value or getattr(b.node, "value", None), ground, depth - 1)}
    return set()


def sees_only(claim: SeesOnly, ground: Ground) -> Ruling:
    """Nothing but the named answers, and the named inputs when there are any, reaches a role."""
    return worst([_only(who, claim, ground) for who in claim.who])


def _only(who: str, claim: SeesOnly, ground: Ground) -> Ruling:
    doubt = ""
    for flowing in ground.data(who):
        kind = "" if claim.inputs and flowing.input not in claim.inputs else _outside(flowing, claim, ground)
        if kind == "sees" and flowing.label.name in claim.roles and not _is_asked_again(flowing, ground):
            kind = f"{_named(flowing.label)} may reach it"
        if kind == "sees":
            what = _named(flowing.label)
            how = f"{what} reaches {who} as its input {flowing.input}"
            return Ruling("refuted", how, ground.way(flowing, who))
        doubt = doubt or kind
    if doubt:
        return Ruling("open", doubt)
    listed = ", ".join((*claim.roles, *claim.names)) or "its inputs"
    where = f" as its input {', '.join(claim.inputs)}" if claim.inputs else ""
    return Ruling("proved", f"no data but that of {listed} flows to {who}{where}")


def _is_asked_again(flowing: Flowing, ground: Ground) -> bool:
    """Whether a run surely can call a role once more, so that what it said before is no longer the latest."""
    first, role = flowing.trace.places()[0], flowing.label.name
    calls = [site.node.span for site in ground.findings.sites.values() if role in site.roles]
    others = [span for span in calls if span.start != first.start]
    blocks = [block.span for block in ground.facts.all(n.BlockDef)]
    return not others or any(
        any(block.covers(span) for block in blocks)
        or doubt_of_way(ground.facts, ground.findings, [span], data=False) is None
        for span in others
    )


def _outside(flowing: Flowing, claim: SeesOnly, ground: Ground) -> str:
    """ "sees" when a label is one that the claim rules out, words of doubt when it may be, else nothing."""
    label = flowing.label
    if label.kind in ("output", "error"):
        stale = claim.latest and bool(label.flags & OLDER) and label.name in claim.roles
        if (label.name in claim.roles and not stale) or _is_let_through(flowing, claim, ground):
            return ""
        if label.flags & FUZZY or label.kind == "error":
            return f"{_named(label)} may reach it"
        return "sees"
    if label.kind in ("input", "config") and (claim.names or claim.inputs):
        allowed = label.name in claim.names or _is_let_through(flowing, claim, ground)
        return "" if allowed else f"{label.name} may reach it" if label.flags & FUZZY else "sees"
    return ""


def _is_let_through(flowing: Flowing, claim: SeesOnly, ground: Ground) -> bool:
    """Whether a name of the claim is an input of the call or a variable, and the value comes by it."""
    inputs = ground.facts.scopes.inputs
    given = {name for name in claim.names if name not in inputs and all(c.name != name for c in ground.spec.config)}
    return flowing.input in given or any(_passes(flowing.trace, name, ground) for name in given)


def _named(label: Label) -> str:
    if label.kind == "output":
        return f"an earlier output of {label.name}" if label.flags & OLDER else f"the output of {label.name}"
    return f"a failure of {label.name}" if label.kind == "error" else label.name


def independent(claim: Independent, ground: Ground) -> Ruling:
    """No call of a role depends on what another one answers."""
    rulings = []
    for who, role in _pairs(claim, ground):
        ruling = _sees_role(who, role, False, ground)
        if ruling.status == "proved":
            if (depends := _swayed(who, role, ground)) is not None:
                ruling = depends
            elif between := _between(role, who, ground):
                ruling = Ruling("unsure", f"what {who} is told may come from {role} by way of {between}")
        rulings.append(ruling)
    return worst(rulings)


def _swayed(who: str, role: str, ground: Ground) -> Ruling | None:
    """Whether it depends on a role, on its failures as well, if another one is called, or with which value."""
    found = {
        label: trace
        for label, trace in ground.control(who).items()
        if label.kind in ("output", "error") and label.name == role
    }
    if not found:
        return None
    calls = ways(ground.findings, who)
    for way in calls:
        for node, part in way.path:
            others = any(node is fork and part != taken for call in calls for fork, taken in call.path)
            decides = _decided_by(role, node, way) if isinstance(node, n.If) and way.sole and not others else None
            if decides is not None:
                places = ((decides, f"this looks at what {role} says"), (_head(way.site.node.span, ground), _CALLED))
                return Ruling("refuted", f"whether {who} is called depends on the output of {role}", places)
    trace = next(iter(found.values()))
    how = f"the call of {who} may depend on {role} (line {ground.line(trace.span)})"
    return Ruling("open", how, ((trace.span, f"this depends on {role}"),))


def _decided_by(role: str, fork: n.If, way: Way) -> Span | None:
    """The condition of a fork on the way to a call that surely looks at what a role answered."""
    seen = {
        span
        for label, trace in way.site.control.items()
        if label.kind == "output" and label.name == role and not label.flags & FUZZY
        for span in trace.places()
    }
    return next((branch.condition.span for branch in fork.branches if branch.condition.span in seen), None)


_CALLED = "the call that depends on it"


def _between(role: str, who: str, ground: Ground) -> str:
    """Another role that is told something by the one, and by way of which, maybe with others, the other one is."""
    reached: dict[str, str] = {}
    waiting = [role]
    while waiting:
        source = waiting.pop()
        for other in ground.findings.received:
            flows = (label for label in (*(f.label for f in ground.data(other)), *ground.control(other)))
            if other not in (role, *reached) and any(f.kind == "output" and f.name == source for f in flows):
                reached[other] = reached.get(source, other)
                if other != who:
                    waiting.append(other)
    return reached.get(who, "")


def unaware(claim: Unaware, ground: Ground) -> Ruling:
    """What the author says to a role does not name the pattern."""
    for who in claim.who:
        for flowing in _firm_first(ground.data(who)):
            if flowing.label.kind == "name":
                if flowing.label.flags & FUZZY:
                    return Ruling("open", f"{who} may be told {ground.spec.name}: {_SHOWS}")
                how = f"the {_told_as(flowing.input)} of {who} names {ground.spec.name}"
                return Ruling("refuted", how, ground.way(flowing, who))
        for span, text in _jobs(who, ground):
            if name_in_text(ground.spec, text):
                how = f"the job of {who} names {ground.spec.name}"
                return Ruling("refuted", how, ((span, f"this is told to {who}"),))
    return Ruling("proved", "no job, prompt or input that the spec gives names the pattern")


def _told_as(name: str) -> str:
    return "prompt" if name == "prompt" else f"input {name}"


def _jobs(who: str, ground: Ground) -> Iterator[tuple[Span, str]]:
    """What the spec says that a slot's job is. A slot that is called like the pattern may be named by others."""
    if any(slot.name == ground.spec.name for slot in ground.spec.slots):
        return
    for delegate in ground.spec.shape.delegates if ground.spec.shape else ():
        name = delegate.slot.strip("`")
        base = re.sub(r"_1\s*(?:\.\.\.?|…).*$", "", name)
        if who in (name, base, f"{base}s"):
            yield delegate.span, delegate.job
    for slot in ground.spec.slots:
        if slot.name == who:
            yield from ((promise.span, promise.text) for promise in slot.ensures)


def only_if(claim: OnlyIf, ground: Ground) -> Ruling:
    """Every call of a role is behind a condition on another one's latest answer."""
    return worst([_guarded(who, guard, claim.side, ground) for who in claim.who for guard in claim.guards])


def _guarded(who: str, guard: str, side: int, ground: Ground) -> Ruling:
    sites = [site for site in ground.findings.sites.values() if who in site.roles]
    if not sites:
        return Ruling("proved", f"{who} is never called")
    word = "approves" if side > 0 else "refuses"
    doubt = False
    for site in sites:
        sides = {fact.side for fact in site.facts if fact.role == guard}
        span = site.node.span
        if guard in ground.lists or site.roles[0] != who or (len(site.roles) > 1 and not site.unit):
            doubt = True
        elif Fact(guard, side) in site.facts:
            continue
        elif -side in sides:
            how = f"{who} is called where {guard} has decided the other way"
            return Ruling("refuted", how, ((_head(span, ground), f"{who} is called here"),))
        elif side > 0 and not sides and not _depends(site, guard):
            how = f"{who} is called without a condition on what {guard} says"
            return Ruling("refuted", how, ((_head(span, ground), f"{who} is called here"),))
        else:
            doubt = True
    if doubt:
        return Ruling("open", f"the conditions before {who} do not say plainly that {guard} {word}")
    return Ruling("proved", f"every call of {who} is behind a condition that {guard} {word}")


def _depends(site: Any, role: str) -> bool:
    labels = [*site.data, *site.control]
    return any(label.kind in ("output", "error") and label.name == role for label in labels)


def _head(span: Span, ground: Ground) -> Span:
    return ground.facts.first_line(span)


def reaches(claim: Reaches, ground: Ground) -> Ruling:
    """There is a way from a role's answer, or from a value, to a role."""
    rulings = [_reached(who, {role}, role, claim, ground) for who in claim.who for role in claim.roles]
    rulings += [_reached_by_name(who, name, claim, ground) for who in claim.who for name in claim.names]
    return worst(rulings)


def _coming(who: str, claim: Reaches, ground: Ground) -> list[Flowing]:
    return [flowing for flowing in ground.data(who) if not claim.inputs or flowing.input in claim.inputs]


def _reached(who: str, roles: set[str], named: str, claim: Reaches, ground: Ground) -> Ruling:
    found = [f for f in _coming(who, claim, ground) if f.label.kind == "output" and f.label.name in roles]
    firm = next((f for f in found if not f.label.flags & FUZZY), None)
    if firm is not None and _is_picked(firm, ground):
        return Ruling("open", f"the output of {named} may reach {who}: which element is passed shows in a run")
    if firm is not None:
        lines = ", ".join(str(line) for line in dict.fromkeys(map(ground.line, firm.trace.places())))
        return Ruling("proved", f"it reaches {who} as its input {firm.input} (lines {lines})")
    if found:
        return Ruling("open", f"the output of {named} may reach {who}: {_SHOWS}")
    where = f" as its input {', '.join(claim.inputs)}" if claim.inputs else ""
    return Ruling("refuted", f"no data flows from {named} to {who}{where}")


def _is_picked(flowing: Flowing, ground: Ground) -> bool:
    """Whether a value goes on as one element of a list, by its number, which may be another one."""
    picks = [node for node in ground.facts.all(n.Index) if not isinstance(node.index, n.Template)]
    return any(place.covers(node.span) for place in flowing.trace.places()[1:] for node in picks)


def _reached_by_name(who: str, name: str, claim: Reaches, ground: Ground) -> Ruling:
    for flowing in _firm_first(_coming(who, claim, ground)):
        given = flowing.label.kind in ("input", "config") and flowing.label.name == name
        if given or (flowing.label.kind == "output" and _passes(flowing.trace, name, ground)):
            if flowing.label.flags & FUZZY:
                return Ruling("open", f"{name} may reach {who}: {_SHOWS}")
            return Ruling("proved", f"it reaches {who} as its input {flowing.input}")
    if name in ground.facts.scopes.inputs or any(item.name == name for item in ground.spec.config):
        return Ruling("refuted", f"no data flows from {name} to {who}")
    roles = ground_roles(name, ground)
    return _reached(who, roles, name, claim, ground) if roles else Ruling("unsure", f"what {name} holds is not known")


_ORDER: tuple[Status, ...] = ("refuted", "unsure", "open", "proved")


def worst(rulings: list[Ruling]) -> Ruling:
    """The ruling on several claims together: as good as the worst of them."""
    if not rulings:
        return Ruling("unsure", "there is nothing that it is about")
    ruling = min(rulings, key=lambda one: _ORDER.index(one.status))
    hows = list(dict.fromkeys(one.how for one in rulings if one.status == ruling.status))
    return Ruling(
        ruling.status, "; ".join(hows[:3]) + ("; ..." if len(hows) > 3 else ""), ruling.places, ruling.certain
    )


Prove = Callable[[Any, Ground], Ruling]

SIGHT: dict[type[Any], Prove] = {
    NeverSees: never_sees,
    SeesOnly: sees_only,
    Independent: independent,
    Unaware: unaware,
    OnlyIf: only_if,
    Reaches: reaches,
}
"""How each kind of claim about sight is proved."""
