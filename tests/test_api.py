"""The package from Python (DESIGN.md section 8)."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import prose_runtime as prose
from prose_runtime.testing import script
from tests.support.programs import pattern

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
