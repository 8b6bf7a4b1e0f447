"""What goes wrong between us and a provider's server, as a ``ServiceError`` that tells a person what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit, urlunsplit

from prose_runtime.errors import ServiceError

LONGEST_QUOTE = 300
"""Characters of a server's own message that are shown."""

KINDS_BY_TYPE = {
    "overloaded_error": "overloaded",
    "overloaded": "overloaded",
    "engine_overloaded": "overloaded",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "insufficient_quota": "exhausted",
    "billing_error": "exhausted",
    "authentication_error": "auth",
    "permission_error": "auth",
    "invalid_api_key": "auth",
    "not_found_error": "unknown_model",
    "model_not_found": "unknown_model",
    "timeout_error": "timeout",
    "api_error": "unavailable",
    "server_error": "unavailable",
    "request_too_large": "length",
    "context_length_exceeded": "length",
    "exceed_context_size_error": "length",
    "content_filter": "refused",
    "content_policy_violation": "refused",
}
"""A server's own name for an error, which says more than the status: also inside a stream that began with 200."""

KINDS_BY_STATUS = {
    401: "auth", 402: "exhausted", 403: "auth", 404: "unknown_model", 408: "timeout", 413: "length", 429: "rate_limit",
    529: "overloaded",
}  # fmt: skip

SENTENCES = {
    "auth": "did not accept the key",
    "exhausted": "has no credit left",
    "unknown_model": "does not know the model",
    "timeout": "took too long to answer",
    "length": "cannot take a request this long",
    "rate_limit": "limits the rate of requests",
    "overloaded": "is overloaded",
    "unavailable": "is not available now",
    "refused": "refused to answer",
    "failed": "did not accept the request",
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Who is asked, for the messages.

    Attributes:
        service: The binding's name.
        place: The server's address as shown to people.
        secrets: Texts that must never appear in a message.
        key_help: How to set the key.
        model_help: How to name a model.
    """

    service: str
    place: str
    secrets: tuple[str, ...] = ()
    key_help: str = ""
    model_help: str = ""

    def error(self, kind: str, said: str = "", *, sentence: str | None = None, **more: float | None) -> ServiceError:
        """A failure of this service; ``said`` is the server's own message, quoted short and without secrets."""
        quote = "" if kind == "auth" else self._quote(said)
        message = f"service `{self.service}` {sentence or SENTENCES[kind]}{quote}"
        known = "failed" if kind == "unknown_model" else kind
        return ServiceError(message, kind=known, service=self.service, help=self._help(kind), **more)

    def check_key(self, key: str, variable: str) -> None:
        """Raise an error when a variable holds no key, or what no key can be."""
        if not key:
            raise self.error("auth", sentence=f"has no key: {variable} is not set")
        if not (key.isascii() and key.isprintable()):
            raise self.error("auth", sentence=f"has no usable key: {variable} holds characters that no key has")

    def from_status(self, status: int, name: str | None, said: str, headers: Mapping[str, str]) -> ServiceError:
        """An error reply. ``name`` is the server's own name for it, ``said`` its message."""
        kind = KINDS_BY_TYPE.get(name or "") or KINDS_BY_STATUS.get(status)
        if kind is None:
            kind = "unavailable" if status >= 500 else "length" if _too_long(said) else "failed"
        return self.error(kind, said or f"status {status}", retry_after=retry_after(headers))

    def no_connection(self) -> ServiceError:
        """Nobody answers at the address."""
        return self.error("unavailable", sentence=f"cannot be reached at {self.place}")

    def broken_stream(self) -> ServiceError:
        """The reply ended before it was complete."""
        return self.error("unavailable", sentence="broke off in the middle of its reply")

    def silent(self, seconds: float) -> ServiceError:
        """Nothing came for so long that nothing will."""
        return self.error("timeout", sentence=f"sent nothing for {seconds:g} seconds")

    def cut(self, budget: int | None) -> ServiceError:
        """The reply reached its largest length."""
        limit = "its largest length" if budget is None else f"the limit of {budget} tokens"
        return self.error("length", sentence=f"was cut off: its reply reached {limit}")

    def _help(self, kind: str) -> str | None:
        return {
            "auth": self.key_help,
            "unknown_model": self.model_help,
            "length": "shorten the inputs, or raise `max_tokens` of this service in prose.yml",
            "timeout": "raise `timeout` of this service in prose.yml, or try again later",
            "exhausted": "add credit to the account, or bind another service",
        }.get(kind) or None

    def _quote(self, said: str) -> str:
        said = " ".join(redact(said, self.secrets).split())
        short = said if len(said) <= LONGEST_QUOTE else said[:LONGEST_QUOTE] + "..."
        return f": {short}" if short else ""


def redact(text: str, secrets: tuple[str, ...]) -> str:
    """The text with each secret replaced by ``***``."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "***")
    return text


def shown(url: str) -> str:
    """An address without the user name, password and query that it may hold."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks us to wait, or None."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        said = headers.get("retry-after")
        return None if said is None else _seconds(said)
    except ValueError:
        return None


def _seconds(said: str) -> float:
    if said.strip().replace(".", "", 1).isdigit():
        return float(said)
    when = parsedate_to_datetime(said)
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


def _too_long(said: str) -> bool:
    said = said.lower()
    return "too long" in said or "context length" in said or "context size" in said
