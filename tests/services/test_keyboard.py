"""The terminal of a run: what is typed there."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import sys
import termios
import threading

import pytest

from prose_runtime.services import keyboard


def test_input_that_an_interrupt_throws_away_does_not_stop_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal drops what was typed at Ctrl-C; here it does so after the loop saw it and before it was read."""
    ours, theirs = os.openpty()
    waker, wakes = os.pipe()

    async def work() -> str | None:
        loop = asyncio.get_running_loop()

        def interrupted() -> None:
            loop.remove_reader(waker)
            termios.tcflush(theirs, termios.TCIFLUSH)

        loop.add_reader(waker, interrupted)
        typed = asyncio.ensure_future(keyboard.line())
        await asyncio.sleep(0)  # it listens
        os.write(wakes, b"!")
        os.write(ours, b"half of\n")
        assert select.select([theirs], [], [], 10)[0]
        later = threading.Timer(1, os.write, (ours, b"whole\n"))
        later.start()
        await asyncio.sleep(0.1)
        assert later.is_alive()  # else the loop stood still until something was typed
        return await typed

    with contextlib.ExitStack() as stack:
        for fd in (ours, waker, wakes):
            stack.callback(os.close, fd)
        monkeypatch.setattr(sys, "stdin", stack.enter_context(open(theirs, encoding="utf-8")))  # noqa: PTH123
        assert asyncio.run(work()) == "whole"
