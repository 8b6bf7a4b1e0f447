"""The live view of a run on a terminal: what runs now below, what is finished scrolling above it.

Everything that is finished is printed above the live area and stays in the terminal's history. While a person is asked
something, the area is gone and lines wait until the answer is there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import islice

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.text import Text
from rich.tree import Tree

from prose_runtime.cli.terminal import Progress, iteration, preview
from prose_runtime.events import CallFinished, CallRetry, CallStarted, CallText, Event, StepFinished, StepStarted
from prose_runtime.report.run_text import usage_text, value_text
from prose_runtime.runtime.limits import Meter
from prose_runtime.runtime.steering import Steering
from prose_runtime.services import keyboard
from prose_runtime.text import printable
from prose_runtime.values import clean_text

_PER_SECOND = 8
_KEPT_TEXT = 4000
"""Characters of a streaming answer that can still be on the screen."""


@dataclass(slots=True)
class _Step:
    """A construct or call that runs. ``waits_until``: when a call that was put off is asked again."""

    kind: str
    begun: float
    target: str = ""
    service: str = ""
    text: str = ""
    waits_until: float = 0.0
    reason: str = ""


class LiveView(Progress):
    """Shows a run on a terminal.

    ``most`` is the number of calls that it makes at most, where that is known; ``steering`` holds the notes that wait.
    """

    def __init__(
        self,
        console: Console,
        meter: Meter,
        steering: Steering,
        most: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ):
        super().__init__(self._print, clock=clock)
        self._console = console
        self._meter = meter
        self._steering = steering
        self._most = most
        self._steps: dict[str, _Step] = {}
        self._front: str | None = None
        self._calls = 0
        self._begun = clock()
        self._held: list[tuple[RenderableType, str]] = []
        self._live: Live | None = None

    def __call__(self, event: Event) -> None:
        """Show an event, and keep in mind what runs."""
        if isinstance(event, StepStarted):
            self._steps[event.step] = _Step(event.kind, self._clock())
        elif isinstance(event, StepFinished):
            self._steps.pop(event.step, None)
        elif isinstance(event, CallText):
            self.call_text(event)
        else:
            super().__call__(event)

    # the time in which it is shown

    @asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """Draw the area as long as the context lasts."""
        ticking = asyncio.ensure_future(self._tick())
        try:
            with keyboard.displayed(self):
                self.resume()
                yield
        finally:
            ticking.cancel()
            with suppress(asyncio.CancelledError):
                await ticking
            self.suspend()
            self._release()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(1 / _PER_SECOND)
            if self._live is not None:
                self._live.refresh()

    def suspend(self) -> None:
        """Take the area away; what is finished meanwhile waits."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def resume(self) -> None:
        """Print what waited and draw the area again."""
        self._release()
        self._live = Live(
            console=self._console,
            get_renderable=self.area,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )
        self._live.start(refresh=True)

    def _release(self) -> None:
        held, self._held = self._held, []
        for piece, end in held:
            self._console.print(piece, end=end)

    def _print(self, text: str, style: str) -> None:
        self._show(Text(text, style=style), "")

    def _show(self, piece: RenderableType, end: str = "\n") -> None:
        self._held.append((piece, end))
        if self._live is not None:
            self._release()

    # what happens

    def call_started(self, event: CallStarted) -> None:
        """A call appears in the tree; its line comes when it is finished."""
        now = self._clock()
        self._open[event.step] = now
        self._targets[event.step] = event.target + iteration(event.step)
        step = self._steps.setdefault(_call(event.step), _Step("call", now))
        step.target, step.service, step.text, step.waits_until = event.target, event.service, "", 0.0
        self._calls += event.attempt == 1

    def call_text(self, event: CallText) -> None:
        """A piece of an answer goes to its step; only its end is kept."""
        step = self._steps.get(_call(event.step))
        if step is not None:
            step.text = (step.text + clean_text(event.text))[-_KEPT_TEXT:]
            if self._front not in self._steps:
                self._front = _call(event.step)

    def call_retry(self, event: CallRetry) -> None:
        """A line above, and a clock in the tree."""
        super().call_retry(event)
        step = self._steps.get(_call(event.step))
        if step is not None:
            step.waits_until = self._clock() + event.delay
            step.reason = event.reason
            step.text = ""

    def call_finished(self, event: CallFinished) -> None:
        """The line of a finished call; an answer that is longer than a line follows below it in full."""
        if self._front == _call(event.step):
            self._front = None
        text = clean_text(value_text(event.output)) if event.error is None and not event.recorded else ""
        if preview(text) == text.strip():
            super().call_finished(event)
            return
        now = self._clock()
        step = self._steps.get(_call(event.step))
        service = f", {step.service}" if step is not None else ""
        self.line(f"done {self._name(event.step)}: {now - self._open.pop(event.step, now):.1f} s{service}", "green")
        self._show(Padding(Text("\n".join(map(printable, text.split("\n")))), (0, 0, 0, 2), expand=False))

    # the area

    def area(self) -> RenderableType:
        """What is drawn now: the tree, the answer in front, the figures."""
        height = max(4, self._console.height - 2)
        tree = self._fitting(self._tree(), max(2, height - 3))
        notes = [_line(f"note for {to}: {preview(note)}", "yellow") for to, note in self._steering.waiting().items()]
        left = height - len(tree) - len(notes) - 1
        return Group(*tree, *self._streamed(min(8, left)), *notes, _line(self._figures(), "dim"))

    def _fitting(self, tree: Tree, lines: int) -> list[Text]:
        """The lines of the tree, cut at the terminal's width and height."""
        options = self._console.options.update(no_wrap=True, overflow="ellipsis")
        drawn = self._console.render_lines(tree, options, pad=False)
        found = [Text.assemble(*((part.text, part.style or "") for part in line)) for line in drawn]
        if len(found) > lines:
            more = len(found) - lines + 1
            found = [*found[: lines - 1], Text(f"… and {more} more", style="dim")]
        return found

    def _tree(self) -> Tree:
        root = Tree("", hide_root=True, guide_style="dim")
        branches: dict[str, Tree] = {}
        for path, step in list(self._steps.items()):
            above = next((outer for outer in _outer(path) if outer in branches), None)
            label = self._label(path[len(above) :] if above else path, step)
            branches[path] = (branches[above] if above else root).add(label)
        return root

    def _label(self, part: str, step: _Step) -> Text:
        now = self._clock()
        name = step.target or (_named(part) if step.kind == "call" else step.kind)
        label = Text(printable(name + iteration(part)), style="bold" if step.target else "")
        label.append(f"  {_seconds(now - step.begun)}", style="cyan")
        if step.waits_until > now:
            wait = f"  asking again in {step.waits_until - now:.0f} s: {printable(preview(step.reason))}"
            label.append(wait, style="yellow")
        elif step.service:
            label.append(f"  {printable(step.service)}", style="dim")
        return label

    def _streamed(self, lines: int) -> Iterator[Text]:
        """The last lines of the answer in front."""
        step = self._steps.get(self._front or "")
        if step is None or not step.text or lines < 1:
            return
        width = max(10, self._console.width - 3)
        text = Text("\n".join(map(printable, step.text.split("\n"))), style="dim")
        wrapped = text.wrap(self._console, width)
        for line in islice(wrapped, max(0, len(wrapped) - lines), None):
            yield Text.assemble(("│ ", "cyan"), line)

    def _figures(self) -> str:
        """``2 of at most 5 calls, 1,204 tokens in, 380 out, $0.0123 of $2.00, 42 s``."""
        meter = self._meter
        limits = meter.limits
        used = usage_text({"calls": meter.calls, **meter.usage.as_json()}).split(", ")[1:]
        figures = ", ".join(used)
        if limits.max_cost_usd is not None:
            figures += f" of ${limits.max_cost_usd:.2f}" if "$" in figures else f", limit ${limits.max_cost_usd:.2f}"
        counted = f"{self._calls} call{'' if self._calls == 1 else 's'}"
        if self._most is not None:
            counted = f"{self._calls} of at most {self._most:,} call{'' if self._most == 1 else 's'}"
        elif limits.max_calls is not None:
            counted += f" (limit {limits.max_calls:,})"
        return ", ".join(part for part in (counted, figures.strip(", "), _seconds(self._clock() - self._begun)) if part)


def _line(text: str, style: str) -> Text:
    return Text(printable(text), style=style, no_wrap=True, overflow="ellipsis")


def _call(step: str) -> str:
    """The step of a call without the number of the attempt."""
    return step.partition("#")[0]


def _outer(path: str) -> Iterator[str]:
    """The paths that a step can stand in, the nearest first."""
    for at in range(len(path) - 1, 0, -1):
        if path[at] in "/[":
            yield path[:at]


def _named(part: str) -> str:
    return part.rsplit("/", 1)[-1].removeprefix("call ")


def _seconds(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
