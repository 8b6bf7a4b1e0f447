"""A run from start to end: check and wire what was asked for, execute it, hand out the result."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prose_runtime.check.bounds import Bounds
from prose_runtime.check.checker import all_diagnostics, check_path, reachable
from prose_runtime.check.project import Project
from prose_runtime.check.tables import Analysis
from prose_runtime.depth import make_room
from prose_runtime.diagnostics import Diagnostic, did_you_mean
from prose_runtime.errors import Cancelled, CheckFailed, Paused, ProseError, RunFailed, UsageError
from prose_runtime.events import Listener, RunFinished, RunStarted, Status, Warned
from prose_runtime.journal import RunRecord
from prose_runtime.runtime import interpreter
from prose_runtime.runtime.bounds import most_requests, run_bounds
from prose_runtime.runtime.delegate import config_defaults
from prose_runtime.runtime.garbage import seldom_collected
from prose_runtime.runtime.host import LocalHost
from prose_runtime.runtime.inputs import check_inputs
from prose_runtime.runtime.invariants import Watch
from prose_runtime.runtime.limits import Limits, Meter
from prose_runtime.runtime.people import People, plain, seated
from prose_runtime.runtime.program import Program
from prose_runtime.runtime.result import Result, ResultListener
from prose_runtime.runtime.rewalk import EditedError, RewalkHost, digest_of_sources
from prose_runtime.runtime.steering import Steering
from prose_runtime.runtime.tape import Tape, TapeWords
from prose_runtime.runtime.unit import ContractMode, Host, Run
from prose_runtime.runtime.wiring import LocalWiring, runnable
from prose_runtime.services.bindings import Bindings
from prose_runtime.services.config import LimitSettings, settings_from
from prose_runtime.trace import TraceListener
from prose_runtime.values import to_json

__all__ = ["Prepared", "Result", "RunRequest", "execute", "prepare"]


@dataclass(slots=True)
class RunRequest:
    """What is to be run.

    Attributes:
        spec_path: The spec's file.
        inputs, config: Values by name, already of the declared types.
        bind: For each slot a word, a list of words, or (from Python) an async function.
        base: The folder from which words of ``bind`` count.
        record: Whether the run is recorded; the caller opens the record.
        contracts: How contracts are checked.
        limits: Bounds of the run by their names in prose.yml, before what stands there.
        people: Who takes part besides services, and what all roles are told.
        cassettes: What answers instead of services, and where answers are to be recorded.
        bindings: What words mean, when that is not to be read from the prose.yml that holds for the spec.
        project: Where the spec and those that it calls may have been read and analysed already.
    """

    spec_path: Path | str
    inputs: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    bind: dict[str, Any] = field(default_factory=dict)
    base: Path = field(default_factory=Path.cwd)
    record: bool = True
    contracts: ContractMode = "structural"
    limits: Mapping[str, Any] = field(default_factory=dict)
    people: People = field(default_factory=People)
    cassettes: TapeWords = field(default_factory=TapeWords)
    bindings: Bindings | None = None
    project: Project | None = None


@dataclass(slots=True)
class Prepared:
    """A checked and wired run.

    ``bounds`` says how many calls it makes at most; ``note`` which service answers unbound slots and why, where there
    are any.
    """

    request: RunRequest
    analysis: Analysis
    program: Program
    wiring: LocalWiring
    slots: Mapping[str, Any]
    limits: Limits
    bounds: Bounds
    note: str = ""
    warnings: Sequence[Diagnostic] = ()
    tape: Tape | None = None

    @property
    def beside(self) -> int:
        """How many calls are made beside those of the program: the one that sums up the context."""
        return int(self.request.people.context is not None)


def prepare(request: RunRequest) -> Prepared:
    """Check the spec, resolve the bindings, validate inputs and config: everything before the first call.

    Raises:
        CheckFailed: The spec, or one that it calls, has errors.
        UsageError: Bindings, inputs, config or prose.yml are wrong.
    """
    path = request.base / request.spec_path
    shown = Path(request.spec_path)
    project = request.project or Project.around(path)
    if request.bindings is not None:
        project.services = frozenset(request.bindings.config.services)
    analysis = check_path(shown if shown.exists() else path, project)
    _sound(analysis)
    bindings = request.bindings or Bindings.load(path, request.base)
    return wired(request, analysis, LocalWiring(bindings, project))


def wired(request: RunRequest, analysis: Analysis, wiring: LocalWiring) -> Prepared:
    """A run of a spec that is read, wired by what its words mean. It raises as ``prepare`` does."""
    found = _sound(analysis)
    runnable(analysis)
    wiring.check_needs([part.spec for part in reachable(analysis)])
    request = _with_background(request, analysis)
    check_inputs(analysis, request.inputs, request.config)
    bindings = wiring.bindings
    slots = _slots(analysis, request, wiring)
    note = f"default service: {bindings.default_service().note}" if _needs_default(analysis, request) else ""
    warnings = [d for d in found if d.severity == "warning"]
    program = Program(analysis)
    filled = seated(request.people, program, wiring.filled(program, slots), request.bind, wiring)
    bounds = run_bounds(analysis, wiring, filled, request.config, request.inputs)
    return Prepared(
        request,
        analysis,
        program,
        wiring,
        filled,
        _limits(bindings, request.limits),
        bounds,
        note,
        warnings,
        tape=Tape.load(request.cassettes) if request.cassettes != TapeWords() else None,
    )


BACKGROUND = "background"
"""The input of a spec that takes the context of a run in the place of the runtime."""


def _with_background(request: RunRequest, analysis: Analysis) -> RunRequest:
    """A spec with an input ``background`` is given the context of the run there, and sums it up itself."""
    context = request.people.context
    if context is None or BACKGROUND not in analysis.inputs or BACKGROUND in request.inputs:
        return request
    inputs = {**request.inputs, BACKGROUND: context}
    return replace(request, inputs=inputs, people=replace(request.people, context=None))


def _needs_default(analysis: Analysis, request: RunRequest) -> bool:
    taken = {*map(plain, request.bind), *map(plain, request.people.join)}
    unbound = [slot for slot in analysis.spec.slots if plain(slot.name) not in taken and not slot.person]
    return bool(unbound) or not analysis.spec.slots or request.people.context is not None


def _sound(analysis: Analysis) -> list[Diagnostic]:
    """The diagnostics of a spec and of those that it calls. Raises CheckFailed when there are errors."""
    found = all_diagnostics(analysis)
    if any(d.severity == "error" for d in found):
        raise CheckFailed(found)
    return found


def _slots(analysis: Analysis, request: RunRequest, wiring: LocalWiring) -> dict[str, Any]:
    slots = {slot.name: slot for slot in analysis.spec.slots}
    for name in request.bind:
        if name not in slots:
            help_ = did_you_mean(name, slots) or f"its slots: {', '.join(slots) or 'none'}"
            raise UsageError(f"{analysis.spec.name} has no slot `{name}`", help=help_)
    return {name: wiring.refer(word, slots[name], request.base) for name, word in request.bind.items()}


def _limits(bindings: Bindings, asked: Mapping[str, Any]) -> Limits:
    given = bindings.config.limits.model_dump(exclude_none=True)
    if asked:
        settings_from(LimitSettings, asked, "the limits of the run")
    return Limits(**{**given, **{name: bound for name, bound in asked.items() if bound or name != "max_concurrency"}})


def meter_of(prepared: Prepared) -> Meter:
    """What counts a run's calls against its limits and its own bound."""
    most = most_requests(prepared.bounds, prepared.request.contracts)
    return Meter(prepared.limits, None if most is None else most + prepared.beside)


