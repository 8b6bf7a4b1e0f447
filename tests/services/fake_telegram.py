"""A server on the loopback interface that speaks the Bot API of Telegram, with people who write to the bot."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

TOKEN = "123456:AAE-a-token-for-the-tests-of-35-ones"
BOT = {"id": 1, "is_bot": True, "first_name": "Prose", "username": "prose_test_bot"}


@dataclass
class FakeTelegram:
    """The server's state. ``sent`` are the messages of the bot in order, ``asked`` the methods that were called.

    ``conflict``: the text with which polls are refused, or "". ``away``: so many polls find no server. ``failures``:
    replies of the next sends, each a status and what is said. ``slow``: seconds between people seeing a message of the
    bot and the bot hearing its number.
    """

    sent: list[dict[str, Any]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    conflict: str = ""
    away: int = 0
    failures: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    slow: float = 0.0
    url: str = ""
    polls: int = 0

    def __post_init__(self) -> None:
        self._updates: list[dict[str, Any]] = []
        self._number = 100
        self._change = threading.Condition()

    # what people do

    def write(self, chat: int, text: str | None, to: int | None = None, **more: Any) -> None:
        """A message to the bot; ``to`` is the number of the message that it replies to. None: no text but a sticker."""
        with self._change:
            message = self._message(chat, text, **more)
            if to is not None:
                message["reply_to_message"] = self._message(chat, "earlier", number=to)
            self._updates.append({"update_id": 7000 + len(self._updates), "message": message})
            self._change.notify_all()

    def wait_for(self, count: int, chat: int | None = None) -> dict[str, Any]:
        """Wait until the bot has sent so many messages (to a chat); returns the last of them."""
        deadline = time.monotonic() + 20
        with self._change:
            while len(found := [m for m in self.sent if chat in (None, m["chat"])]) < count:
                assert self._change.wait(deadline - time.monotonic()), self.sent
        return found[count - 1]

    # the Bot API

    def answer(self, method: str, given: dict[str, Any]) -> tuple[int, Any]:
        """Status and result of a method."""
        with self._change:
            self.asked.append(method)
        return getattr(self, f"_{method.lower()}")(given)

    def _getme(self, _: dict[str, Any]) -> tuple[int, Any]:
        return 200, BOT

    def _getwebhookinfo(self, _: dict[str, Any]) -> tuple[int, Any]:
        url = "https://elsewhere.example" if "webhook" in self.conflict else ""
        return 200, {"url": url, "has_custom_certificate": False, "pending_update_count": 0}

    def _sendmessage(self, given: dict[str, Any]) -> tuple[int, Any]:
        with self._change:
            if self.failures:
                return self.failures.pop(0)
            chat = int(given["chat_id"])
            message = self._message(chat, given["text"])
            markup = json.loads(given["reply_markup"]) if "reply_markup" in given else {}
            self.sent.append({**given, "chat": chat, "number": message["message_id"], "markup": markup})
            self._change.notify_all()
        time.sleep(self.slow)
        return 200, message

    def _getupdates(self, given: dict[str, Any]) -> tuple[int, Any]:
        if self.conflict:
            return 409, {"description": f"Conflict: {self.conflict}"}
        if self.away and int(given.get("offset", 0)) >= 0:
            self.away -= 1
            return 502, {"description": "Bad Gateway"}
        offset, patience = int(given.get("offset", 0)), float(given.get("timeout", 0))
        with self._change:
            self.polls += 1
            if offset < 0:
                self._updates = [{**u, "old": True} for u in self._updates]
                return 200, [_plain(u) for u in self._updates[offset:]]
            self._change.wait_for(lambda: self._from(offset), timeout=patience)
            return 200, [_plain(u) for u in self._from(offset)]

    def _from(self, offset: int) -> list[dict[str, Any]]:
        return [u for u in self._updates if u["update_id"] >= offset]

    def _message(self, chat: int, text: str | None, number: int | None = None, **more: Any) -> dict[str, Any]:
        if number is None:
            self._number += 1
        body = {"sticker": STICKER} if text is None else {"text": text}
        head = {"message_id": number or self._number, "date": 1700000000, "chat": {"id": chat, "type": "private"}}
        return {**head, **body, **more}


STICKER = {
    "file_id": "f", "file_unique_id": "u", "type": "regular", "width": 1, "height": 1,
    "is_animated": False, "is_video": False,
}  # fmt: skip


def _plain(update: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in update.items() if name != "old"}


@contextmanager
def served() -> Iterator[FakeTelegram]:
    """The server, while the block is open."""
    state = FakeTelegram()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("content-length", "0"))).decode()
            given = {name: values[0] for name, values in parse_qs(data, keep_blank_values=True).items()}
            _, token, method = self.path.split("/")
            status, result = (
                (401, {"description": "Unauthorized"}) if token != f"bot{TOKEN}" else state.answer(method, given)
            )
            reply = {"ok": True, "result": result} if status == 200 else {"ok": False, "error_code": status, **result}
            body = json.dumps(reply).encode()
            try:
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except ConnectionError:  # the poller has gone
                pass

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
