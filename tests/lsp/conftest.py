"""One editor for all tests: starting a server takes longer than most of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.commands import ROOT
from support.editor import Editor


@pytest.fixture(scope="session")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """An editor whose server must not have complained about anything when it ends."""
    opened = Editor(tmp_path_factory.mktemp("project"))
    yield opened
    assert opened.close() == (0, "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project of its own, with the dialectic in it."""
    (tmp_path / "prose.yml").write_text("", encoding="utf-8")
    shutil.copy(ROOT / "patterns" / "dialectic.prose.md", tmp_path)
    return tmp_path
