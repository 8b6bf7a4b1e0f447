"""Plays the bad days of a provider over HTTP, in each wire format, and says what came of each. Run it with python.

A server on this machine misbehaves as a row says; a pattern makes one call through the provider as it is shipped. A
row fails when the call ends otherwise than it should, or takes more or fewer requests.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if __package__ is None or __package__ == "":
    sys.path.insert(0, str(Path(__file__).parent))

import prose_runtime as prose
from prose_runtime.errors import ProseError
from prose_runtime.events import CallRetry, Event
from prose_runtime.services import retrying
from services import fake_anthropic, fake_openai
from services.fake_http import Exchange, FakeServer, Turn, reset, silence
from support.programs import pattern

KEY = "sk-matrix-0123456789abcdef"
ANSWERED = "answered"


@dataclass(frozen=True)
class Wire:
    """One wire format: how a server that speaks it answers, fails and breaks off."""

    provider: str
    text: Callable[..., Turn]
    error: Callable[..., Turn]
    refusal: Turn
    too_long: Turn
    cut: Turn
    garbled: Turn
    names: dict[int, str | None]


@dataclass(frozen=True)
class Row:
    """One bad day. ``turns`` are the server's; ``ends`` is ``answered`` or the kind of the failure."""

    name: str
    turns: Callable[[Wire], Sequence[Turn]]
    ends: str
    requests: int
    waits: int = 0
    modifiers: str = ""
    limits: dict[str, Any] = field(default_factory=dict)


@dataclass
class Outcome:
    """What came of a row."""

    ended: str
    requests: int
    waits: int
    message: str = ""

    def fits(self, row: Row) -> bool:
        """Whether it is as the row says."""
        return (self.ended, self.requests, self.waits) == (row.ends, row.requests, row.waits)


def _garbled(first: str) -> Turn:
    async def turn(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.send(first)
        await exchange.end()

    return turn


ANTHROPIC = Wire(
    "anthropic",
    fake_anthropic.text,
    fake_anthropic.error,
    fake_anthropic.streamed(fake_anthropic.message(("text", ["I wi"]), stop="refusal")),
    fake_anthropic.streamed(fake_anthropic.message(("text", ["On and on"]), stop="max_tokens")),
    fake_anthropic.streamed(fake_anthropic.message(("text", ["half an ans"]))[:4], "cut"),
    _garbled("event: message_start\ndata: {]]\n\n"),
    {
        429: "rate_limit_error", 500: "api_error", 503: "api_error", 529: "overloaded_error",
        401: "authentication_error", 402: "billing_error", 400: "invalid_request_error",
    },
)  # fmt: skip
OPENAI = Wire(
    "openai",
    fake_openai.text,
    fake_openai.error,
    fake_openai.text("I wi", stop="content_filter"),
    fake_openai.text("On and on", stop="length"),
    fake_openai.streamed(fake_openai.completion({"content": "half an ans"})[:2], "cut"),
    _garbled("data: {]]\n\n"),
    {
        429: "rate_limit_exceeded", 500: "server_error", 503: None, 529: None,
        401: "invalid_api_key", 402: "insufficient_quota", 400: None,
    },
)  # fmt: skip
WIRES = (ANTHROPIC, OPENAI)


def _fails(status: int, *then: str, **headers: str) -> Callable[[Wire], Sequence[Turn]]:
    def turns(wire: Wire) -> Sequence[Turn]:
        return [wire.error(status, wire.names[status], f"the key {KEY} said {status}", **headers), *_ok(wire, then)]

    return turns


def _first(fault: Callable[[Wire], Turn], *then: str) -> Callable[[Wire], Sequence[Turn]]:
    return lambda wire: [fault(wire), *_ok(wire, then)]


def _ok(wire: Wire, then: Sequence[str]) -> list[Turn]:
    return [wire.text(text) for text in then]


MATRIX = [
    *(Row(f"{status}, then well", _fails(status, "ok"), ANSWERED, 2, 1) for status in (429, 500, 503, 529)),
    Row("429 with Retry-After, then well", _fails(429, "ok", retry_after="0.2"), ANSWERED, 2, 1),
    Row("429 with Retry-After of two minutes", _fails(429, retry_after="120"), "rate_limit", 1),
    Row("500 for ever", _fails(500), "unavailable", 3, 2),
    Row("529 for ever", _fails(529), "overloaded", 3, 2),
    Row("503 for ever, retry: 3 of the call", _fails(503), "unavailable", 4, 3, "retry: 3"),
    Row("connection reset, then well", _first(lambda _: reset, "ok"), ANSWERED, 2, 1),
    Row("connection reset for ever", _first(lambda _: reset), "unavailable", 3, 2),
    Row("silence", _first(lambda _: silence), "timeout", 1, limits={"call_timeout": 0.4}),
    Row("stream cut, then well", _first(lambda wire: wire.cut, "ok"), ANSWERED, 2, 1),
    Row("stream cut for ever", _first(lambda wire: wire.cut), "unavailable", 3, 2),
    Row("stream garbled, then well", _first(lambda wire: wire.garbled, "ok"), ANSWERED, 2, 1),
    Row("refusal", _first(lambda wire: wire.refusal), "refused", 1),
    Row("cut at its length", _first(lambda wire: wire.too_long), "length", 1),
    Row("expired key", _fails(401), "auth", 1),
    Row("no credit", _fails(402), "exhausted", 1),
    Row("request not accepted", _fails(400), "failed", 1),
]


async def play(row: Row, wire: Wire, folder: Path) -> Outcome:
    """Play one bad day."""
    heard: list[Event] = []
    path = pattern(folder, f"return call a\n  x: 1\n  {row.modifiers}")
    async with FakeServer(list(row.turns(wire))) as server:
        settings = f"{{provider: {wire.provider}, model: m, base_url: '{server.url}', key_env: MATRIX_KEY}}"
        (folder / "prose.yml").write_text(f"services:\n  claude: {settings}\n", encoding="utf-8")
        asked: Awaitable[Any] = prose.arun(path, bind={"a": "claude"}, on_event=heard.append, limits=row.limits)
        try:
            await asked
            ended, message = ANSWERED, ""
        except ProseError as error:
            ended, message = error.kind, f"{error.message} {error.help}"
        await asyncio.sleep(0.02)  # for the server to see that nobody waits any more
        waits = sum(isinstance(event, CallRetry) for event in heard)
        return Outcome(ended, len(server.received), waits, message)


def played(folder: Path) -> list[tuple[Row, Wire, Outcome]]:
    """All bad days of all wire formats."""
    os.environ["MATRIX_KEY"] = KEY
    retrying.FIRST_WAIT = 0.02
    return [(row, wire, asyncio.run(play(row, wire, folder))) for row in MATRIX for wire in WIRES]


def printed(outcomes: Sequence[tuple[Row, Wire, Outcome]]) -> str:
    """The matrix as a table."""
    lines = [f"{'':4} {'fault':36} {'wire':10} {'ended':12} {'requests':>8} {'waits':>5}"]
    for row, wire, got in outcomes:
        verdict = "ok" if got.fits(row) and KEY not in got.message else "BAD"
        lines.append(f"{verdict:4} {row.name:36} {wire.provider:10} {got.ended:12} {got.requests:8} {got.waits:5}")
    return "\n".join(lines)


def main() -> int:
    """Print the matrix; 1 when a row is not as it should be."""
    with tempfile.TemporaryDirectory() as folder:
        text = printed(played(Path(folder)))
    print(text)
    return int("BAD" in text)


if __name__ == "__main__":
    sys.exit(main())
