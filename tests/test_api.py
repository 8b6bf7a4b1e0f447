"""The package from Python (DESIGN.md section 8)."""

from __future__ import annotations

import asyncio
import gc
import inspect
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import prose_runtime as prose
from prose_runtime.errors import Paused, ServiceError, UsageError
from prose_runtime.journal import Journal
from prose_runtime.services.api import Reply
from prose_runtime.testing import script
from support.commands import prose as shell
from support.commands import run
from support.programs import pattern

ASK = "let answer = call a\n  x: {x}\nreturn answer\n"


def test_a_loaded_spec_runs_as_it_was_loaded(tmp_path: Path) -> None:
    spec = prose.load(pattern(tmp_path, ASK.replace("{x}", '"before"'), slots="a"))
    pattern(tmp_path, ASK.replace("{x}", '"after"'), slots="a")
    for _ in range(2):
        result = prose.run(spec, bind={"a": script("fine")})
        assert (result.value, result.calls[0]["inputs"]) == ("fine", {"x": "before"})


def test_a_path_is_read_when_it_runs(tmp_path: Path) -> None:
    path = pattern(tmp_path, ASK.replace("{x}", '"before"'), slots="a")
    prose.run(path, bind={"a": script("fine")})
    pattern(tmp_path, ASK.replace("{x}", '"after"'), slots="a")
    assert prose.run(path, bind={"a": script("fine")}).calls[0]["inputs"] == {"x": "after"}


def test_a_run_leaves_the_garbage_collector_as_it_was(tmp_path: Path) -> None:
    path = pattern(tmp_path, ASK.replace("{x}", "1"), slots="a")
    during: list[int] = []

    async def inside(request: object) -> str:
        during.append(gc.get_threshold()[0])
        return "fine"

    async def both() -> None:
        await asyncio.gather(*(prose.arun(path, bind={"a": inside}) for _ in range(2)))

    usual = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    try:
        asyncio.run(both())
        assert gc.get_threshold() == (700, 10, 10)
    finally:
        gc.set_threshold(*usual)
    assert min(during) > 700


TWICE = "- `rounds` (integer, default: 2): how often"

NOT_SO: list[tuple[dict[str, Any], str]] = [
    ({"inputs": "text"}, "`inputs`.*dict"),
    ({"inputs": {1: "x"}}, "no text: 1"),
    ({"inputs": {"topik": "x"}}, "did you mean `topic`"),
    ({"inputs": {"topic": {"a": [float("nan")]}}}, "`topic`.*no JSON value.*nan"),
    ({"inputs": {"topic": {1: 2}}}, "`topic`.*the key 1"),
    ({"inputs": {"topic": {3}}}, "`topic`.*a set"),
    ({"config": ["rounds"]}, "`config`"),
    ({"config": {"rounds": object()}}, "`rounds`.*a object"),
    ({"bind": len}, "`bind`.*dict"),
    ({"bind": {1: len}}, "no text: 1"),
    ({"bind": {"a": None}}, "`a` is bound to None"),
    ({"bind": {"a": 3}}, "`a`.*int"),
    ({"bind": {"a": Path}}, "`a`.*the class Path.*instance"),
    ({"bind": {"a": {"patern": "x"}}}, "`a`.*`pattern` is missing"),
    ({"bind": {"a": {}}}, "`a`.*`pattern` is missing"),
    ({"on_event": 3}, "`on_event`.*function"),
    ({"on_event": asyncio.sleep}, "`on_event`.*not awaited"),
    ({"record": 3}, "`record`.*True"),
    ({"record": "nobody"}, "no run"),
    ({"limits": 3}, "`limits`.*dict"),
    ({"limits": {"max_calls": "3"}}, "`max_calls` is a whole number"),
    ({"limits": {"max_concurrency": 0}}, "`max_concurrency` is more than 0"),
    ({"limits": {"max_cals": 3}}, "did you mean `max_calls`"),
    ({"people": "a"}, "`people`.*dict"),
    ({"people": {"joined": ["a"]}}, "did you mean `join`"),
    ({"people": {"join": "a"}}, "`people`: `join` is a list"),
    ({"people": {"join": ["nobody"]}}, "no slot `nobody`"),
]


@pytest.mark.parametrize(("given", "says"), NOT_SO, ids=[str(given)[:40] for given, _ in NOT_SO])
def test_what_is_given_wrongly_is_told_before_anything_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = prose.load(pattern(tmp_path, ASK.replace("{x}", "topic"), slots="a", rows="topic: object", config=TWICE))
    with pytest.raises(UsageError) as told:
        prose.run(spec, given.pop("inputs", {"topic": {}}), **{"bind": {"a": script()}, **given})
    assert re.search(says, f"{told.value} {told.value.help}")
    assert not (tmp_path / ".prose").exists()


@pytest.mark.parametrize("given", [None, 3, b"x.md", ["x.md"], object()])
def test_what_names_no_spec_is_told(given: Any) -> None:
    for function in (prose.load, prose.check, prose.run):
        with pytest.raises(UsageError, match=type(given).__name__):
            function(given)


