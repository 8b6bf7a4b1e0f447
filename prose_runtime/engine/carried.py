"""What a run takes along when its history is cut and begun anew: the answers so far, so that nothing is asked twice."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from prose_runtime.engine import wire
from prose_runtime.errors import ServiceError


@dataclass(slots=True)
class Carried:
    """The record of a run by step, as JSON.

    Attributes:
        replies: What services and people answered.
        failures: How services failed.
        events: What else happened that decides how the program goes on.
        until: When each pause ends, or ended, in seconds since 1970.
        left: Seconds that the run may still take, or None.
        resumed: The answers are of an earlier run: they do not count for the limits of this one.
    """

    replies: dict[str, Any] = field(default_factory=dict)
    failures: dict[str, Any] = field(default_factory=dict)
    events: dict[str, Any] = field(default_factory=dict)
    until: dict[str, float] = field(default_factory=dict)
    left: float | None = None
    resumed: bool = False

    @classmethod
    def unpacked(cls, packed: str | None) -> Carried:
        """What ``packed`` gave; None is nothing."""
        return cls() if packed is None else cls(**json.loads(zlib.decompress(base64.b64decode(packed))))

    def packed(self) -> str:
        """The record as text that fits into what a workflow is started with."""
        text = json.dumps({name: getattr(self, name) for name in self.__dataclass_fields__}, separators=(",", ":"))
        return base64.b64encode(zlib.compress(text.encode(), 6)).decode()

    def begun_anew(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """What the next part of a run is started with.

        Raises:
            EngineError: That is more than the engine takes.
        """
        ordered = {**asked, "record": self.packed()}
        count = len(self.replies) + len(self.failures)
        help_ = "run it on one machine, or split it into several runs"
        wire.check_size(ordered, f"the run with its {count} answers so far", help_)
        return ordered

    def keep_failure(self, step: str, error: ServiceError) -> None:
        """Note how a service failed."""
        self.failures[step] = wire.failure_to(error)
