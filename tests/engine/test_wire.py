"""What goes over the wire is read by workers of another version, too."""

from __future__ import annotations

from prose_runtime.engine import wire
from prose_runtime.services.api import Request


def test_a_request_arrives_as_it_was() -> None:
    sent = Request(job="weigh", inputs={"a": [1]}, target="left", line=12, options=("x",), briefing="you are left")
    row = wire.request_to(sent)
    assert wire.request_from(row) == sent
    assert wire.request_from(row).briefing == "you are left"


def test_fields_that_another_version_knows_or_lacks_do_no_harm() -> None:
    row = wire.request_to(Request(job="weigh", target="left"))
    del row["line"]
    assert wire.request_from({**row, "label": "left (line 12)"}).label == "left"


def test_questions_say_where_they_stand() -> None:
    assert Request(target="left", line=3).label == "left (line 3)"
    assert Request(purpose="judge", line=3).label == "judge (line 3)"
    assert Request().label == ""
