"""What a Python program asks for: the arguments of ``prose_runtime.arun``, looked at before anything is called."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from prose_runtime.check.project import Project
from prose_runtime.errors import RecordError, UsageError
from prose_runtime.events import Listener
from prose_runtime.journal import RECORD_FOLDER, Journal, RunRecord
from prose_runtime.runtime.people import People
from prose_runtime.runtime.rewalk import EditedError
from prose_runtime.runtime.session import Prepared, Result, RunRequest, execute, prepare
from prose_runtime.runtime.wiring import ELSEWHERE
from prose_runtime.services.config import settings_from
from prose_runtime.services.settings import Closed
from prose_runtime.values import strange, to_json


@dataclass(frozen=True, slots=True)
class Asked:
    """The arguments, as they were given.

    ``path`` and ``project`` are of the spec; None where something is not given.
    """

    path: Path | str
    project: Project | None
    inputs: Any = None
    config: Any = None
    bind: Any = None
    limits: Any = None
    people: Any = None

    def request(self, earlier: Mapping[str, Any]) -> RunRequest:
        """The run that is asked for; what is not given is as in the request of an ``earlier`` one that goes on.

        Raises:
            UsageError: An argument is of the wrong kind.
        """
        people = earlier.get("people") if self.people is None else self.people
        return RunRequest(
            self.path,
            _named(self.inputs, "inputs", earlier),
            _named(self.config, "config", earlier),
            {**earlier.get("bind", {}), **_by_name(self.bind or {}, "bind", "slot")},
            limits=_named(self.limits, "limits", earlier),
            people=_people(people),
            project=self.project,
        )


async def carried_out(asked: Asked, record: Any, on_event: Any) -> Result:
    """Run what is asked and write down how it ended. ``record`` and ``on_event`` are as ``arun`` takes them.

    Raises:
        CheckFailed, UsageError: It cannot begin.
        RecordError: The record cannot be used.
    """
    listeners = _listeners(on_event)
    with _earlier(record) as kept:
        prepared = prepare(asked.request(kept.request if kept is not None and isinstance(record, str) else {}))
        if record is not True:
            return await _executed(prepared, kept, listeners)
    with closing(_journal().create(prepared.analysis.spec.name, _request_row(prepared.request))) as new:
        return await _executed(prepared, new, listeners)


async def _executed(prepared: Prepared, record: RunRecord | None, listeners: Sequence[Listener]) -> Result:
    result = await execute(prepared, journal=record, listeners=listeners)
    if record is not None and not isinstance(result.error, EditedError):  # then nothing was run
        try:
            await record.finish(result.status, result.as_json())
        except RecordError as error:  # the result is there all the same
            if result.error is None:
                warnings.warn(error.message, stacklevel=2)
    return result


@contextmanager
def _earlier(record: Any) -> Iterator[RunRecord | None]:
    """The record that is there already: the one that is given, or that of the run whose name is."""
    if isinstance(record, str):
        with closing(_journal().open(record)) as kept:
            yield kept
    elif record in (None, True, False) or isinstance(record, RunRecord):
        yield record if isinstance(record, RunRecord) else None
    else:
        help_ = "write True for a new record, the name of a run to go on with it, or an open record of a Journal"
        raise UsageError(f"`record` is no {type(record).__name__}", help=help_)


def _journal() -> Journal:
    return Journal(Path.cwd() / RECORD_FOLDER)


def _request_row(request: RunRequest) -> dict[str, Any]:
    """The request as the record of a run keeps it, so that the command line can go on with it, too."""
    return {
        "spec": str(request.spec_path),
        "inputs": request.inputs,
        "config": request.config,
        "bind": {slot: ELSEWHERE if strange(word) else word for slot, word in request.bind.items()},
        "base": str(request.base),
        "limits": dict(request.limits),
        "people": request.people.as_json(),
        "cassettes": {},
    }


def _named(given: Any, argument: str, earlier: Mapping[str, Any]) -> dict[str, Any]:
    if given is None:
        return dict(earlier.get(argument, {}))
    found: dict[str, Any] = to_json(_by_name(given, argument, "name"))
    return found


def _by_name(given: Any, argument: str, key: str) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise UsageError(f"`{argument}` is no {type(given).__name__}", help=f'write a dict: {{"{key}": ...}}')
    strange = next((name for name in given if not isinstance(name, str)), None)
    if strange is not None:
        raise UsageError(f"`{argument}` has a key that is no text: {strange!r}", help=f"its keys are {key}s")
    return dict(given)


class _Participants(Closed):
    """``people`` as data: what ``People`` holds."""

    join: list[str] = Field(default_factory=list)
    personas: dict[str, str] = Field(default_factory=dict)
    language: str | None = None
    context: str | None = None
    telegram: str | None = None


def _people(given: Any) -> People:
    if given is None:
        return People()
    row = asdict(given) if isinstance(given, People) else _by_name(given, "people", "name")
    return People.from_json(settings_from(_Participants, to_json(row), "`people`").model_dump())


def _listeners(on_event: Any) -> list[Listener]:
    if on_event is None:
        return []
    if not callable(on_event):
        raise UsageError(f"`on_event` is no {type(on_event).__name__}", help="write a function of an event")
    if inspect.iscoroutinefunction(on_event):
        raise UsageError("`on_event` is called, not awaited", help="write `def`, not `async def`")
    return [lambda event: (on_event(event), None)[1]]
