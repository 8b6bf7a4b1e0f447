"""All faults of a spec in one pass: parse, names, targets, demanded shapes, rules, suppressions."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path

from prose_runtime.check.collect import collected
from prose_runtime.check.project import Project, RealPaths, walk
from prose_runtime.check.reading import FIRM
from prose_runtime.check.resolve import resolve
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.rules import CODES, RULES
from prose_runtime.check.shapes import Shapes, shapes
from prose_runtime.check.tables import Analysis
from prose_runtime.depth import make_room
from prose_runtime.diagnostics import Collector, Diagnostic
from prose_runtime.errors import UnreadableFile
from prose_runtime.nodes import Spec
from prose_runtime.records import dataclass
from prose_runtime.syntax.parse import decoded, parse
from prose_runtime.text import Source, Span


@dataclass(slots=True)
class Checked:
    """What a check of files found.

    Attributes:
        diagnostics: All faults, in order of file and place.
        unreadable: The files and folders that could not be read.
        paths: The files that were checked, in order.
    """

    diagnostics: list[Diagnostic] = field(default_factory=list)
    unreadable: list[UnreadableFile] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    @property
    def files(self) -> int:
        """How many specs were checked."""
        return len(self.paths)

    @property
    def failed(self) -> bool:
        """Whether any spec has an error."""
        return any(diagnostic.severity == "error" for diagnostic in self.diagnostics)

    def add(self, analysis: Analysis, more: Sequence[Question] = ()) -> None:
        """Take in what an analysis says, and what more is asked of it."""
        asked = [answer for question in more for answer in question(analysis)]
        found = (
            sorted((*analysis.diagnostics, *asked), key=lambda d: (d.span, d.code)) if asked else analysis.diagnostics
        )
        self.diagnostics += found
        self.paths.append(analysis.spec.source.path)

    def extend(self, other: Checked) -> None:
        """Take in what was found in files that come after these."""
        self.diagnostics += other.diagnostics
        self.unreadable += other.unreadable
        self.paths += other.paths


Question = Callable[[Analysis], Iterable[Diagnostic]]
"""What somebody wants to know of each spec besides its faults."""


def analyse(spec: Spec, project: Project, parse_diagnostics: Sequence[Diagnostic] = ()) -> Analysis:
    """All that is known of a spec, its components and the specs that it calls.

    Faults never raise: they stand in ``diagnostics`` of the file's spec, in order, each once. Those of a callee in
    another file stand in that file's analysis.
    """
    make_room()
    session = _Session(project)
    session.waiting.append((spec, tuple(parse_diagnostics)))
    session.run()
    return project.analyses[spec]


def check_path(path: Path, project: Project | None = None) -> Analysis:
    """Analyse a file.

    Raises:
        UnreadableFile: It is missing, a folder, not permitted, or no UTF-8 text.
    """
    project = project or Project.around(path)
    loaded = project.load(path)
    return analyse(loaded.spec, project, loaded.diagnostics)


def check_paths(paths: Iterable[Path], more: Sequence[Question] = ()) -> Checked:
    """Check files, and the specs in folders and below. What cannot be read does not stop the rest."""
    unreadable: list[UnreadableFile] = []
    files = list(spec_files(paths, unreadable.append))
    checked = check_files(files, Projects(files), more)
    checked.unreadable += unreadable
    return checked


def check_files(files: Iterable[Path], projects: Projects, more: Sequence[Question] = ()) -> Checked:
    """Check files one after the other. What cannot be read does not stop the rest."""
    checked = Checked()
    with _no_collection():
        for path in files:
            try:
                checked.add(check_path(path, projects.of(path)), more)
            except UnreadableFile as error:
                checked.unreadable.append(error)
    return checked


def check_text(path: Path, data: bytes, more: Sequence[Question] = ()) -> Checked:
    """Check a text as if it were the file at a path, which need not be there."""
    checked = Checked()
    try:
        spec, diagnostics = parse(Source(str(path), decoded(str(path), data)))
    except UnreadableFile as error:
        checked.unreadable.append(error)
        return checked
    checked.add(analyse(spec, Project.around(path), diagnostics), more)
    return checked


@contextmanager
def _no_collection() -> Iterator[None]:
    """Everything that a check makes is kept to its end, so that going through it for garbage finds none.

    At the end all of it would count as new, and be gone through at once: it moves to the old objects instead.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        gc.enable()


class Projects:
    """The projects of several paths; files of one project share what is read and analysed.

    ``files`` are all that will be checked: each goes by the path that is given here, whoever comes to it first.
    """

    def __init__(self, files: Iterable[Path] = ()) -> None:
        real = RealPaths()
        self.shown = {real(file): file for file in files}
        self.by_folder: dict[Path, Project] = {}
        self.by_root: dict[Path, Project] = {}

    def of(self, path: Path) -> Project:
        """The project that a file belongs to."""
        folder = path.absolute().parent
        if folder not in self.by_folder:
            around = Project.around(path)
            around.shown = self.shown
            self.by_folder[folder] = self.by_root.setdefault(around.root, around)
        return self.by_folder[folder]


