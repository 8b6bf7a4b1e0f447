"""The one terminal of a run: whose turn it is to ask there, and what is typed.

Whoever asks a person something does it inside ``async with turn():``, so that questions wait for each other and a live
display makes room. ``interruption()`` is the turn of a question that cannot wait, such as what Ctrl-C means: it goes in
front of one that stands, which gets the lines typed afterwards.
"""

from __future__ import annotations

import asyncio
import os
import sys
import textwrap
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Protocol
from weakref import WeakKeyDictionary

from prose_runtime.text import printable, width


class Display(Protocol):
    """Something that draws on the terminal by itself and has to stop while a person is asked."""

    def suspend(self) -> None:
        """Leave the terminal to a question."""
        ...

    def resume(self) -> None:
        """Go on drawing."""
        ...


@dataclass(slots=True)
class _Keyboard:
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    displays: list[Display] = field(default_factory=list)
    askers: int = 0
    queue: list[str] = field(default_factory=list)
    waiting: list[asyncio.Future[str | None]] = field(default_factory=list)
    typed: bytes = b""
    source: int | None = None


_keyboards: WeakKeyDictionary[asyncio.AbstractEventLoop, _Keyboard] = WeakKeyDictionary()


def _keyboard() -> _Keyboard:
    loop = asyncio.get_running_loop()
    if loop not in _keyboards:
        _keyboards[loop] = _Keyboard()
    return _keyboards[loop]


@contextmanager
def displayed(display: Display) -> Iterator[None]:
    """Suspend this display whenever somebody is asked, as long as the context lasts."""
    displays = _keyboard().displays
    displays.append(display)
    try:
        yield
    finally:
        displays.remove(display)


def show(text: str) -> None:
    """Write to the person: control characters are shown, not obeyed, and lines break between words."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):  # no terminal
        columns = 0
    sys.stderr.write("\n".join(_folded(printable(line), columns) for line in text.split("\n")))
    sys.stderr.flush()


def _folded(line: str, columns: int) -> str:
    """A line in pieces that fit the terminal, with its indentation; one of 0 columns folds nothing."""
    words = line.strip()
    if not columns or width(line) <= columns or not words:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    pieces = textwrap.wrap(words, columns, initial_indent=indent, subsequent_indent=indent, break_long_words=False,
                           break_on_hyphens=False)  # fmt: skip
    return "\n".join(pieces) + line[len(line.rstrip()) :]


@asynccontextmanager
async def turn(label: str = "") -> AsyncIterator[None]:
    """Have the terminal for a question; others that ask at the same time wait for their turn, in order.

    ``label`` is what the person is told of a question that waits.
    """
    keyboard = _keyboard()
    keyboard.queue.append(label)
    if keyboard.turn.locked():
        show(f"({label or 'another question'} waits too)\n")
    try:
        await keyboard.turn.acquire()
    finally:
        keyboard.queue.remove(label)
    try:
        keyboard.typed = b""  # what was typed before the question is no answer to it
        with aside():
            yield
    finally:
        keyboard.turn.release()


def queued() -> list[str]:
    """The labels of the questions that wait for their turn."""
    return list(_keyboard().queue)


@asynccontextmanager
async def interruption() -> AsyncIterator[bool]:
    """Have the terminal at once, in front of a question that stands; yields whether one does."""
    standing = _keyboard().askers > 0
    with aside():
        yield standing


@contextmanager
def aside() -> Iterator[None]:
    """Suspend the displays for something else on the terminal that is no question."""
    keyboard = _keyboard()
    keyboard.askers += 1
    if keyboard.askers == 1:
        for display in keyboard.displays:
            display.suspend()
    try:
        yield
    finally:
        keyboard.askers -= 1
        if keyboard.askers == 0:
            for display in keyboard.displays:
                display.resume()


async def line() -> str | None:
    """The next line that is typed, without its end; None when the input ends (Ctrl-D).

    Of several that wait, the one that began last is served. The event loop waits, so that Ctrl-C and other branches go
    on working.
    """
    keyboard = _keyboard()
    waits: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
    keyboard.waiting.append(waits)
    try:
        _serve(keyboard)
        if not waits.done():
            _listen(keyboard)
        return await waits
    finally:
        keyboard.waiting.remove(waits)
        if not keyboard.waiting:
            _leave(keyboard)


def _listen(keyboard: _Keyboard) -> None:
    if keyboard.source is not None:
        return
    keyboard.source = source = _opened(sys.stdin.fileno())

    def take() -> None:
        try:
            piece = os.read(source, 1 << 16)
        except BlockingIOError:  # Ctrl-C threw away what woke us, before we got it
            return
        except OSError:  # the terminal is gone
            piece = b""
        keyboard.typed += piece
        _serve(keyboard, ended=not piece)

    asyncio.get_running_loop().add_reader(source, take)


def _leave(keyboard: _Keyboard) -> None:
    if keyboard.source is not None:
        asyncio.get_running_loop().remove_reader(keyboard.source)
        os.close(keyboard.source)
        keyboard.source = None


def _opened(fd: int) -> int:
    """The terminal opened a second time, so that no read of ours waits.

    To make ``fd`` itself so would change the terminal for all programs that share it, such as the shell. Where the
    terminal may not be opened, a copy of ``fd`` serves.
    """
    try:
        return os.open(os.ttyname(fd), os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return os.dup(fd)


def _serve(keyboard: _Keyboard, *, ended: bool = False) -> None:
    """Give the next line to the question in front, if both are there."""
    asker = next((waits for waits in reversed(keyboard.waiting) if not waits.done()), None)
    if asker is None:
        return
    if b"\n" in keyboard.typed:
        typed, keyboard.typed = keyboard.typed.split(b"\n", 1)
        asker.set_result(typed.decode("utf-8", "replace").rstrip("\r"))
    elif ended:
        asker.set_result(None)
