"""What a person has of a run while it happens: its display, and a say in it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from prose_runtime.cli.interrupt import Interrupts, WhatNow, can_ask
from prose_runtime.cli.terminal import Progress, drawable, progress
from prose_runtime.events import CallStarted, Event, Listener
from prose_runtime.journal import RunRecord
from prose_runtime.runtime.session import Prepared, Result, execute, meter_of
from prose_runtime.runtime.steering import Steering
from prose_runtime.services import keyboard

if TYPE_CHECKING:
    from prose_runtime.cli.live import LiveView


class Watcher:
    """Shows a run on standard error and asks what Ctrl-C means. ``quiet``: neither."""

    def __init__(self, prepared: Prepared, *, quiet: bool):
        self.prepared = prepared
        self._steering = Steering()
        self._meter = meter_of(prepared)
        self._targets: dict[str, None] = {}
        self._view: LiveView | None = None if quiet or not drawable() else self._live_view()
        shown: Progress | None = None if quiet else self._view or progress()
        self._listeners: list[Listener] = [self._remember, *([shown] if shown else [])]
        self._asks = not quiet and can_ask()

    def _live_view(self) -> LiveView:
        from rich.console import Console

        from prose_runtime.cli.live import LiveView
        from prose_runtime.report.bounds_text import most_calls

        console = Console(stderr=True, highlight=False, emoji=False, markup=False)
        return LiveView(
            console, self._meter, self._steering, most_calls(self.prepared.bounds, beside=self.prepared.beside)
        )

    async def execute(
        self, record: RunRecord | None, *, answers: dict[str, Any] | None = None, reask: bool = False
    ) -> Result:
        """Execute the run and show it; the arguments are those of ``runtime.session.execute``."""
        run = execute(
            self.prepared,
            journal=record,
            listeners=self._listeners,
            steering=self._steering,
            meter=self._meter,
            answers=answers,
            reask=reask,
        )
        task = asyncio.ensure_future(run)
        question = WhatNow(self._steering, self._roles) if self._asks else None
        interrupts = Interrupts(task.cancel, question, self._leave)
        interrupts.listen()
        display: AbstractAsyncContextManager[None] = self._view.shown() if self._view else nullcontext()
        async with display:
            try:
                result = await task
            finally:
                await interrupts.close()
        later = " yet; it gets it when the run goes on" if record and result.status != "completed" else ""
        for role, note in self._steering.waiting().items():
            keyboard.show(f"no call of {role} got the note{later}: {note}\n")
        return result

    def _leave(self) -> None:
        if self._view is not None:
            self._view.suspend()

    def _remember(self, event: Event) -> None:
        if isinstance(event, CallStarted):
            self._targets[event.target] = None

    def _roles(self) -> Iterator[str]:
        """Who can get a note: the slots, and whatever else was called so far."""
        yield from (slot.name for slot in self.prepared.analysis.spec.slots)
        yield from self._targets