def spec_files(paths: Iterable[Path], problem: Callable[[UnreadableFile], None]) -> Iterator[Path]:
    """The files among paths, and the specs in folders and below, each once; ``problem`` hears what cannot be read."""
    seen: set[Path] = set()
    real = RealPaths()
    for path in paths:
        for file in walk(path, problem) if path.is_dir() else (path,):
            place = real(file)
            if place not in seen:
                seen.add(place)
                yield file


def reachable(analysis: Analysis) -> list[Analysis]:
    """An analysis and those of all specs that a run of it can come to, each once."""
    found: dict[Spec, Analysis] = {}
    waiting = [analysis]
    while waiting:
        current = waiting.pop(0)
        if current.spec not in found:
            found[current.spec] = current
            waiting += current.callees.values()
    return list(found.values())


def all_diagnostics(analysis: Analysis) -> list[Diagnostic]:
    """The faults of a spec and of all specs that a run of it can come to, its own file first."""
    return list(dict.fromkeys(d for found in reachable(analysis) for d in found.diagnostics))


def strictly(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The same diagnostics with every warning an error (``--strict``)."""
    return [replace(d, severity="error") if d.severity == "warning" else d for d in diagnostics]


class _Session:
    """One walk along the callees; analyses link to each other when all are there, so that specs may call in circles."""

    def __init__(self, project: Project):
        self.project = project
        self.waiting: list[tuple[Spec, tuple[Diagnostic, ...]]] = []
        self.links: list[tuple[dict[Spec, Analysis], list[Spec]]] = []

    def run(self) -> None:
        while self.waiting:
            spec, parsed = self.waiting.pop()
            if spec not in self.project.analyses:
                self.file(spec, parsed)
        for callees, leads in self.links:
            callees.update((lead, self.project.analyses[lead]) for lead in leads)

    def file(self, spec: Spec, parsed: tuple[Diagnostic, ...]) -> None:
        """Analyse the spec of a file and its inline components; their faults are faults of the file."""
        collector = Collector(spec.source, list(dict.fromkeys(parsed)))
        for component in spec.components:
            self.project.analyses[component] = self.guarded(component, spec, collector)
        analysis = self.guarded(spec, None, collector)
        firm = frozenset(d for d in parsed if d.severity == "error" and d.code in FIRM)
        kept = _unsilenced(spec, collector.ordered, firm)
        ordered = tuple(sorted(kept, key=lambda d: (d.span, d.code)))
        self.project.analyses[spec] = replace(analysis, diagnostics=ordered)

    def guarded(self, spec: Spec, enclosing: Spec | None, collector: Collector) -> Analysis:
        try:
            return self.spec(spec, enclosing, collector)
        except RecursionError:
            help_ = "take parts of it out into names, blocks or functions of their own"
            collector.error("too-deep", Span(*spec.name_span), f"`{spec.name}` is nested too deeply to be read", help_)
            return Analysis(spec)

    def spec(self, spec: Spec, enclosing: Spec | None, collector: Collector) -> Analysis:
        scopes = self.project.scopes(spec)
        resolution = resolve(scopes, self.project, enclosing)
        within = collected(spec)
        demanded: Shapes = shapes(spec, scopes.inputs, resolution.targets, within)
        facts = Facts(spec, self.project, scopes, resolution, within, enclosing, demanded.uses)
        for rule in RULES:
            for found in rule.find(facts) if rule.find else ():
                collector.add(_diagnostic(rule, found, spec.source))
        callees: dict[Spec, Analysis] = {}
        self.links.append((callees, resolution.leads))
        self.waiting += [(lead, self.project.parse_diagnostics(lead)) for lead in self.to_come(resolution.leads)]
        return Analysis(
            spec=spec,
            inputs=scopes.inputs,
            visible=scopes.visible,
            made=frozenset(scopes.made),
            words=scopes.words,
            targets=resolution.targets,
            collected=within,
            demands=demanded.demands,
            itself=demanded.itself,
            callees=callees,
            verdicts=self.project.verdicts.get(spec, ()),
        )

    def to_come(self, leads: Iterable[Spec]) -> list[Spec]:
        """The callees that have files of their own; a component is analysed with its file."""
        return [lead for lead in leads if self.project.owns(lead) and lead not in self.project.analyses]


def _unsilenced(spec: Spec, found: list[Diagnostic], firm: frozenset[Diagnostic]) -> list[Diagnostic]:
    if "ignore" not in spec.source.text:
        return found
    from prose_runtime.check.suppress import suppress  # few files have a comment that silences anything

    return suppress(spec, found, CODES, firm)


def _diagnostic(rule: Rule, found: Finding, source: Source) -> Diagnostic:
    return Diagnostic(
        rule.code, rule.severity, found.message, source, found.span, found.help, found.secondary, found.fix
    )
