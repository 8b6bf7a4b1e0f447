"""Runs that are killed at each place of writing, and what becomes of them: see ``tests/crash_matrix.py``.

A life of a run is a series of processes: each goes on with the record until one is killed, or pauses for the person,
whose answer the next one gets. The place of death is counted in the writer of the record, of which the dying process
has a double: before a transaction, before its commit, and behind it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from prose_runtime.errors import ServiceError
from prose_runtime.journal import Journal, record
from prose_runtime.journal.cassette import read_cassette
from prose_runtime.runtime.session import Prepared, RunRequest, execute, prepare
from prose_runtime.runtime.tape import TapeWords
from prose_runtime.services.api import Reply, Request
from support.composites import composite
from support.programs import pattern

BODY = """
let log = []
let all = parallel for x in ["p", "q", "r"]:
  parallel for y in [1, 2]:
    repeat 2 as n:
      let got = call worker
        place: "{x}/{y}/{n}"
      record got in log
      got
try:
  call down
    place: "down"
catch as e:
  record e.kind in log
let winner = parallel ("first"):
  call worker
    place: "first/1"
  call worker
    place: "first/2"
if the log is rich:
  record "rich" in log
let made = call makers
  subject: "boats"
  one: one
  two: two
let said = call person
  place: "person"
let last = call worker
  place: "last"
return { all, log, made, said, last, won: winner != null }
"""

COMPOSITE = """
const { one, two, subject } = __compositeState
const drafts = await Promise.all([1, 2, 3].map(i => rlm("draft " + i, { subject }, { use: one })))
let text = drafts.join(" ")
for (let round = 0; round < 2; round++) text = await rlm("mend " + round, { text }, { use: two })
return({ text, drafts })
"""

JUDGE = "default: jury\nservices:\n  jury: {provider: rehearsal}\n"
NEVER = 1 << 30
TAPE = Path("tape.yml")


class Pausing:
    """The person, who is not there: the answer comes from elsewhere when the run goes on."""

    name = "person"
    patient = True

    async def __call__(self, request: Request) -> Reply:
        from prose_runtime.errors import Paused

        raise Paused("waiting for the person")


@dataclass
class Voice:
    """A service whose answers say what they answer, and that writes down when it begins to."""

    name: str
    seconds: float = 0.0
    error: bool = False
    log: ClassVar[int] = -1

    async def __call__(self, request: Request) -> Reply:
        key = f"{self.name}:{request.inputs.get('place') or request.prompt or request.purpose}"
        os.write(Voice.log, f"{key}\n".encode())
        await asyncio.sleep(self.seconds)
        if self.error:
            raise ServiceError(f"<{key}>", kind="unavailable")
        if request.purpose == "judge":
            return Reply({"verdict": True, "reason": f"<{key}>"})
        return Reply(f"<{key}>")


class Mortal:
    """A connection to the record that kills its process when it has come to the given place."""

    def __init__(self, db: sqlite3.Connection, count: Callable[[], None]):
        self._db = db
        self._count = count

    def execute(self, sql: str, *more: Any) -> sqlite3.Cursor:
        if sql.startswith("begin") or sql == "commit":
            self._count()
        done = self._db.execute(sql, *more)
        if sql == "commit":
            self._count()
        return done

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)


@dataclass
class Death:
    """Kills this process at the given place, counted from 1; 0 is never."""

    place: int
    places: int = 0

    def __call__(self) -> None:
        self.places += 1
        if self.places == self.place:
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class Life:
    """What became of a run: its result, how often it was killed, which calls were begun in vain."""

    value: Any = None
    kills: int = 0
    places: int = 0
    processes: int = 0
    repeated: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    in_flight: int = 0
    again: int = 0
    faults: list[str] = field(default_factory=list)


def scene(folder: Path) -> Path:
    """The program whose runs are killed; returns its file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prose.yml").write_text(JUDGE, encoding="utf-8")
    composite(folder, COMPOSITE, rows="subject: string", name="makers")
    return pattern(folder, BODY, slots="worker down person one two", name="scene")


def live(folder: Path, deaths: list[int], prepared: Prepared) -> Life:
    """Live through a run whose processes die where ``deaths`` says, one after the other, and then no more."""
    folder.mkdir(parents=True)
    life = Life()
    deaths = list(deaths)
    finished: set[str] = set()
    answers: dict[str, Any] = {}
    while life.processes < 20:
        log = folder / f"log{life.processes}"
        died, said = _process(folder, log, deaths[0] if deaths else NEVER, answers, prepared)
        begun = Counter(log.read_text().split("\n")[:-1]) if log.exists() else Counter[str]()
        life.processes += 1
        life.repeated += [key for key in begun if key in finished]
        durable = _durable(folder)
        life.early += [key for key in begun if not _due(key, durable)]
        life.again += sum(begun.values()) - len(begun)
        finished |= durable
        life.places += said.get("places", 0)
        if died:
            life.kills += 1
            deaths = deaths[1:]
            life.in_flight = max(life.in_flight, len(begun.keys() - durable))
        elif said["status"] == "paused":
            answers = {step["step"]: "yes" for step in said["waiting"]}
            deaths = [deaths[0] - said["places"], *deaths[1:]] if deaths else deaths
        else:
            life.value = said["value"]
            life.faults += [said["fault"]] if said.get("fault") else []
            return life
    life.faults.append("it did not end")
    return life


