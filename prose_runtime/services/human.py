"""``human``: asks the person at the terminal; without one the run pauses until there is one."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from prose_runtime.errors import Paused
from prose_runtime.services import keyboard
from prose_runtime.services.api import Reply, Request, Service, Turn
from prose_runtime.services.dialogue import Briefed, answer
from prose_runtime.services.settings import ServiceSettings

LATER = "/later"
"""What a person types to turn to another question that waits."""


def provider(settings: ServiceSettings) -> Service:
    """Make a service of the person at the terminal."""
    return HumanService(settings.name)


class HumanService:
    """Shows what a role is told on stderr and reads the answer from stdin, one question at a time.

    One who has joined as a role (the request has a briefing) answers freely first. ``patient``: the runtime's bound on
    the time of a call does not hold for a person.
    """

    patient = True

    def __init__(self, name: str):
        self.name = name
        self._briefed = Briefed()

    async def __call__(self, request: Request) -> Reply:
        """Ask the person. Raises ``Paused`` when stdin is no terminal or the person ends it with Ctrl-D."""
        if not at_terminal():
            raise paused(request)
        if request.turn is None:
            request = request.with_(turn=Turn())
        question = self._briefed.question(request)
        while True:
            async with keyboard.turn(request.label):
                terminal = Terminal(request)
                try:
                    return Reply(await answer(terminal, request, question, freely=request.briefing is not None))
                except _Later:
                    terminal.show("(left for later)\n")

    async def ping(self) -> str:
        """Whether somebody can be asked."""
        return "at this terminal" if at_terminal() else "no terminal on stdin: a call pauses the run"


def at_terminal() -> bool:
    """Whether a person can answer on stdin."""
    try:
        return sys.stdin is not None and sys.stdin.isatty()
    except ValueError:  # closed
        return False


class _Later(Exception):
    """The person turns to another question first."""


class Terminal:
    """The person at the terminal as a channel for one request."""

    blank = "empty"

    def __init__(self, request: Request):
        self._request = request

    def show(self, text: str) -> None:
        """Write to the person."""
        keyboard.show(text)

    async def tell(self, text: str) -> None:
        """Write a line to the person."""
        self.show(f"{text}\n")

    async def line(self, question: str) -> str:
        """The line typed behind a question."""
        self.show(question)
        return await self._read() or ""

    async def text(self, question: str) -> str:
        """The lines typed below a question, up to an empty one or a lone dot."""
        others = ", ".join(keyboard.queued())
        later = f"; {LATER} turns to {others} first" if others else ""
        self.show(f"\n{question}\nYour answer (an empty line or a lone . ends it{later}):\n")
        lines: list[str] = []
        while True:
            typed = await self._read(lines)
            if typed is None or typed.strip() == ".":
                return "\n".join(lines)
            if typed.strip():
                lines.append(typed)
            elif lines:
                return "\n".join(lines)
            else:
                self.show("(a lone . gives an empty answer)\n")

    async def _read(self, lines: Sequence[str] = ()) -> str | None:
        """The next line; None when the input ends (Ctrl-D) behind the ``lines`` that were typed.

        Raises ``Paused`` when it ends before there are any, ``_Later`` when another question comes first.
        """
        while True:
            typed = await keyboard.line()
            if typed is None and not lines:
                raise paused(self._request)
            if typed is None:
                return None
            if typed.strip() != LATER:
                return typed
            if keyboard.queued():
                raise _Later
            self.show("(no other question waits)\n")


def paused(request: Request, reason: str = "") -> Paused:
    """The pause of a run that needs a person's answer to a request."""
    who = f" for {request.label}" if request.label else ""
    asked = request.prompt or request.job
    question = f": {_short(asked)}" if asked else ""
    return Paused(
        f"waiting for a person's answer{who}{question}{f' ({reason})' if reason else ''}",
        help="go on in a terminal, where somebody can answer, or give the answer with `prose resume RUN --answer TEXT`",
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 120 else line[:119] + "…"
