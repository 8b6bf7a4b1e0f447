"""A sandbox for one JavaScript program: no files, network, clock or chance; bounds on memory and processor time.

Each sandbox lives on a thread of its own, because the engine may be used from one thread only and a program must not
hold up others. The engine lets go of Python's lock while it runs.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    import quickjs  # type: ignore[import-untyped]

T = TypeVar("T")

_FRAME = "sandbox.js"
_THREAD_STACK = 8 * 1024 * 1024
_ENGINE_STACK = 512 * 1024
PATIENCE = 1.0
"""Seconds between looks at a thread that does not answer."""
_UNSTOPPABLE = 3.0
"""How many times its bound a thread may use before it is given up: some long functions of the engine never look up."""


_ENOUGH = 0.75
"""The share of its bound from which on a program that the engine stops counts as stopped rightly."""

_ASKED: dict[str, Any] = {
    "id": int, "at": str, "brief": str | None, "stack": str,
    "context": object, "use": object, "model": object, "state": object,
}  # fmt: skip
_SAID: dict[str, Any] = {"text": str, "stack": str}
_THROWN: dict[str, Any] = {"name": str | None, "message": str, "stack": str}
_ENDS: dict[str, dict[str, Any]] = {
    "value": {"given": bool, "state": object},
    "thrown": _THROWN,
    "unserialisable": _THROWN,
    "failed": {},
}


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a program may use: seconds of processor time, without its waiting, and bytes of memory."""

    cpu: float = 2.0
    memory: int = 64 * 1024 * 1024


class EngineFault(Exception):
    """The engine stopped. ``kind``: ``cpu``, ``memory``, or ``program`` for what it says itself in ``message``."""

    def __init__(self, kind: Literal["cpu", "memory", "program"], message: str = "", stack: str = ""):
        super().__init__(message or kind)
        self.kind = kind
        self.message = message
        self.stack = stack


Wait = Callable[[Future[Any], Callable[[], bool]], Awaitable[Any]]
"""Waits for the thread of a sandbox. The second argument says whether that is overdue: then TimeoutError is due."""


class Sandbox:
    """One program in its engine, driven from a coroutine; ``wait`` is how that waits.

    Every method that talks to the program returns when all that can be done without an answer from outside is done,
    and raises EngineFault when the engine stopped. ``close`` has to be called, and never waits.
    """

    def __init__(self, bounds: Bounds | None = None, wait: Wait | None = None):
        self.bounds = bounds or Bounds()
        self._wait = wait or wait_in_loop
        self._machine = _Machine(self.bounds)
        self._thread = _Thread()

    async def open(self, values: dict[str, Any], slots: dict[str, Any]) -> Any:
        """Make the state object; returns its JSON as the program sees it.

        ``slots`` are texts as ``{"text", "slot"}``, or lists of them: with ``slot`` set the text is an object of its
        own, which ``rlm`` tells from others of the same text.
        """
        return json.loads(await self._do(lambda: self._machine.speak("open", {"values": values, "slots": slots})))

    async def start(self, program: str) -> Any:
        """Run a program, the text of an async function, until it waits: what it asked, said, and how it ended."""
        return await self._step(lambda: self._machine.start(program))

    async def settle(self, call: int, value: Any) -> Any:
        """Give a call its value and run on."""
        return await self._step(lambda: self._machine.say("settle", {"id": call, "value": value}))

    async def reject(self, call: int, error: dict[str, Any]) -> Any:
        """Let a call fail and run on. With ``kind`` the failure can be told again when the program lets it pass."""
        return await self._step(lambda: self._machine.say("reject", {"id": call, **error}))

    def close(self) -> None:
        """Free the engine, on its own thread and as soon as it stops there."""
        self._thread.finish(self._machine.free)

    async def _step(self, work: Callable[[], None]) -> Any:
        def step() -> Any:
            work()
            return self._machine.speak("take")

        heard = json.loads(await self._do(step))
        if not _is_whole(heard):
            raise EngineFault("program", "the program broke the surroundings that it runs in")
        return heard

    async def _do(self, work: Callable[[], T]) -> T:
        """Wait for the thread, but not for a function of the engine that cannot be stopped."""
        before = self._thread.used()
        doing = self._thread.do(work)
        try:
            done: T = await self._wait(doing, lambda: self._thread.used() - before > _UNSTOPPABLE * self.bounds.cpu)
            return done
        except TimeoutError:
            raise EngineFault("cpu") from None
        finally:
            doing.cancel()


async def wait_in_loop(doing: Future[Any], overdue: Callable[[], bool]) -> Any:
    """Wait for a thread while the event loop goes on.

    Raises:
        TimeoutError: It is overdue.
    """
    waiting = asyncio.wrap_future(doing)
    while not waiting.done():
        await asyncio.wait({waiting}, timeout=PATIENCE)
        if not waiting.done() and overdue():
            raise TimeoutError
    return waiting.result()


