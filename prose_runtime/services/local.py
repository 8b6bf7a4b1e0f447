"""A small model in this process, with no account and no server: llama.cpp through xllamacpp.

It shows that a pattern works; its arguments are poor. ``local:/path/model.gguf`` runs any other model.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prose_runtime.errors import ServiceError, UsageError
from prose_runtime.services import keyboard, weights
from prose_runtime.services.api import Reply, Request, Service
from prose_runtime.services.prompt import render
from prose_runtime.services.shape import shape_of
from prose_runtime.services.shaping import ThoughtFilter, without_thoughts
from prose_runtime.services.small import TEXT_LIMIT, shortened, small_schema, whole_sentences
from prose_runtime.values import Usage

if TYPE_CHECKING:
    from prose_runtime.services.settings import ServiceSettings

CONTEXT = 4096
"""Tokens of prompt and reply together."""
BATCH = 128
"""Tokens of a prompt that are read between two chances to stop."""
TEXT_TOKENS = 150
"""The longest text, in tokens: a few seconds on a small machine."""
JSON_TOKENS = 256
"""The longest structured answer at the first try, in tokens."""
JSON_TOKENS_AGAIN = 1024
"""The longest structured answer when the first try was cut off, in tokens."""
SEED = 42
"""The seed unless ``seed`` is set."""
REPEAT_PENALTY = 1.1
"""Small models fall into loops without it."""
LEAST_PROMPT = 128
"""Tokens that are left for the prompt however long the reply may be."""
INPUT_LIMITS = (None, 4000, 2000, 1000, 500, 250)
"""Characters that are kept of each input, tried in this order until the prompt fits."""


def provider(settings: ServiceSettings) -> Service:
    """The service of a binding. Raises ``UsageError`` when ``model`` names a file that is not there."""
    return LocalService(settings)


class LocalService:
    """One binding of a model in this process; bindings of one model share it and take turns."""

    def __init__(self, settings: ServiceSettings):
        self.name = settings.name or "local"
        self._settings = settings
        self._model = None if settings.model is None else _model_file(settings.model, settings.folder, self.name)

    async def __call__(self, request: Request) -> Reply:
        """Ask the model. A ``model`` that the call asks for counts only when it is a file of weights here.

        Raises ``ServiceError``: kind ``length`` when prompt or answer do not fit.
        """
        model = self._model
        if request.model is not None and request.model.endswith(".gguf"):
            model = _model_file(request.model, self._settings.folder, self.name)
        engine = _engine(model)
        schema = shape_of(request)
        if schema is None:
            return await self._text(engine, request)
        return await self._json(engine, request, schema)

    async def ping(self) -> str:
        """Says which weights would answer; loads and fetches nothing."""
        path = self._model or weights.present()
        return f"{path} in this process" if path else f"SmolLM2-135M in this process, {weights.MEGABYTES} MB to fetch"

    async def _text(self, engine: _Engine, request: Request) -> Reply:
        job = await self._fitting(engine, request, self._settings.max_tokens or TEXT_TOKENS, None)
        value = without_thoughts(job.text).strip()
        return self._reply(engine, job, value if job.stop == "stop" else whole_sentences(value))

    async def _json(self, engine: _Engine, request: Request, schema: Mapping[str, Any]) -> Reply:
        first = self._settings.max_tokens or JSON_TOKENS
        budgets = [first, JSON_TOKENS_AGAIN] if first < JSON_TOKENS_AGAIN else [first]
        for attempt, budget in enumerate(budgets, 1):
            job = await self._fitting(engine, request, budget, small_schema(schema))
            if job.stop == "stop":
                return self._reply(engine, job, _tidy(_read(job.text)))
            if request.on_retry is not None and attempt < len(budgets):
                request.on_retry(attempt, 0.0, f"the answer was cut off at {budget} tokens")
        raise ServiceError(
            f"service `{self.name}` was cut off at {budget} tokens before its answer was complete",
            kind="length",
            service=self.name,
            help="ask this small model for less, or bind a larger one",
        )

    async def _fitting(self, engine: _Engine, request: Request, budget: int, schema: Mapping[str, Any] | None) -> _Job:
        """The finished job, for which inputs that are too long for the model were shortened, with a mark."""
        budget = min(budget, CONTEXT - LEAST_PROMPT)
        for limit in INPUT_LIMITS:
            inputs = request.inputs if limit is None else shortened(dict(request.inputs), limit)
            if limit is not None and inputs == request.inputs:
                continue
            if limit is not None and request.on_retry is not None:
                request.on_retry(1, 0.0, f"the prompt was too long: each input is shortened to {limit} characters")
            job = _Job(self._body(request.with_(inputs=inputs), budget, schema), CONTEXT - budget, request.on_text)
            await engine.run(job)
            if job.fault is not None:
                raise ServiceError(f"service `{self.name}` failed: {job.fault}", service=self.name)
            if not job.too_long:
                return job
        raise ServiceError(
            f"service `{self.name}` reads at most {CONTEXT - budget} tokens, which this call's prompt exceeds",
            kind="length",
            service=self.name,
            help="shorten the inputs, or bind a larger model",
        )

    def _body(self, request: Request, budget: int, schema: Mapping[str, Any] | None) -> dict[str, Any]:
        prompt = render(request)
        settings = self._settings
        body: dict[str, Any] = {
            "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            "max_tokens": budget,
            "temperature": settings.temperature or 0,
            "seed": SEED if settings.seed is None else settings.seed,
            "repeat_penalty": REPEAT_PENALTY,
            # What another call left in the cache would change the sums, and so now and then the answer.
            "cache_prompt": False,
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,
        }
        if schema is not None:
            body["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
        return body

    def _reply(self, engine: _Engine, job: _Job, value: Any) -> Reply:
        return Reply(value, Usage(job.input_tokens, job.output_tokens, 0, 0.0), engine.name)


@dataclass(slots=True)
class _Job:
    """One request to the model, and what came of it. ``room`` is the number of tokens that its prompt may have."""

    body: dict[str, Any]
    room: int
    on_text: Callable[[str], None] | None
    cancelled: threading.Event = field(default_factory=threading.Event)
    text: str = ""
    stop: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    too_long: bool = False
    fault: str | None = None

    def take(self, chunk: dict[str, Any]) -> Iterator[str]:
        """Note one chunk; gives the pieces of the answer in it."""
        error = chunk.get("error")
        if error is not None:
            self.too_long = error.get("type") == "exceed_context_size_error"
            self.fault = None if self.too_long else str(error.get("message", "unknown error"))
        if (chunk.get("prompt_progress") or {}).get("total", 0) > self.room:
            self.too_long = True
        for choice in chunk.get("choices") or ():
            self.stop = choice.get("finish_reason") or self.stop
            piece = choice["delta"].get("content") or ""
            self.text += piece
            yield piece
        usage = chunk.get("usage") or {}
        self.input_tokens = usage.get("prompt_tokens", self.input_tokens)
        self.output_tokens = usage.get("completion_tokens", self.output_tokens)


class _Engine:
    """A model in memory and the one thread that talks to it: calls queue, so that seeds reproduce.

    The model is loaded, and fetched if need be, when the first job comes.
    """

    def __init__(self, path: Path | None):
        self.name = weights.FILE if path is None else path.name
        self._path = path
        self._server: Any = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="prose-local")

    async def run(self, job: _Job) -> None:
        """Do the job; when the caller is cancelled the model stops at its next token."""
        loop = asyncio.get_running_loop()
        shown = ThoughtFilter()

        def show(text: str) -> None:
            if text and job.on_text is not None and not job.cancelled.is_set():
                job.on_text(text)

        def hear(pieces: list[str]) -> None:
            show("".join(map(shown.feed, pieces)))

        try:
            if self._path is None and weights.present() is None:
                with keyboard.aside():  # the download shows its own progress
                    await asyncio.wrap_future(self._thread.submit(weights.ensure, job.cancelled))
            work = self._thread.submit(self._work, job, lambda pieces: loop.call_soon_threadsafe(hear, pieces))
            await asyncio.wrap_future(work)
        except asyncio.CancelledError:
            job.cancelled.set()
            raise
        show(shown.finish())

    def close(self) -> None:
        """Free the model."""
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._server = None

    def _work(self, job: _Job, tell: Callable[[list[str]], Any]) -> None:
        def hear(chunk: dict[str, Any]) -> bool:
            pieces = [piece for piece in job.take(chunk) if piece]
            if pieces and not job.cancelled.is_set():
                with suppress(RuntimeError):  # The event loop was closed meanwhile.
                    tell(pieces)
            return job.cancelled.is_set() or job.too_long

        if self._server is None:
            self._server = _load(self._path or weights.ensure(job.cancelled))
        if not job.cancelled.is_set():
            self._server.handle_chat_completions(job.body, hear)


_ENGINES: dict[Path | None, _Engine] = {}


def _engine(path: Path | None) -> _Engine:
    """The one engine of a model in this process."""
    if path not in _ENGINES:
        _ENGINES[path] = _Engine(path)
    return _ENGINES[path]


@atexit.register
def _close_all() -> None:
    while _ENGINES:
        _ENGINES.popitem()[1].close()


def _load(path: Path) -> Any:
    # By name: it has no types, and is not there without the extra.
    xllamacpp = import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_parallel = CONTEXT, 1
    params.n_batch = params.n_ubatch = BATCH
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 2) - 1)
    params.verbosity, params.ui, params.warmup, params.endpoint_slots = 0, False, False, False
    params.n_threads_http, params.cache_ram_mib = 1, 0
    # It opens a port on the loopback interface that nobody else is to use.
    params.api_keys = [secrets.token_hex(16)]
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise ServiceError(
            f"the local model {path} cannot be loaded",
            service="local",
            help="it has to be a GGUF file that llama.cpp reads, and to fit into memory",
        ) from error


def _model_file(name: str, folder: Path | None, service: str) -> Path:
    path = Path(name).expanduser()
    path = path if path.is_absolute() or folder is None else folder / path
    if path.is_file():
        return path.resolve()
    raise UsageError(
        f"service `{service}`: there is no file {path}",
        help="a local model is the path of a GGUF file: `local:/path/model.gguf`; without one, SmolLM2-135M answers",
    )


def _read(text: str) -> Any:
    text = without_thoughts(text)
    try:
        return json.loads(text)
    except ValueError:
        return text


def _tidy(value: Any) -> Any:
    """The value with texts that were cut at their limit ending at a sentence or word."""
    if isinstance(value, dict):
        return {key: _tidy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if isinstance(value, str):
        return whole_sentences(value) if len(value) >= TEXT_LIMIT else value.strip()
    return value
