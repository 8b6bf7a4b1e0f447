"""The story of a run from its record: runs that were killed, resumed, nested or made by JavaScript have one too."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

import prose_runtime as prose
from prose_runtime.errors import ServiceError
from prose_runtime.journal import Journal
from prose_runtime.report.html import render
from prose_runtime.report.markdown import render as transcript
from prose_runtime.report.story import Recorded, Story, story_of
from prose_runtime.report.story_chart import chart_of
from prose_runtime.report.story_sources import Sources
from tests.support.programs import pattern


class Killed(BaseException):
    """Ends a run as a crash would."""


def run(path: Path, journal: Journal, **bind: Any) -> None:
    record = journal.open("last") if journal.list() else journal.create("probe", {"inputs": {"topic": "the topic"}})
    try:
        asyncio.run(prose.arun(path, {}, bind=bind, record=record))
    finally:
        record.close()


def told(journal: Journal, folder: Path) -> Story:
    recorded = Recorded(journal.show("last"), journal.trace("last"), journal.request("last"), journal.answers("last"))
    return story_of(recorded, Sources(recorded.trace, folder))


async def answer(request: Any) -> Any:
    await asyncio.sleep(0.05)
    return f"the answer to {request.inputs}"


def test_a_killed_run_is_told_as_far_as_it_came(tmp_path: Path) -> None:
    path = pattern(tmp_path, "let x = call a\n  n: 1\nlet y = call a\n  n: x\nreturn y")
    journal = Journal(tmp_path / ".prose")

    async def dies(request: Any) -> str:
        if request.inputs["n"] == 1:
            return "first answer"
        raise Killed

    with pytest.raises(Killed):
        run(path, journal, a=dies)
    story = told(journal, tmp_path)
    assert (story.status, story.result) == ("interrupted", None)
    assert [(turn.output, turn.pending) for turn in story.turns] == [("first answer", False), (None, True)]
    assert [origin.number for origin in story.turns[1].given[0].origins] == [1]
    assert "No answer yet" in render(story)
    assert "No answer yet" in transcript(story)


def test_a_resumed_run_is_told_once_with_the_times_at_which_calls_were_made(tmp_path: Path) -> None:
    path = pattern(tmp_path, "let x = call a\n  n: 1\nlet y = call a\n  n: 2\nreturn [x, y]")
    journal = Journal(tmp_path / ".prose")

    async def down(request: Any) -> Any:
        if request.inputs["n"] == 2:
            raise ServiceError("out of order", kind="unavailable")
        return await answer(request)

    down.__name__ = answer.__name__
    with pytest.raises(ServiceError):
        run(path, journal, a=down)
    time.sleep(1.2)
    run(path, journal, a=answer)
    story = told(journal, tmp_path)
    assert [turn.number for turn in story.turns] == [1, 2]
    assert all(0.04 < (turn.seconds or 0) < 1 for turn in story.turns)
    assert (story.turns[1].start or 0) - (story.turns[0].end or 0) > 1.1
    assert story.seconds is not None
    assert story.seconds < 1.1
    chart = chart_of(story)
    assert chart is not None
    assert [pause.seconds > 1 for pause in chart.pauses] == [True]
    assert all(0 <= bar.x <= bar.x + bar.width <= 100.01 for lane in chart.lanes for bar in lane.bars)


def test_calls_of_a_nested_pattern_point_at_their_own_file(tmp_path: Path) -> None:
    pattern(tmp_path, "return call a\n  heard: topic", rows="topic: string", name="inner")
    path = pattern(tmp_path, 'let got = call inner\n  topic: "something to talk about"\nreturn call a\n  got: got')
    (tmp_path / "prose.yml").write_text("default: e\nservices:\n  e: {provider: echo}\n")
    journal = Journal(tmp_path / ".prose")
    run(path, journal, a="echo")
    story = told(journal, tmp_path)
    assert [Path(turn.place.file).name for turn in story.turns if turn.place] == ["inner.prose.md", "probe.prose.md"]
    assert [Path(spec.file).name for spec in story.specs] == ["probe.prose.md", "inner.prose.md"]
    assert 'href="#s2-' in render(story)


def test_calls_side_by_side_lie_in_rows_of_their_lane(tmp_path: Path) -> None:
    path = pattern(tmp_path, "let all = parallel for n in [1, 2, 3]:\n  call a\n    n: n\nreturn all")
    journal = Journal(tmp_path / ".prose")
    run(path, journal, a=answer)
    story = told(journal, tmp_path)
    assert [sorted(turn.beside) for turn in story.turns] == [[2, 3], [1, 3], [1, 2]]
    chart = chart_of(story)
    assert chart is not None
    (lane,) = chart.lanes
    assert (lane.role, lane.rows, [bar.row for bar in lane.bars]) == ("a", 3, [0, 1, 2])


def test_a_record_without_a_trace_has_its_calls_all_the_same(tmp_path: Path) -> None:
    path = pattern(tmp_path, 'emit "begun"\nlet x = call a\n  n: 1\nif x is present:\n  return x\nreturn 0')
    journal = Journal(tmp_path / ".prose")
    run(path, journal, a=answer)
    recorded = Recorded(journal.show("last"), [], {}, {})
    assert recorded.shown["status"] == "completed"
    result = asyncio.run(prose.arun(path, bind={"a": answer}))
    story = story_of(Recorded(result.as_json(), [], {}, {}), Sources([], tmp_path, path.name))
    assert [turn.target for turn in story.turns] == ["a"]
    assert [condition.verdict for condition in story.conditions] == [True]
    assert story.specs[0].state == "read"
    assert "let x = call a" in render(story)
    assert "begun" in transcript(story)
