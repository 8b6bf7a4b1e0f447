"""The live view: what is drawn while a run goes on, and what scrolls above it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console

from prose_runtime.cli.live import LiveView
from prose_runtime.events import (
    CallFinished,
    CallRetry,
    CallStarted,
    CallText,
    Emitted,
    Event,
    StepFinished,
    StepStarted,
)
from prose_runtime.runtime.limits import Limits, Meter
from prose_runtime.runtime.steering import Steering
from prose_runtime.text import Where, width
from prose_runtime.values import Usage

AT = Where("s.prose.md", 12, 3)
LEFT, RIGHT = "repeat[2]/parallel[1]/call left", "repeat[2]/parallel[2]/call right"


class Watched:
    """A view on a terminal of this size, with a clock that stands still."""

    def __init__(self, columns: int = 80, lines: int = 24, limits: Limits | None = None, most: int | None = 5):
        self.now = 100.0
        self.steering = Steering()
        self.meter = Meter(limits or Limits())
        self.out = io.StringIO()
        self.console = Console(file=self.out, force_terminal=True, width=columns, height=lines, color_system=None)
        self.view = LiveView(self.console, self.meter, self.steering, most, clock=lambda: self.now)

    def see(self, *events: Event) -> None:
        for event in events:
            self.view(event)

    @property
    def area(self) -> list[str]:
        with self.console.capture() as drawn:
            self.console.print(self.view.area())
        return plain(drawn.get()).rstrip("\n").split("\n")

    @property
    def above(self) -> str:
        self.view._release()
        return plain(self.out.getvalue())


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def step(path: str, kind: str = "call") -> StepStarted:
    return StepStarted(path, kind, AT)


def begin(path: str, target: str) -> Iterator[Event]:
    yield step(path)
    yield CallStarted(path, target, "claude", {}, None, AT)


@pytest.fixture
def two() -> Watched:
    watched = Watched()
    watched.see(step("repeat", "repeat"), step("repeat[2]/parallel", "parallel"))
    watched.see(*begin(LEFT, "left"))
    watched.now += 75
    watched.see(*begin(RIGHT, "right"))
    return watched


def test_what_runs_is_a_tree_with_the_time_it_takes(two: Watched) -> None:
    two.now += 2
    assert two.area == [
        "repeat  1:17",
        "└── parallel [2]  1:17",
        "    ├── left [1]  1:17  claude",
        "    └── right [2]  2 s  claude",
        "2 of at most 5 calls, 1:17",
    ]


def test_finished_calls_leave_the_tree_and_scroll_above_in_full(two: Watched) -> None:
    long = "\n".join(f"line {i} of the answer" for i in range(500))
    two.see(CallFinished(LEFT, output=long), StepFinished(LEFT, "call", "completed"), Emitted("emit", "R1 done", AT))
    assert not [line for line in two.area if "left" in line]
    assert "done left" in two.above
    assert all(f"line {i} of the answer" in two.above for i in range(500))
    assert "R1 done" in two.above


def test_the_answer_in_front_streams_and_stays_in_front(two: Watched) -> None:
    two.see(CallText(RIGHT, "on the one hand\n" * 30), CallText(LEFT, "never mind"), CallText(RIGHT, "and then"))
    streamed = [line for line in two.area if line.startswith("│ ")]
    assert streamed[-1] == "│ and then"
    assert len(streamed) == 8
    assert "never mind" not in "\n".join(two.area)
    two.see(CallFinished(RIGHT, output="x"), StepFinished(RIGHT, "call", "completed"), CallText(LEFT, "!"))
    assert "│ never mind!" in two.area


def test_a_call_that_waits_shows_its_clock(two: Watched) -> None:
    two.see(CallRetry(LEFT, 1, 12.0, "the service is overloaded"))
    assert "asking again in 12 s" in two.area[2]
    two.now += 9
    assert "asking again in 3 s" in two.area[2]
    two.now += 4
    assert "again" not in two.area[2]
    assert "overloaded; asking again in 12 s" in two.above


def test_cost_and_calls_stand_beside_their_bounds() -> None:
    watched = Watched(limits=Limits(max_cost_usd=2.0), most=None)
    assert watched.area[-1] == "0 calls (limit 200), limit $2.00, 0 s"
    watched.see(*begin("call a", "a"))
    watched.meter.take("claude", Usage(1204, 380, None, 0.0123))
    assert watched.area[-1] == "1 call (limit 200), 1,204 tokens in, 380 out, $0.0123 of $2.00, 0 s"


def test_a_note_is_shown_until_a_call_got_it() -> None:
    watched = Watched()
    watched.steering.redirect("left", "be brief")
    assert "note for left: be brief" in watched.area
    watched.steering.take("left")
    assert "be brief" not in "\n".join(watched.area)


@pytest.mark.parametrize(("columns", "lines"), [(40, 24), (20, 8), (200, 5)])
def test_the_area_fits_any_terminal(columns: int, lines: int) -> None:
    watched = Watched(columns, lines)
    watched.see(step("parallel for", "parallel for"))
    for i in range(1, 60):
        watched.see(*begin(f"parallel for[{i}]/call somebody", "somebody with a long name 漢字漢字漢字"))
    watched.see(CallText("parallel for[1]/call somebody", "words 漢字 " * 2000))
    assert len(watched.area) < lines
    assert max(map(width, watched.area)) <= columns
    assert "more" in "\n".join(watched.area)


def test_an_answer_cannot_steer_the_terminal() -> None:
    evil = "\x1b]0;title\x07\x1b[2J\u202e[red]not markup[/red]"
    watched = Watched()
    watched.see(step("call a"), CallStarted("call a", evil, evil, {}, None, AT), CallText("call a", evil))
    watched.steering.redirect(evil, evil)
    drawn = "\n".join(watched.area)
    watched.see(CallRetry("call a", 1, 1.0, evil), CallFinished("call a", output=evil * 9), Emitted("e", evil, AT))
    for text in (drawn, "\n".join(watched.area), watched.above):
        assert not set(text) & set("\x1b\x07\u202e")
        assert "[red]not markup" in text


def test_lines_wait_while_a_person_is_asked(two: Watched) -> None:
    two.view.resume()
    two.view.suspend()
    before = two.out.getvalue()
    two.see(Emitted("emit", "meanwhile", AT))
    assert two.out.getvalue() == before
    two.view.resume()
    assert "meanwhile" in two.out.getvalue()
    two.view.suspend()


def test_no_colour_where_none_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=80, color_system="truecolor")
    view: Any = LiveView(console, Meter(Limits()), Steering())
    view(Emitted("emit", "said", AT))
    view(CallStarted("call a", "a", "s", {}, None, AT))
    view(CallFinished("call a", output="x"))
    view._release()
    assert "done a" in out.getvalue()
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", out.getvalue())
