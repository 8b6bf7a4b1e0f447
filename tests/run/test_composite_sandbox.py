"""What a composite's program cannot do: reach outside, go on for ever, take all memory (LANGUAGE.md section 5)."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import prose_runtime as prose
from prose_runtime.errors import LimitExceeded, RunFailed
from prose_runtime.runtime import composite as composites
from prose_runtime.runtime.javascript import Bounds, EngineFault, Sandbox
from tests.support.composites import Talker, composite


def ends(folder: Path, body: str) -> RunFailed:
    with pytest.raises(RunFailed) as caught:
        prose.run(composite(folder, body, slots="one"), bind={"one": Talker("x")})
    return caught.value


def result(folder: Path, body: str) -> Any:
    return prose.run(composite(folder, body, slots="one"), bind={"one": Talker("x")}).value["result"]


async def _play(program: str, bounds: Bounds) -> Any:
    sandbox = Sandbox(bounds)
    try:
        await sandbox.open({}, {})
        return (await sandbox.start(f"\n(async () => {{\n{program}\n}})"))["end"]
    finally:
        sandbox.close()


def play(program: str, cpu: float = 0.2, memory: int = 8 << 20) -> Any:
    """How a program ends on its own, in an engine with small bounds."""
    return asyncio.run(_play(program, Bounds(cpu, memory)))


def stops(program: str, **bounds: Any) -> EngineFault:
    with pytest.raises(EngineFault) as caught:
        play(program, **bounds)
    return caught.value


# nothing outside


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return Date.now()", "no clock"),
        ("return new Date()", "no clock"),
        ("return Date()", "no clock"),
        ("return new (new Date(0).constructor)()", "no clock"),
        ("return performance.now()", "no clock"),
        ("setTimeout(() => 1, 5)", "no clock"),
        ("return Math.random()", "no random"),
        ("return await fetch('http://localhost')", "no network"),
        ("return require('fs')", "no modules"),
        ("return process.env", "nothing of the machine"),
        ("return (await import('/etc/passwd')).default", "could not load"),
        ("return await import('os')", "could not load"),
        ("return new Function('return require')()('fs')", "require"),
        ("return [].constructor.constructor('return process')().env", "process"),
        ("return std.open('/etc/passwd', 'r')", "std"),
        ("Atomics.wait(new Int32Array(4), 0, 0)", "Atomics"),
        ("return new WeakRef({})", "WeakRef"),
    ],
)
def test_there_is_no_way_out(tmp_path: Path, body: str, words: str) -> None:
    error = ends(tmp_path, body)
    assert error.kind == "javascript"
    assert words in error.message


def test_the_names_of_the_global_object_are_those_of_the_language(tmp_path: Path) -> None:
    names = set(result(tmp_path, "return Object.getOwnPropertyNames(globalThis)"))
    assert {"rlm", "console", "__compositeState", "__controlState"} <= names
    outside = {"std", "os", "bjson", "process", "require", "performance", "WebAssembly", "Worker", "print", "gc"}
    assert not names & outside


def test_given_dates_can_be_read(tmp_path: Path) -> None:
    body = (
        "const d = new Date('2020-02-03T04:05:06Z'); return [d.toISOString(), d instanceof Date, Date.UTC(1970, 0, 2)]"
    )
    assert result(tmp_path, body) == ["2020-02-03T04:05:06.000Z", True, 86400000]


@pytest.mark.parametrize(
    "body",
    [
        "Array.prototype.push = JSON.stringify = () => { throw 1 }; Object.prototype.x = 1; return 5",
        "Promise.prototype.then = null; return 5",
        "Map.prototype.get = () => 1; await rlm('x', null, { use: __compositeState.one }); return 5",
        "Array.prototype.toJSON = () => 'no'; await rlm('x', null, { use: __compositeState.one }); return 5",
        "Error.prepareStackTrace = () => 7; null.x",
        "Error.stackTraceLimit = 0; await rlm('x', [1], { use: __compositeState.one }); return 5",
        "throw { get message() { throw 1 }, toJSON() { throw 2 } }",
        "throw Symbol('s')",
        "const e = new Error('m'); Object.defineProperty(e, 'stack', { get() { throw 1 } }); throw e",
        "return { toJSON() { throw new Error('t') } }",
    ],
)
def test_a_program_that_breaks_its_own_surroundings_harms_only_itself(tmp_path: Path, body: str) -> None:
    path = composite(tmp_path, body, slots="one")
    try:
        assert prose.run(path, bind={"one": Talker("x")}).value["result"] == 5
    except RunFailed as error:
        assert error.kind in ("javascript", "limit")
        assert error.where is not None
    assert result(tmp_path, "return [1, 2].map(x => x + 1)") == [2, 3]


# bounds


@pytest.mark.parametrize(
    "program",
    [
        "for (;;);",
        "await 0; for (;;);",
        "try { for (;;); } catch { return 1 } finally { return 2 }",
        "const f = async () => { await 0; for (;;); }; try { await f() } catch { return 1 }",
        "const f = () => Promise.resolve(1).then(() => { f() }); f(); await new Promise(() => {})",
        "return /(a+)+$/.test('a'.repeat(60) + 'b')",
        "return [].indexOf.call({ length: 2 ** 40 }, 1)",
        "const f = async () => { for (;;) await 0 }; await f()",
    ],
)
def test_an_endless_program_is_stopped(program: str) -> None:
    assert stops(program).kind == "cpu"


def test_a_function_of_the_engine_that_cannot_be_stopped_is_given_up() -> None:
    start = time.monotonic()
    assert stops("return new Array(4e9).join('')", cpu=0.1).kind == "cpu"
    assert time.monotonic() - start < 20


@pytest.mark.parametrize(
    "program",
    [
        "const a = []; for (;;) a.push({})",
        "let s = 'x'; for (;;) s += s + 'y'",
        "const m = new Map(); for (let i = 0; ; i++) m.set(i, `${i}`)",
        "new Uint8Array(1 << 28)",
    ],
)
def test_a_program_that_takes_all_memory_is_stopped(program: str) -> None:
    end = play(program, cpu=5)
    assert "out of memory" in str(end) or "null" in str(end) or "too long" in str(end) or "length" in str(end)


def test_used_up_memory_is_a_limit(tmp_path: Path) -> None:
    error = ends(tmp_path, "let n = 1;\nconst a = [];\nfor (;;) a.push({})")
    assert isinstance(error, LimitExceeded)
    assert "memory" in error.message
    assert error.exit_code == 4


@pytest.mark.parametrize(
    "program",
    [
        "const f = () => f() + 1; return f()",
        "let a = []; for (let i = 0; i < 5000; i++) a = [a]; return JSON.stringify(a)",
        "const o = { get x() { return this.x } }; return o.x",
        "return JSON.parse('['.repeat(50000))",
        "const f = async () => await f(); await f()",
    ],
)
def test_deep_recursion_is_a_clean_error(tmp_path: Path, program: str) -> None:
    assert ends(tmp_path, program).kind == "javascript"


def test_a_deeply_nested_result_is_a_clean_error(tmp_path: Path) -> None:
    error = ends(tmp_path, "let a = []; for (let i = 0; i < 200000; i++) a = [a]; return a")
    assert error.kind == "javascript"
    assert "deep" in error.message or "stack" in error.message


def test_only_a_programs_own_time_counts() -> None:
    """The engine counts the whole process; a program that is stopped early for that goes on all the same."""
    program = "let n = 0; for (let i = 0; i < 4e5; i++) n += i; await 0; for (let i = 0; i < 4e5; i++) n += i; return n"
    with _busy_threads(4):
        for _ in range(3):
            assert play(program, cpu=0.25)["value"]["result"] == 2 * sum(range(400000))


@contextmanager
def _busy_threads(count: int) -> Iterator[None]:
    over = threading.Event()

    def burn() -> None:
        while not over.is_set():
            hashlib.pbkdf2_hmac("sha256", b"a", b"b", 20000)

    threads = [threading.Thread(target=burn) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def test_an_endless_loop_does_not_hold_up_other_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composites, "BOUNDS", Bounds(cpu=0.7))
    endless = composite(tmp_path, "for (;;);", slots="one", name="endless")
    quick = composite(tmp_path, "return await rlm('q', null, { use: __compositeState.one })", slots="one", name="quick")

    async def both() -> tuple[list[str], Any]:
        order: list[str] = []

        async def first() -> None:
            with pytest.raises(LimitExceeded, match="loop"):
                await prose.arun(endless, bind={"one": Talker("x")})
            order.append("endless")

        async def second() -> Any:
            await asyncio.sleep(0.1)
            done = await prose.arun(quick, bind={"one": Talker("x")})
            order.append("quick")
            return done.value

        _, value = await asyncio.gather(first(), second())
        return order, value

    assert asyncio.run(both()) == (["quick", "endless"], {"result": "x:q"})


@pytest.mark.parametrize("program", ["for (;;);", "return new Array(4e9).join('')", "await new Promise(y => rlm('q'))"])
def test_ctrl_c_stops_a_run_at_once(tmp_path: Path, program: str) -> None:
    composite(tmp_path, f"console.log('started');\nawait rlm('q');\n{program}", slots="one")
    (tmp_path / "prose.yml").write_text(
        "default: d\nservices: {d: {provider: script, replies: [a, {delay: 30, reply: b}]}}\n", encoding="utf-8"
    )
    words = [sys.executable, "-m", "prose_runtime", "run", "probe.md", "--no-record"]
    process = subprocess.Popen(
        words, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env={**os.environ, "HOME": str(tmp_path)}
    )
    assert process.stderr is not None
    seen = iter(process.stderr.readline, "")
    assert any("started" in line for line in seen)
    time.sleep(0.5)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=20)[1]
    assert process.returncode == 130
    assert "Traceback" not in rest
    assert time.monotonic() - start < 2


@pytest.mark.parametrize(
    "program",
    [
        "const told = await rlm('q', null, {});\nlet i = 0;\nwhile (true) { // here\n  i = i + 1;\n}\nreturn told;",
        "// while it lasts\nconst told = await rlm('for (;;)', null, {});\nfor (;;) {} // here\nreturn told;",
        "function spin(i) {\n  do { i++; } while (i > 0); // here\n}\nfor (const x of [1]) {\n  spin(x);\n}",
        "let i = 0;\nwhile (i >= 0) { // here\n  i = Math.abs(i) + 1;\n  const y = i;\n}\nfor (;;) {}",
    ],
)
def test_an_endless_loop_is_named_by_its_own_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(composites, "BOUNDS", Bounds(cpu=0.2))
    monkeypatch.setenv("PROSE_DEFAULT", "rehearsal")
    spec = composite(tmp_path, program, slots="one")
    with pytest.raises(LimitExceeded, match="loop") as caught:
        asyncio.run(prose.arun(spec, bind={"one": Talker("x")}))
    assert caught.value.where is not None
    lines = Path(caught.value.where.file).read_text(encoding="utf-8").splitlines()
    assert "// here" in lines[caught.value.where.line - 1]
