"""One server for all tests of this folder; a queue and a folder of its own for each test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.engine import Team, server

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the engine is."""
    with server(tmp_path_factory.mktemp("engine")) as found:
        yield found


@pytest.fixture
def team(address: str, tmp_path: Path) -> Iterator[Team]:
    """Workers to start, with a queue of their own."""
    folder, home = tmp_path / "project", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    team = Team(folder, home, address, f"queue{next(_numbers)}")
    yield team
    team.stop()