async def execute(
    prepared: Prepared,
    *,
    journal: RunRecord | None = None,
    listeners: Sequence[Listener] = (),
    steering: Steering | None = None,
    answers: dict[str, Any] | None = None,
    meter: Meter | None = None,
    reask: bool = False,
) -> Result:
    """Run it. How it ended is in the result; only faults of this program itself raise.

    ``journal`` is an open record, new or of an earlier run to go on with; ``steering`` holds the wishes of the person
    watching; ``answers`` are those of people by step, and what is used is taken out; ``meter`` is one that the caller
    wants to read while it counts; ``reask`` allows asking again where an edited spec asks something else than is
    recorded.
    """
    make_room()
    result = Result(prepared.analysis.spec.name, run=journal.run if journal else None)
    collector = ResultListener(result)
    strict = prepared.request.contracts != "off"
    watch = Watch(prepared.program, given_values(prepared), prepared.slots, strict=strict)
    meter = meter or meter_of(prepared)
    steering = steering or Steering()
    if journal is not None:
        steering.keep_in(journal)
    heard: list[Listener] = [*([watch] if watch.watching else []), collector, *_trace(prepared, journal), *listeners]
    host = LocalHost(journal, meter, heard, steering=steering, answers=answers, tape=prepared.tape, reask=reask)
    try:
        with seldom_collected():
            await _match(prepared, journal, host, reask)
            await conduct(prepared, host, result)
    except (EditedError, Cancelled) as error:
        result.error = error
    finally:
        await prepared.wiring.aclose()
    if result.error is not None and not isinstance(result.error, Cancelled | EditedError):
        host.reopen_after(result.error)
    close(prepared, result, watch)
    write_cassette(prepared, result)
    collector.close(meter)
    host.emit(RunFinished("", result.run or "", result.status, result.value, result.as_json()["error"]))
    return result


