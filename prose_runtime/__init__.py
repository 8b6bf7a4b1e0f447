"""Runs OpenProse Markdown patterns: exact control flow, intelligent slots, checked contracts.

import prose_runtime as prose

spec = prose.load("dialectic.prose.md")
result = prose.run(spec, {"task_brief": "..."}, bind={"thesis": my_async_function})
print(result.value)
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import lru_cache, wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

if TYPE_CHECKING:
    from prose_runtime.check.project import Project
    from prose_runtime.diagnostics import Diagnostic
    from prose_runtime.events import Event
    from prose_runtime.journal import RunRecord
    from prose_runtime.nodes import Spec
    from prose_runtime.runtime.people import People
    from prose_runtime.runtime.result import Result

__all__ = ["arun", "check", "load", "run"]

_Given = ParamSpec("_Given")

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

    checked = check_paths(map(_path, paths))
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
    record: RunRecord | str | bool | None = None,
    limits: Mapping[str, Any] | None = None,
    people: People | Mapping[str, Any] | None = None,
) -> Result:
    """Run a spec and return its result; ``run`` is the same without ``await``, where no event loop is running.

    Args:
        spec: What ``load`` gave, which runs as it was then, a file, or the bare name of a library pattern.
        inputs: JSON values by input name.
        bind: For each slot an async function or service, a word as on the command line, or a list of these.
        config: JSON values by config name.
        on_event: Called with each event as it happens.
        record: True to keep the run in ``.prose/`` of the working directory, as ``prose run`` does; the name of a run
            there, its beginning, or ``last``, to go on with it: inputs and words that are not given are as they were
            then; or an open record of ``prose_runtime.journal.Journal``. None keeps nothing.
        limits: Bounds by their names under ``limits`` in prose.yml, such as ``max_calls``; before those there.
            None is no bound.
        people: Slots that people take over (``join``), ``personas``, the ``language`` and background (``context``) of
            all roles.

    Raises:
        CheckFailed: The spec has errors.
        UsageError: An argument is wrong: nothing was run.
        ProseError: The run ended without a result; its class says why. ``Paused``: a person has to answer first.
        asyncio.CancelledError: The task was cancelled; what was answered by then is in the record.
    """
    from asyncio import CancelledError

    from prose_runtime.errors import Cancelled
    from prose_runtime.runtime.asked import Asked, carried_out

    path, project = _spec(spec)
    asked = Asked(path, project, inputs, config, bind, limits, people)
    result = await carried_out(asked, record, on_event)
    if isinstance(result.error, Cancelled):
        raise CancelledError from result.error
    if result.error is not None:
        raise result.error
    return result


def _outside(function: Callable[_Given, Coroutine[Any, Any, Result]]) -> Callable[_Given, Result]:
    """The same for callers without an event loop."""

    @wraps(function)
    def call(*args: _Given.args, **options: _Given.kwargs) -> Result:
        import asyncio

        from prose_runtime.errors import UsageError

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(function(*args, **options))
        raise UsageError("an event loop is running here already", help="write `await prose_runtime.arun(...)`")

    return call


run = _outside(arun)
run.__name__ = run.__qualname__ = "run"


@lru_cache(maxsize=32)
def _project(spec: Spec) -> Project:
    """The project of a loaded spec: its runs share what is known of it."""
    from prose_runtime.check.project import Project

    project = Project.around(Path(spec.source.path))
    project.adopt(spec)
    return project


def _spec(given: Any) -> tuple[Path | str, Project | None]:
    """The file of a spec, and the project of one that was loaded."""
    from prose_runtime.nodes import Spec

    return (given.source.path, _project(given)) if isinstance(given, Spec) else (_located(given), None)


def _located(path: Any) -> Path:
    """The file that a path or the bare name of a pattern means. Raises UsageError."""
    from prose_runtime.check.locate import found

    return found(str(_path(path)), Path.cwd())


def _path(given: Any) -> Path:
    if isinstance(given, str | Path):
        return Path(given)
    from prose_runtime.errors import UsageError

    kind = type(given).__name__
    raise UsageError(f"a spec is named by a path or by the name of a pattern, not by a value of type {kind}")
