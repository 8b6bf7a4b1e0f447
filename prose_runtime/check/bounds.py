"""How many calls a run makes at least and at most, before anything is called.

``formulas`` gives the bounds over config and inputs, ``numbers`` those for given ones, where conditions on config are
decided and loops over known lists are counted exactly. A maximum holds for every run, also one that fails; a minimum
for a run that comes to its end. Requests count what ``limits.max_calls`` counts: each retry, the one repair of an
answer that does not fill its shape, and the judge's. What a spec's contracts ask of the judge is not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from prose_runtime import nodes as n
from prose_runtime.check.bounds_cost import CALLS, CHAIN, JUDGE, REQUESTS, WAIT, Cost, Exit, Key, either
from prose_runtime.check.bounds_formula import ONE, ZERO, Characters, Formula, Open, at_path, atom
from prose_runtime.check.bounds_program import slot_values, start, walked
from prose_runtime.check.bounds_units import Outside, filled, has_program
from prose_runtime.check.bounds_values import (
    NONE,
    NULL,
    At,
    Fill,
    Range,
    State,
    UnitFill,
    Val,
    exactly,
    literal,
    val,
)
from prose_runtime.check.bounds_walk import Loosened, Shared, Site, TooInvolved
from prose_runtime.check.shapes import schema, with_declared
from prose_runtime.check.tables import Analysis, Demand
from prose_runtime.records import dataclass

__all__ = ["Bounds", "Fill", "Given", "Outside", "Range", "Site", "UnitFill", "formulas", "numbers"]


MOST_WALKS = 5
"""Walks after which what was found out has to hold."""

EVERYTHING_SERVICES = Outside()
"""Every name beyond a spec means a service."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a run.

    Attributes:
        targets: Calls by target, as the result of a run names it: slots first, then others as they come.
        calls: All calls of roles.
        judge: How often the judge decides a condition or a choice.
        requests: All requests to services.
        chain: The calls that wait for each other, in the longest such chain.
        wait: The same with the judge's decisions.
        services: At most so many calls for each binding, and so many characters of inputs and prompts in them.
        sites: The places that ask somebody.
        heavy: What each loop and call of the spec itself costs, in calls.
    """

    targets: Mapping[str, Range] = field(default_factory=dict)
    calls: Range = NONE
    judge: Range = NONE
    requests: Range = NONE
    chain: Range = NONE
    wait: Range = NONE
    services: Mapping[str, tuple[Formula, Formula]] = field(default_factory=dict)
    sites: tuple[Site, ...] = ()
    heavy: Mapping[n.Node, Range] = field(default_factory=dict)

    @property
    def open(self) -> tuple[Open, ...]:
        """Why there is no bound; empty when there is one."""
        return self.requests.high.open


@dataclass(frozen=True, slots=True)
class Given:
    """What is known of a run: config and inputs by name, and what fills the slots.

    ``complete``: an optional input that is not given is left out; else nothing is known of it.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    slots: Mapping[str, tuple[Fill, ...]] = field(default_factory=dict)
    complete: bool = False


def formulas(analysis: Analysis, given: Given | None = None, outside: Outside = EVERYTHING_SERVICES) -> Bounds:
    """The bounds as formulas over config, inputs and the lengths of list slots. Only the slots of ``given`` count."""
    unit = _unit(analysis, given, outside)
    config = {item.name: val(At((item.name,))) for item in analysis.spec.config}
    inputs = {name: val(At((name,))) for name in analysis.inputs if name not in config}
    return _bounds(unit, start(config, inputs, slot_values(unit, by_name=True)), outside)


def numbers(analysis: Analysis, given: Given | None = None, outside: Outside = EVERYTHING_SERVICES) -> Bounds:
    """The bounds for given config and inputs, defaults where they are not given.

    They are numbers, but for what depends on inputs of which nothing is said.
    """
    known = given or Given()
    unit = _unit(analysis, given, outside)
    config = {item.name: literal(known.config.get(item.name, item.default)) for item in analysis.spec.config}
    inputs = {name: _input(name, row, known) for name, row in analysis.inputs.items() if name not in config}
    return _bounds(unit, start(config, inputs, slot_values(unit)), outside)


