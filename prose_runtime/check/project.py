"""The files around a spec: what belongs to its project, what a reference leads to, and what was read already."""

from __future__ import annotations

import os
import re
import stat
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from prose_runtime.check.configured import configured_services
from prose_runtime.check.scope import Scopes, scopes
from prose_runtime.check.tables import Analysis
from prose_runtime.diagnostics import Diagnostic
from prose_runtime.errors import UnreadableFile
from prose_runtime.nodes import Spec
from prose_runtime.resources import resource
from prose_runtime.syntax.names import KINDS, RETIRED_KINDS
from prose_runtime.syntax.parse import parse, read_source

if TYPE_CHECKING:
    from prose_runtime.check.flow_findings import Findings
    from prose_runtime.check.invariants import Verdict
    from prose_runtime.check.subjects import Subject

MARKERS = ("prose.yml", ".git", "pyproject.toml")
"""What makes a folder the root of a project."""

SPEC_SUFFIX = ".prose.md"

OLDEST_SUFFIX = ".prose"

_SKIPPED = frozenset({"node_modules", "__pycache__", "venv"})
_FRONT_BYTES = 8192
_FIELD = re.compile(r"^(name|kind)[ \t]*:[ \t]*(.*?)[ \t]*(?:[ \t]#.*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A file as parsed: its tree and what the parser has to say."""

    spec: Spec
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a glance at a file's head tells, without parsing it."""

    name: str | None = None
    kind: str | None = None


class RealPaths:
    """Where files really are, links followed: asked for many files, it looks at each folder once."""

    def __init__(self) -> None:
        self._folders: dict[str, Path] = {}

    def __call__(self, path: Path) -> Path:
        """The absolute path of a file without links; of one that is missing, as far as there is any."""
        whole = path.absolute()
        name = whole.name
        if name == ".." or os.path.islink(whole):  # noqa: PTH114
            return whole.resolve()
        parent = os.path.dirname(whole)  # noqa: PTH120
        folder = self._folders.get(parent)
        if folder is None:
            folder = self._folders[parent] = whole.parent.resolve()
        return folder / name


@dataclass(eq=False)
class Project:
    """A root folder, the specs below it, and everything that was read or analysed so far.

    A project without a marker file is one folder: nothing below or above it is looked at. ``services`` are the names
    that prose.yml configures; when they are not given, the file is looked for. ``shown`` are the paths by which files
    go, by where they really are; others go by the path at which they are found.
    """

    root: Path
    deep: bool = True
    services: frozenset[str] | None = None
    shown: Mapping[Path, Path] = field(default_factory=dict, repr=False)
    analyses: dict[Spec, Analysis] = field(default_factory=dict, repr=False)
    flows: dict[Spec, Findings | None] = field(default_factory=dict, repr=False)
    verdicts: dict[Spec, tuple[Verdict, ...]] = field(default_factory=dict, repr=False)
    subjects: dict[Spec, Subject] = field(default_factory=dict, repr=False)
    real: RealPaths = field(default_factory=RealPaths, repr=False)
    _loaded: dict[Path, Loaded] = field(default_factory=dict, repr=False)
    _parsed: dict[Spec, Loaded] = field(default_factory=dict, repr=False)
    _scopes: dict[Spec, Scopes] = field(default_factory=dict, repr=False)
    _folders: dict[Path, list[Path]] = field(default_factory=dict, repr=False)
    _names: dict[Path | None, dict[str, list[Path]]] = field(default_factory=dict, repr=False)
    _configured: dict[Path, frozenset[str]] = field(default_factory=dict, repr=False)
    _fronts: dict[Path, FrontMatter] = field(default_factory=dict, repr=False)

    @classmethod
    def around(cls, path: Path) -> Project:
        """The project of a file or folder: the nearest folder upward with prose.yml, .git or pyproject.toml."""
        folder = _folder(path)
        for candidate in (folder, *folder.parents):
            if any(os.path.exists(candidate / marker) for marker in MARKERS):  # noqa: PTH110
                return cls(candidate)
        return cls(folder, deep=False)

    def load(self, path: Path) -> Loaded:
        """Read and parse a file, once.

        Raises:
            UnreadableFile: It is missing, a folder, not permitted, or no UTF-8 text.
        """
        key = self.real(path)
        if key not in self._loaded:
            spec, diagnostics = parse(read_source(self.shown.get(key, path)))
            self._loaded[key] = self._parsed[spec] = Loaded(spec, tuple(diagnostics))
        return self._loaded[key]

    def adopt(self, spec: Spec) -> None:
        """Take a spec that was read before for what its file holds, whatever has become of the file since."""
        loaded = Loaded(spec, ())
        self._loaded[self.real(Path(spec.source.path))] = self._parsed[spec] = loaded

    def parse_diagnostics(self, spec: Spec) -> tuple[Diagnostic, ...]:
        """What the parser said of a spec that this project read; nothing for one made elsewhere."""
        loaded = self._parsed.get(spec)
        return loaded.diagnostics if loaded else ()

    def owns(self, spec: Spec) -> bool:
        """Whether a spec is a whole file that this project read."""
        return spec in self._parsed

    def scopes(self, spec: Spec) -> Scopes:
        """The names of a spec, collected once."""
        if spec not in self._scopes:
            self._scopes[spec] = scopes(spec)
        return self._scopes[spec]

    def find(self, reference: str, beside: Path) -> Path | None:
        """The file that a reference means (LANGUAGE.md section 3, rule 9), or None when it is none or not unique.

        ``beside`` is the spec that refers, or its folder. Nothing outside the project and the library is found.
        """
        found = self.candidates(reference, beside)
        return found[0] if len(found) == 1 else None

    def candidates(
        self, reference: str, beside: Path, accept: Callable[[Path], bool] = lambda path: True
    ) -> list[Path]:
        """The files that a reference can mean at the first place that has any: folder, project, library.

        ``accept`` says of a file with the right name whether it is looked at.
        """
        folder = _folder(beside)
        if "/" in reference or "\\" in reference:
            return self._at_path(reference, folder)
        name = _bare(reference)
        for number, places in enumerate(((folder,), (None,), library_folders())):
            named = [path for place in places for path in self._named(place).get(name, ()) if accept(path)]
            found = [path for path in _best(named, name) if number or self._allowed(path)]
            if found:
                return found
        return []

    def configured(self, beside: Path) -> frozenset[str]:
        """The names of the services that are configured for a spec."""
        if self.services is not None:
            return self.services
        folder = beside.parent
        if folder not in self._configured:
            self._configured[folder] = configured_services(beside)
        return self._configured[folder]

    def holds_folder(self, reference: str, beside: Path) -> bool:
        """Whether a reference means a folder of the project, such as that of a skill."""
        place = _folder(beside) / reference
        return place.is_dir() and self._allowed(place)

    def names_near(self, beside: Path) -> set[str]:
        """Names under which specs of the same folder and the library can be called."""
        paths = [path for place in (_folder(beside), *library_folders()) for path in self._specs_in(place)]
        return {self.front(path).name or stem(path) for path in paths}

    @cached_property
    def files(self) -> list[Path]:
        """All specs of the project."""
        return [path for path in walk(self.root) if self._allowed(path)] if self.deep else []

    def front(self, path: Path) -> FrontMatter:
        """A file's name and kind, read from its first lines, once."""
        if path not in self._fronts:
            self._fronts[path] = peek(path)
        return self._fronts[path]

    def _specs_in(self, folder: Path) -> list[Path]:
        if folder not in self._folders:
            self._folders[folder] = [path for path in _listed(folder) if self._is_spec(path)]
        return self._folders[folder]

    def _is_spec(self, path: Path) -> bool:
        if path.name.endswith((SPEC_SUFFIX, OLDEST_SUFFIX)):
            return True
        return path.suffix == ".md" and of_our_kind(self.front(path).kind)

    def _named(self, place: Path | None) -> Mapping[str, list[Path]]:
        """The specs of a folder, or of the whole project, by the names of their files and those that they say."""
        if place not in self._names:
            found = self._names[place] = defaultdict(list)
            for path in self.files if place is None else self._specs_in(place):
                for name in {stem(path), self.front(path).name}:
                    found[name or ""].append(path)
        return self._names[place]

    def _at_path(self, reference: str, folder: Path) -> list[Path]:
        base = str(folder / reference.replace("\\", "/"))
        for suffix in ("", SPEC_SUFFIX, ".md", OLDEST_SUFFIX):
            path = Path(base + suffix)
            if _is_file(path) and self._allowed(path):
                return [path]
        return []

    def _allowed(self, path: Path) -> bool:
        place = self.real(path)
        return any(root == place or root in place.parents for root in self._roots)

    @cached_property
    def _roots(self) -> tuple[Path, Path]:
        return self.root.resolve(), library().resolve()


def library() -> Path:
    """The folder of the specs that come with this package."""
    return resource("patterns")


def library_folders() -> tuple[Path, Path]:
    """Where the library's specs are looked for by name: its patterns, then its roles."""
    return library(), library() / "roles"


def library_names() -> list[str]:
    """The names of the library's patterns, then of its roles, each in order."""
    return [stem(path) for folder in library_folders() for path in sorted(folder.glob(f"*{SPEC_SUFFIX}"))]


def stem(path: Path) -> str:
    """A spec's name as its file spells it: ``name.prose.md``, ``name.md`` and ``name.prose`` are ``name``."""
    return _bare(path.name)


def of_our_kind(kind: str | None) -> bool:
    """Whether a frontmatter's ``kind`` makes a Markdown file a spec."""
    return kind is not None and (kind.lower() in KINDS or kind.lower() in RETIRED_KINDS)


def peek(path: Path) -> FrontMatter:
    """A file's name and kind from its first lines; nothing of a file that cannot be read or has no frontmatter."""
    try:
        with path.open("rb") as file:
            head = file.read(_FRONT_BYTES).decode("utf-8-sig", "replace")
    except OSError:
        return FrontMatter()
    head = head.replace("\r\n", "\n").replace("\r", "\n")
    if not head.startswith("---"):
        return FrontMatter()
    front = head[3:].partition("\n---")[0]
    found = {key: value.strip("\"'") or None for key, value in reversed(_FIELD.findall(front))}
    return FrontMatter(found.get("name"), found.get("kind"))


def walk(path: Path, problem: Callable[[UnreadableFile], None] | None = None) -> list[Path]:
    """The specs in a folder and below, in order: ``*.prose.md``, and ``*.md`` with a ``kind`` of ours.

    Hidden folders and those of packages are passed over, and so are pipes, sockets and devices. ``problem`` hears of
    folders and files without permission.
    """
    found: list[Path] = []
    report = problem or _ignore

    def refused(error: OSError) -> None:
        report(UnreadableFile(str(error.filename), error.strerror or "no permission"))

    for folder, below, names in os.walk(path, onerror=refused):
        below[:] = sorted(name for name in below if not name.startswith(".") and name not in _SKIPPED)
        found += _specs_of(Path(folder), sorted(names), report)
    return found


def _specs_of(folder: Path, names: list[str], report: Callable[[UnreadableFile], None]) -> Iterator[Path]:
    for name in names:
        path = folder / name
        if name.endswith(SPEC_SUFFIX):
            if not _is_channel(path):
                yield path
        elif name.endswith(".md") and _is_file(path):
            if not os.access(path, os.R_OK):
                report(UnreadableFile(str(path), "no permission"))
            elif of_our_kind(peek(path).kind):
                yield path


def _is_file(path: Path) -> bool:
    """Whether a path is a file, as far as one may know; what cannot be looked at counts, so that it is reported."""
    try:
        return path.is_file()
    except PermissionError:
        return True


def _is_channel(path: Path) -> bool:
    """Whether a path is a pipe, socket or device: to read one can wait forever, so only its very name asks for that."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False  # reading it tells what is wrong
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _ignore(_: UnreadableFile) -> None:
    return None


def _folder(path: Path) -> Path:
    absolute = path.absolute()
    return absolute if absolute.is_dir() else absolute.parent


def _listed(folder: Path) -> list[Path]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith((".md", OLDEST_SUFFIX)))  # noqa: PTH208
        return [path for name in names if _is_file(path := folder / name)]
    except OSError:
        return []


def _bare(name: str) -> str:
    for suffix in (SPEC_SUFFIX, ".md", OLDEST_SUFFIX):
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


def _best(paths: list[Path], name: str) -> list[Path]:
    """Of several files with one name in one folder, the one whose file name says so; the modern suffix first."""
    if len({path.parent for path in paths}) == 1:
        for exact in (name + SPEC_SUFFIX, name + ".md", name + OLDEST_SUFFIX):
            hits = [path for path in paths if path.name == exact]
            if hits:
                return hits
    return paths