def _due(key: str, durable: set[str]) -> bool:
    """Whether all is durable that has to be before this call begins: the pass before it in its loop."""
    name, _, place = key.partition(":")
    before = {"/2": "/1"}.get(place[-2:])
    loop = name == "worker" and place.count("/") == 2
    return not loop or before is None or f"{name}:{place[:-2]}{before}" in durable


def _durable(folder: Path) -> set[str]:
    """The calls whose answers the record holds, by what the answers say."""
    journal = Journal(folder / ".prose")
    if not journal.list():
        return set()
    kept = journal.open("last")
    try:
        texts = [json.dumps(a.value) for a in kept.answers.values() if a.kind != "event" and not a.reopened]
    finally:
        kept.close()
    return {part.split(">")[0] for text in texts for part in text.split("<")[1:2]}


def _process(
    folder: Path, log: Path, death: int, answers: dict[str, Any], prepared: Prepared
) -> tuple[bool, dict[str, Any]]:
    """One process of a life. Returns whether it was killed, and else how its part of the run ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            said = _part(folder, log, death, answers, prepared)
        except BaseException:
            said = {"status": "fault", "fault": traceback.format_exc(), "value": None}
        os.write(writer, json.dumps(said).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    died = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    return died, {} if died else json.loads(data)


def _part(folder: Path, log: Path, death: int, answers: dict[str, Any], prepared: Prepared) -> dict[str, Any]:
    count = Death(death)
    whole = record.connect
    record.connect = lambda file, **more: Mortal(whole(file, **more), count)  # type: ignore[assignment,return-value]
    journal = Journal(folder / ".prose")
    kept = journal.open("last") if journal.list() else journal.create("scene", {})
    os.chdir(folder)
    Voice.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    async def run() -> dict[str, Any]:
        result = await execute(prepared, journal=kept, answers=dict(answers))
        await kept.finish(result.status, result.as_json())
        return {
            "status": result.status,
            "value": result.value,
            "waiting": result.as_json().get("waiting", []),
            "fault": None if result.error is None or result.status == "paused" else str(result.error),
        }

    said = asyncio.run(run())
    kept.close()
    return {**said, "places": count.places}


def cast(spec: Path, cassettes: TapeWords | None = None) -> Prepared:
    """A prepared run of the scene, for every process that is forked from this one."""
    bind: dict[str, Any] = {
        "worker": Voice("worker", 0.002),
        "down": Voice("down", error=True),
        "person": Pausing(),
        "one": Voice("one", 0.001),
        "two": Voice("two"),
    }
    return prepare(RunRequest(spec, bind=bind, base=spec.parent, cassettes=cassettes or TapeWords()))


def lives(folder: Path, every: int = 1, again: int = 0, taped: bool = False) -> Iterator[tuple[list[int], Life, Life]]:
    """Lives killed at each place of writing, or each so-manieth, with the undisturbed life to compare them with.

    ``again``: kill every life once more so many places later. ``taped``: half of the answers come from a cassette, the
    others are asked for, and a new cassette is recorded, which has to be whole.
    """
    prepared = cast(scene(folder / "scene"), TapeWords(record=TAPE) if taped else None)
    calm = live(folder / "calm", [], prepared)
    if taped:
        half = _half_of(folder / "calm" / TAPE, folder / "half.yml")
        prepared = cast(folder / "scene" / "scene.prose.md", TapeWords(half, TAPE, "ask"))
        calm = live(folder / "half", [], prepared)
        calm.value = [calm.value, _on_tape(folder / "half" / TAPE)]
    for place in range(1, calm.places + 1, every):
        deaths = [place, again] if again else [place]
        life = live(folder / f"at{place}-{again}", deaths, prepared)
        if taped:
            life.value = [life.value, _on_tape(folder / f"at{place}-{again}" / TAPE)]
        yield deaths, life, calm


def _half_of(whole: Path, half: Path) -> Path:
    """A cassette without the answers of one branch and of what the composite mends."""
    tape = read_cassette(whole)
    tape.entries = {
        step: entry
        for step, entry in tape.entries.items()
        if not str(entry.asked.get("prompt") or entry.asked.get("inputs", {}).get("place")).startswith(("q/", "mend"))
    }
    tape.write(half)
    return half


def _on_tape(path: Path) -> dict[str, Any]:
    """What a recorded cassette holds, but for the race, of which only the winner is sure to be there."""
    answers = [entry.answer for entry in read_cassette(path).entries.values()]
    return {answer.step: answer.value for answer in answers if not answer.step.startswith("parallel[")}
