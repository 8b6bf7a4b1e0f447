"""What prose.yml, or a word such as ``provider:model``, says about one service (DESIGN.md section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(gt=0)]


class Closed(BaseModel):
    """A part of prose.yml: unknown keys are errors, and nothing changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Price(Closed):
    """What a model costs, in US dollars for a million tokens; ``cached``: input tokens read from a prompt cache."""

    input: Dollars
    output: Dollars
    cached: Dollars | None = None


class ServiceSettings(Closed):
    """The settings of one service. A provider reads those that concern it; ``KEYS`` says which.

    Attributes:
        name: The binding's name; set by ``registry.create``, no key of prose.yml.
        folder: The folder of prose.yml, from which relative paths count; set on loading, no key of prose.yml.
        provider: The entry point that makes the service.
        model: The model's id, with aliases of ``models`` already replaced.
        instructions, persona, language, background: Additions to what each role is told; the runtime puts them
            into the request, providers do not.
        timeout: Seconds after which a call fails with kind ``timeout``.
        max_concurrency, max_requests_per_minute: How many requests may be in flight at once, and go out in a minute.
        fallback: The names of services that answer, in this order, when this one cannot.
        retries: How often a busy or unreachable server is asked again within one call.
        base_url, key_env: The server, and the environment variable that holds its key.
        max_tokens, temperature, seed: How a model answers.
        prices: By model id; they come from the top level of prose.yml.
        command: Program and arguments of a ``command``.
        replies, repeat, rules, otherwise: What a ``script`` answers; ``otherwise`` is written ``else``.
        chat: Where ``telegram`` asks: a number, ``@name``, or ``new`` for an invitation.
        options: Anything else that a provider from outside this package wants to know.
    """

    name: str = Field(default="", exclude=True)
    folder: Path | None = Field(default=None, exclude=True)
    provider: str
    model: str | None = None
    instructions: str | None = None
    persona: str | None = None
    language: str | None = None
    background: str | None = None
    timeout: Seconds | None = None
    max_concurrency: Count | None = None
    max_requests_per_minute: Count | None = None
    fallback: list[str] | None = None
    retries: Annotated[int, Field(ge=0)] = 2
    base_url: str | None = None
    key_env: str | None = None
    max_tokens: Annotated[int, Field(gt=0)] | None = None
    temperature: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    seed: int | None = None
    prices: Mapping[str, Price] = Field(default_factory=dict, exclude=True)
    command: list[str] | None = None
    replies: list[Any] | None = None
    repeat: bool = False
    rules: list[dict[str, Any]] | None = None
    otherwise: Any = Field(default=None, alias="else")
    chat: int | str | None = None
    options: dict[str, Any] = Field(default_factory=dict)

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        """Only what is no secret: a command line or a URL may hold one."""
        return [("name", self.name), ("provider", self.provider), ("model", self.model)]

    def price(self, model: str) -> Price | None:
        """What prose.yml says that a model costs."""
        return self.prices.get(model)


INTERNAL = frozenset({"name", "folder", "prices"})
"""Fields of ServiceSettings that are no keys of a service in prose.yml."""

COMMON = frozenset(
    {"provider", "model", "instructions", "persona", "language", "background", "timeout"}
    | {"max_concurrency", "max_requests_per_minute", "fallback"}
)
"""Keys that every provider takes."""

_SAMPLING = frozenset({"max_tokens", "temperature", "seed"})

KEYS: Mapping[str, frozenset[str]] = {
    "anthropic": frozenset({"base_url", "key_env", "retries", "max_tokens", "temperature"}),
    "openai": frozenset({"base_url", "key_env", "retries"}) | _SAMPLING,
    "local": _SAMPLING,
    "command": frozenset({"command"}),
    "script": frozenset({"replies", "repeat", "rules", "else"}),
    "echo": frozenset(),
    "human": frozenset(),
    "telegram": frozenset({"chat", "base_url", "key_env"}),
    "rehearsal": frozenset(),
}
"""By built-in provider, the keys that it takes beside the common ones. Other providers take all keys."""
