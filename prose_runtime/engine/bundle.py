"""The specs that travel with a run, so that an upgrade of a file under a running workflow changes nothing.

A bundle holds the text of each spec that a run can come to, and what each reference led to when it was sent off.
Reading from it touches no file: the same bundle gives the same program on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prose_runtime.check.project import Loaded, Project, library
from prose_runtime.errors import UnreadableFile
from prose_runtime.nodes import Spec
from prose_runtime.runtime.needs import skill_texts
from prose_runtime.syntax.parse import parse
from prose_runtime.text import Source

Accept = Callable[[Path], bool]


def _any(_: Path) -> bool:
    return True


@dataclass(slots=True)
class Bundle:
    """Texts and references, as JSON.

    Attributes:
        texts: Each file's text by its path as messages show it.
        paths: Each path under which a file was asked for, with the path in ``texts``.
        references: What references lead to: ``reference`` and ``beside`` joined by a line feed, and the paths.
        folders: References that lead to a folder of the project, in the same form.
        skills: The texts of the skills that functions declare, by ``path#name`` of the function.
    """

    texts: dict[str, str] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)
    references: dict[str, list[str]] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    skills: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The bundle as a JSON object."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def with_(self, more: Bundle) -> Bundle:
        """This bundle and what another one adds; where both know something, this one's holds."""
        return Bundle(
            {**more.texts, **self.texts},
            {**more.paths, **self.paths},
            {**more.references, **self.references},
            [*self.folders, *(key for key in more.folders if key not in self.folders)],
            {**more.skills, **self.skills},
        )

    def keep_skills(self, specs: Iterable[Spec], root: Path) -> None:
        """Take in the skills that functions declare, from their project's folder."""
        for spec in specs:
            text = skill_texts(spec, root)
            if text:
                self.skills[skill_key(spec)] = text


def skill_key(spec: Spec) -> str:
    """Under which name a function's skills stand in a bundle."""
    return f"{spec.source.path}#{spec.name}"


def _key(reference: str, beside: Path) -> str:
    return f"{reference}\n{beside}"


@dataclass(eq=False)
class Packing(Project):
    """A project that packs what is read of it."""

    bundle: Bundle = field(default_factory=Bundle, repr=False)

    def load(self, path: Path) -> Loaded:
        """As ``Project.load``."""
        loaded = Project.load(self, path)
        source = loaded.spec.source
        self.bundle.texts[source.path] = source.raw
        self.bundle.paths[str(path)] = source.path
        return loaded

    def candidates(self, reference: str, beside: Path, accept: Accept = _any) -> list[Path]:
        """As ``Project.candidates``."""
        found = Project.candidates(self, reference, beside, accept)
        self.bundle.references[_key(reference, beside)] = [str(path) for path in found]
        return found

    def holds_folder(self, reference: str, beside: Path) -> bool:
        """As ``Project.holds_folder``."""
        held = Project.holds_folder(self, reference, beside)
        if held and _key(reference, beside) not in self.bundle.folders:
            self.bundle.folders.append(_key(reference, beside))
        return held


@dataclass(eq=False)
class Packed(Project):
    """A project read from a bundle. Where the bundle knows nothing there is nothing."""

    bundle: Bundle = field(default_factory=Bundle, repr=False)

    def load(self, path: Path) -> Loaded:
        """Parse a file of the bundle, once.

        Raises:
            UnreadableFile: The bundle does not hold it.
        """
        shown = self.bundle.paths.get(str(path))
        if shown is None:
            raise UnreadableFile(str(path), "it did not travel with the run")
        key = Path(shown)
        if key not in self._loaded:
            spec, diagnostics = parse(Source(shown, self.bundle.texts[shown]))
            self._loaded[key] = self._parsed[spec] = Loaded(spec, tuple(diagnostics))
        return self._loaded[key]

    def candidates(self, reference: str, beside: Path, accept: Accept = _any) -> list[Path]:
        """What a reference led to when the run was sent off."""
        return [Path(path) for path in self.bundle.references.get(_key(reference, beside), ())]

    def holds_folder(self, reference: str, beside: Path) -> bool:
        """Whether a reference led to a folder."""
        return _key(reference, beside) in self.bundle.folders

    def names_near(self, beside: Path) -> set[str]:
        """Nobody is near: what could be meant was told when the run was sent off."""
        return set()


@dataclass(eq=False)
class Joined(Packed):
    """A bundle, and beside it the project of a worker: what its prose.yml names is found there and packed as well."""

    own: Packing = field(default_factory=lambda: Packing(Path()), repr=False)

    def load(self, path: Path) -> Loaded:
        """A file of the bundle, else one of the worker's project or the library."""
        if str(path) in self.bundle.paths:
            return Packed.load(self, path)
        loaded = self.own.load(path)
        self._parsed[loaded.spec] = loaded
        return loaded

    def candidates(self, reference: str, beside: Path, accept: Accept = _any) -> list[Path]:
        """From the bundle; what the worker's own files refer to, from its project. A run sees nothing else there."""
        if _key(reference, beside) in self.bundle.references or not self._is_own(beside):
            return Packed.candidates(self, reference, beside)
        return self.own.candidates(reference, beside, accept)

    def _is_own(self, beside: Path) -> bool:
        place = beside.resolve()
        return any(place.is_relative_to(folder.resolve()) for folder in (self.own.root, library()))
