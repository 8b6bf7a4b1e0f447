"""Turns words and specs into callees: what fills a slot, what a component or an instance is when it is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from prose_runtime.check.checker import all_diagnostics, analyse, reachable
from prose_runtime.check.project import Project
from prose_runtime.check.tables import Analysis
from prose_runtime.diagnostics import did_you_mean
from prose_runtime.errors import CheckFailed, UsageError
from prose_runtime.journal import RECORD_FOLDER
from prose_runtime.nodes import PERSON, Instance, Slot, Spec
from prose_runtime.resources import user_data
from prose_runtime.runtime.memory import MemoryFile, Store
from prose_runtime.runtime.needs import check_needs, skill_texts
from prose_runtime.runtime.program import Program
from prose_runtime.runtime.unit import Callee, FunctionCallee, ServiceCallee, Unit, UnitCallee
from prose_runtime.services import registry
from prose_runtime.services.bindings import Binding, Bindings, InstanceSettings, spoken
from prose_runtime.services.config import settings_from
from prose_runtime.values import ServiceRef, Value

_ADDITIONS = ("instructions", "persona", "language", "background")


ELSEWHERE = "by a Python program, to a service of its own"
"""What stands in a record for a binding that is no word."""


class LocalWiring:
    """Wires a run with the services of prose.yml and the specs of a project."""

    def __init__(self, bindings: Bindings, project: Project):
        self.bindings = bindings
        self.project = project
        self._programs: dict[Spec, Program] = {}

    # what answers

    def default(self) -> ServiceCallee:
        """The service that answers where nothing is bound."""
        return self._service(self.bindings.default_service().binding)

    def judge(self) -> ServiceCallee:
        """The service that decides conditions."""
        return self._service(self.bindings.judge())

    def model(self, name: str) -> str:
        """The model that an alias stands for."""
        return self.bindings.model_id(name)

    def person(self) -> Callee:
        """The callee for a question to a person: the service ``human`` of prose.yml, else the one at the terminal."""
        return self._bound(self.bindings.resolve(PERSON))

    def participant(self, word: str, path: str) -> ServiceCallee:
        """The callee for a person who takes over the slot at a path; ``word`` says where the person is.

        Raises:
            UsageError: The word means no service.
        """
        callee = self._bound(self.bindings.resolve(word, path))
        if not isinstance(callee, ServiceCallee):
            raise UsageError(f"`{path}` cannot be joined: `{word}` is no service but {callee.name}")
        return callee

    def memory(self, kept: str, agent: str) -> Store | None:
        """Where an agent's memory is kept: ``.prose/agents/`` of the project, or the user's data folder."""
        if kept == "run":
            return None
        folder = user_data() if kept == "user" else self.project.root / RECORD_FOLDER
        name = kept.removeprefix("=") if kept.startswith("=") else agent
        return MemoryFile(folder / "agents" / f"{name}.jsonl")

    def check_needs(self, specs: Iterable[Spec]) -> None:
        """Look whether all is there that specs declare to need.

        Raises:
            UsageError: Something is missing.
        """
        check_needs(specs, self.project.root)

    def skills(self, spec: Spec) -> str:
        """The text of the skills that a function declares."""
        return skill_texts(spec, self.project.root)

    def services(self) -> list[str]:
        """The names of the services and instances that prose.yml configures."""
        return list(self.bindings.config.services)

    def configured(self, name: str) -> Callee | None:
        """The callee for a service or instance of prose.yml, or None when there is none of that name."""
        return self._bound(self.bindings.resolve(name)) if name in self.bindings.config.services else None

    def _service(self, binding: Binding) -> ServiceCallee:
        service = self.bindings.service(binding)
        settings = binding.settings
        given = {key: getattr(settings, key) for key in _ADDITIONS if getattr(settings, key, None)}
        return ServiceCallee(binding.name, service, given)

    # words of the command line, of prose.yml and of Python

    def refer(self, word: Any, slot: Slot, base: Path | None = None) -> Value:
        """The value of a slot that a word, a list of words or an async function is bound to.

        Raises:
            UsageError: A word means nothing, or a list is bound to a single slot.
        """
        words = word if isinstance(word, list | tuple) else [word]
        if not slot.is_list and len(words) != 1:
            raise UsageError(f"`{slot.name}` takes one binding, not {len(words)}")
        refs = [self._reference(one, slot.name, base) for one in words]
        return refs if slot.is_list else refs[0]

    def _reference(self, word: Any, slot: str, base: Path | None) -> ServiceRef:
        if isinstance(word, Mapping):
            word = settings_from(InstanceSettings, word, f"the binding of `{slot}`")
        if isinstance(word, InstanceSettings):
            return ServiceRef(word.pattern, slot, self._settings(word, base))
        if word == ELSEWHERE:
            raise UsageError(f"`{slot}` was bound {ELSEWHERE}", help="go on with the run there, and bind it again")
        if not isinstance(word, str):
            named = callable(word) and not isinstance(word, type)
            name = str(getattr(word, "name", None) or getattr(word, "__name__", slot)) if named else slot
            return ServiceRef(name, slot, ServiceCallee(name, registry.adapt(name, word)))
        binding = self._binding(word, slot, base)
        return ServiceRef(spoken(binding.name), slot, self._bound(binding))

    def _binding(self, word: str, slot: str, base: Path | None) -> Binding:
        """What a word means as prose.yml and the providers know it, else the spec of that name."""
        try:
            return self.bindings.resolve(word, slot, base=base)
        except UsageError:
            # Words count from where they were written: the spec may stand in the library, far from there.
            beside = base or Path.cwd()
            path = Project.around(beside).find(word, beside)
            if path is None:
                raise
            return Binding(word, "spec", path=path)

    def _bound(self, binding: Binding) -> Callee:
        if binding.path is not None:
            return self._callee(self.program(binding.path), binding.name, bare=True)
        if binding.instance is not None:
            return self._settings(binding.instance, binding.folder)
        return self._service(binding)

    def _settings(self, settings: InstanceSettings, folder: Path | None) -> UnitCallee:
        program = self.program(self._found(settings.pattern, folder or Path.cwd()))
        _known_only(settings.slots, [slot.name for slot in program.spec.slots], settings.pattern, "slot")
        _known_only(settings.config, [item.name for item in program.spec.config], settings.pattern, "config item")
        slots = {
            slot.name: self.refer(settings.slots[slot.name], slot, folder)
            for slot in program.spec.slots
            if slot.name in settings.slots
        }
        return UnitCallee(settings.pattern, program, self.filled(program, slots), settings.config, bare=True)

    def _found(self, reference: str, beside: Path) -> Path:
        path = self.project.find(reference, beside) or Project.around(beside).find(reference, beside)
        if path is None:
            help_ = did_you_mean(reference, self.project.names_near(beside))
            raise UsageError(f"there is no pattern `{reference}` near {beside}", help=help_)
        return path

    def filled(self, program: Program, slots: Mapping[str, Value]) -> dict[str, Value]:
        """All slots of a program; one without a binding is answered by a person if it is marked so, else by default."""
        return {
            slot.name: slots[slot.name] if slot.name in slots else self._default(slot) for slot in program.spec.slots
        }

    def _default(self, slot: Slot) -> Value:
        callee = self.person() if slot.person else self.default()
        ref = ServiceRef(PERSON if slot.person else callee.name, slot.name, callee)
        return [ref] if slot.is_list else ref

    # specs

    def texts(self) -> list[str]:
        """The texts of the specs that were wired so far."""
        return [spec.source.raw for spec in self._programs]

    def program(self, path: Path) -> Program:
        """The checked program of a file.

        Raises:
            CheckFailed: The spec, or one that it calls, has errors.
            UnreadableFile: It cannot be read.
        """
        loaded = self.project.load(path)
        if loaded.spec not in self._programs:
            analysis = analyse(loaded.spec, self.project, loaded.diagnostics)
            found = all_diagnostics(analysis)
            if any(d.severity == "error" for d in found):
                raise CheckFailed(found)
            self.check_needs([part.spec for part in reachable(analysis)])
            self._programs[loaded.spec] = Program(analysis)
        return self._programs[loaded.spec]

    def spec(self, program: Program, spec: Spec, name: str) -> Callee:
        """The callee for a component or another spec that a program names: it yields everything."""
        return self._callee(program.child(spec), name, bare=False)

    def _callee(self, program: Program, name: str, *, bare: bool) -> Callee:
        spec = program.spec
        if spec.body is None and not spec.slots and not spec.javascript:
            return FunctionCallee(name, program, self.default())
        return UnitCallee(name, program, self.filled(program, {}), {}, bare=bare)

    # instances that stand in a spec

    def instance(self, unit: Unit, instance: Instance, spec: Spec) -> UnitCallee:
        """The callee for a pattern instance of a spec, called by its name: it yields everything."""
        return self._instance(unit, instance, unit.program.child(spec), bare=False)

    def _instance(self, unit: Unit, instance: Instance, program: Program, *, bare: bool) -> UnitCallee:
        slots = {}
        for slot in program.spec.slots:
            if slot.name in instance.bindings:
                bound = instance.bindings[slot.name]
                words = list(bound) if isinstance(bound, list | tuple) else [bound]
                refs = [self._inside(unit, word, slot) for word in words]
                slots[slot.name] = refs if slot.is_list else refs[0]
        name = instance.name or instance.pattern
        return UnitCallee(name, program, self.filled(program, slots), dict(instance.config), bare=bare)

    def _inside(self, unit: Unit, word: Any, slot: Slot) -> ServiceRef:
        """What a name in a spec's instance means: a nested instance, a component, a slot, a sibling, a service."""
        if isinstance(word, Instance):
            program = self.program(self._found(word.pattern, Path(unit.program.spec.source.path)))
            callee = self._instance(unit, word, program, bare=True)
            return ServiceRef(callee.name, slot.name, callee)
        name = str(word)
        own = unit.slots.get(name)
        if isinstance(own, ServiceRef):
            return ServiceRef(own.name, slot.name, own.target)
        for component in unit.program.spec.components:
            if component.name == name:
                return ServiceRef(name, slot.name, self._callee(unit.program.child(component), name, bare=True))
        for sibling in unit.program.spec.instances:
            if sibling.name == name:
                program = self.program(self._found(sibling.pattern, Path(unit.program.spec.source.path)))
                return ServiceRef(name, slot.name, self._instance(unit, sibling, program, bare=True))
        return self._elsewhere(unit, name, slot)

    def _elsewhere(self, unit: Unit, name: str, slot: Slot) -> ServiceRef:
        """A service of prose.yml, never one that the user did not configure; else a spec of that name."""
        configured = self.configured(name)
        if configured is not None:
            return ServiceRef(name, slot.name, configured)
        path = self.project.find(name, Path(unit.program.spec.source.path))
        if path is None:
            known = [c.name for c in unit.program.spec.components] + list(self.bindings.config.services)
            raise UsageError(
                f"the slot `{slot.name}` is filled with `{name}`, which is no component, service or spec",
                help=did_you_mean(name, known) or "define it as a component, or as a service in prose.yml",
            )
        return ServiceRef(name, slot.name, self._callee(self.program(path), name, bare=True))

    async def aclose(self) -> None:
        """Let go of the services."""
        await self.bindings.aclose()


def _known_only(given: Mapping[str, Any], known: list[str], pattern: str, what: str) -> None:
    for name in given:
        if name not in known:
            listed = ", ".join(known) or "none"
            help_ = did_you_mean(name, known) or f"its {what}s: {listed}"
            raise UsageError(f"the pattern `{pattern}` has no {what} `{name}`", help=help_)


def runnable(analysis: Analysis) -> None:
    """Refuse what no run is defined for.

    Raises:
        UsageError: The spec is a test, or has no program and is no function.
    """
    spec = analysis.spec
    if spec.kind == "test":
        raise UsageError(f"{spec.name} is a test", help=f"run it with `prose test {spec.source.path}`")
    if spec.body is None and spec.javascript is None and (spec.slots or spec.kind == "pattern"):
        raise UsageError(f"{spec.name} has no Delegation to run", help="add a `### Delegation` section with a program")
