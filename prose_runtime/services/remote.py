"""What providers of models behind a server have in common: tries, connections of an event loop, what failures cost."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from prose_runtime.errors import ServiceError
from prose_runtime.services.api import Reply, Request
from prose_runtime.services.prompt import Prompt, render
from prose_runtime.services.retrying import with_retries
from prose_runtime.values import Usage

if TYPE_CHECKING:
    from prose_runtime.services.settings import ServiceSettings


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

    def _client_of_loop(self, make: Callable[[], C]) -> C:
        """Connections belong to an event loop: a caller who starts a new one for each run gets a new client."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._client[0] is not loop:
            self._client = loop, make()
        return self._client[1]


@asynccontextmanager
async def paid(usage: Callable[[], Usage]) -> AsyncIterator[None]:
    """What fails within it has cost what the server had counted by then."""
    try:
        yield
    except ServiceError as error:
        error.usage = usage()
        raise
