"""Specs that are called and have calls of their own: their flow, with what is passed in and what fills their slots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from prose_runtime import nodes as n
from prose_runtime.check.flow_findings import WHETHER, Findings
from prose_runtime.check.flow_values import FUZZY, NO_LABELS, NOTHING, Label, Labels, Trace, Val, joined, merged
from prose_runtime.check.flow_walk import Known, Outcome, Units
from prose_runtime.check.tables import Target
from prose_runtime.records import dataclass
from prose_runtime.text import Span

_ROUNDS = 6
"""Roles of nested specs answer each other at most this many times before nothing new can come of it."""

FlowOf = Callable[[n.Spec], "Findings | None"]


@dataclass(frozen=True, slots=True)
class Role:
    """A slot is filled by somebody who answers himself."""

    name: str


@dataclass(frozen=True, slots=True)
class Unit:
    """A slot, or a call, leads to a spec with calls of its own. ``name`` prefixes its roles that nothing fills."""

    name: str
    spec: n.Spec
    instance: n.Instance | None
    inline: bool = False


Filler = Role | Unit


class Composed(Units):
    """Puts the flow of called specs in the place of their calls."""

    def __init__(self, flow_of: FlowOf):
        self.flow_of = flow_of

    def call(self, target: Target, passed: Mapping[str, Val], known: Known, span: Span) -> Outcome:
        """Whom a call reaches with what, and what it gives."""
        if target.spec is None:
            return _opaque([target.name], passed, span)
        inline = target.kind == "component"
        return self.unit(Unit(target.name, target.spec, target.instance, inline), passed, known, span)

    def unit(self, unit: Unit, passed: Mapping[str, Val], known: Known, span: Span) -> Outcome:
        """As ``call``, for a spec that may also fill a slot."""
        fillers = {slot.name: self.fillers(unit, slot, passed, known) for slot in unit.spec.slots}
        findings = self.flow_of(unit.spec) if unit.spec.javascript is None else None
        if findings is None:
            roles = [role for given in fillers.values() for role in self.names(given, known)]
            return _opaque(roles or [unit.name], passed, span)
        return _Composition(self, unit, findings, fillers, _Call(passed, known, span)).run()

    # what fills a slot

    def fillers(self, unit: Unit, slot: n.Slot, passed: Mapping[str, Val], known: Known) -> list[Filler]:
        """Who answers for a slot of a spec that is called."""
        if unit.instance is not None and slot.name in unit.instance.bindings:
            bound = unit.instance.bindings[slot.name]
            words = list(bound) if isinstance(bound, list | tuple) else [bound]
            return [self.filler(word, known) for word in words]
        given = passed.get(slot.name, NOTHING)
        slots = sorted({label.name for label in given.data if label.kind == "reference"})
        return [Role(name) for name in slots] or [Role(f"{unit.name}/{slot.name}")]

    def filler(self, word: Any, known: Known) -> Filler:
        """What a name in an instance means, or an instance inside another."""
        if isinstance(word, n.Instance):
            spec = known.patterns.get(word)
            return Unit(word.name or word.pattern, spec, word) if spec else Role(word.pattern)
        name = str(word)
        if any(slot.name == name for slot in known.spec.slots):
            return Role(name)
        component = known.components.get(name)
        if component is not None:
            return Unit(name, component, None, True) if component.body is not None else Role(name)
        sibling = next((one for one in known.spec.instances if one.name == name), None)
        return self.filler(sibling, known) if sibling is not None else Role(name)

    def names(self, fillers: list[Filler], known: Known) -> list[str]:
        """The roles behind some fillers."""
        found: list[str] = []
        for filler in fillers:
            if isinstance(filler, Role):
                found.append(filler.name)
            else:
                for slot in filler.spec.slots:
                    found += self.names(self.fillers(filler, slot, {}, known), known)
        return found


class _Call(NamedTuple):
    """What a call passes, and where it stands."""

    passed: Mapping[str, Val]
    known: Known
    span: Span


class _Composition:
    """One call of one spec."""

    def __init__(
        self, units: Composed, unit: Unit, findings: Findings, fillers: Mapping[str, list[Filler]], call: _Call
    ):
        self.units, self.unit, self.findings, self.fillers = units, unit, findings, fillers
        self.passed, self.known, self.span = call
        passed = call.passed
        spec = unit.spec
        taken = {p.name for p in spec.parameters} | {item.name for item in spec.config} | set(fillers)
        taken |= {name for name in passed if any(name == i for s in spec.slots for i in _required(s))}
        loose = [value for name, value in passed.items() if name not in taken]
        self.loose = _fuzzy(_mixed(loose))
        self.outputs: dict[str, Val] = {}
        self.made = Outcome()

    def run(self) -> Outcome:
        roles = list(self.findings.received)
        for role in roles:
            self.outputs[role] = self.answers(role)
        for _ in range(_ROUNDS):
            before = {role: _keys(value) for role, value in self.outputs.items()}
            self.made = Outcome()
            for role in roles:
                self.pass_on(role)
            if {role: _keys(value) for role, value in self.outputs.items()} == before:
                break
        self.made.result = {name: self.outside(value) for name, value in self.findings.result.items()}
        return self.made

    def answers(self, role: str) -> Val:
        """What a role of the spec gives, as far as it answers itself."""
        names = [filler.name for filler in self.who(role) if isinstance(filler, Role)]
        several = FUZZY if len(self.who(role)) > 1 else 0
        return Val({Label("output", name, several): Trace(self.span) for name in names})

    def who(self, role: str) -> list[Filler]:
        if role in self.fillers:
            return self.fillers[role]
        own = self.unit.inline or role in self.known.components
        return [Role(role if own else f"{self.unit.name}/{role}")]

    def pass_on(self, role: str) -> None:
        """What reaches a role of the spec reaches whoever fills it."""
        inputs = {name: self.outside(value) for name, value in self.findings.received[role].items()}
        who = self.who(role)
        for filler in who:
            if isinstance(filler, Role):
                for name, value in inputs.items():
                    _receive(self.made, filler.name, name, value)
                continue
            told = {name: value for name, value in inputs.items() if name != WHETHER}
            inner = self.units.unit(filler, told, self.known, self.span)
            for name, given in inner.received.items():
                for key, value in given.items():
                    _receive(self.made, name, key, value.under(_all(inputs.get(WHETHER, NOTHING))))
            self.made.opaque |= inner.opaque
            given_back = inner.result.get("result", inner.result.get(WHETHER, NOTHING))
            self.outputs[role] = joined(self.outputs[role], _fuzzy(given_back) if len(who) > 1 else given_back)

    def outside(self, value: Val) -> Val:
        """A value of the called spec in terms of the calling one."""
        data = self.mapped(value.data)
        control = self.mapped(value.control)
        return Val(data.data, merged(data.control, _all(control)))

    def mapped(self, labels: Labels) -> Val:
        found = NOTHING
        for label in labels:
            if label.kind in ("input", "config"):
                found = joined(found, self.passed.get(label.name, self.loose))
            elif label.kind == "output":
                given = self.outputs.get(label.name, NOTHING)
                found = joined(found, Val(_flagged(given.data, label.flags), given.control))
            elif label.kind == "error":
                names = self.units.names(self.who(label.name), self.known)
                found = joined(found, Val({Label("error", name): Trace(self.span) for name in names}))
        return found


def _required(slot: n.Slot) -> list[str]:
    return [item.name for item in slot.requires if item.name]


def _receive(outcome: Outcome, role: str, name: str, value: Val) -> None:
    inputs = outcome.received.setdefault(role, {})
    inputs[name] = joined(inputs.get(name, NOTHING), value)


def _opaque(roles: list[str], passed: Mapping[str, Val], span: Span) -> Outcome:
    """A call that cannot be looked into: everything that is passed reaches everybody inside and comes out."""
    inside = _mixed(passed.values())
    answers = {Label("output", role): Trace(span) for role in roles}
    everything = _fuzzy(Val(merged(inside.data, answers), inside.control))
    received = {role: {"*": everything, WHETHER: Val(NO_LABELS, _all(everything))} for role in roles}
    return Outcome(received, {WHETHER: everything}, set(roles))


def _mixed(values: Any) -> Val:
    found = NOTHING
    for value in values:
        found = joined(found, value)
    return Val(found.data, found.control)


def _all(value: Val) -> Labels:
    return merged(value.data, value.control)


def _fuzzy(value: Val) -> Val:
    return Val(_flagged(value.data, FUZZY), _flagged(value.control, FUZZY))


def _flagged(labels: Labels, flags: int) -> Labels:
    if not flags:
        return labels
    return {Label(label.kind, label.name, label.flags | flags): trace for label, trace in labels.items()}


def _keys(value: Val) -> tuple[object, object]:
    return set(value.data), set(value.control)
