"""Claude, through Anthropic's own client: streamed, structured by a tool, with the stable prefix cached."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from prose_runtime.errors import ServiceError
from prose_runtime.services.api import Reply, Request, Service
from prose_runtime.services.failures import Endpoint, shown
from prose_runtime.services.live import ensure_live_allowed
from prose_runtime.services.pricing import price_of_any
from prose_runtime.services.prompt import Prompt
from prose_runtime.services.remote import SILENCE, RemoteService
from prose_runtime.services.shape import shape_of
from prose_runtime.services.shaping import as_object, unwrapped
from prose_runtime.values import Usage

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import RawMessageStreamEvent

    from prose_runtime.services.settings import ServiceSettings

DEFAULT_MODEL = "claude-sonnet-5-5"
"""The model of a binding that names none."""
DEFAULT_KEY = "ANTHROPIC_API_KEY"
"""The environment variable that holds the key unless ``key_env`` names another."""
TOKEN = "ANTHROPIC_AUTH_TOKEN"
"""The environment variable that may hold a bearer token instead, where no key is set."""
DEFAULT_URL = "https://api.anthropic.com"
"""The server unless ``base_url`` or ``ANTHROPIC_BASE_URL`` names another."""
MAX_TOKENS = 16_000
"""The largest reply, in tokens, reasoning included, unless ``max_tokens`` is set."""
TOOL = "answer"
"""The tool whose input is the structured answer."""


def provider(settings: ServiceSettings) -> Service:
    """The service of a binding; its key is looked for when it is first used."""
    return AnthropicService(settings)


class AnthropicService(RemoteService["AsyncAnthropic"]):
    """One binding of Claude."""

    def __init__(self, settings: ServiceSettings):
        url = settings.base_url or os.environ.get("ANTHROPIC_BASE_URL") or DEFAULT_URL
        super().__init__(settings.name or "anthropic", settings, url)

    async def ping(self) -> str:
        """Ask the server for the model, which costs nothing; says what is there. Raises ``ServiceError``."""
        model = self._settings.model or DEFAULT_MODEL
        client, endpoint = self._connect(model)
        async with self._told(endpoint):
            found = await client.models.retrieve(model)
        return f"{found.id} at {endpoint.place}"

    @property
    def _sdk(self) -> Any:
        import anthropic

        return anthropic

    def _said(self, error: Any) -> tuple[str | None, str]:
        if isinstance(error, self._sdk.APIStatusError):
            return error.type, error.api_message or ""
        return None, error.message

    async def _ask(self, request: Request, prompt: Prompt) -> Reply:
        model = request.model or self._settings.model or DEFAULT_MODEL
        client, endpoint = self._connect(model)
        # Models that always reason take no forced tool: they are offered it, and the prompt asks for JSON anyway.
        ask = partial(self._stream, client, endpoint, request, prompt, model)
        return await self._freely(model, ask, _dislikes_forced_tool)

    async def _stream(
        self, client: AsyncAnthropic, endpoint: Endpoint, request: Request, prompt: Prompt, model: str
    ) -> Reply:
        body, wrapped = self._body(request, prompt, model)
        answer = _Answer(endpoint, body["max_tokens"])
        usage = partial(self._usage, answer, model)
        value = await self._streamed(client.messages.create(**body, stream=True), answer, usage, request, endpoint)
        return Reply(unwrapped(value, wrapped), usage(), answer.model or model)

    def _body(self, request: Request, prompt: Prompt, model: str) -> tuple[dict[str, Any], bool]:
        """The request as the client takes it, and whether the answer comes wrapped in an object."""
        body: dict[str, Any] = {
            "model": model,
            "max_tokens": self._settings.max_tokens or MAX_TOKENS,
            "system": [{"type": "text", "text": prompt.system, "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": prompt.user}],
        }
        if self._settings.temperature is not None:
            # The client has no such parameter any more, as the newest models take none; older models do.
            body["extra_body"] = {"temperature": self._settings.temperature}
        wanted = shape_of(request)
        if wanted is None:
            return body, False
        schema, wrapped = as_object(wanted)
        body["tools"] = [{"name": TOOL, "description": "Give your answer.", "input_schema": schema}]
        choice = {"type": "auto"} if model in self._free else {"type": "tool", "name": TOOL}
        body["tool_choice"] = {**choice, "disable_parallel_tool_use": True}
        return body, wrapped

    def _connect(self, model: str) -> tuple[AsyncAnthropic, Endpoint]:
        ensure_live_allowed("anthropic", self._url)
        variable = self._settings.key_env or DEFAULT_KEY
        if self._settings.key_env is None and not os.environ.get(DEFAULT_KEY) and os.environ.get(TOKEN):
            variable = TOKEN
        key = os.environ.get(variable, "").strip()
        endpoint = Endpoint(
            self.name,
            shown(self._url),
            (key,),
            key_help=f"set the environment variable {variable} to a key from console.anthropic.com",
            model_help=f"`{model}` is unknown there: set `model` of this service to an id such as {DEFAULT_MODEL}",
        )
        endpoint.check_key(key, variable)
        return self._client_of_loop(lambda: self._new_client(key, variable)), endpoint

    def _new_client(self, key: str, variable: str) -> AsyncAnthropic:
        from anthropic import AsyncAnthropic

        # Retries are ours, so that they can be seen. The limit is for one read; a whole call has its own.
        token = variable == TOKEN
        return AsyncAnthropic(
            api_key=None if token else key,
            auth_token=key if token else None,
            base_url=self._url,
            max_retries=0,
            timeout=SILENCE,
        )

    def _usage(self, answer: _Answer, model: str) -> Usage:
        fresh, read, written = answer.fresh, answer.cache_read, answer.cache_write
        price = price_of_any((model, answer.model), self._settings.price)
        if price is None:
            return Usage(fresh + read + written, answer.output, read)
        cost = price.cost(fresh=fresh, output=answer.output, cache_read=read, cache_write=written)
        return Usage(fresh + read + written, answer.output, read, cost)


@dataclass(slots=True)
class _Answer:
    """A reply that is being put together from the events of its stream."""

    endpoint: Endpoint
    budget: int
    model: str | None = None
    text: str = ""
    tool: str | None = None
    stop: str | None = None
    explanation: str = ""
    complete: bool = False
    fresh: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    def take(self, event: RawMessageStreamEvent) -> str:
        """Note one event; gives the piece of the answer in it, which reasoning never is."""
        match event.type:
            case "message_start":
                self.model = event.message.model
                self._count(event.message.usage)
            case "content_block_start" if event.content_block.type == "tool_use":
                self.tool = ""
            case "content_block_delta":
                return self._delta(event.delta)
            case "message_delta":
                self.stop = event.delta.stop_reason or self.stop
                self.explanation = getattr(event.delta.stop_details, "explanation", None) or ""
                self._count(event.usage)
            case "message_stop":
                self.complete = True
        return ""

    def value(self) -> Any:
        """The answer: the tool's input where it was used, else the text. Raises ``ServiceError``."""
        if not self.complete or self.stop is None:
            raise self.endpoint.broken_stream()
        if self.stop == "refusal":
            raise self.endpoint.error("refused", self.explanation)
        if self.stop in ("max_tokens", "model_context_window_exceeded"):
            raise self.endpoint.cut(self.budget if self.stop == "max_tokens" else None)
        if self.tool is None:
            return self.text
        try:
            return json.loads(self.tool or "{}")
        except ValueError:
            return self.tool

    def _delta(self, delta: Any) -> str:
        piece = ""
        if delta.type == "text_delta":
            piece = delta.text
            self.text += piece
        elif delta.type == "input_json_delta" and self.tool is not None:
            piece = delta.partial_json
            self.tool += piece
        return piece

    def _count(self, usage: Any) -> None:
        """The figures of later events replace earlier ones: they are cumulative."""
        self.fresh = _known(usage.input_tokens, self.fresh)
        self.cache_read = _known(usage.cache_read_input_tokens, self.cache_read)
        self.cache_write = _known(usage.cache_creation_input_tokens, self.cache_write)
        self.output = _known(usage.output_tokens, self.output)


def _known(figure: int | None, before: int) -> int:
    return before if figure is None else figure


def _dislikes_forced_tool(error: ServiceError) -> bool:
    return error.kind == "failed" and ("tool_choice" in error.message or "thinking" in error.message)
