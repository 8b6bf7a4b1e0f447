"""The limits of a run as options of ``prose run`` and ``prose resume``, named as ``limits`` of prose.yml names them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import click

from prose_runtime.errors import LimitExceeded, ProseError

_COUNT = click.IntRange(min=1)
_AMOUNT = click.FloatRange(min=0, min_open=True)
_T = TypeVar("_T")


class _Flag(NamedTuple):
    names: tuple[str, ...]
    type: click.IntRange | click.FloatRange
    metavar: str
    help: str


FLAGS = {
    "max_calls": _Flag(("--max-calls",), _COUNT, "N", "Make at most N calls."),
    "max_input_tokens": _Flag(("--max-input-tokens",), _COUNT, "N", "Stop when N input tokens are used."),
    "max_output_tokens": _Flag(("--max-output-tokens",), _COUNT, "N", "Stop when N output tokens are used."),
    "max_cost_usd": _Flag(("--max-cost-usd", "--max-cost"), _AMOUNT, "USD", "Stop when so many dollars are spent."),
    "max_concurrency": _Flag(("--max-concurrency", "--concurrency"), _COUNT, "N", "Have at most N calls in flight."),
    "call_timeout": _Flag(("--call-timeout",), _AMOUNT, "SECONDS", "Let a call fail after so long."),
    "run_timeout": _Flag(("--run-timeout",), _AMOUNT, "SECONDS", "Stop the run after so long."),
    "max_concurrency_per_service": _Flag(
        ("--max-concurrency-per-service",), _COUNT, "N", "Have at most N calls to each service in flight."
    ),
    "max_requests_per_minute": _Flag(
        ("--max-requests-per-minute",), _COUNT, "N", "Send each service at most N requests a minute."
    ),
}
"""By key of ``limits`` in prose.yml."""

NAMES = tuple(name for flag in FLAGS.values() for name in flag.names)


def limit_options() -> list[click.Option]:
    """The options, one a limit; each gives None when it is left out."""
    return [
        click.Option([*flag.names, key], type=flag.type, metavar=flag.metavar, help=flag.help)
        for key, flag in FLAGS.items()
    ]


def limited(command: Callable[..., _T]) -> Callable[..., _T]:
    """Adds the options to a command that click makes of a function."""
    for key, flag in reversed(FLAGS.items()):
        command = click.option(*flag.names, key, type=flag.type, metavar=flag.metavar, help=flag.help)(command)
    return command


def given_limits(params: Mapping[str, Any]) -> dict[str, Any]:
    """The limits among the values of options."""
    return {key: params[key] for key in FLAGS if params.get(key) is not None}


def raised(error: ProseError) -> str:
    """The option that lets a run go on which a limit ended, written behind ``prose resume RUN``; or nothing."""
    if not isinstance(error, LimitExceeded) or error.limit not in FLAGS:
        return ""
    return f" {FLAGS[error.limit].names[0]} {error.bound * 2:g}"
