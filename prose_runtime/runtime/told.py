"""The object of a run made a result again: of one that was recorded, or that ended elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prose_runtime.errors import LimitExceeded, Paused, ProseError
from prose_runtime.runtime.result import Result
from prose_runtime.text import Where
from prose_runtime.values import Usage


def error_from(row: Mapping[str, Any]) -> ProseError:
    """The error that a row tells of."""
    where = Where(row["file"], row["line"], row["column"] or 1) if row["file"] else None
    more: dict[str, Any] = {"help": row.get("help"), "where": where, "step": row["step"]}
    limit = row.get("limit")
    error = LimitExceeded(row["message"], **limit, **more) if limit else ProseError(row["message"], **more)
    error.kind = row["kind"]
    error.exit_code = row.get("exit_code", 1)
    return error


def _paused(waiting: list[dict[str, Any]]) -> Paused:
    return Paused(
        f"waiting for {len(waiting)} answers of people" if len(waiting) > 1 else "waiting for a person's answer",
        waiting=waiting,
        step=waiting[0]["step"],
    )


def result_from(told: Mapping[str, Any]) -> Result:
    """The result that the object of a run tells of; its error knows the exit code."""
    usage = {name: value for name, value in told["usage"].items() if name != "calls"}
    return Result(
        told["spec"],
        run=told["run"],
        status=told["status"],
        value=told["result"],
        error=_paused(told["waiting"]) if told.get("waiting") else told["error"] and error_from(told["error"]),
        calls=told["calls"],
        conditions=told["conditions"],
        emitted=told["emitted"],
        invariants=told["invariants"],
        usage=Usage(**usage),
        requests=told["usage"]["calls"],
    )
