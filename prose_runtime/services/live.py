"""The kill switch for live requests: with ``PROSE_LIVE=forbid`` nothing may leave this machine."""

from __future__ import annotations

import ipaddress
import os
from urllib.parse import urlsplit

from prose_runtime.errors import ServiceError

VARIABLE = "PROSE_LIVE"
"""The environment variable that forbids live requests when its value is ``forbid``."""


def ensure_live_allowed(provider: str, base_url: str | None) -> None:
    """Raise ``ServiceError`` of kind ``forbidden`` when a request would leave this machine and that is forbidden.

    Providers call it before each request. A base URL on the loopback interface is always allowed.
    """
    if os.environ.get(VARIABLE) == "forbid" and not is_loopback(base_url):
        raise ServiceError(
            f"a request to {provider} is forbidden here: {VARIABLE}=forbid is set",
            kind="forbidden",
            service=provider,
            help=f"bind a script, echo or rehearsal service, or unset {VARIABLE}",
        )


def is_loopback(base_url: str | None) -> bool:
    """Whether a URL leads to this machine itself."""
    host = (urlsplit(base_url).hostname if base_url else None) or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
