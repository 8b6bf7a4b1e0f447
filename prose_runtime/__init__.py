"""Runs OpenProse Markdown patterns: exact control flow, intelligent slots, checked contracts.

import prose_runtime as prose

spec = prose.load("dialectic.prose.md")
result = prose.run(spec, {"task_brief": "..."}, bind={"thesis": my_async_function})
print(result.value)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prose_runtime.check.project import Project
    from prose_runtime.diagnostics import Diagnostic
    from prose_runtime.events import Event
    from prose_runtime.journal import RunRecord
    from prose_runtime.nodes import Spec
    from prose_runtime.runtime.people import People
    from prose_runtime.runtime.result import Result

__all__ = ["arun", "check", "load", "run"]

# The first import of a subpackage binds its name here; from now on `check` is the function below.
import_module(f"{__name__}.check")


def load(path: str | Path) -> Spec:
    """Read and check a spec: a file, or the bare name of a library pattern.

    Raises:
        CheckFailed: It has errors; ``diagnostics`` holds them all.
        UsageError: It cannot be found or read.
    """
    from prose_runtime.check.checker import check_path
    from prose_runtime.errors import CheckFailed

    analysis = check_path(_located(path))
    if any(d.severity == "error" for d in analysis.diagnostics):
        raise CheckFailed(analysis.diagnostics)
    return analysis.spec


def check(*paths: str | Path) -> list[Diagnostic]:
    """All diagnostics of files, and of the specs in folders and below, in order of file and place.

    Raises:
        UnreadableFile: A path cannot be read.
    """
    from prose_runtime.check.checker import check_paths

    checked = check_paths(map(Path, paths))
    if checked.unreadable:
        raise checked.unreadable[0]
    return checked.diagnostics


async def arun(
    spec: Spec | str | Path,
    inputs: Mapping[str, Any] | None = None,
    *,
    bind: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
    on_event: Callable[[Event], object] | None = None,
    record: RunRecord | None = None,
    limits: Mapping[str, Any] | None = None,
    people: People | None = None,
) -> Result:
    """Run a spec and return its result.

    Args:
        spec: What ``load`` gave, which runs as it was then, a file, or the bare name of a library pattern.
        inputs: JSON values by input name.
        bind: For each slot an async function or service, a word as on the command line, or a list of these.
        config: JSON values by config name.
        on_event: Called with each event as it happens.
        limits: Bounds by their names under ``limits`` in prose.yml, such as ``max_calls``; before those there.
        people: Slots that people take over, personas, the language and background of all roles.
        record: An open record of ``prose_runtime.journal.Journal``, to make the run durable.

    Raises:
        CheckFailed: The spec has errors.
        UsageError: Inputs, config or bindings are wrong.
        ProseError: The run ended without a result; its class says why.
    """
    from prose_runtime.runtime.people import People
    from prose_runtime.runtime.session import RunRequest, execute, prepare

    path, project = (_located(spec), None) if isinstance(spec, str | Path) else (spec.source.path, _project(spec))
    given = dict(inputs or {}), dict(config or {}), dict(bind or {})
    request = RunRequest(path, *given, limits=dict(limits or {}), project=project, people=people or People())
    listeners = [] if on_event is None else [lambda event: (on_event(event), None)[1]]
    result = await execute(prepare(request), journal=record, listeners=listeners)
    if result.error is not None:
        raise result.error
    return result


def run(spec: Spec | str | Path, inputs: Mapping[str, Any] | None = None, **options: Any) -> Result:
    """As ``arun``, for callers without an event loop."""
    import asyncio

    return asyncio.run(arun(spec, inputs, **options))


@lru_cache(maxsize=32)
def _project(spec: Spec) -> Project:
    """The project of a loaded spec: its runs share what is known of it."""
    from prose_runtime.check.project import Project

    project = Project.around(Path(spec.source.path))
    project.adopt(spec)
    return project


def _located(path: str | Path) -> Path:
    """A path as it is; the bare name of a library pattern as its file."""
    path = Path(path)
    if path.exists() or path.suffix or len(path.parts) > 1:
        return path
    from prose_runtime.check.project import Project

    return Project.around(Path.cwd()).find(str(path), Path.cwd()) or path
