"""What providers of models behind a server have in common: tries, connections, streams, errors, what they cost.

The clients of both vendors are made by one generator, so that their errors have the same names.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from prose_runtime.errors import ServiceError
from prose_runtime.services.api import Reply, Request
from prose_runtime.services.failures import Endpoint
from prose_runtime.services.prompt import Prompt, render
from prose_runtime.services.retrying import with_retries
from prose_runtime.values import Usage

if TYPE_CHECKING:
    from prose_runtime.services.settings import ServiceSettings


SILENCE = 600.0
"""Seconds without a byte from the server after which a call has failed."""


class Answer(Protocol):
    """A reply that is being put together from its stream."""

    def take(self, piece: Any) -> str:
        """Note one piece of the stream; gives what of the answer is in it."""
        ...

    def value(self) -> Any:
        """The whole answer. Raises ``ServiceError`` when the stream has none."""
        ...


class Closable(Protocol):
    """A vendor's client."""

    async def close(self) -> None:
        """Close its connections."""
        ...


C = TypeVar("C", bound=Closable)


class RemoteService(ABC, Generic[C]):
    """One binding of a server. Its clients live as long as the event loop that uses them."""

    def __init__(self, name: str, settings: ServiceSettings, url: str):
        self.name = name
        self._settings = settings
        self._url = url
        self._client: tuple[asyncio.AbstractEventLoop, C] | None = None
        self._free: set[str] = set()

    async def __call__(self, request: Request) -> Reply:
        """Ask the server, again where it is only busy. Raises ``ServiceError``, of kind ``auth`` without a key."""
        prompt = render(request)
        return await with_retries(lambda: self._ask(request, prompt), request, retries=self._settings.retries)

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        if self._client is not None and self._client[0] is asyncio.get_running_loop():
            await self._client[1].close()
        self._client = None

    @abstractmethod
    async def _ask(self, request: Request, prompt: Prompt) -> Reply:
        """One try, without the client's own ones: those would multiply ours, unseen."""

    @property
    @abstractmethod
    def _sdk(self) -> Any:
        """The vendor's package, imported when it is used."""

    @abstractmethod
    def _said(self, error: Any) -> tuple[str | None, str]:
        """A server's own name and message of an error."""

    async def _freely(
        self, model: str, ask: Callable[[], Awaitable[Reply]], dislikes: Callable[[ServiceError], bool]
    ) -> Reply:
        """Ask, and once more where the server dislikes how its model is held to a shape: from then on it is free."""
        held = model not in self._free
        try:
            return await ask()
        except ServiceError as error:
            if not held or not dislikes(error):
                raise
        self._free.add(model)
        return await ask()

    async def _streamed(
        self, opened: Awaitable[Any], answer: Answer, usage: Callable[[], Usage], request: Request, endpoint: Endpoint
    ) -> Any:
        """The answer of a stream, whose pieces are shown as they come; what it costs, also if it fails."""
        async with (
            _paid(usage),
            self._told(endpoint),
            await opened as stream,
            aclosing(self._pieces(stream, endpoint)) as pieces,
        ):
            async for found in pieces:
                piece = answer.take(found)
                if piece and request.on_text is not None:
                    request.on_text(piece)
            return answer.value()

    async def _pieces(self, stream: AsyncIterator[Any], endpoint: Endpoint) -> AsyncGenerator[Any, None]:
        """A stream. A connection that breaks shows in the transport's own errors, or in garbled pieces."""
        sdk = self._sdk
        try:
            async for piece in stream:
                yield piece
        except (sdk.APIStatusError, sdk.APITimeoutError):
            raise
        except sdk.APIConnectionError as error:
            raise endpoint.broken_stream() from error
        except sdk.APIError:
            raise
        except Exception as error:
            raise endpoint.broken_stream() from error

    @asynccontextmanager
    async def _told(self, endpoint: Endpoint) -> AsyncIterator[None]:
        """Within it the client's errors become ours."""
        sdk = self._sdk
        try:
            yield
        except sdk.APITimeoutError as error:
            raise endpoint.silent(SILENCE) from error
        except sdk.APIStatusError as error:
            raise endpoint.from_status(error.status_code, *self._said(error), error.response.headers) from error
        except sdk.APIConnectionError as error:
            raise endpoint.no_connection() from error
        except sdk.APIError as error:
            name, said = self._said(error)
            # Inside a stream some servers give the status that they would have answered with as the error's code.
            status = int(name) if name and name.isdigit() else 0
            raise endpoint.from_status(status, name, said, {}) from error

    def _client_of_loop(self, make: Callable[[], C]) -> C:
        """Connections belong to an event loop: a caller who starts a new one for each run gets a new client."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._client[0] is not loop:
            self._client = loop, make()
        return self._client[1]


@asynccontextmanager
async def _paid(usage: Callable[[], Usage]) -> AsyncIterator[None]:
    """What fails within it has cost what the server had counted by then."""
    try:
        yield
    except ServiceError as error:
        error.usage = usage()
        raise