def write_cassette(prepared: Prepared, result: Result) -> None:
    """Write the cassette that is to be recorded, if one is; a fault in that is the result's."""
    if prepared.tape is None:
        return
    asked = prepared.request
    given = {"inputs": asked.inputs, "config": asked.config}
    try:
        prepared.tape.write(
            result.spec, {name: to_json(values) for name, values in given.items() if values}, result.value
        )
    except UsageError as error:
        result.error = result.error or error
        result.status = _status(result.error)


async def _match(prepared: Prepared, journal: RunRecord | None, host: LocalHost, reask: bool) -> None:
    """Look whether the record fits what is asked now; without a change of texts it does.

    Raises:
        EditedError: Answers would be asked for again or be left over, and nobody has agreed to that.
    """
    if journal is None:
        return
    sources = _sources(prepared)
    if journal.sources == sources:
        return
    if journal.answers:
        walk = RewalkHost(journal)
        walked = Result(prepared.analysis.spec.name)
        await conduct(prepared, walk, walked)
        if isinstance(walked.error, Cancelled):
            raise walked.error
        changes = walk.finish()
        if not changes.harmless and not reask:
            raise EditedError(changes)
        if not changes.harmless:
            host.emit(Warned("", "\n".join(["edited since it was recorded", *changes.lines()])))
    journal.adopt(sources)


def _sources(prepared: Prepared) -> str:
    """A digest of all texts and words that decide what is asked."""
    asked, bindings = prepared.request, prepared.wiring.bindings
    texts = {part.spec.source.raw for part in reachable(prepared.analysis)} | set(prepared.wiring.texts())
    words = [asked.inputs, asked.config, asked.bind, asked.contracts, asked.people, prepared.note]
    return digest_of_sources(texts, [*words, bindings.config.model_dump(exclude={"limits"})])


async def conduct(prepared: Prepared, host: Host, result: Result) -> None:
    """Walk the program at a host, which may stand anywhere. How it ended is in the result."""
    run = _run(host, prepared)
    host.emit(RunStarted("", result.run or "", result.spec, prepared.note))
    asked = prepared.request
    whole = interpreter.run_program(run, prepared.program, prepared.slots, asked.inputs, asked.config)
    try:
        result.value = to_json(await host.within(prepared.limits.run_timeout, whole))
    except ProseError as error:
        result.error = error
    except asyncio.CancelledError:
        result.error = Cancelled("the run was stopped")
    except RecursionError:
        result.error = RunFailed("the program nests too deeply", kind="value")


def close(prepared: Prepared, result: Result, watch: Watch) -> None:
    """Complete the result of a run that ended: what was found out of its invariants, and its status."""
    result.invariants = watch.close(result.error is None)
    if result.error is None and prepared.request.contracts != "off":
        result.error = watch.error(result.invariants)
    result.status = _status(result.error)


def _trace(prepared: Prepared, journal: RunRecord | None) -> list[Listener]:
    """The listener that writes down what happens, with the text of the specs that can take part."""
    if journal is None:
        return []
    trace = TraceListener(journal)
    for source in {part.spec.source.path: part.spec.source for part in reachable(prepared.analysis)}.values():
        trace.source(source.path, source.raw)
    return [trace]


def given_values(prepared: Prepared) -> dict[str, Any]:
    """The inputs and config of a run, with their defaults."""
    defaults = {name: row.default for name, row in prepared.analysis.inputs.items() if row.has_default}
    request = prepared.request
    return {**config_defaults(prepared.analysis.spec), **defaults, **request.config, **request.inputs}


def _run(host: Host, prepared: Prepared) -> Run:
    people = prepared.request.people
    told = {} if people.language is None else {"language": people.language}
    return Run(host, prepared.wiring, prepared.request.contracts, people.context, told)


def _status(error: ProseError | None) -> Status:
    if error is None:
        return "completed"
    if isinstance(error, Paused):
        return "paused"
    return "cancelled" if isinstance(error, Cancelled) else "failed"
