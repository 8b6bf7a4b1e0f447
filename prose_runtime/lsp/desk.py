"""The texts that an editor has open, and what is known of each: parsed and checked as they are, saved or not."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from prose_runtime.check.checker import analyse, reachable
from prose_runtime.check.project import SPEC_SUFFIX, FrontMatter, Loaded, Project, of_our_kind, peek, walk
from prose_runtime.check.scope import Scopes
from prose_runtime.check.tables import Analysis
from prose_runtime.diagnostics import Diagnostic
from prose_runtime.nodes import Spec
from prose_runtime.syntax.parse import parse, read_source
from prose_runtime.text import Source

_LOG = logging.getLogger(__name__)

T = TypeVar("T")
Stamp = tuple[int, int]


@dataclass(slots=True, eq=False)
class Paper:
    """One open text. ``uri`` is the client's name for it, ``version`` the client's count of its changes."""

    uri: str
    path: Path
    source: Source
    version: int | None = None
    loaded: Loaded | None = None


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """An open text with all that is known of it: the file's analysis, and the project that it was made in."""

    paper: Paper
    analysis: Analysis
    project: Project

    @property
    def source(self) -> Source:
        """The text."""
        return self.paper.source

    @property
    def spec(self) -> Spec:
        """The spec of the file."""
        return self.analysis.spec

    def analysis_of(self, spec: Spec) -> Analysis:
        """What is known of the file's spec, one of its components, or a spec that it calls."""
        return self.project.analyses.get(spec) or Analysis(spec)

    def scopes_of(self, spec: Spec) -> Scopes:
        """The names of any spec of the project."""
        return self.project.scopes(spec)

    @property
    def specs(self) -> tuple[Spec, ...]:
        """The specs that stand in this file: its own, and its inline components."""
        return (self.spec, *self.spec.components)

    def spec_at(self, offset: int) -> Spec:
        """The component that an offset lies in, or the file's own spec."""
        return next((c for c in self.spec.components if c.span.start <= offset <= c.span.end), self.spec)


@dataclass(eq=False)
class Desk:
    """All open texts, and what was read of the files around them.

    A file that is not open is parsed again when it has changed on disk. The list of all files of a project is read
    anew after ``look_around``.
    """

    papers: dict[str, Paper] = field(default_factory=dict)
    _views: dict[str, View] = field(default_factory=dict, repr=False)
    _callees: dict[str, set[str]] = field(default_factory=dict, repr=False)
    _read: dict[Path, tuple[Stamp, Loaded]] = field(default_factory=dict, repr=False)
    _fronts: dict[Path, tuple[Stamp, FrontMatter]] = field(default_factory=dict, repr=False)
    _files: dict[Path, list[Path]] = field(default_factory=dict, repr=False)

    def put(self, uri: str, path: str, text: str, version: int | None) -> Paper:
        """Take a text for what a file holds."""
        paper = Paper(uri, Path(path), Source(path, text.removeprefix("\ufeff")), version)
        self.papers[uri] = paper
        self._views.clear()
        return paper

    def remove(self, uri: str) -> None:
        """The file holds what is on disk again."""
        self.papers.pop(uri, None)
        self._views.clear()

    def look_around(self) -> None:
        """Files may have come, gone or changed."""
        self._files.clear()
        self._views.clear()

    def view(self, uri: str) -> View | None:
        """What is known of an open text; None when it is no spec, or not open."""
        paper = self.papers.get(uri)
        if paper is None or not is_spec(paper):
            return None
        if uri not in self._views:
            self._views[uri] = self._view(paper)
        return self._views[uri]

    def dependants(self, uri: str) -> list[str]:
        """The other open texts that call what stands in one, or did when they were last looked at."""
        name = self.papers[uri].path.name
        return [other for other in self.papers if other != uri and name in self._callees.get(other, ())]

    def _view(self, paper: Paper) -> View:
        with _unhurried():
            around = Project.around(paper.path)
            project = _Edited(around.root, around.deep, desk=self)
            analysis = _analysed(self.loaded(paper), project)
        self._callees[paper.uri] = {Path(one.spec.source.path).name for one in reachable(analysis)}
        return View(paper, analysis, project)

    def loaded(self, paper: Paper) -> Loaded:
        """An open text, parsed once."""
        if paper.loaded is None:
            spec, diagnostics = parse(paper.source)
            paper.loaded = Loaded(spec, tuple(diagnostics))
        return paper.loaded

    def open_at(self, path: Path) -> Paper | None:
        """The open text of a file."""
        named = (paper for paper in self.papers.values() if paper.path.name == path.name)
        return next((paper for paper in named if paper.path == path or paper.path.resolve() == path.resolve()), None)

    def read(self, path: Path) -> Loaded:
        """A file as it is in the editor, else as it is on disk.

        Raises:
            UnreadableFile: It is not open, and missing, a folder, not permitted, or no UTF-8 text.
        """
        paper = self.open_at(path)
        if paper is not None:
            return self.loaded(paper)
        return _fresh(self._read, path, lambda: _parsed(path))

    def front(self, path: Path) -> FrontMatter:
        """Name and kind of a file."""
        paper = self.open_at(path)
        if paper is None:
            return _fresh(self._fronts, path, lambda: peek(path))  # says nothing of what cannot be read
        data = self.loaded(paper).spec.frontmatter
        return FrontMatter(_word(data.get("name")), _word(data.get("kind")))

    def files(self, root: Path) -> list[Path]:
        """All specs below a folder."""
        if root not in self._files:
            self._files[root] = walk(root)
        return self._files[root]


