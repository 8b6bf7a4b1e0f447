"""Every server that speaks OpenAI's chat completions: OpenAI itself, Ollama, vLLM, llama.cpp, OpenRouter."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from prose_runtime.errors import ServiceError
from prose_runtime.services.api import Reply, Request, Service
from prose_runtime.services.failures import Endpoint, shown
from prose_runtime.services.live import ensure_live_allowed, is_loopback
from prose_runtime.services.pricing import price_of_any
from prose_runtime.services.prompt import Prompt
from prose_runtime.services.remote import SILENCE, RemoteService
from prose_runtime.services.shape import shape_of
from prose_runtime.services.shaping import ThoughtFilter, as_object, unwrapped, without_thoughts
from prose_runtime.values import Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletionChunk

    from prose_runtime.services.settings import ServiceSettings

DEFAULT_MODEL = "gpt-6.1-terra"
"""The model of a binding to OpenAI itself that names none; other servers are asked which they have."""
DEFAULT_KEY = "OPENAI_API_KEY"
"""The environment variable that holds the key unless ``key_env`` names another."""
DEFAULT_URL = "https://api.openai.com/v1"
"""The server unless ``base_url`` or ``OPENAI_BASE_URL`` names another."""


def provider(settings: ServiceSettings) -> Service:
    """The service of a binding; its key is looked for when it is first used."""
    return OpenAIService(settings)


class OpenAIService(RemoteService["AsyncOpenAI"]):
    """One binding of a server."""

    def __init__(self, settings: ServiceSettings):
        url = settings.base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL
        super().__init__(settings.name or "openai", settings, url)
        self._official = (urlsplit(self._url).hostname or "").endswith("openai.com")
        self._listed: str | None = None

    async def ping(self) -> str:
        """Ask the server which models it has, which costs nothing; says what is there. Raises ``ServiceError``."""
        client, endpoint = self._connect(self._settings.model)
        async with self._told(endpoint):
            known = [model.id async for model in client.models.list()]
        wanted = self._settings.model or (DEFAULT_MODEL if self._official else None)
        if wanted is not None and known and wanted not in known:
            raise endpoint.error("unknown_model", wanted)
        return f"{wanted or ', '.join(known[:3]) or 'no model'} at {endpoint.place}"

    @property
    def _sdk(self) -> Any:
        import openai

        return openai

    def _said(self, error: Any) -> tuple[str | None, str]:
        said = error.body.get("message") if isinstance(error.body, dict) else None
        return error.code or error.type, said if isinstance(said, str) else error.message

    async def _ask(self, request: Request, prompt: Prompt) -> Reply:
        client, endpoint = self._connect(request.model or self._settings.model)
        model = request.model or self._settings.model or await self._default_model(client, endpoint)
        # Not every server can hold a model to a schema; the prompt asks for JSON in words as well.
        ask = partial(self._stream, client, endpoint, request, prompt, model)
        return await self._freely(model, ask, lambda error: shape_of(request) is not None and _dislikes_schema(error))

    async def _default_model(self, client: AsyncOpenAI, endpoint: Endpoint) -> str:
        """The model of a server that was bound without one: most local servers have just one."""
        if self._official:
            return DEFAULT_MODEL
        if self._listed is None:
            async with self._told(endpoint):
                self._listed = next(iter([model.id async for model in client.models.list()]), None)
        if self._listed is None:
            raise endpoint.error("unknown_model", sentence="has no model loaded")
        return self._listed

    async def _stream(
        self, client: AsyncOpenAI, endpoint: Endpoint, request: Request, prompt: Prompt, model: str
    ) -> Reply:
        body, wrapped = self._body(request, prompt, model)
        answer = _Answer(endpoint, self._settings.max_tokens)
        usage = partial(self._usage, answer, model)
        opened = client.chat.completions.create(**body, stream=True)
        value = await self._streamed(opened, answer, usage, request, endpoint)
        if shape_of(request) is not None:
            value = unwrapped(_read(value), wrapped)
        return Reply(value, usage(), answer.model or model)

    def _body(self, request: Request, prompt: Prompt, model: str) -> tuple[dict[str, Any], bool]:
        """The request as the client takes it, and whether the answer comes wrapped in an object."""
        settings = self._settings
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            "stream_options": {"include_usage": True},
        }
        given = {"temperature": settings.temperature, "seed": settings.seed}
        # OpenAI has renamed this one; other servers know the old name.
        given["max_completion_tokens" if self._official else "max_tokens"] = settings.max_tokens
        body |= {key: value for key, value in given.items() if value is not None}
        wanted = shape_of(request)
        if wanted is None or model in self._free:
            return body, False
        schema, wrapped = as_object(wanted)
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
        return body, wrapped

    def _connect(self, model: str | None) -> tuple[AsyncOpenAI, Endpoint]:
        ensure_live_allowed("openai", self._url)
        variable = self._settings.key_env or DEFAULT_KEY
        key = os.environ.get(variable, "").strip()
        endpoint = Endpoint(
            self.name,
            shown(self._url),
            (key,),
            key_help=f"set the environment variable {variable} to the key of this server",
            model_help=f"check `model` ({model}) of this service, and that `base_url` is whole; most end in /v1",
        )
        # Servers on this machine rarely want a key, but one that was named has to be there.
        if key or self._settings.key_env or not is_loopback(self._url):
            endpoint.check_key(key, variable)
        return self._client_of_loop(lambda: self._new_client(key or "none")), endpoint

    def _new_client(self, key: str) -> AsyncOpenAI:
        from openai import AsyncOpenAI

        # Retries are ours, so that they can be seen. The limit is for one read; a whole call has its own.
        return AsyncOpenAI(api_key=key, base_url=self._url, max_retries=0, timeout=SILENCE)

    def _usage(self, answer: _Answer, model: str) -> Usage:
        price = price_of_any((model, answer.model), self._settings.price)
        if answer.input is None or answer.output is None or price is None:
            return Usage(answer.input, answer.output, answer.cached)
        fresh = answer.input - answer.cached
        cost = price.cost(fresh=fresh, output=answer.output, cache_read=answer.cached)
        return Usage(answer.input, answer.output, answer.cached, cost)


@dataclass(slots=True)
class _Answer:
    """A reply that is being put together from the chunks of its stream.

    Reasoning comes in fields of its own, which are not read, or as text between tags, which is taken out.
    """

    endpoint: Endpoint
    budget: int | None
    model: str | None = None
    text: str = ""
    refusal: str = ""
    stop: str | None = None
    input: int | None = None
    output: int | None = None
    cached: int = 0
    _filter: ThoughtFilter = field(default_factory=ThoughtFilter)

    def take(self, chunk: ChatCompletionChunk) -> str:
        """Note one chunk; gives the piece of the answer in it."""
        self.model = chunk.model or self.model
        if chunk.usage is not None:
            self.input, self.output = chunk.usage.prompt_tokens, chunk.usage.completion_tokens
            details = chunk.usage.prompt_tokens_details
            self.cached = (details and details.cached_tokens) or 0
        if not chunk.choices:
            return ""
        choice = chunk.choices[0]
        self.stop = choice.finish_reason or self.stop
        self.refusal += choice.delta.refusal or ""
        piece = choice.delta.content or ""
        self.text += piece
        return self._filter.feed(piece) + (self._filter.finish() if choice.finish_reason else "")

    def value(self) -> str:
        """The answer's text. Raises ``ServiceError``."""
        if self.stop is None or self.stop == "error":
            raise self.endpoint.broken_stream()
        if self.refusal or self.stop == "content_filter":
            raise self.endpoint.error("refused", self.refusal)
        if self.stop == "length":
            raise self.endpoint.cut(self.budget)
        return without_thoughts(self.text)


def _read(text: str) -> Any:
    """The JSON that a text is, else the text: what is in it is read by whoever asked."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _dislikes_schema(error: ServiceError) -> bool:
    said = error.message.lower()
    return error.kind == "failed" and any(word in said for word in ("response_format", "json_schema", "schema"))
