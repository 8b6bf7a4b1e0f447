"""What goes over the wire between workflow and workers, as JSON: requests, replies, errors, and their sizes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from prose_runtime.errors import EngineError, LimitExceeded, ProseError, ServiceError
from prose_runtime.services.api import Reply, Request, RetryListener
from prose_runtime.values import Usage, to_json

WORKFLOW = "prose"
"""The type of the workflow."""

ASK, SETTLE, RECALL, REMEMBER = "ask", "settle", "recall", "remember"
"""The types of the activities: a request to a service, what words mean, and errands for an agent's memory."""

LARGEST = 2_000_000
"""Bytes of JSON that one answer, request or result may have: the engine takes 2 MiB at once."""

LONGEST_ID = 900
"""Bytes of an activity's id; the engine takes 1000."""


def size_of(value: Any) -> int:
    """Bytes of a value as JSON, as the engine counts them."""
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass"))


def check_size(value: Any, what: str, help_: str) -> int:
    """The bytes of a value.

    Raises:
        EngineError: They are more than the engine takes; ``what`` names the value in the sentence.
    """
    size = size_of(value)
    if size > LARGEST:
        megabytes = f"{size / 1e6:.1f} MB, and the engine takes at most {LARGEST / 1e6:g} MB at once"
        raise EngineError(f"{what} has {megabytes}", help=help_)
    return size


def activity_id(step: str) -> str:
    """A step as the id of an activity: itself, unless it is too long."""
    data = step.encode()
    if len(data) <= LONGEST_ID:
        return step
    return data[:LONGEST_ID].decode("utf-8", "ignore") + "…" + hashlib.sha256(data).hexdigest()[:16]


_LIVE = frozenset({"pace", "turn", "on_text", "on_retry"})
"""What of a request is no data."""


def request_to(request: Request) -> dict[str, Any]:
    """A request as JSON."""
    return {field.name: to_json(getattr(request, field.name)) for field in fields(request) if field.name not in _LIVE}


def request_from(row: Mapping[str, Any], on_retry: RetryListener | None = None) -> Request:
    """The request that a row tells of, also one that another version of this package wrote with other fields."""
    known = {field.name: row[field.name] for field in fields(Request) if field.name in row}
    return Request(**{**known, "options": tuple(row["options"])}, on_retry=on_retry)


def usage_to(usage: Usage) -> dict[str, Any]:
    """A usage as JSON, unknown figures left out."""
    return {name: value for name in Usage.__dataclass_fields__ if (value := getattr(usage, name)) is not None}


def reply_to(reply: Reply) -> dict[str, Any]:
    """A reply as JSON."""
    return {"value": reply.value, "usage": usage_to(reply.usage), "model": reply.model}


def reply_from(row: Mapping[str, Any], *, recorded: bool = False) -> Reply:
    """The reply that a row tells of."""
    return Reply(row["value"], Usage(**row["usage"]), row["model"], recorded)


def failure_to(error: ServiceError) -> dict[str, Any]:
    """A service's failure as JSON."""
    usage = error.usage if isinstance(error.usage, Usage) else Usage()
    return {
        "message": error.message, "kind": error.kind, "service": error.service, "retry_after": error.retry_after,
        "help": error.help, "usage": usage_to(usage),
    }  # fmt: skip


def failure_from(row: Mapping[str, Any]) -> ServiceError:
    """The failure that a row tells of."""
    error = ServiceError(
        row["message"], kind=row["kind"], service=row["service"], retry_after=row["retry_after"], help=row["help"]
    )
    error.usage = Usage(**row["usage"])
    return error


def error_to(error: ProseError) -> dict[str, Any]:
    """What ended a run, for those who wait for it: as in ``--json``, with the exit code, the help and the limit."""
    row = {**error.as_json(), "exit_code": error.exit_code, "help": error.help}
    if isinstance(error, LimitExceeded):
        row["limit"] = {"limit": error.limit, "value": error.value, "bound": error.bound}
    return row