class _Thread:
    """A thread that does one thing after the other. It dies with the process, whatever it is at."""

    _starting = threading.Lock()

    def __init__(self) -> None:
        self._work: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        with self._starting:
            # small defaults, as on Alpine, would overflow before the engine's own guard notices
            before = threading.stack_size(_THREAD_STACK)
            try:
                self._thread = threading.Thread(target=self._run, name="javascript", daemon=True)
                self._thread.start()
            finally:
                threading.stack_size(before)

    def do(self, work: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        self._work.put((work, future))
        return future

    def finish(self, work: Callable[[], None]) -> None:
        self.do(work)
        self._work.put(None)

    def used(self) -> float:
        """Seconds of processor time; where the system does not tell them for a thread, of the clock."""
        clock_of = getattr(time, "pthread_getcpuclockid", None)
        if clock_of is None or self._thread.ident is None or not self._thread.is_alive():
            return time.monotonic()
        return time.clock_gettime(clock_of(self._thread.ident))

    def _run(self) -> None:
        while (item := self._work.get()) is not None:
            work, future = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
            # an idle thread must not keep what it did last
            del item, work, future


class _Machine:
    """The engine itself; used on its thread only.

    The engine counts the processor time of the whole process. When that stops a program which has not used its own
    share, the program is led to the same point again: it cannot tell, for it has no clock and no chance.
    """

    def __init__(self, bounds: Bounds):
        self.bounds = bounds
        self.used = 0.0
        self._context: quickjs.Context | None = None
        self._port: Any = None
        self._done: list[Callable[[], None]] = []

    def start(self, program: str) -> None:
        """Compile and run."""
        self._advance(lambda: self._port("start", "", self._evaluate(program)))

    def say(self, verb: str, payload: Any) -> None:
        """Tell the program something and let it run on."""
        self._advance(lambda: self.speak(verb, payload))

    def speak(self, verb: str, payload: Any = None) -> Any:
        """Tell or ask the sandbox something that lets no program run."""
        if self._port is None:
            self._open()
        if verb == "open":
            self._done.append(lambda: self._port(verb, text))
        text = "" if payload is None else json.dumps(payload)
        return _told(lambda: self._port(verb, text))

    def free(self) -> None:
        """Let go of the engine."""
        self._port = self._context = None
        self._done.clear()

    def _open(self) -> None:
        import quickjs

        self._context = quickjs.Context()
        self._context.set_memory_limit(self.bounds.memory)
        self._context.set_max_stack_size(_ENGINE_STACK)
        self._port = self._context.eval(_surroundings())

    def _evaluate(self, text: str) -> Any:
        assert self._context is not None
        return self._context.eval(text)

    def _advance(self, work: Callable[[], None]) -> None:
        patience = 1.0
        while True:
            left = self.bounds.cpu - self.used
            started = time.thread_time()
            try:
                self._play(work, left, patience)
            except EngineFault as fault:
                spent = time.thread_time() - started
                if fault.kind != "cpu" or spent >= _ENOUGH * left:
                    raise
                patience *= 2
                self._repeat()
                continue
            self.used += time.thread_time() - started
            self._done.append(work)
            return

    def _play(self, work: Callable[[], None], left: float, patience: float) -> None:
        """Run, and then everything that became ready by it."""
        assert self._context is not None
        if left <= 0:
            raise EngineFault("cpu")
        self._context.set_time_limit(left * patience)
        until = time.thread_time() + left
        _told(work)
        while _told(self._context.execute_pending_job):
            if time.thread_time() > until:
                raise EngineFault("cpu")

    def _repeat(self) -> None:
        """Begin anew and lead the program to where it was. It used less than its bound, so that this ends."""
        self._open()
        for work in self._done:
            self._play(work, self.bounds.cpu, 1000.0)
        self.speak("take")


def _told(work: Callable[[], T]) -> T:
    """Do something with the engine; what it raises, told apart."""
    import quickjs

    try:
        return work()
    except MemoryError:
        raise EngineFault("memory") from None
    except (quickjs.JSException, quickjs.StackOverflow) as error:
        said, _, stack = str(error).partition("\n")
        if said.endswith("interrupted"):
            raise EngineFault("cpu", stack=stack) from None
        if said.endswith("out of memory") or said == "null":
            raise EngineFault("memory", stack=stack) from None
        raise EngineFault("program", said, stack) from None


def _is_whole(heard: Any) -> bool:
    """Whether a report has its form: a program that changes the built-in objects can spoil it."""
    if not _has(heard, {"asked": list, "said": list, "end": dict | None}):
        return False
    rows = all(_has(row, _ASKED) for row in heard["asked"]) and all(_has(row, _SAID) for row in heard["said"])
    end = heard["end"]
    return rows and (
        end is None or (len(end) == 1 and all(name in _ENDS and _has(end[name], _ENDS[name]) for name in end))
    )


def _has(row: Any, form: dict[str, Any]) -> bool:
    return isinstance(row, dict) and all(name in row and isinstance(row[name], kind) for name, kind in form.items())


def _surroundings() -> str:
    """The text of the sandbox in one line, so that all other line numbers are the program's."""
    lines = Path(__file__).with_name(_FRAME).read_text(encoding="utf-8").splitlines()
    return " ".join(line for line in map(str.strip, lines) if not line.startswith("//"))
