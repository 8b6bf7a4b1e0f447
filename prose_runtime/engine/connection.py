"""Where the engine is: options, else ``engine`` of prose.yml, else its own environment variables and files."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prose_runtime.errors import EngineError, UsageError

if TYPE_CHECKING:
    from temporalio.client import Client

TASK_QUEUE = "prose"
"""The queue of workers when nothing else is said."""

LOST_AFTER = 30.0
"""Seconds without a sign of life after which a worker counts as lost."""

LONGEST_HISTORY = 40_000
"""Events after which the history of a run is cut and begun anew; the engine takes about 50,000."""

PATIENCE = 10.0
"""Seconds to wait for the engine to answer at all."""


@dataclass(frozen=True, slots=True)
class Place:
    """An engine and a queue of its workers. None of ``address`` and ``namespace``: as the environment says."""

    address: str | None = None
    namespace: str | None = None
    task_queue: str = TASK_QUEUE
    lost_after: float = LOST_AFTER
    longest_history: int = LONGEST_HISTORY


async def connect(place: Place) -> Client:
    """Connect to the engine. Encryption and keys come from its own variables, such as ``TEMPORAL_API_KEY``.

    Raises:
        UsageError: The extra is not installed, or the engine's configuration has faults.
        EngineError: Nobody answers there.
    """
    try:
        from temporalio.client import Client
        from temporalio.envconfig import ClientConfig

        from prose_runtime.engine.converter import CONVERTER
    except ImportError:
        raise UsageError(
            "runs on an engine need the extra `temporal`", help="install it: pip install 'prose-runtime[temporal]'"
        ) from None
    try:
        config: dict[str, Any] = {**ClientConfig.load_client_connect_config()}
    except (RuntimeError, ValueError, OSError) as error:
        raise UsageError(f"the engine's own configuration cannot be used: {error}") from None
    config["target_host"] = place.address or config.get("target_host") or "localhost:7233"
    if place.namespace:
        config["namespace"] = place.namespace
    try:
        return await asyncio.wait_for(Client.connect(**config, data_converter=CONVERTER), PATIENCE)
    except (RuntimeError, ValueError, OSError, TimeoutError) as error:
        raise _unreachable(config["target_host"], error) from None


def _unreachable(address: str, error: Exception) -> EngineError:
    said = str(error).splitlines()[0] if str(error) else "no answer"
    return EngineError(
        f"the engine at {address} cannot be reached: {said}",
        help="start one with `temporal server start-dev`, or say where it is with `--address HOST:PORT`",
    )


def refusal(error: Exception) -> EngineError | None:
    """What the engine's package raised, as an error of ours; None for any other."""
    ours = type(error).__module__.startswith("temporalio.")
    return EngineError(f"the engine refuses: {error}") if ours else None
