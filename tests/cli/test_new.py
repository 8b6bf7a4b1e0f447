"""``prose new``: what it writes is a spec with its test at once, and nothing is ever overwritten."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from prose_runtime.cli import main
from support.commands import prose, run
from support.library import PATTERNS


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Terminal(io.StringIO):
    """Somebody who answers at a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("kind", ["pattern", "function"])
def test_what_is_written_is_flawless_runs_offline_and_passes_its_test(
    folder: Path, kind: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["new", kind, "my-spec"]) == 0
    assert capsys.readouterr().out == "wrote my-spec.prose.md\nwrote my-spec.test.prose.md\n"
    assert main(["check", ".", "--strict"]) == 0
    assert main(["test", "."]) == 0
    assert "1 passed, 0 failed" in capsys.readouterr().out
    monkeypatch.setenv("PROSE_DEFAULT", "rehearsal")
    assert main(["run", "my-spec.prose.md", "a text"]) == 0
    assert capsys.readouterr().out.strip()


def test_a_test_for_a_spec_of_ones_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (PATTERNS / "race.prose.md").read_text(encoding="utf-8")
    (folder / "sprint.prose.md").write_text(text.replace("name: race", "name: sprint"), encoding="utf-8")
    assert main(["new", "test", "sprint"]) == 0
    assert "subject: sprint\n" in (folder / "sprint.test.prose.md").read_text(encoding="utf-8")
    assert main(["check", ".", "--strict"]) == 0


@pytest.mark.parametrize("name", sorted(p.name.removesuffix(".prose.md") for p in PATTERNS.glob("*.prose.md")))
def test_a_test_for_any_pattern_of_the_library(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "test", f"{name}.test.prose.md"]) == 0
    assert main(["check", ".", "--strict"]) == 0


def test_a_test_that_is_written_runs_without_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "test", "worker-critic"]) == 0
    assert main(["new", "test", "summarizer-test"]) == 0
    assert main(["test", "."]) == 0
    assert "2 passed, 0 failed" in capsys.readouterr().out


def test_a_test_needs_a_spec(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "test", "nothing-there"]) == 2
    assert "prose new pattern nothing-there" in capsys.readouterr().err


def test_nothing_is_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "mine.test.prose.md").write_text("mine", encoding="utf-8")
    assert main(["new", "pattern", "mine.prose.md"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["mine.test.prose.md"]
    assert (folder / "mine.test.prose.md").read_text(encoding="utf-8") == "mine"


def test_on_a_terminal_it_asks(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("function\nasked\n"))
    assert main(["new"]) == 0
    assert "kind: function" in (folder / "asked.prose.md").read_text(encoding="utf-8")
    monkeypatch.setattr("sys.stdin", Terminal("again\n"))
    assert main(["new", "pattern"]) == 0
    assert (folder / "again.prose.md").exists()


def test_it_asks_again_for_a_name_that_cannot_be(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "mine.prose.md").write_text("mine", encoding="utf-8")
    monkeypatch.setattr("sys.stdin", Terminal("two words\nmine\nyours\n"))
    assert main(["new", "pattern"]) == 0
    told = capsys.readouterr().err
    assert "`two words` is no name" in told
    assert "mine.prose.md exists already" in told
    assert (folder / "yours.prose.md").exists()


def test_without_a_terminal_it_does_not_wait(tmp_path: Path) -> None:
    done = run([prose(), "new"], tmp_path, tmp_path, stdin="open", timeout=20)
    assert done.exit == 2
    assert "prose new pattern NAME" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["new", "pattern", "no/such/folder"], "cannot write"),
        (["new", "pattern", "two words"], "no name"),
        (["new", "pattern", ""], "no name"),
        (["new", "patern", "x"], "did you mean `pattern`"),
        (["new", "novel", "x"], "pattern, function, test"),
    ],
)
def test_what_cannot_be_written_is_told(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert said.lower() in error.lower()
    assert "Traceback" not in error
