"""One bot of a process: it sends, and polls for all slots that wait for somebody on Telegram.

Only what arrives after the bot was first used counts. A reply counts when it is text and replies to one of the parts
of a question in the chat where the question stands.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from prose_runtime.errors import ServiceError
from prose_runtime.services.live import ensure_live_allowed
from prose_runtime.services.telegram_text import parts

if TYPE_CHECKING:
    from telegram import Bot, Message, Update

API = "https://api.telegram.org"
"""The server of the Bot API."""

POLL = 20
"""Seconds for which the server may keep a poll open."""

PAUSE = 5.0
"""Seconds between polls of a server that is away."""

TRIES = 4
"""How often in a row a request may fail before the failure counts."""

HINT = "That was no reply to my question. Please use Reply on its last message and answer with text."

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Asked:
    """A question that stands in a chat: its messages, and the reply to come. ``hinted``: how to reply was said."""

    chat: int
    messages: list[int] = field(default_factory=list)
    reply: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    hinted: bool = False


class Hub:
    """A bot in one event loop. ``users`` are the services that hold it open."""

    def __init__(self, token: str, base_url: str | None):
        self.users: set[object] = set()
        self._token = token
        self._base = (base_url or API).rstrip("/").removesuffix("/bot")
        self._bot: Bot | None = None
        self._offset: int | None = None
        self._lock = asyncio.Lock()
        self._opening = asyncio.Lock()
        self._listeners = 0
        self._poller: asyncio.Task[None] | None = None
        self._asked: list[Asked] = []
        self._invited: dict[str, asyncio.Future[int]] = {}
        self._on_the_way: set[asyncio.Future[None]] = set()

    # what services want

    async def name(self) -> str:
        """The bot's user name."""
        bot = await self._open()
        return str((await self._do(bot.get_me)).username)

    async def webhook(self) -> str:
        """The address that gets the bot's messages instead of us, or ""."""
        bot = await self._open()
        return (await self._do(bot.get_webhook_info)).url

    async def say(self, chat: int | str, text: str) -> None:
        """Send a text that needs no reply."""
        for part in parts(text):
            await self._send(chat, part)

    async def ask(self, chat: int | str, text: str) -> Asked:
        """Send a question and return it; its reply comes while somebody is ``listening``."""
        asked: Asked | None = None
        pieces = parts(text)
        for i, part in enumerate(pieces):
            with self._sending():
                message = await self._send(chat, part, last=i == len(pieces) - 1)
                asked = asked or Asked(message.chat.id)
                asked.messages.append(message.message_id)
                if asked not in self._asked:
                    self._asked.append(asked)
        assert asked is not None
        return asked

    def forget(self, asked: Asked) -> None:
        """Take no reply to a question any more."""
        if asked in self._asked:
            self._asked.remove(asked)

    @asynccontextmanager
    async def invitation(self, nonce: str) -> AsyncIterator[asyncio.Future[int]]:
        """The chat in which somebody presents a nonce for the first time."""
        self._invited[nonce] = asyncio.get_running_loop().create_future()
        try:
            yield self._invited[nonce]
        finally:
            del self._invited[nonce]

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Poll as long as somebody waits. What was sent before the first time is passed over."""
        async with self._lock:
            if self._offset is None:
                await self._set_baseline()
            self._listeners += 1
            if self._poller is None or self._poller.done():
                self._poller = asyncio.create_task(self._poll())
        try:
            yield
        finally:
            self._listeners -= 1
            if self._listeners == 0 and self._poller is not None:
                self._poller.cancel()
                await asyncio.gather(self._poller, return_exceptions=True)
                self._poller = None

    async def close(self) -> None:
        """Let go of the connections."""
        bot, self._bot = self._bot, None
        if bot is not None:
            await bot.shutdown()

    # the server

    async def _open(self) -> Bot:
        ensure_live_allowed("telegram", self._base)
        async with self._opening:
            return self._bot or await self._opened()

    async def _opened(self) -> Bot:
        os.environ.setdefault("PTB_TIMEDELTA", "true")  # else the library warns of its own past
        from telegram import Bot
        from telegram.request import HTTPXRequest

        send, poll = HTTPXRequest(), HTTPXRequest()
        bot = Bot(self._token, base_url=f"{self._base}/bot", request=send, get_updates_request=poll)
        try:
            await self._do(bot.initialize)
        except BaseException:
            await bot.shutdown()
            await asyncio.gather(send.shutdown(), poll.shutdown())
            raise
        self._bot = bot
        return bot

    async def _send(self, chat: int | str, text: str, *, last: bool = False) -> Message:
        from telegram import ForceReply

        bot = await self._open()
        markup = ForceReply(input_field_placeholder="Your answer") if last else None
        return await self._do(lambda: bot.send_message(chat, text, reply_markup=markup))

    @contextmanager
    def _sending(self) -> Iterator[None]:
        """A part of a question is on its way: people may see it, and we do not know its number yet."""
        sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._on_the_way.add(sent)
        try:
            yield
        finally:
            self._on_the_way.remove(sent)
            sent.set_result(None)

    async def _set_baseline(self) -> None:
        bot = await self._open()
        updates = await self._do(lambda: bot.get_updates(offset=-1, timeout=0))
        self._offset = updates[-1].update_id + 1 if updates else 0

    async def _poll(self) -> None:
        """Poll until nobody waits. A server that is away for a while is waited for, as the replies are."""
        while True:
            try:
                await self._poll_once()
            except ServiceError as error:
                if error.kind not in ("unavailable", "rate_limit"):
                    return self._give_up(error)
                await asyncio.sleep(PAUSE)
            except Exception as error:  # else all would wait for a poll that is not there
                said = str(error).replace(self._token, "***")
                return self._give_up(ServiceError(f"Telegram sent what nobody can read: {said}", service="telegram"))

    async def _poll_once(self) -> None:
        bot = await self._open()
        updates = await self._do(
            lambda: bot.get_updates(offset=self._offset, timeout=POLL, allowed_updates=["message"])
        )
        if updates and self._on_the_way:  # what people wrote may be about a question whose number we do not know yet
            await asyncio.wait(set(self._on_the_way))
        for update in updates:
            self._offset = update.update_id + 1
            await self._take(update)

    def _give_up(self, error: ServiceError) -> None:
        replies: list[asyncio.Future[Any]] = [asked.reply for asked in self._asked]
        for waits in [*replies, *self._invited.values()]:
            if not waits.done():
                waits.set_exception(error)

    async def _take(self, update: Update) -> None:
        message = update.message
        if message is None:
            return
        text, chat = message.text, message.chat.id
        invited = self._invited.get((text or "").removeprefix("/start ").strip())
        if invited is not None and (text or "").startswith("/start "):
            if not invited.done():
                invited.set_result(chat)
            return
        answered = message.reply_to_message
        number = answered.message_id if answered is not None else None
        asked = next((a for a in self._asked if a.chat == chat and number in a.messages), None)
        if asked is not None and text:
            if not asked.reply.done():
                asked.reply.set_result(text)
            return
        await self._hint(chat)

    async def _hint(self, chat: int) -> None:
        """Say once a question how to reply, to somebody who wrote something else."""
        asked = next((a for a in self._asked if a.chat == chat and not a.reply.done()), None)
        if asked is not None and not asked.hinted:
            asked.hinted = True
            await self.say(chat, HINT)

    async def _do(self, call: Callable[[], Awaitable[T]]) -> T:
        """Make a request, again where that may help.

        Raises:
            ServiceError: It failed, with a sentence that tells what to do; the token never stands in it.
        """
        from telegram.error import Conflict, RetryAfter, TelegramError

        for attempt in range(1, TRIES + 1):
            try:
                return await call()
            except TelegramError as error:
                again = isinstance(error, RetryAfter) or type(error).__name__ in ("NetworkError", "TimedOut")
                again = again or (isinstance(error, Conflict) and not _is_webhook(error))
                if attempt == TRIES or not again:
                    raise self._failure(error) from None
                await asyncio.sleep(_pause(error, attempt))
        raise AssertionError("the last try returns or raises")

    def _failure(self, error: Any) -> ServiceError:
        kind, sentence, help_ = _explained(error)
        said = str(error).replace(self._token, "***")
        return ServiceError(f"Telegram {sentence}: {said}", kind=kind, service="telegram", help=help_)


def _pause(error: Any, attempt: int) -> float:
    """Seconds to wait before the next try."""
    asked = getattr(error, "retry_after", None)
    return min(float(asked.total_seconds()), 60.0) if asked is not None else 0.5 * 2.0 ** (attempt - 1)


def _is_webhook(error: Any) -> bool:
    return "webhook" in str(error).lower()


def _explained(error: Any) -> tuple[str, str, str | None]:
    """Kind, sentence and help for a failure."""
    name = "Webhook" if type(error).__name__ == "Conflict" and _is_webhook(error) else type(error).__name__
    kind, sentence, help_ = _SENTENCES.get(name, ("unavailable", "cannot be reached", None))
    if name == "BadRequest" and "chat" not in str(error).lower():
        help_ = None
    return kind, sentence, help_


_SENTENCES: dict[str, tuple[str, str, str | None]] = {
    "Webhook": (
        "failed",
        "sends this bot's messages to a webhook, so that we cannot ask for them",
        "remove the webhook (the method deleteWebhook of the Bot API), or use another bot",
    ),
    "Conflict": (
        "failed",
        "gives this bot's messages to another program that asks for them too",
        "stop the other program that uses this bot, perhaps another run, or use another bot",
    ),
    "InvalidToken": ("auth", "did not accept the token of the bot", "get a valid one from @BotFather"),
    "Forbidden": (
        "refused",
        "does not let the bot write there",
        "the person has to start a chat with the bot, or unblock it",
    ),
    "BadRequest": (
        "failed",
        "refused the message",
        "the person has to write to the bot first; `--telegram new` prints a link that does it",
    ),
    "RetryAfter": ("rate_limit", "wants us to wait", None),
}


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, str | None], Hub]] = WeakKeyDictionary()


def join(user: object, token: str, base_url: str | None) -> Hub:
    """The one hub of a bot in this process, held open for ``user``."""
    hubs = _hubs.setdefault(asyncio.get_running_loop(), {})
    hub = hubs.setdefault((token, base_url), Hub(token, base_url))
    hub.users.add(user)
    return hub


async def leave(user: object) -> None:
    """Close the hubs that nobody but ``user`` held open."""
    hubs = _hubs.get(asyncio.get_running_loop(), {})
    for key, hub in list(hubs.items()):
        hub.users.discard(user)
        if not hub.users:
            del hubs[key]
            await hub.close()
