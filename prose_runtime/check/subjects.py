"""The spec that a test is about: its ``subject``, found beside the test, in the project, or in the library."""

from __future__ import annotations

from pathlib import Path

from prose_runtime.check.project import Project
from prose_runtime.diagnostics import did_you_mean
from prose_runtime.errors import UnreadableFile
from prose_runtime.nodes import Spec
from prose_runtime.records import dataclass
from prose_runtime.text import Span

TEST_KIND = "test"


@dataclass(frozen=True, slots=True)
class Subject:
    """What the ``subject`` of a test leads to: a spec and its file, or the ``problem`` that stands in the way."""

    name: str
    span: Span
    spec: Spec | None = None
    path: Path | None = None
    problem: str = ""
    help: str | None = None


def find_subject(test: Spec, project: Project) -> Subject:
    """The subject of a test. Tests themselves are passed over when it is looked for by name."""
    if test not in project.subjects:
        project.subjects[test] = _found(test, project)
    return project.subjects[test]


def _found(test: Spec, project: Project) -> Subject:
    given = test.frontmatter.get("subject")
    name = given.strip() if isinstance(given, str) else ""
    if not name:
        help_ = "add subject: the name of the spec, or its path, to the frontmatter"
        return Subject("", test.name_span, problem="this test names no subject", help=help_)
    span = _span(test, name)
    beside = Path(test.source.path)
    paths = project.candidates(name, beside, lambda path: project.front(path).kind != TEST_KIND)
    if len(paths) > 1:
        listed = ", ".join(str(path) for path in paths)
        problem = f"the subject `{name}` can mean several specs: {listed}"
        return Subject(name, span, problem=problem, help="give the path of one of them")
    if not paths:
        known = [near for near in project.names_near(beside) if near != test.name]
        problem = f"there is no subject `{name}` beside this test, in its project or in the library"
        return Subject(name, span, problem=problem, help=did_you_mean(name, known))
    return _read(name, span, paths[0], project)


def _read(name: str, span: Span, path: Path, project: Project) -> Subject:
    try:
        spec = project.load(path).spec
    except UnreadableFile as error:
        return Subject(name, span, problem=f"the subject `{name}` cannot be read: {error.reason}")
    if spec.kind == TEST_KIND:
        return Subject(name, span, problem=f"the subject `{name}` is a test itself")
    return Subject(name, span, spec, path)


def _span(test: Spec, name: str) -> Span:
    """Where the frontmatter spells the subject."""
    text = test.source.text
    key = text.find("subject:")
    at = text.find(name, key) if key >= 0 else -1
    return Span(at, at + len(name)) if at >= 0 else test.name_span
