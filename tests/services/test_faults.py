"""Bad days of providers over HTTP: the matrix of tests/fault_matrix.py, and what several calls make of a bad day."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

import prose_runtime as prose
from fault_matrix import KEY, WIRES, Wire, played, printed
from prose_runtime.errors import ServiceError, UsageError
from prose_runtime.events import CallRetry, Event
from prose_runtime.services import retrying
from services import fake_anthropic, fake_openai
from services.fake_http import FakeServer, Turn, silence
from support.commands import clean_environment
from support.commands import prose as command
from support.programs import pattern

FAN = "return parallel for i in range(1, 5):\n  call a\n    i: i"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATRIX_KEY", KEY)
    monkeypatch.setattr(retrying, "FIRST_WAIT", 0.02)


def services(folder: Path, wire: Wire, url: str, more: str = "") -> None:
    settings = f"provider: {wire.provider}, model: m, base_url: '{url}', key_env: MATRIX_KEY"
    (folder / "prose.yml").write_text(f"services:\n  claude: {{{settings}{more}}}\n  other: {{provider: echo}}\n")


def test_every_bad_day_ends_as_it_should(tmp_path: Path) -> None:
    text = printed(played(tmp_path))
    print(text)
    assert "BAD" not in text


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.provider)
def test_a_pause_that_one_branch_is_told_is_kept_by_all(tmp_path: Path, wire: Wire) -> None:
    begun: list[float] = []

    def noted(turn: Turn) -> Turn:
        async def noting(exchange: object) -> None:
            begun.append(time.monotonic())
            await turn(exchange)  # type: ignore[arg-type]

        return noting

    async def main() -> object:
        busy = noted(wire.error(429, wire.names[429], retry_after="0.4"))
        async with FakeServer([busy, noted(wire.text("ok"))]) as server:
            services(tmp_path, wire, server.url, ", max_concurrency: 2")
            return (await prose.arun(pattern(tmp_path, FAN), bind={"a": "claude"})).value

    assert asyncio.run(main()) == ["ok"] * 4
    assert len(begun) == 5
    assert all(later - begun[0] >= 0.39 for later in begun[2:])  # the second was in flight when the first was told


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.provider)
def test_a_fallback_answers_when_a_service_cannot(tmp_path: Path, wire: Wire) -> None:
    async def main(turn: Turn, **limits: float) -> object:
        async with FakeServer([turn]) as server:
            services(tmp_path, wire, server.url, ", fallback: [other]")
            result = await prose.arun(
                pattern(tmp_path, "return call a\n  x: 1"), bind={"a": "claude"}, on_event=heard.append, limits=limits
            )
            await asyncio.sleep(0.02)
            return result.value

    for turn, limits in ((wire.error(503, wire.names[503]), {}), (silence, {"call_timeout": 0.3})):
        heard: list[Event] = []
        assert asyncio.run(main(turn, **limits)) == 1
        assert any("other is asked instead" in event.reason for event in heard if isinstance(event, CallRetry))
    heard = []
    with pytest.raises(ServiceError) as caught:
        asyncio.run(main(wire.error(401, wire.names[401])))
    assert caught.value.kind == "auth"


def test_a_fallback_that_is_not_there_is_told(tmp_path: Path) -> None:
    (tmp_path / "prose.yml").write_text("services:\n  a: {provider: echo, fallback: [nobody]}\n")
    with pytest.raises(UsageError, match="nobody"):
        prose.run(pattern(tmp_path, "return call a"), bind={"a": "a"})


def test_an_answer_of_the_wrong_shape_is_asked_for_once_more(tmp_path: Path) -> None:
    for wire, good in ((WIRES[0], fake_anthropic.tool('{"score": 3}')), (WIRES[1], fake_openai.text('{"score": 3}'))):

        async def main(wire: Wire = wire, good: Turn = good) -> tuple[object, int]:
            async with FakeServer([wire.text("no score at all"), good]) as server:
                services(tmp_path, wire, server.url)
                body = "let view = call a\n  x: 1\nreturn view.score + 1"
                return (await prose.arun(pattern(tmp_path, body), bind={"a": "claude"})).value, len(server.received)

        assert asyncio.run(main()) == (4, 2)


def test_a_pause_that_is_too_long_to_wait_for_is_told(tmp_path: Path) -> None:
    async def main() -> ServiceError:
        async with FakeServer([WIRES[0].error(429, WIRES[0].names[429], retry_after="3600")]) as server:
            services(tmp_path, WIRES[0], server.url)
            with pytest.raises(ServiceError) as caught:
                await prose.arun(pattern(tmp_path, "return call a\n  x: 1"), bind={"a": "claude"})
            assert len(server.received) == 1
            return caught.value

    assert "60 minutes" in str(asyncio.run(main()).help)


def test_ctrl_c_while_a_call_waits_to_be_made_again_stops_at_once(tmp_path: Path) -> None:
    pattern(tmp_path, "return call a\n  x: 1")

    async def main() -> tuple[float, int, str]:
        async with FakeServer([WIRES[0].error(429, WIRES[0].names[429], retry_after="50")]) as server:
            services(tmp_path, WIRES[0], server.url)
            process = subprocess.Popen(
                [command(), "run", "probe.prose.md", "--a", "claude"], cwd=tmp_path, text=True, stderr=subprocess.PIPE,
                stdout=subprocess.DEVNULL, env=clean_environment(tmp_path) | {"MATRIX_KEY": KEY},
            )  # fmt: skip
            await server.begun.wait()
            await asyncio.sleep(0.5)
            begun = time.monotonic()
            os.kill(process.pid, signal.SIGINT)
            _, said = await asyncio.to_thread(process.communicate, timeout=20)
            return time.monotonic() - begun, process.returncode, said

    took, code, said = asyncio.run(main())
    assert (code, took < 5) == (130, True)
    assert "asking again in 50 s" in said
