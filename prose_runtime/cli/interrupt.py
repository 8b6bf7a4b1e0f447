"""Ctrl-C while a run goes on: asks once what is meant, stops at the second, ends the process at the third.

Where nobody can be asked, the first stops the run cleanly and the second ends the process.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterable

import click

from prose_runtime.diagnostics import did_you_mean
from prose_runtime.errors import Cancelled, RecordError
from prose_runtime.runtime.steering import Steering
from prose_runtime.services import keyboard

EXIT_INTERRUPTED = Cancelled.exit_code

Question = Callable[[], Awaitable[bool]]
"""Asks the person what Ctrl-C means; true when the run should stop."""


def on_interrupt(first: Callable[[], object]) -> None:
    """Do something at the first Ctrl-C, and end this process at the second."""
    Interrupts(first).listen()


class Interrupts:
    """Follows the signals that are sent to this process.

    ``stop`` ends what runs; ``leave`` tidies the terminal before the process ends at once.
    """

    def __init__(
        self, stop: Callable[[], object], question: Question | None = None, leave: Callable[[], None] | None = None
    ):
        self._end = stop
        self._question = question
        self._leave = leave
        self._asking: asyncio.Future[None] | None = None
        self._stopped = False

    def listen(self) -> None:
        """Take Ctrl-C and SIGTERM from now on."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupted)
        loop.add_signal_handler(signal.SIGTERM, self._stop)

    async def close(self) -> None:
        """Withdraw a question that still stands when the run has ended."""
        if self._asking is not None and not self._asking.done():
            self._asking.cancel()
            await asyncio.wait([self._asking])

    def _interrupted(self) -> None:
        standing = self._asking is not None and not self._asking.done()
        if self._question is None or self._stopped or standing:
            self._stop()
        else:
            self._asking = asyncio.ensure_future(self._ask(self._question))

    async def _ask(self, question: Question) -> None:
        if await question():
            self._stop()

    def _stop(self) -> None:
        if self._stopped:
            if self._leave is not None:
                self._leave()
            os._exit(EXIT_INTERRUPTED)
        self._stopped = True
        if self._asking is not None and self._asking is not asyncio.current_task():
            self._asking.cancel()
        click.echo("\nstopping; Ctrl-C again ends at once", err=True)
        self._end()


def can_ask() -> bool:
    """Whether somebody sees the question and can answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


class WhatNow:
    """The question: go on, stop here, or give a note to the next call of a role.

    ``roles`` gives the names that can get one, those of the spec first. New calls wait for the answer.
    """

    def __init__(self, steering: Steering, roles: Callable[[], Iterable[str]]):
        self._steering = steering
        self._roles = roles

    async def __call__(self) -> bool:
        """Ask; true when the run should stop."""
        async with keyboard.interruption() as standing:
            with self._steering.hold():
                stop = await self._asked()
            if standing and not stop:
                keyboard.show("The question above still stands: please answer it.\n")
        return stop

    async def _asked(self) -> bool:
        keyboard.show("\nNew calls wait for you. Ctrl-C again stops.\n")
        while True:
            keyboard.show("c continue, s stop here,\nr redirect (a note to a role's next call): ")
            typed = await keyboard.line()
            word = "" if typed is None else typed.strip().lower()
            if typed is None or _means(word, "stop"):
                return True
            if not word or _means(word, "continue"):
                return False
            if _means(word, "redirect"):
                return await self._redirected()
            keyboard.show("Please type c, s or r.\n")

    async def _redirected(self) -> bool:
        """Ask for the role and the note. True when the input ended."""
        role = await self._role(list(dict.fromkeys(self._roles())))
        if role is None:
            return True
        keyboard.show(f"Note to {role} (an empty line ends it):\n")
        lines: list[str] = []
        while (typed := await keyboard.line()) is not None and typed.strip():
            lines.append(typed)
        keyboard.show(self._given(role, "\n".join(lines)) if lines else "No note.\n")
        return typed is None

    def _given(self, role: str, note: str) -> str:
        try:
            self._steering.redirect(role, note)
        except RecordError as error:
            return f"The next call of {role} gets it, unless this process ends: {error.message}\n"
        return f"The next call of {role} gets it.\n"

    async def _role(self, roles: list[str]) -> str | None:
        if len(roles) == 1:
            return roles[0]
        listed = ", ".join(f"{i} {role}" for i, role in enumerate(roles, 1))
        while True:
            keyboard.show(f"To whom? {listed}: ")
            typed = await keyboard.line()
            if typed is None:
                return None
            word = typed.strip()
            if word in roles:
                return word
            if word.isdigit() and 1 <= int(word) <= len(roles):
                return roles[int(word) - 1]
            keyboard.show(f"{did_you_mean(word, roles) or 'Please type a number or a name of the list.'}\n")


def _means(word: str, choice: str) -> bool:
    return bool(word) and choice.startswith(word)