@dataclass(eq=False)
class _Edited(Project):
    """A project in which files hold what the editor shows. It serves one analysis and keeps nothing for the next."""

    desk: Desk = field(default_factory=Desk, repr=False)
    _seen: dict[Spec, Loaded] = field(default_factory=dict, repr=False)

    def load(self, path: Path) -> Loaded:
        loaded = self.desk.read(path)
        self._seen[loaded.spec] = loaded
        return loaded

    def parse_diagnostics(self, spec: Spec) -> tuple[Diagnostic, ...]:
        loaded = self._seen.get(spec)
        return loaded.diagnostics if loaded else ()

    def owns(self, spec: Spec) -> bool:
        return spec in self._seen

    @cached_property
    def files(self) -> list[Path]:
        return [path for path in self.desk.files(self.root) if self._allowed(path)] if self.deep else []

    def front(self, path: Path) -> FrontMatter:
        return self.desk.front(path)


def _analysed(loaded: Loaded, project: Project) -> Analysis:
    try:
        return analyse(loaded.spec, project, loaded.diagnostics)
    except Exception:  # a mistake of ours in one rule must not take the person's editor help away
        _LOG.exception("the check of %s failed", loaded.spec.source.path)
        return Analysis(loaded.spec, loaded.diagnostics)


def is_spec(paper: Paper) -> bool:
    """Whether a text is one of ours: by its name, or by its kind when it is any other Markdown."""
    if paper.path.name.endswith((SPEC_SUFFIX, ".prose")):
        return True
    head = paper.source.text[:8192]
    return head.startswith("---") and any(
        line.startswith("kind:") and of_our_kind(line.partition(":")[2].strip().strip("\"'"))
        for line in head.split("\n---", 1)[0].splitlines()
    )


def _word(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _parsed(path: Path) -> Loaded:
    spec, diagnostics = parse(read_source(path))
    return Loaded(spec, tuple(diagnostics))


def _fresh(known: dict[Path, tuple[Stamp, T]], path: Path, read: Callable[[], T]) -> T:
    """What was read of a file, unless the file has changed since."""
    try:
        stat = path.stat()
    except OSError:
        known.pop(path, None)
        return read()
    stamp = (stat.st_mtime_ns, stat.st_size)
    if path not in known or known[path][0] != stamp:
        known[path] = (stamp, read())
    return known[path][1]


@contextmanager
def _unhurried() -> Iterator[None]:
    """Without collections of garbage in between: a long file makes so many nodes that they cost a third of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
