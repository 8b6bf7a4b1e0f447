"""``telegram``: asks a person in a chat with a bot (extra ``telegram``).

The token comes from the environment or a private file. A chat is a number, ``@name``, or ``new``: then a link that
counts once invites somebody, and the first chat that presents it is taken.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from typing import Any

from prose_runtime.errors import UsageError
from prose_runtime.services import keyboard, telegram_hub
from prose_runtime.services.api import Reply, Request, Service, Turn
from prose_runtime.services.dialogue import TEXT, Briefed, answer
from prose_runtime.services.human import HumanService, at_terminal, paused
from prose_runtime.services.settings import ServiceSettings
from prose_runtime.services.shape import shape_of
from prose_runtime.services.telegram_token import find_token

PATIENCE = 300.0
"""Seconds for which a reply is waited for, unless ``timeout`` says otherwise."""

NEW = "new"
"""The chat that stands for an invitation."""

_HOW = "Reply to this message with your answer; it may have several lines."
_CLOSED = "This question is closed; no reply is needed any more."


def provider(settings: ServiceSettings) -> Service:
    """Make a service of somebody on Telegram. Raises ``UsageError`` without a chat or a token."""
    chat = settings.chat or os.environ.get("PROSE_TELEGRAM_CHAT")
    if not chat:
        raise UsageError(
            f"service `{settings.name}` names no chat",
            help="write `telegram:CHAT`, `--telegram CHAT` or `chat: CHAT` in prose.yml; "
            "`new` prints a link that invites somebody",
        )
    base_url = settings.base_url or os.environ.get("PROSE_TELEGRAM_URL")
    return TelegramService(settings, chat, find_token(settings.key_env), base_url)


class _Instead(Exception):
    """The person at the terminal does not wait any longer: ``skip`` the turn or ``take`` it over."""


class TelegramService:
    """Asks in a chat and waits for the reply, as long as ``timeout`` says; then the person at the terminal decides.

    ``patient``: the runtime's bound on the time of a call does not hold. ``keeps_time``: nor that of the registry.
    ``wants_briefing``: who is asked sees nothing of the run but the messages.
    """

    patient = True
    keeps_time = True
    wants_briefing = True

    def __init__(self, settings: ServiceSettings, chat: int | str, token: str, base_url: str | None):
        self.name = settings.name
        self.patience = settings.timeout or PATIENCE
        self._chat = chat
        self._token = token
        self._base_url = base_url
        self._chats: dict[str, int | str] = {}
        self._invitations: dict[str, asyncio.Lock] = {}
        self._briefed: dict[int | str, Briefed] = {}

    async def __call__(self, request: Request) -> Reply:
        """Ask. Raises ``ServiceError`` when Telegram fails, ``Paused`` when no reply came and nobody is here."""
        if request.turn is None:
            request = request.with_(turn=Turn())  # who takes over goes on with it
        turn = _Turn(self, self._hub(), request)
        try:
            async with turn.hub.listening():
                chat = await self._chat_for(turn)
                question = self._briefed.setdefault(chat, Briefed()).question(request)
                return Reply(await answer(_Chat(turn, chat), request, question, freely=True))
        except _Instead as instead:
            if str(instead) == "skip":
                return Reply(skipped(request))
            return await HumanService(self.name)(request)

    async def ping(self) -> str:
        """Who the bot is. Raises ``ServiceError``, also when a webhook gets its messages."""
        hub = self._hub()
        name, webhook = await hub.name(), await hub.webhook()
        return f"@{name}" + (", but a webhook gets its messages: deleteWebhook removes it" if webhook else "")

    async def aclose(self) -> None:
        """Let go of the bot."""
        await telegram_hub.leave(self)

    def _hub(self) -> telegram_hub.Hub:
        return telegram_hub.join(self, self._token, self._base_url)

    async def _chat_for(self, turn: _Turn) -> int | str:
        """The chat of a role; each role that is ``new`` has an invitation of its own."""
        if self._chat != NEW:
            return self._chat
        role = turn.request.who
        async with self._invitations.setdefault(role, asyncio.Lock()):
            if role not in self._chats:
                self._chats[role] = await self._invite(turn, role)
        return self._chats[role]

    async def _invite(self, turn: _Turn, role: str) -> int:
        nonce = secrets.token_urlsafe(16)
        async with turn.hub.invitation(nonce) as comes:
            link = f"https://t.me/{await turn.hub.name()}?start={nonce}"
            async with keyboard.interruption():
                keyboard.show(f"{role or 'the person'} joins by this link, which counts once: {link}\n")
            chat: int = await turn.until(comes, "nobody has come by the link")
            return chat


def skipped(request: Request) -> Any:
    """The answer of a turn that was skipped: nothing, in the shape that is needed."""
    schema = shape_of(request)
    if schema is None:
        return ""
    fields = schema.get("properties")
    return {**dict.fromkeys(schema.get("required", ())), TEXT: ""} if fields else None


class _Turn:
    """One request on its way to a person on Telegram."""

    def __init__(self, service: TelegramService, hub: telegram_hub.Hub, request: Request):
        self.service = service
        self.hub = hub
        self.request = request

    async def until(self, comes: asyncio.Future[Any], missing: str) -> Any:
        """Wait for something from outside.

        Raises:
            ServiceError: Polling failed.
            Paused: It did not come in time, and nobody is at the terminal.
            _Instead: The person at the terminal decided so.
        """
        while True:
            await asyncio.wait({comes}, timeout=self.service.patience)
            if comes.done():
                return comes.result()
            reason = f"{missing} for {self.service.patience:g} s"
            if not at_terminal():
                raise paused(self.request, reason)
            choice = asyncio.ensure_future(self._choice(reason))
            try:
                await asyncio.wait({comes, choice}, return_when=asyncio.FIRST_COMPLETED)
                if choice.done():
                    choice.result()
            finally:
                choice.cancel()
                await asyncio.gather(choice, return_exceptions=True)

    async def _choice(self, reason: str) -> None:
        """Ask the person at the terminal; returns when they wait longer."""
        async with keyboard.turn(f"{self.request.label} on Telegram"):
            while True:
                keyboard.show(f"\n{self.request.label}: {reason}. w: wait longer, s: skip this turn, t: take over: ")
                typed = await keyboard.line()
                if typed is None:
                    raise paused(self.request, reason)
                word = typed.strip().lower()[:1]
                if word in ("s", "t"):
                    raise _Instead("skip" if word == "s" else "take")
                if word == "w":
                    return


class _Chat:
    """A chat as a channel for one turn."""

    blank = "-"

    def __init__(self, turn: _Turn, chat: int | str):
        self._turn = turn
        self._chat = chat

    async def text(self, question: str) -> str:
        """Ask for a text of any length."""
        return await self._ask(f"{question}\n\n{_HOW}")

    async def line(self, question: str) -> str:
        """Ask for one value."""
        reply = (await self._ask(question.rstrip())).strip()
        return "" if reply == self.blank else reply

    async def tell(self, text: str) -> None:
        """Say something."""
        await self._turn.hub.say(self._chat, text)

    async def _ask(self, text: str) -> str:
        asked = await self._turn.hub.ask(self._chat, text)
        try:
            reply: str = await self._turn.until(asked.reply, "no reply has come on Telegram")
        except BaseException:
            self._turn.hub.forget(asked)
            await self._close()
            raise
        self._turn.hub.forget(asked)
        return reply

    async def _close(self) -> None:
        """Say that the question is closed, unless Telegram itself is what failed or the run is being stopped."""
        error = sys.exc_info()[1]
        if isinstance(error, asyncio.CancelledError):
            return
        await asyncio.gather(self._turn.hub.say(self._chat, _CLOSED), return_exceptions=True)
