"""The bounds of a run that is wired: what really fills slots, and the values that inputs and config really have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prose_runtime.check.bounds import Bounds, Fill, Given, Outside, UnitFill, numbers
from prose_runtime.check.bounds_evaluate import Values, evaluate
from prose_runtime.check.bounds_units import callee
from prose_runtime.check.tables import Analysis
from prose_runtime.nodes import Spec
from prose_runtime.runtime.unit import Callee, ContractMode, FunctionCallee, UnitCallee
from prose_runtime.runtime.wiring import LocalWiring
from prose_runtime.services.config import InstanceSettings
from prose_runtime.values import ServiceRef, Value


class Wired(Outside):
    """What names mean in a run: services and pattern instances of prose.yml, then specs of the project.

    ``naming``: also find out which service answers where nothing is bound, which may ask this machine for a server.
    """

    def __init__(self, wiring: LocalWiring, *, naming: bool = False):
        self.wiring = wiring
        self.naming = naming

    def open(self, name: str) -> Fill:
        """The default service."""
        return Fill(name, service=self.wiring.bindings.default_service().binding.name if self.naming else "")

    def service(self, name: str) -> Fill:
        """A name of prose.yml; a pattern instance there makes calls of its own."""
        entry = self.wiring.bindings.config.services.get(name)
        found = self.wiring.configured(name) if isinstance(entry, InstanceSettings) else None
        return Fill(name, service=name) if found is None else fill(name, found)

    def word(self, name: str, file: str) -> UnitFill | Spec | Fill:
        """A word of a pattern instance: a name of prose.yml, else a spec."""
        path = None if name in self.wiring.services() else self.wiring.project.find(name, Path(file))
        return self.service(name) if path is None else callee(self.wiring.program(path).analysis)


def fill(name: str, found: Callee) -> Fill:
    """A callee of a run as the analysis sees it."""
    if isinstance(found, UnitCallee):
        config = dict(found.config)
        return Fill(name, UnitFill(found.program.analysis, fills(found.slots), config, found.bare))
    if isinstance(found, FunctionCallee):
        return Fill(name, spec=found.program.spec, service=found.model.name)
    return Fill(name, service=found.name)


def fills(slots: Mapping[str, Value]) -> dict[str, tuple[Fill, ...]]:
    """What fills the slots of a unit, as the analysis sees it."""
    return {name: tuple(map(_of, bound if isinstance(bound, list) else [bound])) for name, bound in slots.items()}


def _of(ref: ServiceRef) -> Fill:
    return fill(ref.slot or ref.name, ref.target)


def run_bounds(
    analysis: Analysis,
    wiring: LocalWiring,
    slots: Mapping[str, Value],
    config: Mapping[str, Any],
    inputs: Mapping[str, Any],
) -> Bounds:
    """The bounds of a run with these slots, config and inputs."""
    return numbers(analysis, Given(config, inputs, fills(slots), complete=True), Wired(wiring))


def most_requests(bounds: Bounds, contracts: ContractMode) -> int | None:
    """How many requests a run makes at most, None when there is no bound or contracts ask the judge as well."""
    high = evaluate(bounds.requests.high, Values())
    return None if high is None or math.isinf(high) or contracts == "judge" else math.ceil(high)