def _input(name: str, row: n.Parameter, known: Given) -> Val:
    if known.inputs.get(name) is not None:
        return literal(known.inputs[name])
    left_out = row.optional and known.complete
    return literal(row.default) if left_out or row.default is not None else val(At((name,)))


def _unit(analysis: Analysis, given: Given | None, outside: Outside) -> UnitFill:
    known = given or Given()
    return filled(UnitFill(analysis, known.slots, known.config), outside)


def _bounds(unit: UnitFill, names: dict[str, Val], outside: Outside) -> Bounds:
    spec = unit.analysis.spec
    if not has_program(spec):
        return _one_call(unit, outside)
    shared = Shared(outside)
    try:
        exits = _followed(unit, names, shared)
    except (TooInvolved, RecursionError):
        where = spec.source.where(spec.body.span if spec.body else spec.name_span)
        unknown = Range(ZERO, atom(Open("the program is too involved to be counted", where)))
        exits = {"normal": Exit(dict.fromkeys((CALLS, JUDGE, REQUESTS, CHAIN, WAIT), unknown), State(), NULL)}
    return _made(unit, exits, shared)


def _followed(unit: UnitFill, names: dict[str, Val], shared: Shared) -> dict[str, Exit]:
    """All ways out of a run; it is walked again, with less trust in lists or with more references, where that is due.

    Raises:
        TooInvolved: It comes to no end.
    """
    for _ in range(MOST_WALKS):
        try:
            exits = walked(unit, dict(names), shared, catching=False)
        except Loosened:
            shared.wary = True
        else:
            if shared.settled:
                return exits
        shared.begin_again()
    raise TooInvolved


def _made(unit: UnitFill, exits: Mapping[str, Exit], shared: Shared) -> Bounds:
    """A run ends normally or fails: its minimum is that of the former, its maximum that of either."""
    ends, fails = exits.get("normal"), exits.get("raise")
    cost: Cost = either(ends.cost if ends else {}, fails.cost if fails else {}) if fails or not ends else ends.cost
    lows: Cost = ends.cost if ends else {}

    def whole(key: Key) -> Range:
        return Range(lows.get(key, NONE).low, cost.get(key, NONE).high)

    known = [fill.name for fills in unit.slots.values() for fill in fills if fill.unit is None]
    named = dict.fromkeys([*known, *(key.name for key in cost if key.measure == "target")])
    return Bounds(
        targets={name: whole(Key("target", name)) for name in named},
        calls=whole(CALLS),
        judge=whole(JUDGE),
        requests=whole(REQUESTS),
        chain=whole(CHAIN),
        wait=whole(WAIT),
        services={
            key.name: (found.high, cost.get(Key("characters", key.name), NONE).high)
            for key, found in cost.items()
            if key.measure == "service"
        },
        sites=tuple(shared.sites),
        heavy=shared.heavy,
    )


def _one_call(unit: UnitFill, outside: Outside) -> Bounds:
    """A function without a program is one call."""
    spec = unit.analysis.spec
    demand = with_declared(Demand(whole=True), spec.returns, None)
    once = exactly(ONE)
    requests = Range(ONE, ONE + ONE if schema(demand) is not None else ONE)
    fill = replace(outside.open(spec.name), spec=spec)
    site = Site(fill, spec, unit, tuple(unit.analysis.inputs), None, demand)
    told = ZERO
    for row in unit.analysis.inputs.values():
        told = told + at_path(Characters, (row.name,))
    empty = Bounds(targets={spec.name: once}, calls=once, requests=requests, chain=once, wait=once)
    return replace(empty, services={fill.service: (ONE, told)}, sites=(site,))
