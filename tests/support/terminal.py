"""A command on a pseudo-terminal: what a person there would type and see."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from pathlib import Path
from typing import Self

from support.commands import clean_environment

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]")
_PATIENCE = 30.0


class Terminal:
    """Runs a command whose standard streams are a terminal of this size.

    Attributes:
        raw: All that the command has written so far, escape sequences included.
    """

    def __init__(self, words: list[str], cwd: Path, *, columns: int = 80, lines: int = 24, **variables: str):
        self._master, theirs = pty.openpty()
        self.resize(columns, lines)
        environment = {k: v for k, v in clean_environment(cwd).items() if k not in ("COLUMNS", "NO_COLOR", "CI")}
        self._process = subprocess.Popen(
            words, cwd=cwd, env=environment | {"TERM": "xterm-256color"} | variables,
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            preexec_fn=_take_terminal,  # noqa: PLW1509 (it makes one system call and takes no lock)
        )  # fmt: skip
        os.close(theirs)
        self.raw = ""
        self._seen = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._master)

    @property
    def text(self) -> str:
        """What was written, without escape sequences."""
        return _CONTROL.sub("", self.raw)

    def resize(self, columns: int, lines: int) -> None:
        """Make the terminal this large; the command is told, as by a window that is dragged."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def type(self, text: str) -> None:
        """Press these keys; ``\\x03`` is Ctrl-C."""
        os.write(self._master, text.encode())

    def wait_for(self, text: str) -> str:
        """Wait until the text is written behind what was waited for before; returns what stood before it."""
        deadline = time.monotonic() + _PATIENCE
        while (at := self.text.find(text, self._seen)) < 0:
            assert time.monotonic() < deadline, f"no {text!r} in:\n{self.text[self._seen :]}"
            assert self._read(), f"the command ended without {text!r}:\n{self.text[self._seen :]}"
        before = self.text[self._seen : at]
        self._seen = at + len(text)
        return before

    def end(self) -> int:
        """Wait for the command to end; returns its exit code."""
        while self._read():
            pass
        return self._process.wait(_PATIENCE)

    def kill(self) -> None:
        """End the command as a machine that loses its power does."""
        self._process.kill()
        self._process.wait()

    def _read(self) -> bool:
        """Read a piece; False when the command has closed the terminal."""
        if not select.select([self._master], [], [], _PATIENCE)[0]:
            raise AssertionError(f"nothing more is written after:\n{self.text}")
        try:
            piece = os.read(self._master, 1 << 16)
        except OSError:
            return False
        self.raw += piece.decode("utf-8", "replace")
        return bool(piece)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
