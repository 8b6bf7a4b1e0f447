"""Digests of requests: whether a recorded answer is one to the same request, and if not, what changed."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from prose_runtime.journal import Redactor
from prose_runtime.services.api import Request

_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, default=str)


def digest_of(service: str, request: Request, secrets: Redactor | None = None) -> str:
    """A digest of all that decides an answer: the service's name and what it is told, secrets left out."""
    content = _canonical([service, request.content()])
    content = secrets.text(content) if secrets else content
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def parts_of(request: Request) -> dict[str, str]:
    """Digests of what a request says, by the names that a person knows it by: each input, prompt, job, ..."""
    content = request.content()
    inputs = {f"the input `{name}`": value for name, value in content.pop("inputs").items()}
    said = {f"its {name}": value for name, value in content.items() if value}
    return {name: _short(_canonical(value)) for name, value in {**said, **inputs}.items()}


def _canonical(value: Any) -> str:
    return _ENCODER.encode(value)


def _short(text: str) -> str:
    return hashlib.blake2s(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
