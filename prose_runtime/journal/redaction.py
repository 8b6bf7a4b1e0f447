"""Keeps secrets out of all that is written down: the record, its trace, cassettes, messages, reports of bugs.

Secret are the values of environment variables that are named as keys are, of those that a spec names under
``Environment`` or a service as its ``key_env``, and what stands in the addresses of servers beside the place.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from prose_runtime.errors import ProseError

_ENCODER = json.JSONEncoder(separators=(",", ":"))

HIDDEN = "***"
"""What stands where a secret was."""

_NAMES = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$", re.IGNORECASE)
_SHORTEST = 8
"""Characters; shorter values are words such as ``none``, whose removal would spoil answers and protect nothing."""
_SHORTEST_NAMED = 4
"""Characters of values that somebody has called secret."""


class _Known:
    """What was called secret in this process, beside variables whose names say so."""

    names: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()


def protect(names: Iterable[str] = (), url: str | None = None) -> None:
    """From now on hide the values of these environment variables, and the password and the query of an address."""
    _Known.names |= frozenset(names)
    if url is not None:
        _Known.values |= frozenset(_parts_of(url))


def _parts_of(url: str) -> Iterable[str]:
    parts = urlsplit(url)
    raw = [parts.password or "", *(value for _, value in parse_qsl(parts.query))]
    return [text for given in raw for text in (given, unquote(given)) if len(text) >= _SHORTEST_NAMED]


def _secrets() -> frozenset[str]:
    named = {os.environ.get(name, "").strip() for name in _Known.names}
    found = {value for value in named if len(value) >= _SHORTEST_NAMED}
    found |= {v.strip() for k, v in os.environ.items() if _NAMES.search(k) and len(v.strip()) >= _SHORTEST}
    return frozenset(found) | _Known.values


class Redactor:
    """Takes the secrets of now out of values; one for a run, since looking for them costs time."""

    def __init__(self) -> None:
        self._seen: tuple[frozenset[str], frozenset[str]] | None = None
        self._plain: re.Pattern[str] | None = None
        self._dumped: re.Pattern[str] | None = None

    def text(self, text: str) -> str:
        """A text without secrets."""
        self._look()
        return text if self._plain is None else self._plain.sub(HIDDEN, text)

    def value(self, value: Any) -> Any:
        """A JSON value without secrets."""
        self._look()
        return value if self._plain is None else _without(value, self._plain)

    def dump(self, value: Any) -> str:
        """A JSON value without secrets as JSON; ASCII, so that a lone surrogate cannot fail to be stored."""
        self._look()
        dumped = _dump(value)
        if self._plain is None or self._dumped is None or not self._dumped.search(dumped):
            return dumped
        return _dump(_without(value, self._plain))

    def error(self, error: ProseError) -> None:
        """Take the secrets out of what an error says."""
        error.message = self.text(error.message)
        error.args = (error.message,)
        error.help = error.help and self.text(error.help)

    def _look(self) -> None:
        """Look for secrets at the first use, and when more was called secret since."""
        seen = (_Known.names, _Known.values)
        if seen == self._seen:
            return
        self._seen = seen
        hidden = {form for secret in _secrets() for form in (secret, quote(secret, safe=""))}
        self._plain = _any_of(hidden)
        self._dumped = _any_of(json.dumps(secret)[1:-1] for secret in hidden)


def redact(value: Any) -> Any:
    """A JSON value without the secrets of now."""
    return Redactor().value(value)


def _any_of(texts: Iterable[str]) -> re.Pattern[str] | None:
    longest_first = sorted(texts, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first))) if longest_first else None


def _dump(value: Any) -> str:
    return _ENCODER.encode(value)


def _without(value: Any, hidden: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return hidden.sub(HIDDEN, value)
    if isinstance(value, dict):
        return {_without(key, hidden): _without(item, hidden) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without(item, hidden) for item in value]
    return value
