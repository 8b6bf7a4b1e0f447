"""What servers send that speak OpenAI's chat completions, on the wire: chunk streams and errors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from services.fake_http import Exchange, Turn

USAGE = {
    "prompt_tokens": 400,
    "completion_tokens": 50,
    "total_tokens": 450,
    "prompt_tokens_details": {"cached_tokens": 300},
}


def chunk(delta: dict[str, Any], stop: str | None = None) -> dict[str, Any]:
    """One chunk of a stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": stop}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-6.1-terra"}
    return {**head, "choices": [choice]}


def completion(*deltas: dict[str, Any], stop: str = "stop") -> list[dict[str, Any]]:
    """All chunks of a reply, the usage last."""
    usage = {**chunk({}), "choices": [], "usage": USAGE}
    return [chunk({"role": "assistant"}), *map(chunk, deltas), chunk({}, stop), usage]


def streamed(chunks: Sequence[dict[str, Any]], ending: str = "whole") -> Turn:
    """Send the chunks, then end the stream in order, ``cut`` the connection, or wait ``open`` for the client."""

    async def turn(exchange: Exchange) -> None:
        await exchange.begin()
        for data in chunks:
            await exchange.send(f"data: {json.dumps(data)}\n\n")
        if ending == "whole":
            await exchange.send("data: [DONE]\n\n")
            await exchange.end()
        elif ending == "open":
            await exchange.hung_up()

    return turn


def text(*pieces: str, stop: str = "stop") -> Turn:
    """A whole reply of text."""
    return streamed(completion(*({"content": piece} for piece in pieces), stop=stop))


def error(status: int, code: str | None, said: str = "no", **headers: str) -> Turn:
    """An error reply; header names are written with ``_``."""

    async def turn(exchange: Exchange) -> None:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        await exchange.reply(status, {"error": {"message": said, "type": "some_error", "code": code}}, names)

    return turn


def models(*names: str) -> Turn:
    """The list of the server's models."""

    async def turn(exchange: Exchange) -> None:
        data = [{"id": name, "object": "model", "created": 1, "owned_by": "me"} for name in names]
        await exchange.reply(200, {"object": "list", "data": data})

    return turn
