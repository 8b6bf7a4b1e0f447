"""Makes services by the name of their provider: entry points of the group ``prose.services``, and plain functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, cast

from prose_runtime.diagnostics import did_you_mean
from prose_runtime.errors import ProseError, ServiceError, UsageError
from prose_runtime.journal import protect
from prose_runtime.services.api import AsyncFunction, Reply, Request, Service
from prose_runtime.services.pacing import in_time
from prose_runtime.services.settings import ServiceSettings
from prose_runtime.values import Usage, strange, to_json

GROUP = "prose.services"
"""The entry-point group. Each entry is a ``provider(settings: ServiceSettings) -> Service``.

Beside being callable a service may have ``async aclose()``, ``async ping() -> str`` (one line saying that it can
answer, or a ``ServiceError``) and ``skip(request, answer=None)``, which passes over an answer that a resumed run has
already. With ``wants_briefing`` set, what it fills a slot with is told of the role, its rules and what it will see.
"""

EXTRAS = {"openai": "openai", "local": "xllamacpp", "telegram": "telegram"}
"""Providers that need an optional extra of the same name, and the module which shows that it is installed."""


def known_providers() -> list[str]:
    """The names of all installed providers, in order."""
    return sorted(_entries())


def missing_extra(provider: str) -> str | None:
    """The pip command that makes a provider usable, or None when nothing is missing."""
    module = EXTRAS.get(provider)
    if module is None or find_spec(module) is not None:
        return None
    return f"pip install 'prose-runtime[{provider}]'"


def create(name: str, settings: ServiceSettings) -> Service:
    """Make the service ``name``. Raises ``UsageError`` for an unknown provider, a missing extra or bad settings."""
    provider = settings.provider
    entry = _entries().get(provider)
    if entry is None:
        known = ", ".join(known_providers())
        raise UsageError(
            f"service `{name}`: there is no provider `{provider}`; known are {known}",
            help=did_you_mean(provider, known_providers()),
        )
    command = missing_extra(provider)
    if command is not None:
        raise UsageError(f"service `{name}`: provider `{provider}` is not installed", help=f"install it: {command}")
    protect([settings.key_env] if settings.key_env else [], settings.base_url)
    service = _factory(name, entry)(settings.model_copy(update={"name": name}))
    timeout = None if getattr(service, "keeps_time", False) else settings.timeout
    bounds = (timeout, settings.max_concurrency, settings.max_requests_per_minute)
    return service if bounds == (None, None, None) else BoundService(service, *bounds)


def adapt(name: str, function: AsyncFunction | Service) -> Service:
    """Make a service of any ``async (Request) -> Reply | JSON value``; one of this package is given back as it is.

    Raises:
        UsageError: It is nothing that can be asked.
    """
    if isinstance(function, type):
        given = f"the class {function.__name__}"
        raise UsageError(f"`{name}` is bound to {given}", help=f"write `{function.__name__}(...)`, an instance of it")
    if not callable(function):
        given = "None" if function is None else f"a value of type {type(function).__name__}"
        raise UsageError(f"`{name}` is bound to {given}", help="write a word such as `claude`, or an async function")
    ours = type(function).__module__.startswith("prose_runtime.")
    if ours and isinstance(function, Service):
        return function
    return FunctionService(str(getattr(function, "name", None) or name), function)


@lru_cache(maxsize=1)
def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _factory(name: str, entry: EntryPoint) -> Callable[[ServiceSettings], Service]:
    try:
        return cast("Callable[[ServiceSettings], Service]", entry.load())
    except (ImportError, AttributeError) as error:
        raise UsageError(f"service `{name}`: provider `{entry.name}` cannot be loaded: {error}") from error


@dataclass(slots=True)
class FunctionService:
    """A plain function, or an object that can be called, as a service.

    What it raises becomes a ``ServiceError`` of kind ``failed``, and what it gives a reply.
    """

    name: str
    function: AsyncFunction

    def __getattr__(self, name: str) -> Any:
        """What else the object has counts for this service, such as ``patient`` and ``timeout``."""
        return getattr(object.__getattribute__(self, "function"), name)

    async def __call__(self, request: Request) -> Reply:
        """Ask the function."""
        try:
            answer: Any = self.function(request)
            if inspect.isawaitable(answer):
                answer = await answer
        except ProseError:
            raise
        except Exception as error:
            message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise ServiceError(message, service=self.name) from error
        reply = answer if isinstance(answer, Reply) else Reply(answer)
        if not isinstance(reply.usage, Usage):
            kind = type(reply.usage).__name__
            raise ServiceError(f"{self.name} gave a usage of type {kind}, where a Usage is needed", service=self.name)
        found = strange(reply.value)
        if found is not None:
            raise ServiceError(f"{self.name} answered with {found}, which is no JSON value", service=self.name)
        return Reply(to_json(reply.value), reply.usage, reply.model)


class BoundService:
    """A service with bounds of its own: seconds a call, requests at once, requests a minute; None is no bound.

    A call over its time ends with a ``ServiceError`` of kind ``timeout``; the others are kept by the host.
    """

    def __init__(
        self,
        service: Service,
        timeout: float | None = None,
        max_concurrency: int | None = None,
        max_requests_per_minute: int | None = None,
    ):
        self.name = service.name
        self.service = service
        self.timeout = timeout
        self.max_concurrency = max_concurrency
        self.max_requests_per_minute = max_requests_per_minute

    async def __call__(self, request: Request) -> Reply:
        """Ask the service and wait no longer than allowed; it is cancelled then."""
        return await in_time(self.name, self.timeout, self.service, request)

    def __getattr__(self, attribute: str) -> Any:
        """The optional methods of a service: ``aclose``, ``ping``, ``skip``."""
        if attribute == "service":
            raise AttributeError(attribute)
        return getattr(self.service, attribute)
