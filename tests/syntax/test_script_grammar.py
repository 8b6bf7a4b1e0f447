"""The built grammar is kept between runs, and nothing depends on it being there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.commands import ROOT

PROGRAM = """
from prose_runtime.diagnostics import Collector
from prose_runtime.syntax.delegation import parse_block
from prose_runtime.text import Source, Span

source = Source("a.prose", "let x = 1")
print(type(parse_block(source, Span(0, 9), Collector(source)).statements[0]).__name__)
"""


def parsed(cache: Path) -> str:
    """What a fresh process reads, with its cache in this folder."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() + done.stderr


def test_the_tables_are_kept_and_used_again(tmp_path: Path) -> None:
    assert parsed(tmp_path) == "Bind"
    kept = next((tmp_path / "prose-runtime").iterdir())
    written = kept.stat().st_mtime_ns
    assert parsed(tmp_path) == "Bind"
    assert kept.stat().st_mtime_ns == written


def test_damaged_tables_are_built_again(tmp_path: Path) -> None:
    assert parsed(tmp_path) == "Bind"
    kept = next((tmp_path / "prose-runtime").iterdir())
    for content in (b"", b"nonsense", kept.read_bytes()[:5000]):
        kept.write_bytes(content)
        assert parsed(tmp_path) == "Bind"


def test_a_folder_that_others_can_write_to_is_not_trusted(tmp_path: Path) -> None:
    folder = tmp_path / "prose-runtime"
    folder.mkdir()
    folder.chmod(0o777)
    assert parsed(tmp_path) == "Bind"
    assert list(folder.iterdir()) == []


def test_no_folder_is_needed(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert parsed(blocked) == "Bind"


def test_the_grammar_is_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from prose_runtime.resources import resource

    monkeypatch.chdir(tmp_path)
    assert (resource("grammar") / "prosescript.lark").is_file()
    with pytest.raises(FileNotFoundError, match="nowhere"):
        resource("nowhere")
