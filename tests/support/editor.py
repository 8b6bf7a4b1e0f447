"""An editor for tests: it starts ``prose lsp``, speaks the protocol over its standard input and output, and edits."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

from support.commands import clean_environment, prose

Json = dict[str, Any]


class Refusal(Exception):
    """The server answered a request with an error."""


class Editor:
    """One editor with one server. Positions are zero-based lines and characters, as in the protocol."""

    def __init__(self, home: Path, encodings: list[str] | None = None, timeout: float = 30):
        self.timeout = timeout
        self.server = subprocess.Popen(
            [prose(), "lsp"],
            cwd=home,
            env=clean_environment(home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.incoming: queue.Queue[Json] = queue.Queue()
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.published: dict[str, Json] = {}
        self.last = 0
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()
        general = {"positionEncodings": encodings} if encodings else {}
        params = {"processId": None, "rootUri": home.as_uri(), "capabilities": {"general": general}}
        self.capabilities: Json = self.request("initialize", params)["capabilities"]
        self.notify("initialized", {})

    def __enter__(self) -> Editor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> tuple[int, str]:
        """End the server as an editor does; its exit code and what it wrote to stderr."""
        if self.server.poll() is None:
            self.request("shutdown", None)
            self.notify("exit", None)
            assert self.server.stdin
            self.server.stdin.close()
        code = self.server.wait(self.timeout)
        assert self.server.stderr
        said = self.server.stderr.read().decode()
        self.listener.join(self.timeout)
        for pipe in (self.server.stdout, self.server.stderr):
            assert pipe
            pipe.close()
        return code, said

    # the wire

    def _listen(self) -> None:
        out = self.server.stdout
        assert out
        while header := out.readline():
            length = int(header.partition(b":")[2])
            while out.readline().strip():
                pass
            self.incoming.put(json.loads(out.read(length)))

    def _send(self, message: Json) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.server.stdin
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.server.stdin.flush()

    def _receive(self, until: float) -> Json:
        message = self.incoming.get(timeout=max(0.01, until - time.monotonic()))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.published[message["params"]["uri"]] = message["params"]
        return message

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def request(self, method: str, params: Any) -> Any:
        """Send a request and wait for its result. Raises Refusal with the server's message when it is refused."""
        answer = self.exchange(method, params)
        if "error" in answer:
            raise Refusal(answer["error"]["message"])
        return answer.get("result")

    def exchange(self, method: str, params: Any) -> Json:
        """Send a request and wait for the whole answer."""
        self.last += 1
        self._send({"id": self.last, "method": method, "params": params})
        until = time.monotonic() + self.timeout
        while True:
            message = self._receive(until)
            if message.get("id") == self.last and "method" not in message:
                return message

    # documents

    def open(self, path: Path, text: str | None = None, language: str = "prose") -> str:
        """Show a file, or a text that is not saved; its URI."""
        uri = path.as_uri()
        self.texts[uri] = path.read_bytes().decode() if text is None else text
        self.versions[uri] = 1
        document = {"uri": uri, "languageId": language, "version": 1, "text": self.texts[uri]}
        self.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    def close_file(self, uri: str) -> list[Json]:
        """Close a document, and see what is still shown of it."""
        self.published.pop(uri, None)
        self.notify("textDocument/didClose", {"textDocument": self.name(uri)})
        until = time.monotonic() + self.timeout
        while uri not in self.published:
            self._receive(until)
        left: list[Json] = self.published[uri]["diagnostics"]
        return left

    def change(self, uri: str, text: str) -> None:
        """Type: the text is now this."""
        self.texts[uri] = text
        self.versions[uri] += 1
        params = {"textDocument": self.name(uri) | {"version": self.versions[uri]}, "contentChanges": [{"text": text}]}
        self.notify("textDocument/didChange", params)

    def diagnostics(self, uri: str) -> list[Json]:
        """The faults of the text as it is now; waits until they are there."""
        until = time.monotonic() + self.timeout
        while self.published.get(uri, {}).get("version") != self.versions[uri]:
            self._receive(until)
        found: list[Json] = self.published[uri]["diagnostics"]
        return found

    def name(self, uri: str) -> Json:
        """A document as requests name it."""
        return {"uri": uri}

    def place(self, uri: str, marker: str, inside: int = 0) -> Json:
        """The position of a text in a document, some characters inside it; as UTF-16 counts."""
        text = self.texts[uri]
        at = text.index(marker) + inside
        return position(text, at)

    def ask(self, method: str, uri: str, marker: str, inside: int = 0, **more: Any) -> Any:
        """A request about a place, which a text marks."""
        where = {"textDocument": self.name(uri), "position": self.place(uri, marker, inside)}
        return self.request(f"textDocument/{method}", where | more)


def position(text: str, offset: int) -> Json:
    """An offset as a position in UTF-16 units; the lines end with any of the three line ends."""
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    line = before.rpartition("\n")[2]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}


def offset(text: str, where: Json) -> int:
    """The offset of a position in UTF-16 units."""
    lines = text.splitlines(keepends=True)
    start = sum(len(line) for line in lines[: where["line"]])
    line = lines[where["line"]] if where["line"] < len(lines) else ""
    return start + len(line.encode("utf-16-le")[: where["character"] * 2].decode("utf-16-le"))


def selected(text: str, where: Json) -> str:
    """The text of a range."""
    return text[offset(text, where["start"]) : offset(text, where["end"])]


def applied(text: str, edits: list[Json]) -> str:
    """The text after edits of it."""
    for edit in sorted(edits, key=lambda e: offset(text, e["range"]["start"]), reverse=True):
        where = edit["range"]
        text = text[: offset(text, where["start"])] + edit["newText"] + text[offset(text, where["end"]) :]
    return text
