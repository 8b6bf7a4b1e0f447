"""Shows a run while it happens: a line for each thing that a person waits for, on standard error."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable
from typing import Any

from prose_runtime.events import (
    CallFinished,
    CallRetry,
    CallStarted,
    ConditionDecided,
    Emitted,
    Event,
    Warned,
)
from prose_runtime.text import printable
from prose_runtime.values import clean_text, to_text

Write = Callable[[str, str], None]
"""Writes a piece of text in a style; ``dim``, ``green``, ``red``, ``yellow``, ``bold`` or none."""

_WIDTH = 72


class Progress:
    """A listener that writes a line when a call begins and ends, and for all that is told to the person."""

    def __init__(self, write: Write, *, clock: Callable[[], float] = time.monotonic):
        self._write = write
        self._clock = clock
        self._open: dict[str, float] = {}
        self._targets: dict[str, str] = {}

    def __call__(self, event: Event) -> None:
        """Show an event, if a person wants to know of it."""
        show = _SHOWN.get(type(event))
        if show is not None:
            getattr(self, show)(event)

    def line(self, text: str, style: str = "") -> None:
        """Write a line, or several where the text has them."""
        self._write("\n".join(printable(line) for line in clean_text(text).splitlines()) + "\n", style)

    def call_started(self, event: CallStarted) -> None:
        """``call thesis: claude (line 12)``."""
        again = f", attempt {event.attempt}" if event.attempt > 1 else ""
        self._open[event.step] = self._clock()
        self._targets[event.step] = name = event.target + iteration(event.step)
        self.line(f"call {name}: {event.service} (line {event.where.line}{again})")

    def call_retry(self, event: CallRetry) -> None:
        """Why and how long a call waits."""
        name = self._name(event.step)
        again = f"; asking again in {event.delay:.3g} s" if event.delay else ""
        self.line(f"wait {name}: {event.reason}{again}", "yellow")

    def call_finished(self, event: CallFinished) -> None:
        """``done thesis: 1.2 s: the first words``."""
        name = self._name(event.step)
        now = self._clock()
        begun = self._open.pop(event.step, now)
        if event.error is not None and event.error.get("kind") == "cancelled":
            self.line(f"stop {name}", "yellow")
        elif event.error is not None and event.error.get("kind") == "paused":
            self.line(f"open {name}: a person has to answer", "yellow")
        elif event.error is not None:
            self.line(f"fail {name}: {event.error.get('message')}", "red")
        elif event.recorded:
            self.line(f"kept {name}: {preview(event.output)}", "green")
        else:
            self.line(f"done {name}: {now - begun:.1f} s: {preview(event.output)}", "green")

    def decided(self, event: ConditionDecided) -> None:
        """Only what a judge decided: everything else follows from the values."""
        if event.rung == "judge":
            verdict = event.verdict if isinstance(event.verdict, str) else "yes" if event.verdict else "no"
            reason = f" ({preview(event.reason)})" if event.reason else ""
            self.line(f"judge {event.text}: {verdict}{reason}")

    def emitted(self, event: Emitted) -> None:
        """The program's own words."""
        self.line(to_text(event.value), "bold")

    def warned(self, event: Warned) -> None:
        """A warning with its place."""
        self.line(f"warning: {event.message}{f' ({event.where})' if event.where else ''}", "yellow")

    def _name(self, step: str) -> str:
        return self._targets.get(step) or step.rsplit("/", 1)[-1].removeprefix("call ")


_SHOWN: dict[type[Event], str] = {
    CallStarted: "call_started",
    CallRetry: "call_retry",
    CallFinished: "call_finished",
    ConditionDecided: "decided",
    Emitted: "emitted",
    Warned: "warned",
}


def iteration(step: str) -> str:
    """The iterations and branches that a step stands in: ``[2]``, ``[2.1]``, or nothing."""
    numbers = ".".join(re.findall(r"\[(\d+)\](?:/|$)", step))
    return f" [{numbers}]" if numbers else ""


def preview(value: Any) -> str:
    """The first words of a value on one line."""
    text = " ".join(to_text(value).split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."


def drawable() -> bool:
    """Whether standard error is a terminal on which lines can be drawn anew."""
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "")


def progress() -> Progress:
    """The listener for where nothing can be drawn: a line for each event."""
    return Progress(_plain)


def _plain(text: str, _: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
