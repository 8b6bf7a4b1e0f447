"""Wiring of a run on the engine: as on one machine, from a bundle in place of files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from prose_runtime.check.checker import check_path, reachable
from prose_runtime.check.declared import needed_names
from prose_runtime.check.project import Project
from prose_runtime.check.tables import Analysis
from prose_runtime.engine.bundle import Bundle, Joined, Packed, Packing, skill_key
from prose_runtime.engine.words import Noting, Settled
from prose_runtime.errors import ProseError, UsageError
from prose_runtime.nodes import Spec
from prose_runtime.runtime.memory import Store
from prose_runtime.runtime.needs import check_machine, check_skills
from prose_runtime.runtime.session import Prepared, RunRequest, wired
from prose_runtime.runtime.wiring import LocalWiring
from prose_runtime.services.bindings import Binding, find_config, load_config


class BundleWiring(LocalWiring):
    """Wires from a bundle. ``specs``: the files of words that mean a spec where the run was sent off."""

    project: Packed

    def __init__(self, bindings: Noting | Settled, project: Packed, specs: Mapping[str, str]):
        super().__init__(bindings, project)
        self.specs = specs

    def _binding(self, word: str, slot: str, base: Path | None) -> Binding:
        try:
            return self.bindings.resolve(word, slot, base=base)
        except UsageError:
            path = Path(self.specs[word]) if word in self.specs else self.project.find(word, base or Path())
            if path is None:
                raise
            return Binding(word, "spec", path=path)

    def _found(self, reference: str, beside: Path) -> Path:
        path = self.project.find(reference, beside)
        if path is None:
            raise UsageError(f"the spec `{reference}` did not travel with the run")
        return path

    def skills(self, spec: Spec) -> str:
        """The text of the skills that a function declares, as it travels with the run."""
        return self.project.bundle.skills.get(skill_key(spec), "")


class SettlingWiring(BundleWiring):
    """At a worker, to find out what words mean and whether all is there that specs need."""

    def check_needs(self, specs: Iterable[Spec]) -> None:
        """Look at the environment and commands of the worker; skills travel with the run."""
        check_machine(specs)


class WorkflowWiring(BundleWiring, ABC):
    """Within a workflow. ``store`` makes what stands for an agent's memory; ``hidden`` are variables with secrets."""

    def __init__(self, bindings: Noting | Settled, project: Packed, specs: Mapping[str, str]):
        super().__init__(bindings, project, specs)
        self.hidden: list[str] = []

    def check_needs(self, specs: Iterable[Spec]) -> None:
        """Looked at when the run was settled; here it is noted which variables hold what is to be hidden."""
        self.hidden += [name for spec in specs for name in needed_names(spec, "environment")]

    def memory(self, kept: str, agent: str) -> Store | None:
        """Memory beyond a run is kept where workers are: an errand for one of them."""
        return None if kept == "run" else self.store(kept, agent)

    @abstractmethod
    def store(self, kept: str, agent: str) -> Store:
        """What stands for the memory of an agent."""


class Packet(NamedTuple):
    """A spec ready to travel: what is known of it, the bundle, and the files of words that may mean a spec."""

    analysis: Analysis
    bundle: Bundle
    specs: dict[str, str]


def pack(path: Path, shown: Path, words: Iterable[str], base: Path) -> Packet:
    """Pack a spec with all that a run of it can come to.

    Raises:
        UnreadableFile: A file cannot be read.
    """
    project = Packing.around(path)
    assert isinstance(project, Packing)
    found = [check_path(shown if shown.exists() else path, project)]
    specs: dict[str, str] = {}
    for word in words:
        file = _spec_of(word, base)
        if file is not None:
            specs[word] = str(file)
            beside = Packing(Project.around(file).root, bundle=project.bundle)
            found.append(check_path(file, beside))
    for analysis in found:
        specs_used = [part.spec for part in reachable(analysis)]
        check_skills(specs_used, project.root)
        project.bundle.keep_skills(specs_used, project.root)
    return Packet(found[0], project.bundle, specs)


def _spec_of(word: str, base: Path) -> Path | None:
    """The file of a spec that a word can mean: its path, or its name in the project or the library."""
    path = base / Path(word).expanduser()
    if path.is_file():
        return path
    return Project.around(base).find(word, base)


def settle(request: RunRequest, bundle: Bundle, specs: Mapping[str, str], cwd: Path) -> dict[str, Any]:
    """What the words of a run mean at a worker that stands in ``cwd``, and what has to travel on beside the bundle.

    Raises:
        CheckFailed: The spec has errors.
        UsageError: A word means nothing, inputs or config are wrong, or something that a spec needs is missing.
    """
    config = find_config(None, cwd)
    bindings = Noting(load_config(config) if config else None, config, cwd=cwd)
    own = Packing.around(config or cwd)
    assert isinstance(own, Packing)
    services = frozenset(bindings.config.services)
    own.services = services
    project = Joined(own.root, services=services, bundle=bundle, own=own)
    wiring = SettlingWiring(bindings, project, specs)
    prepared = wired(request, check_path(Path(request.spec_path), project), wiring)
    faults = _instances(wiring)
    return {
        **bindings.table(),
        "bundle": own.bundle.as_json(),
        "warnings": len(prepared.warnings),
        "faults": faults,
    }


def _instances(wiring: SettlingWiring) -> dict[str, str]:
    """Wire each instance of prose.yml, so that its specs travel; why one cannot be is told when it is called."""
    faults = {}
    for name in wiring.services():
        try:
            wiring.configured(name)
        except ProseError as error:
            faults[name] = error.message
    return faults


def prepared_from(request: RunRequest, bundle: Bundle, wiring: type[WorkflowWiring], settled: Mapping[str, Any],
                  specs: Mapping[str, str]) -> Prepared:  # fmt: skip
    """The run that a bundle and what was settled amount to; the same wherever it is made."""
    whole = bundle.with_(Bundle(**settled["bundle"]))
    project = Packed(Path(), services=frozenset(settled["services"]), bundle=whole)
    analysis = check_path(Path(request.spec_path), project)
    return wired(request, analysis, wiring(Settled(settled), project, specs))
