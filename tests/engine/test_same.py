"""A run on the engine comes to the same as one on this machine, in every respect that its object shows."""

from __future__ import annotations

from typing import Any

from support.engine import Team, same

SERVICES: dict[str, Any] = {
    "pro": {"provider": "script", "replies": ["p1", "p2"]},
    "contra": {"provider": "script", "replies": ["c1", "c2"]},
}


def test_a_pattern_with_scripted_services(team: Team) -> None:
    team.configure(services=SERVICES)
    team.start()
    words = ("dialectic", "Should we?", "--thesis", "pro", "--antithesis", "contra")
    there, here = team.there(*words), team.here(*words)
    assert here["status"] == "completed"
    assert [call["output"] for call in there["calls"]] == ["p1", "c1", "p2", "c2"]
    assert same(there, here)
    assert team.logs().count("Traceback") == 0
