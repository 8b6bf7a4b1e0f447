"""What the names of a spec mean when they are called: services, functions, specs with calls of their own.

It follows the rules of a run: a component, instance or spec that is called is filled by the default service where it
leaves slots open; a word in an instance is a component, a slot, another instance, or something beyond the spec.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from prose_runtime import nodes as n
from prose_runtime.check.bounds_values import Fill, UnitFill
from prose_runtime.check.checker import analyse
from prose_runtime.check.project import Project, stem
from prose_runtime.check.tables import Analysis, Target
from prose_runtime.errors import UnreadableFile
from prose_runtime.nodes import PERSON, Spec
from prose_runtime.records import dataclass


class Outside:
    """What names mean that a spec does not explain itself. Here all of them are services."""

    def service(self, name: str) -> Fill:
        """What a name of prose.yml means."""
        return Fill(name, service=name)

    def word(self, name: str, file: str) -> UnitFill | Spec | Fill:
        """What a word in a pattern instance of a spec's file means."""
        return self.service(name)

    def open(self, name: str) -> Fill:
        """Who answers where nothing is bound."""
        return Fill(name)


class InProject(Outside):
    """Finds the specs of a project and of the library by name; every other word is a service."""

    def __init__(self, project: Project):
        self.project = project

    def word(self, name: str, file: str) -> UnitFill | Spec | Fill:
        """The spec of a name, as a callee."""
        path = self.project.find(name, Path(file))
        try:
            loaded = self.project.load(path) if path is not None else None
        except UnreadableFile:
            loaded = None
        if loaded is None:
            return self.service(name)
        return callee(analyse(loaded.spec, self.project, loaded.diagnostics))


def callee(analysis: Analysis, *, bare: bool = True) -> UnitFill | Spec:
    """A spec as it is called: one call when it is a function without a program, else a unit with open slots."""
    return UnitFill(analysis, bare=bare) if has_program(analysis.spec) else analysis.spec


def has_program(spec: Spec) -> bool:
    """Whether a spec makes calls of its own, and is not itself one."""
    return spec.body is not None or bool(spec.slots) or spec.javascript is not None


def filled(unit: UnitFill, outside: Outside) -> UnitFill:
    """The unit with its open slots answered by the default service, or a person: one for each, also for a list slot."""
    slots = {slot.name: unit.slots.get(slot.name) or (_open(slot, outside),) for slot in unit.analysis.spec.slots}
    return UnitFill(unit.analysis, slots, unit.config, unit.bare)


def _open(slot: n.Slot, outside: Outside) -> Fill:
    return Fill(slot.name, service=PERSON) if slot.person else outside.open(slot.name)


@dataclass(frozen=True, slots=True)
class Wires:
    """The meaning of names in one unit."""

    unit: UnitFill
    outside: Outside

    @property
    def analysis(self) -> Analysis:
        """That of the unit's spec."""
        return self.unit.analysis

    def target(self, target: Target) -> Fill:
        """The callee of a call that names a component, instance, alias, spec or service."""
        if target.instance is not None and target.spec is not None:
            return Fill(target.name, self._instance(target.instance, target.spec, bare=False))
        if target.spec is not None:
            return self._fill(target.name, self._of(target.spec, bare=False))
        return self.outside.service(target.name)

    def _of(self, spec: Spec, *, bare: bool) -> UnitFill | Spec:
        return callee(self.analysis.callees.get(spec) or Analysis(spec), bare=bare)

    def _instance(self, instance: n.Instance, spec: Spec, *, bare: bool) -> UnitFill:
        slots: dict[str, tuple[Fill, ...]] = {}
        for slot in spec.slots:
            if slot.name in instance.bindings:
                bound = instance.bindings[slot.name]
                words = list(bound) if isinstance(bound, list | tuple) else [bound]
                slots[slot.name] = tuple(self._word(word, slot) for word in words)
        analysis = self.analysis.callees.get(spec) or Analysis(spec)
        return filled(UnitFill(analysis, slots, dict(instance.config), bare), self.outside)

    def _word(self, word: Any, slot: n.Slot) -> Fill:
        """What a word in an instance means; calls are reported under the name of the slot that it fills."""
        if isinstance(word, n.Instance):
            return self._nested(word, slot)
        name = str(word)
        own = self.unit.slots.get(name, ())
        single = next((s for s in self.analysis.spec.slots if s.name == name and not s.is_list), None)
        if single is not None and own:
            return replace(own[0], name=slot.name)
        for component in self.analysis.spec.components:
            if component.name == name:
                return self._fill(slot.name, self._of(component, bare=True))
        for sibling in self.analysis.spec.instances:
            if sibling.name == name:
                return self._nested(sibling, slot)
        return self._fill(slot.name, self.outside.word(name, self.analysis.spec.source.path))

    def _nested(self, instance: n.Instance, slot: n.Slot) -> Fill:
        spec = self._pattern(instance.pattern)
        if spec is None:
            return self.outside.open(slot.name)
        return Fill(slot.name, self._instance(instance, spec, bare=True))

    def _pattern(self, reference: str) -> Spec | None:
        """The spec that an instance names: one of those that the unit's spec leads to."""
        name = Path(reference).name.removesuffix(".md").removesuffix(".prose")
        leads = self.analysis.callees
        return next((s for s in leads if s.name == name or stem(Path(s.source.path)) == name), None)

    def _fill(self, name: str, found: UnitFill | Spec | Fill) -> Fill:
        if isinstance(found, Fill):
            return replace(found, name=name)
        if isinstance(found, UnitFill):
            return Fill(name, filled(found, self.outside))
        return replace(self.outside.open(name), spec=found)
