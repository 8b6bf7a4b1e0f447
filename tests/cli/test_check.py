"""``prose check`` and ``prose explain`` as a user runs them."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
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


def test_ctrl_c_says_that_the_check_was_stopped(folder: Path) -> None:
    os.mkfifo("pipe.prose.md")
    command = [sys.executable, "-m", "prose_runtime", "check", "pipe.prose.md"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    with process, Path("pipe.prose.md").open("w"):  # opening it waits until it is read
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=20)[1]
    assert process.returncode == 130
    assert said.strip() == "error: stopped"


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "undefined-name"]) == 0
    page = capsys.readouterr().out
    assert all(part in page for part in ("undefined-name", "What it does", "Why", "Example", "Use instead"))
    assert main(["explain", "undefind-name"]) == 2
    assert "undefined-name" in capsys.readouterr().err
    assert main(["explain"]) == 2


def test_explain_takes_what_stands_around_a_code_and_lists_families(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "error[undefined-name]"]) == 0
    assert capsys.readouterr().out.startswith("undefined-name (error)")
    assert main(["explain", "a[1].prose.md:3:4: error[undefined-name] `x` is not defined"]) == 0
    assert capsys.readouterr().out.startswith("undefined-name (error)")
    assert main(["explain", "unused"]) == 0
    assert "unused-slot" in capsys.readouterr().out
    assert main(["explain", "unus"]) == 2


def test_explain_all_has_a_page_for_every_code(capsys: pytest.CaptureFixture[str]) -> None:
    from prose_runtime.check.rules import CODES

    assert main(["explain", "--all"]) == 0
    pages = capsys.readouterr().out
    assert all(f"{code} (" in pages for code in CODES)
    assert pages.count("Use instead") == len(CODES)


WORDS = GOOD.replace("bad", "words").replace("return text", "emit 'done'\nreturn text # prose: ignore undefined-name")


def test_fix_applies_what_is_safe_and_keeps_the_rest_of_the_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "words.prose.md"
    path.write_bytes(b"\xef\xbb\xbf" + WORDS.replace("\n", "\r\n").encode())
    path.chmod(0o640)
    assert main(["check", "words.prose.md", "--fix", "--strict"]) == 0
    out, err = capsys.readouterr()
    assert "No faults" in out
    assert "Fixed 2 faults in 1 file." in err
    wanted = WORDS.replace("'done'", '"done"').replace(" # prose: ignore undefined-name", "")
    assert path.read_bytes() == b"\xef\xbb\xbf" + wanted.replace("\n", "\r\n").encode()
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in folder.iterdir() if p.name.startswith(".")] == []


def test_fix_leaves_what_is_not_selected(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "words.prose.md"
    path.write_text(WORDS, encoding="utf-8")
    main(["check", "words.prose.md", "--fix", "--select", "single-quotes"])
    assert "# prose: ignore" in path.read_text(encoding="utf-8")
    assert "'done'" not in path.read_text(encoding="utf-8")


def test_diff_shows_what_fix_would_do(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "words.prose.md"
    path.write_text(WORDS, encoding="utf-8")
    assert main(["check", ".", "--diff"]) == 1
    out, err = capsys.readouterr()
    assert "\n-emit 'done'\n" in out
    assert '\n+emit "done"\n' in out
    assert "Can fix 2 faults in 1 file." in err
    assert path.read_text(encoding="utf-8") == WORDS
    assert main(["check", "good.prose.md", "--diff"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["check", ".", "--diff", "--fix"]) == 2


def test_fix_removes_only_the_unused_code_of_a_comment(folder: Path) -> None:
    path = folder / "words.prose.md"
    ignored = "return txt # prose: ignore unused-slot,undefined-name"
    path.write_text(GOOD.replace("bad", "words").replace("return text", ignored), encoding="utf-8")
    assert main(["check", "words.prose.md", "--fix", "--strict"]) == 0
    assert "return txt # prose: ignore undefined-name\n" in path.read_text(encoding="utf-8")


def test_fix_removes_the_line_of_a_comment_that_stands_alone(folder: Path) -> None:
    path = folder / "words.prose.md"
    text = GOOD.replace("bad", "words")
    path.write_text(text.replace("return text", "# prose: ignore unreachable\nreturn text"), encoding="utf-8")
    assert main(["check", "words.prose.md", "--fix", "--strict"]) == 0
    assert path.read_text(encoding="utf-8") == text


def test_a_file_that_cannot_be_written_stays_and_exits_2(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "words.prose.md"
    path.write_text(WORDS, encoding="utf-8")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    assert main(["check", "words.prose.md", "bad.prose.md", "--fix"]) == 2
    assert path.read_text(encoding="utf-8") == WORDS
    out, err = capsys.readouterr()
    assert "cannot write words.prose.md" in err
    assert "Fixed" not in err
    assert "bad.prose.md" in out


def test_prose_yml_sets_the_defaults(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = "check: {ignore: [undefined-name, unknown-target], strict: true, format: json}\n"
    (folder / "prose.yml").write_text(settings, encoding="utf-8")
    assert main(["check", "bad.prose.md"]) == 1
    rows = json.loads(capsys.readouterr().out)["diagnostics"]
    assert [(row["code"], row["severity"]) for row in rows] == [("unused-slot", "error")]
    assert main(["check", "bad.prose.md", "--format", "agent", "--ignore", "unused"]) == 0
    assert "No faults found" in capsys.readouterr().out
    (folder / "prose.yml").write_text("check: {select: unused}\n", encoding="utf-8")
    assert main(["check", "bad.prose.md"]) == 2
    assert "as a list" in capsys.readouterr().err
    (folder / "prose.yml").write_text("check: {select: [unusd-slot]}\n", encoding="utf-8")
    assert main(["check", "bad.prose.md"]) == 2
    assert "check.select: there is no code `unusd-slot`" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["{check: {strict: true}}\n", "  check: {strict: true}\n", "'check':\n  strict: true\n"]
)
def test_the_key_is_found_however_it_is_written(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "prose.yml").write_text(text, encoding="utf-8")
    assert main(["check", "bad.prose.md", "--select", "unused"]) == 1
    (folder / "prose.yml").write_text(text.replace("check", "chekc"), encoding="utf-8")
    assert main(["check", "bad.prose.md"]) == 2
    assert "did you mean `check`?" in capsys.readouterr().err


def test_the_longer_beginning_decides_and_the_command_line_selects_anew(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "bad.prose.md", "--format", "json", "--select", "unused-slot", "--ignore", "unused"]) == 0
    assert codes(capsys) == ["unused-slot"]
    main(["check", "bad.prose.md", "--format", "json", "--select", "un", "--ignore", "unused,undefined-name"])
    assert codes(capsys) == ["unknown-target"]
    (folder / "prose.yml").write_text("check: {ignore: [unused]}\n", encoding="utf-8")
    assert main(["check", "bad.prose.md", "--format", "json", "--select", "unused-slot"]) == 0
    assert codes(capsys) == ["unused-slot"]


def test_folders_without_specs_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()
    for command in ("check", "fmt"):
        assert main([command, "empty"]) == 0
        assert "no specs in empty" in capsys.readouterr().err


def test_a_prose_yml_without_the_key_is_none_of_its_business(folder: Path) -> None:
    (folder / "prose.yml").write_text("servces: {}\n", encoding="utf-8")
    assert main(["check", "good.prose.md"]) == 0


@pytest.mark.parametrize("form", ["agent", "sarif", "junit"])
def test_every_format_names_the_fault(form: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", ".", "--format", form]) == 1
    out = capsys.readouterr().out
    assert "unknown-target" in out
    assert "bad.prose.md" in out


def test_verbose_says_what_can_decide_each_condition(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["if text is present:", "if text accepted:", "if text sounds good to you:", "choice the best one:"]
    bodies = ["  emit 1", "  emit 2", "  emit 3", '  option "a":\n    emit 4']
    program = "\n".join(f"{line}\n{body}" for line, body in zip(lines, bodies, strict=True))
    (folder / "asks.prose.md").write_text(GOOD.replace("bad", "asks").replace("return", f"{program}\nreturn"))
    assert main(["check", "asks.prose.md", "--verbose"]) == 0
    out = capsys.readouterr().out
    told = [line.partition("info[condition-rungs] ")[2] for line in out.splitlines() if "info[" in line]
    assert ["values" in told[0], "structure" in told[1], "judge" in told[2], "judge" in told[3]] == [True] * 4
    assert main(["check", "asks.prose.md"]) == 0
    assert "info[" not in capsys.readouterr().out


def from_stdin(monkeypatch: pytest.MonkeyPatch, data: bytes, *options: str) -> int:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    return main(["check", "-", *options])


def test_stdin_is_checked_where_it_would_stand(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert from_stdin(monkeypatch, BAD.encode(), "--format", "json") == 1
    assert "unknown-target" in codes(capsys)
    caller = BAD.replace("writter", "good").replace("txt", "text").encode()
    assert from_stdin(monkeypatch, caller, "--format", "json", "--stdin-filename", "bad.prose.md") == 0
    assert "unknown-target" not in codes(capsys)
    assert from_stdin(monkeypatch, b"\xff\xfe") == 2
    assert from_stdin(monkeypatch, BAD.encode(), "--fix") == 2
    assert from_stdin(monkeypatch, BAD.encode(), "good.prose.md") == 2
