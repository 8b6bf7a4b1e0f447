"""What Anthropic's server sends, on the wire: event streams of messages, and errors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from services.fake_http import Exchange, Turn

USAGE = {"input_tokens": 100, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300, "output_tokens": 1}
Event = tuple[str, dict[str, Any]]


def block(index: int, kind: str, pieces: Sequence[str]) -> list[Event]:
    """The events of one content block: ``text``, ``thinking`` or ``tool_use``."""
    start: dict[str, Any] = {"type": kind}
    start |= {
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
        "tool_use": {"id": "toolu_1", "name": "answer", "input": {}},
    }[kind]
    delta, name = {
        "text": ("text_delta", "text"),
        "thinking": ("thinking_delta", "thinking"),
        "tool_use": ("input_json_delta", "partial_json"),
    }[kind]
    return [
        ("content_block_start", {"index": index, "content_block": start}),
        *(("content_block_delta", {"index": index, "delta": {"type": delta, name: piece}}) for piece in pieces),
        ("content_block_stop", {"index": index}),
    ]


def message(*blocks: tuple[str, Sequence[str]], stop: str = "end_turn", **details: Any) -> list[Event]:
    """All events of a message whose blocks are (kind, pieces)."""
    empty = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "claude-sonnet-5-5"}
    body = [event for index, (kind, pieces) in enumerate(blocks) for event in block(index, kind, pieces)]
    return [
        ("message_start", {"message": {**empty, "stop_reason": None, "stop_sequence": None, "usage": USAGE}}),
        ("ping", {}),
        *body,
        (
            "message_delta",
            {"delta": {"stop_reason": stop, "stop_sequence": None, **details}, "usage": {"output_tokens": 50}},
        ),
        ("message_stop", {}),
    ]


def streamed(events: Sequence[Event], ending: str = "whole") -> Turn:
    """Send the events, then ``end`` the stream in order, ``cut`` the connection, or wait ``open`` for the client."""

    async def turn(exchange: Exchange) -> None:
        await exchange.begin()
        for name, data in events:
            await exchange.send(f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n")
        if ending == "whole":
            await exchange.end()
        elif ending == "open":
            await exchange.hung_up()

    return turn


def text(*pieces: str) -> Turn:
    """A whole message of text."""
    return streamed(message(("text", pieces)))


def tool(*pieces: str) -> Turn:
    """A whole message that uses the tool with this JSON as its input."""
    return streamed(message(("tool_use", pieces), stop="tool_use"))


def error(status: int, kind: str, said: str = "no", **headers: str) -> Turn:
    """An error reply; header names are written with ``_``."""

    async def turn(exchange: Exchange) -> None:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        await exchange.reply(status, {"type": "error", "error": {"type": kind, "message": said}}, names)

    return turn
