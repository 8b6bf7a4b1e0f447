"""``prose fmt`` as a user runs it."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from prose_runtime.cli import main
from support.commands import ROOT

GOOD = """\
---
name: good
kind: pattern
---

### Slots

- `writer`

### Delegation

```prose
let text = call writer
return text
```
"""
UNTIDY = GOOD.replace("good", "untidy").replace("- `", "* `").replace("let text = call", "let  text=call")
TIDY = GOOD.replace("good", "untidy")
BAD = GOOD.replace("return text", "return (")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "good.prose.md").write_text(GOOD, encoding="utf-8")
    (tmp_path / "untidy.prose.md").write_text(UNTIDY, encoding="utf-8")
    (tmp_path / "README.md").write_text("* no spec\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def text_of(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


def test_files_are_rewritten_and_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "."]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("", "1 file reformatted, 1 left unchanged\n")
    assert text_of("untidy.prose.md") == TIDY
    assert text_of("good.prose.md") == GOOD
    assert text_of("README.md") == "* no spec\n"
    assert main(["fmt", "."]) == 0
    assert "0 files reformatted, 2 left unchanged" in capsys.readouterr().err


def test_check_lists_what_would_change_and_writes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "--check", "good.prose.md", "untidy.prose.md"]) == 1
    out, err = capsys.readouterr()
    assert out == "would reformat: untidy.prose.md\n"
    assert "1 file would be reformatted, 1 left unchanged" in err
    assert text_of("untidy.prose.md") == UNTIDY
    assert main(["fmt", "--check", "good.prose.md"]) == 0


def test_diff_shows_the_change_and_writes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "--diff", "."]) == 1
    out = capsys.readouterr().out
    assert out.startswith("--- untidy.prose.md\n+++ untidy.prose.md\n")
    assert "-let  text=call writer\n+let text = call writer\n" in out
    assert text_of("untidy.prose.md") == UNTIDY


def test_a_file_with_errors_is_left_alone_and_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.prose.md").write_text(BAD, encoding="utf-8")
    assert main(["fmt", "."]) == 1
    err = capsys.readouterr().err
    assert "bad.prose.md:14:8: error[unclosed-bracket]" in err
    assert "1 file reformatted, 1 left unchanged, 1 with errors left alone" in err
    assert text_of("bad.prose.md") == BAD
    assert text_of("untidy.prose.md") == TIDY


def test_what_cannot_be_read_does_not_stop_the_rest(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("binary.prose.md").write_bytes(b"\xff\xfe\x00")
    assert main(["fmt", "none.md", "binary.prose.md", "untidy.prose.md"]) == 2
    err = capsys.readouterr().err
    assert "cannot read none.md" in err
    assert "cannot read binary.prose.md" in err
    assert text_of("untidy.prose.md") == TIDY


def test_mode_mark_and_line_breaks_of_a_file_stay(folder: Path) -> None:
    path = Path("untidy.prose.md")
    path.write_bytes(b"\xef\xbb\xbf" + UNTIDY.replace("\n", "\r\n").encode())
    path.chmod(0o640)
    assert main(["fmt", str(path)]) == 0
    assert path.read_bytes() == b"\xef\xbb\xbf" + TIDY.replace("\n", "\r\n").encode()
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(entry.name for entry in Path().iterdir()) == ["README.md", "good.prose.md", "untidy.prose.md"]


class Stream(io.TextIOWrapper):
    """A stream of text over bytes, as the ones of a process."""

    def __init__(self, data: bytes = b""):
        super().__init__(io.BytesIO(data), encoding="utf-8", newline="")

    def bytes(self) -> bytes:
        """What was written."""
        self.flush()
        raw = self.buffer
        assert isinstance(raw, io.BytesIO)
        return raw.getvalue()


def through(monkeypatch: pytest.MonkeyPatch, data: bytes, *options: str) -> tuple[int, bytes]:
    out = Stream()
    monkeypatch.setattr(sys, "stdin", Stream(data))
    monkeypatch.setattr(sys, "stdout", out)
    return main(["fmt", "-", *options]), out.bytes()


def test_stdin_goes_to_stdout(monkeypatch: pytest.MonkeyPatch) -> None:
    assert through(monkeypatch, UNTIDY.encode()) == (0, TIDY.encode())
    marked = b"\xef\xbb\xbf" + UNTIDY.replace("\n", "\r\n").encode()
    assert through(monkeypatch, marked) == (0, b"\xef\xbb\xbf" + TIDY.replace("\n", "\r\n").encode())
    assert through(monkeypatch, b"let  x=1", "--stdin-filename", "old.prose") == (0, b"let x = 1\n")


def test_stdin_can_be_checked_and_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    assert through(monkeypatch, UNTIDY.encode(), "--check", "--stdin-filename", "a.md") == (
        1,
        b"would reformat: a.md\n",
    )
    assert through(monkeypatch, TIDY.encode(), "--check") == (0, b"")
    code, out = through(monkeypatch, UNTIDY.encode(), "--diff")
    assert code == 1
    assert b"+let text = call writer" in out


def test_errors_in_stdin_leave_stdout_empty(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    assert through(monkeypatch, BAD.encode()) == (1, b"")
    assert through(monkeypatch, b"\xff\x00")[0] == 2


def test_stdin_stands_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "-", "good.prose.md"]) == 2
    assert "stands alone" in capsys.readouterr().err


def test_the_library_and_the_examples_are_tidy(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["fmt", "--diff", str(ROOT / "patterns"), str(ROOT / "examples")])
    out, err = capsys.readouterr()
    assert (code, out) == (0, "")
    assert "0 files would be reformatted" in err
