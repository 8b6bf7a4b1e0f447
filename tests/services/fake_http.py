"""A small HTTP server on the loopback interface that answers each request by the next line of its script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Received:
    """A request as it came over the wire."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Exchange:
    """One request and the connection on which to answer it."""

    def __init__(
        self, received: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, left: asyncio.Event
    ):
        self.received = received
        self._left = left
        self._reader = reader
        self._writer = writer

    async def reply(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        """A whole JSON reply."""
        data = json.dumps(body).encode()
        await self._head(
            status, {"content-type": "application/json", "content-length": str(len(data)), **(headers or {})}
        )
        self._writer.write(data)
        await self._writer.drain()

    async def begin(self) -> None:
        """The head of an event stream."""
        await self._head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})

    async def send(self, text: str) -> None:
        """A part of an event stream."""
        data = text.encode()
        self._writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        await self._writer.drain()

    async def end(self) -> None:
        """The orderly end of an event stream."""
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    def reset(self) -> None:
        """Drop the connection without a word."""
        self._writer.transport.abort()

    async def hung_up(self) -> None:
        """Returns when the client closes the connection."""
        while await self._reader.read(1000):
            pass
        self._left.set()

    async def _head(self, status: int, headers: dict[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in headers.items()), "connection: close"]
        self._writer.write("\r\n".join([*lines, "", ""]).encode())
        await self._writer.drain()


Turn = Callable[[Exchange], Awaitable[None]]


@dataclass
class FakeServer:
    """Serves while its block is open: ``async with FakeServer([turn, ...]) as server``. The last turn repeats.

    ``received`` are the requests in order; ``left`` is set when a client hung up on a turn that waits for that.
    """

    turns: list[Turn]
    received: list[Received] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""

    async def __aenter__(self) -> FakeServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            received = await _read(reader)
            self.received.append(received)
            turn = self.turns[min(len(self.received), len(self.turns)) - 1]
            self.begun.set()
            await turn(Exchange(received, reader, writer, self.left))
        except (ConnectionError, asyncio.IncompleteReadError):
            self.left.set()
        finally:
            writer.close()


async def silence(exchange: Exchange) -> None:
    """Never answer."""
    await exchange.hung_up()


async def reset(exchange: Exchange) -> None:
    """Drop the connection instead of answering."""
    exchange.reset()


async def _read(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    method, path, _ = head[0].split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    data = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, json.loads(data) if data else None)