def test_a_spec_is_found_by_its_name_and_a_near_one_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert prose.load("dialectic").name == "dialectic"
    with pytest.raises(UsageError) as told:
        prose.run("dialectics")
    assert "dialectic" in str(told.value.help)


class Plain:
    """A service of somebody else: it gives bare JSON, and fails as it likes."""

    def __init__(self, name: str, answer: Any):
        self.name = name
        self.answer = answer

    async def __call__(self, request: object) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_whatever_can_be_asked_is_a_service(tmp_path: Path) -> None:
    path = pattern(tmp_path, "let one = call a\nlet two = call b\nreturn [one, two]\n", slots="a b")
    result = prose.run(path, bind={"a": Plain("x", ("bare",)), "b": lambda request: Reply("two")})
    assert (result.value, result.calls[0]["service"]) == (['["bare"]', "two"], "x")
    for failing in (ValueError("no idea"), KeyError("place")):
        with pytest.raises(ServiceError, match=type(failing).__name__):
            prose.run(path, bind={"a": Plain("x", failing), "b": script("two")})


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (float("nan"), "nan, which is no JSON value"),
        ({1: 2}, "the key 1"),
        (Reply("x", usage={"input_tokens": 1}), "type dict.*Usage"),  # type: ignore[arg-type]
    ],
)
def test_what_a_service_gives_wrongly_is_told(tmp_path: Path, answer: Any, says: str) -> None:
    path = pattern(tmp_path, "return call a", slots="a")
    with pytest.raises(ServiceError, match=says):
        prose.run(path, bind={"a": lambda request: answer})


def test_a_run_is_kept_and_goes_on_from_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    body = 'let one = call a\n  x: topic\nlet two = call b\n  x: one\nreturn "{one} {two}"\n'
    path = pattern(tmp_path, body, slots="a b", rows="topic: string")
    with pytest.raises(ServiceError):
        prose.run(path, {"topic": "t"}, bind={"a": script("first"), "b": "echo"}, record=True, limits={"max_calls": 9})
        prose.run(path, {"topic": "t"}, bind={"a": script("first"), "b": script()}, record=True)
    (failed, whole) = Journal(tmp_path / ".prose").list()
    assert (failed.status, whole.status) == ("failed", "completed")
    with pytest.raises(UsageError, match="`a` was bound by a Python program"):
        prose.run(path, record="last")
    result = prose.run(path, bind={"a": script(), "b": script("second")}, record=failed.run)
    assert (result.value, result.run) == ("first second", failed.run)
    assert Journal(tmp_path / ".prose").list()[0].status == "completed"


def test_the_command_line_goes_on_with_a_run_of_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = pattern(tmp_path, ASK.replace("{x}", "topic"), slots="a", rows="topic: string")
    with pytest.raises(Paused):
        prose.run(path, {"topic": "t"}, people={"join": ["a"], "personas": {"a": "Ada"}}, record=True)
    done = run([shell(), "resume", "last", "--answer", "mine"], tmp_path, tmp_path)
    assert (done.exit, done.stdout) == (0, "mine\n")
    with pytest.raises(ServiceError):
        prose.run(path, {"topic": "t"}, bind={"a": script()}, record=True)
    refused = run([shell(), "resume", "last"], tmp_path, tmp_path)
    assert refused.exit == 2
    assert "by a Python program" in refused.stderr


def test_a_run_inside_a_loop_says_what_to_write_and_threads_may_run_at_once(tmp_path: Path) -> None:
    spec = prose.load(pattern(tmp_path, ASK.replace("{x}", "1"), slots="a"))

    async def inside() -> None:
        prose.run(spec, bind={"a": script("fine")})

    with pytest.raises(UsageError) as told:
        asyncio.run(inside())
    assert "await prose_runtime.arun" in str(told.value.help)
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(prose.run, spec, bind={"a": script("fine")}) for _ in range(8)]
        assert {done.result().value for done in runs} == {"fine"}


def test_run_and_arun_take_the_same() -> None:
    assert inspect.signature(prose.run) == inspect.signature(prose.arun)
    assert prose.run.__name__ == "run"


def test_a_cancelled_run_is_cancelled_as_any_task_and_its_record_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = pattern(tmp_path, ASK.replace("{x}", "1"), slots="a")

    async def slow(request: object) -> str:
        await asyncio.sleep(60)
        return "late"

    async def within() -> None:
        async with asyncio.timeout(0.1):
            await prose.arun(path, bind={"a": slow}, record=True)

    with pytest.raises(TimeoutError):
        asyncio.run(within())
    assert Journal(tmp_path / ".prose").list()[0].status == "cancelled"


def test_ctrl_c_stops_a_program_that_runs_a_spec(tmp_path: Path) -> None:
    pattern(tmp_path, ASK.replace("{x}", "1"), slots="a")
    program = """
import asyncio, os, signal
import prose_runtime as prose

async def slow(request):
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.sleep(60)

try:
    prose.run("probe.prose.md", bind={"a": slow})
except KeyboardInterrupt:
    print("interrupted")
"""
    done = run([sys.executable, "-c", program], tmp_path, tmp_path)
    assert (done.exit, done.stdout) == (0, "interrupted\n"), done.stderr
