"""Errors as values and back: what ``catch`` sees, what ``throw`` raises."""

from __future__ import annotations

from prose_runtime.errors import ContractError, ProseError, RunFailed, ServiceError
from prose_runtime.text import Where
from prose_runtime.values import ErrorValue, Value, to_json, to_text


def catchable(error: ProseError) -> bool:
    """Failed calls, unmet shapes and thrown errors; nothing else (LANGUAGE.md section 3, rule 7)."""
    if isinstance(error, ContractError):
        return error.kind == "shape"
    return isinstance(error, ServiceError | Thrown)


class Thrown(RunFailed):
    """An error that the program threw. ``value`` is what it threw."""

    kind = "thrown"

    def __init__(self, message: str, value: Value, *, where: Where | None = None, step: str | None = None):
        super().__init__(message, where=where, step=step)
        self.value = value


def as_value(error: ProseError) -> ErrorValue:
    """What ``e`` is in ``catch as e``."""
    service = error.service if isinstance(error, ServiceError) else None
    return ErrorValue(error.message, error.kind, service, error)


def handled(error: ProseError, yes: bool = True) -> None:
    """Note that the program goes on in spite of a failed call, or does not after all."""
    if isinstance(error, ServiceError):
        error.handled = yes


def thrown(value: Value, where: Where, step: str) -> ProseError:
    """The error that ``throw E`` raises: a caught error goes on as it was."""
    if isinstance(value, ErrorValue):
        if isinstance(value.cause, ProseError):
            handled(value.cause, False)
            return value.cause
        return RunFailed(value.message, kind=value.kind, where=where, step=step)
    if isinstance(value, dict) and isinstance(value.get("message"), str):
        error = Thrown(value["message"], to_json(value), where=where, step=step)
        error.kind = value["kind"] if isinstance(value.get("kind"), str) else error.kind
        return error
    return Thrown(to_text(value) or "the program threw an error", to_json(value), where=where, step=step)
