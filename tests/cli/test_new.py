"""``prose new``: what it writes is a spec at once, and nothing is ever overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from prose_runtime.check.checker import check_path
from prose_runtime.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROSE_DEFAULT", "rehearsal")
    return tmp_path


@pytest.mark.parametrize("kind", ["pattern", "function"])
def test_what_is_written_is_flawless_and_runs_offline(
    folder: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", kind, "my-spec"]) == 0
    assert "my-spec.prose.md" in capsys.readouterr().out
    assert check_path(folder / "my-spec.prose.md").diagnostics == ()
    assert main(["run", "my-spec.prose.md", "a text"]) == 0
    assert capsys.readouterr().out.strip()


def test_a_test_is_flawless_beside_its_subject(folder: Path) -> None:
    assert main(["new", "pattern", "note"]) == 0
    assert main(["new", "test", "note-test"]) == 0
    assert "subject: note\n" in (folder / "note-test.prose.md").read_text()
    assert check_path(folder / "note-test.prose.md").diagnostics == ()


def test_nothing_is_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "mine.prose.md").write_text("mine")
    assert main(["new", "pattern", "mine.prose.md"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert (folder / "mine.prose.md").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["new", "pattern", "no/such/folder"], "cannot write"),
        (["new", "pattern", "two words"], "no name"),
        (["new", "novel", "x"], "pattern"),
        (["new", "pattern"], "NAME"),
    ],
)
def test_what_cannot_be_written_is_told(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert said.lower() in error.lower()
    assert "Traceback" not in error
