"""``prose check`` and ``prose explain`` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prose_runtime.cli import main

BAD = """\
---
name: bad
kind: pattern
---

### Slots

- `writer`
- `editor`

### Delegation

```prose
let text = call writter
return txt
```
"""
GOOD = BAD.replace("- `editor`\n", "").replace("writter", "writer").replace("txt", "text")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bad.prose.md").write_text(BAD, encoding="utf-8")
    (tmp_path / "good.prose.md").write_text(GOOD.replace("bad", "good"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def codes(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [row["code"] for row in json.loads(capsys.readouterr().out)["diagnostics"]]


def test_a_good_file_is_quiet_and_exits_0(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "good.prose.md"]) == 0
    out, err = capsys.readouterr()
    assert "No faults" in out
    assert err == ""


def test_all_faults_of_a_file_in_order(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "bad.prose.md"]) == 1
    out = capsys.readouterr().out
    assert "bad.prose.md:9:4: warning[unused-slot]" in out
    assert "bad.prose.md:14:17: error[unknown-target]" in out
    assert "did you mean `writer`?" in out
    assert out.index("unused-slot") < out.index("unknown-target") < out.index("undefined-name")
    assert "Found 2 errors and 1 warning in 1 file." in out


def test_a_folder_is_walked_and_json_is_pure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", ".", "--format", "json"]) == 1
    rows = json.loads(capsys.readouterr().out)["diagnostics"]
    assert {row["file"] for row in rows} == {"bad.prose.md"}


def test_warnings_alone_exit_0_and_are_errors_when_strict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = GOOD.replace("- `writer`\n", "- `writer`\n- `editor`\n")
    (folder / "warned.prose.md").write_text(text, encoding="utf-8")
    assert main(["check", "warned.prose.md"]) == 0
    assert main(["check", "warned.prose.md", "--strict"]) == 1
    assert "error[unused-slot]" in capsys.readouterr().out


def test_select_and_ignore_by_code_or_its_beginning(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "bad.prose.md", "--format", "json", "--select", "unused"]) == 0
    assert set(codes(capsys)) == {"unused-slot"}
    assert main(["check", "bad.prose.md", "--format", "json", "--ignore", "undefined-name,unknown-target"]) == 0
    assert "undefined-name" not in codes(capsys)
    assert main(["check", "bad.prose.md", "--select", "unusd-slot"]) == 2
    assert "unused-slot" in capsys.readouterr().err


def test_what_cannot_be_read_exits_2_and_does_not_stop_the_rest(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "binary.prose.md").write_bytes(b"\x00\xff")
    assert main(["check", ".", "missing.prose.md", "--format", "json"]) == 2
    out, err = capsys.readouterr()
    assert {row["code"] for row in json.loads(out)["diagnostics"]} >= {"unknown-target", "undefined-name"}
    assert "missing.prose.md" in err
    assert "binary.prose.md" in err


def test_github_commands(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "bad.prose.md", "--format", "github"]) == 1
    assert "::error file=bad.prose.md,line=14," in capsys.readouterr().out


def test_a_path_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check"]) == 2
    assert "PATH" in capsys.readouterr().err


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "undefined-name"]) == 0
    page = capsys.readouterr().out
    assert all(part in page for part in ("undefined-name", "What it does", "Why", "Example", "Use instead"))
    assert main(["explain", "undefind-name"]) == 2
    assert "undefined-name" in capsys.readouterr().err
    assert main(["explain"]) == 2


def test_explain_all_has_a_page_for_every_code(capsys: pytest.CaptureFixture[str]) -> None:
    from prose_runtime.check.rules import CODES

    assert main(["explain", "--all"]) == 0
    pages = capsys.readouterr().out
    assert all(f"{code} (" in pages for code in CODES)
    assert pages.count("Use instead") == len(CODES)
