"""Composites: a pattern whose program is JavaScript (LANGUAGE.md section 5).

The program runs in a sandbox; what it asks with ``rlm`` are steps of the run like the calls of any other spec. Their
steps are named by place (``sandbox.js``), and where several replies could come first, the record holds which one did:
so a resumed run goes the same way again and asks nothing twice.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prose_runtime.check.javascript import loop_at, place_span, places_in, wrapped
from prose_runtime.errors import LimitExceeded, Paused, ProseError, RunFailed
from prose_runtime.events import Emitted
from prose_runtime.nodes import Node
from prose_runtime.runtime.composite_calls import Asked, Calls, Misuse, asked_of
from prose_runtime.runtime.core import Activation
from prose_runtime.runtime.failures import Thrown, as_value, catchable, handled
from prose_runtime.runtime.javascript import Bounds, EngineFault, Sandbox
from prose_runtime.runtime.unit import Unit
from prose_runtime.text import Span
from prose_runtime.values import Value, clean_text

_FAULTS = frozenset(
    {"TypeError", "ReferenceError", "RangeError", "SyntaxError", "EvalError", "URIError", "InternalError"}
)
"""Errors that the engine raises itself: faults of the program, which a calling program cannot catch."""

BOUNDS = Bounds()
"""What each run of a composite may use."""

_ABSENT = {
    "setTimeout": "a composite has no clock",
    "setInterval": "a composite has no clock",
    "setImmediate": "a composite has no clock; `queueMicrotask` is there",
    "performance": "a composite has no clock",
    "fetch": "a composite has no network: ask a service with `rlm`",
    "require": "a composite has no modules",
    "process": "a composite sees nothing of the machine that it runs on",
    "Deno": "a composite sees nothing of the machine that it runs on",
    "Bun": "a composite sees nothing of the machine that it runs on",
}


async def run_javascript(unit: Unit, names: Mapping[str, Value], act: Activation) -> Value:
    """Run the JavaScript of a spec. ``names`` are its slots, config and inputs.

    The result is what the program returned, else the state's ``result``, beside each other field that it wrote to the
    state.

    Raises:
        RunFailed: The program failed (kind ``javascript``), with the line of the file; or a call that it let pass.
        LimitExceeded: It used up its processor time or memory.
    """
    return await _Play(unit, act).run(names)


@dataclass(slots=True)
class _Flying:
    """A call that the program waits for. It has a task once it goes out."""

    asked: Asked
    task: asyncio.Task[Value] | None = None


class _Play:
    """One run of one program, from the state object to the result."""

    def __init__(self, unit: Unit, act: Activation):
        self.act = act
        self.program = unit.program
        assert self.program.spec.javascript is not None
        self.fence = self.program.spec.javascript
        self.calls = Calls(unit, act)
        self.sandbox = Sandbox(BOUNDS, unit.run.host.compute)
        self.flying: dict[str, _Flying] = {}
        self.known: set[str] = set()
        self.landed: asyncio.Queue[str] = asyncio.Queue()
        self.errors: dict[int, ProseError] = {}
        self.arrivals = 0
        self.waiting_for_person: list[Paused] = []

    async def run(self, names: Mapping[str, Value]) -> Value:
        try:
            before = await self.sandbox.open(*self.calls.state(names))
            heard = await self.sandbox.start(wrapped(self.program.source, self.fence))
            while heard["end"] is None:
                self.take(heard)
                heard = await self.deliver(await self.arrival())
            self.take({**heard, "asked": []})
            return self.result(heard["end"], before)
        except EngineFault as fault:
            raise self.engine_error(fault) from None
        except RecursionError:
            raise self.failure("a value of the program nests too deeply", "") from None
        finally:
            self.sandbox.close()
            await self.stop()

    # calls

    def take(self, heard: dict[str, Any]) -> None:
        """Note what the program asks for, pass on what it said."""
        for line in heard["said"]:
            node = self.node(line["stack"])
            self.act.emit(Emitted(self.act.path, clean_text(line["text"]), self.program.where(node.span)))
        for row in heard["asked"]:
            asked = asked_of(row, self.node(row["stack"]))
            if asked.at in self.known:
                raise self.failure("the program broke the surroundings that it runs in", row["stack"])
            self.known.add(asked.at)
            self.flying[asked.at] = _Flying(asked)

    def begin(self, call: _Flying) -> asyncio.Task[Value]:
        """Let a call go out, if it has not."""
        if call.task is None:
            call.task = asyncio.create_task(self.calls.ask(call.asked))
            call.task.add_done_callback(lambda _: self.landed.put_nowait(call.asked.at))
        return call.task

    async def arrival(self) -> _Flying:
        """The call whose reply the program gets next: the recorded one, else the first that comes.

        As long as the record tells, only what it names goes out: losers of a race that is over are not asked again.
        """
        self.arrivals += 1
        at = None
        if len(self.flying) + len(self.waiting_for_person) > 1:
            step = self.act.at(f"arrival[{self.arrivals}]").path
            at = await self.act.unit.run.host.witness(step, self.first)
        if at not in self.flying or not await self.lands(at):
            # another record, of a program that was edited since, or a person who has still not answered
            at = await self.first()
        return self.flying.pop(at)

    async def first(self) -> str:
        """The place of the first call to come. A call that waits for a person lets all others go first."""
        while self.flying:
            for call in self.flying.values():
                self.begin(call)
            at = await self.landed.get()
            if at in self.flying and await self.lands(at):
                return at
        if self.waiting_for_person:
            raise Paused.together(self.waiting_for_person)
        raise self.failure("the program awaits a promise that nothing will settle", "")

    async def lands(self, at: str) -> bool:
        """Wait for a call. False when it waits for a person; raises what no program can catch."""
        task = self.begin(self.flying[at])
        await asyncio.wait({task})
        error = task.exception()
        if isinstance(error, Paused):
            self.waiting_for_person.append(error)
            del self.flying[at]
            return False
        if error is None or isinstance(error, Misuse) or (isinstance(error, ProseError) and catchable(error)):
            return True
        raise error

    async def deliver(self, call: _Flying) -> Any:
        """Let the program go on with a reply or a failure."""
        task = self.begin(call)
        error = task.exception()
        if error is None:
            return await self.sandbox.settle(call.asked.id, task.result())
        if isinstance(error, ProseError):
            self.errors[call.asked.id] = error
            handled(error)
            said = as_value(error)
            told = {"name": said.kind, "message": said.message, "kind": said.kind, "service": said.service}
            return await self.sandbox.reject(call.asked.id, told)
        return await self.sandbox.reject(call.asked.id, {"name": "TypeError", "message": str(error)})

    async def stop(self) -> None:
        """Cancel what is still in flight, such as the losers of a race."""
        tasks = [call.task for call in self.flying.values() if call.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # the end

    def result(self, end: dict[str, Any], before: dict[str, Any]) -> Value:
        if "failed" in end:
            error = self.errors.get(end["failed"].get("call"), self.failure("a call failed", ""))
            handled(error, False)
            raise error
        if "thrown" in end or "unserialisable" in end:
            raise self.thrown(end)
        given = _clean(end["value"])
        after = given["state"] if isinstance(given["state"], dict) else {}
        written = {
            name: value
            for name, value in after.items()
            if not name.startswith("_") and (name not in before or _differ(value, before[name]))
        }
        result = given.get("result") if given["given"] else after.get("result")
        return {"result": result, **{name: value for name, value in written.items() if name != "result"}}

    def thrown(self, end: dict[str, Any]) -> ProseError:
        """What ended the program: a fault of its own, or an error that it threw."""
        if "unserialisable" in end:
            return self.failure(f"the result is no JSON value: {end['unserialisable']['message']}", "")
        error = end["thrown"]
        name, message, stack = error["name"], clean_text(error["message"]), error["stack"]
        if error.get("cause") in self.errors:
            handled(self.errors[error["cause"]], False)
        if (name, message) == ("InternalError", "out of memory"):
            return self.limit("memory", stack)
        if name in _FAULTS:
            return self.failure(f"{name}: {message}{_hint(message)}", stack)
        if name is None:
            doubt = " (or used up its memory, which looks the same)" if message == "null" else ""
            message = f"the program threw {message}{doubt}"
        elif name != "Error":
            message = f"{name}: {message}"
        where = self.program.where(self.node(stack).span)
        found = Thrown(message, message, where=where, step=self.act.path or None)
        found.kind = "javascript"
        return found

    def failure(self, message: str, stack: str) -> RunFailed:
        where = self.program.where(self.node(stack).span)
        return RunFailed(message, kind="javascript", where=where, step=self.act.path or None)

    def engine_error(self, fault: EngineFault) -> ProseError:
        if fault.kind == "program":
            return self.failure(fault.message, fault.stack)
        return self.limit(fault.kind, fault.stack)

    def limit(self, kind: str, stack: str) -> LimitExceeded:
        bounds = self.sandbox.bounds
        bound: float = bounds.cpu if kind == "cpu" else bounds.memory
        used = f"{bounds.cpu:g} s of processor time" if kind == "cpu" else f"{bounds.memory >> 20} MB of memory"
        why = "is there a loop that never ends?" if kind == "cpu" else "what does it collect?"
        span = self.node(stack).span
        if kind == "cpu":
            span = loop_at(self.program.source, self.fence, span)
        return LimitExceeded(
            f"the JavaScript of {self.program.spec.name} used up its {used}: {why}",
            limit=f"javascript_{kind}",
            value=bound,
            bound=bound,
            where=self.program.where(span),
            step=self.act.path or None,
        )

    def node(self, stack: str) -> Node:
        """The place in the file that a stack names, else the first line of the program."""
        source = self.program.source
        place = next(iter(places_in(stack)), None)
        if place is None:
            return Node(span=Span(self.fence.content.start, self.fence.content.end))
        return Node(span=place_span(source, self.fence, place))


def _differ(one: Any, other: Any) -> bool:
    return json.dumps(one) != json.dumps(other)


def _hint(message: str) -> str:
    """What to know about a name that programs elsewhere have."""
    word = message.partition(" ")[0].strip("'`\"")
    return f" ({_ABSENT[word]})" if word in _ABSENT and message.endswith("not defined") else ""


def _clean(value: Any) -> Any:
    """A value without lone surrogates, those in names of fields included."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_clean(entry) for entry in value]
    if isinstance(value, dict):
        return {clean_text(name): _clean(entry) for name, entry in value.items()}
    return value
