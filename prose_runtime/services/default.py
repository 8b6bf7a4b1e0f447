"""Which service answers when none is configured (DESIGN.md section 4, Default service)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from prose_runtime.services.live import is_loopback
from prose_runtime.services.registry import missing_extra
from prose_runtime.services.settings import ServiceSettings

PROBE_TIMEOUT = 0.4
"""Seconds that the probe for a server on this machine may take."""

OLLAMA_PORT = 11434


class Choice(NamedTuple):
    """A default service: its name, its settings, and a sentence saying why it and what would be better."""

    name: str
    settings: ServiceSettings
    note: str


def choose(env: Mapping[str, str] | None = None) -> Choice:
    """The first that is there: an Anthropic key, an Ollama server on this machine, the embedded model, a rehearsal."""
    env = os.environ if env is None else env
    for variable in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        if env.get(variable):
            return Choice("anthropic", ServiceSettings(provider="anthropic"), f"anthropic, because {variable} is set")
    return _ollama(env) or _local() or _rehearsal()


def _ollama(env: Mapping[str, str]) -> Choice | None:
    server = ollama_url(env)
    models = installed_models(server)
    if not models or missing_extra("openai"):
        return None
    model = models[0]
    settings = ServiceSettings(provider="openai", base_url=f"{server}/v1", model=model)
    note = f"ollama ({model}), because an Ollama server runs on this machine"
    return Choice(f"ollama:{model}", settings, f"{note}; better: set ANTHROPIC_API_KEY, or `default` in prose.yml")


def _local() -> Choice | None:
    if missing_extra("local"):
        return None
    note = (
        "local, a very small model on this machine whose arguments are poor, because no key is set and no Ollama runs"
    )
    return Choice("local", ServiceSettings(provider="local"), f"{note}; better: set ANTHROPIC_API_KEY or start Ollama")


def _rehearsal() -> Choice:
    note = "rehearsal, a stand-in without a model, because no key is set, no Ollama runs and no model is installed"
    better = f"better: set ANTHROPIC_API_KEY, or {missing_extra('local') or 'start Ollama'}"
    return Choice("rehearsal", ServiceSettings(provider="rehearsal"), f"{note}; {better}")


def ollama_url(env: Mapping[str, str]) -> str:
    """The address in OLLAMA_HOST, as Ollama reads it, else its usual one: scheme, host and port."""
    given = env.get("OLLAMA_HOST", "").strip()
    parts = urlsplit(given if "//" in given else f"//{given}")
    host = parts.hostname or "127.0.0.1"
    # The address on which a server listens everywhere is none that can be asked.
    host = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    try:
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, OLLAMA_PORT)
    except ValueError:
        port = OLLAMA_PORT
    return f"{parts.scheme or 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


def installed_models(server: str) -> list[str]:
    """The models of an Ollama server on this machine that can write, the latest first; empty when there is none."""
    if not is_loopback(server):
        return []
    parts = urlsplit(server)
    connection = HTTPConnection(parts.hostname or "127.0.0.1", parts.port, timeout=PROBE_TIMEOUT)
    try:
        connection.request("GET", "/api/tags")
        reply = connection.getresponse()
        found: Any = json.loads(reply.read()) if reply.status == 200 else {}
    except (OSError, HTTPException, ValueError):
        return []
    finally:
        connection.close()
    rows = found.get("models") if isinstance(found, dict) else None
    names = [row.get("name") for row in rows or () if isinstance(row, dict)]
    return [name for name in names if isinstance(name, str) and "embed" not in name]
