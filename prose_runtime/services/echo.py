"""``echo``: answers with its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from prose_runtime.services.api import Reply, Request, Service
from prose_runtime.services.settings import ServiceSettings
from prose_runtime.values import to_json


def provider(settings: ServiceSettings) -> Service:
    """Make an echo."""
    return EchoService(settings.name)


def echoed(request: Request) -> Any:
    """The inputs, a single one bare; without inputs the prompt, if there is one."""
    inputs = to_json(dict(request.inputs))
    if len(inputs) == 1:
        return next(iter(inputs.values()))
    if not inputs and request.prompt is not None:
        return request.prompt
    return inputs


@dataclass(slots=True)
class EchoService:
    """Answers each request with what it was given."""

    name: str

    async def __call__(self, request: Request) -> Reply:
        """Give the inputs back."""
        return Reply(echoed(request))

    async def ping(self) -> str:
        """It needs nothing."""
        return "ready"
