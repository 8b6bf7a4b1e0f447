"""The command as a whole: quick, never a traceback, one sentence for each fault."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from prose_runtime.check.project import library
from prose_runtime.cli import COMMANDS, main
from prose_runtime.cli import options as cli_options
from support.commands import prose, run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_version_is_told_without_loading_anything_heavy() -> None:
    code = """
import sys
from prose_runtime.cli import main
assert main(["--version"]) == 0
print(sorted({"lark", "jinja2", "anthropic", "openai", "rich", "pydantic", "mistune", "yaml"} & set(sys.modules)))
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert said[0].startswith("prose ")
    assert said[1] == "[]"


def test_a_plain_check_loads_what_it_needs_and_nothing_else(tmp_path: Path) -> None:
    """The whole list, so that whoever adds to the start of every check sees it here."""
    code = """
import sys
from prose_runtime.cli import main
assert main(["check", "guard.prose.md"]) == 0
outside = {name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)
print(*sorted(name for name in outside if not name.startswith(("_", "cython"))))
heavy = {"asyncio", "hashlib", "http", "logging", "multiprocessing", "sqlite3", "ssl", "tempfile"}
print(*sorted(heavy & set(sys.modules)))
rooms = {name.split(".")[1] for name in sys.modules if name.startswith("prose_runtime.")}
print(*sorted(rooms & {"services", "runtime", "journal", "events", "lsp"}))
"""
    (tmp_path / "guard.prose.md").write_bytes((library() / "guard.prose.md").read_bytes())
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path = {sys.path!r}\n{code}"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stdout.splitlines()[-3:] == ["click mistune prose_runtime", "", ""]


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in COMMANDS)


def test_the_list_of_commands_says_of_each_what_it_does_in_whole_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--help"], ["runs", "--help"]):
        assert main(words) == 0
        listed = capsys.readouterr().out.partition("Commands:\n")[2].splitlines()
        said = [line.split(maxsplit=1)[1].strip() for line in listed]
        assert [text for text in said if not text.endswith(".") or text.endswith("..")] == []
        assert len({*said}) == len(said)


@pytest.mark.parametrize(
    ("verb", "does"), [("run", "Run"), ("submit", "Start a run of"), ("batch", "Run .* for each line of a file")]
)
def test_help_with_and_without_a_spec_says_what_this_command_does(
    verb: str, does: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ([verb, "--help"], [verb, "guard", "--help"]):
        assert main(words) == 0
        first = " ".join(capsys.readouterr().out.split("\n\n")[1].split())
        assert re.match(does, first), first


@pytest.mark.parametrize("command", list(COMMANDS))
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert "Usage:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rnu"], "run"),
        (["runs", "show"], "RUN"),
        (["runs", "show", "x"], "no run"),
        (["resume", "last"], "no run"),
        (["run"], "SPEC"),
        (["run", "--json"], "SPEC"),
        (["services", "--nope"], "--nope"),
    ],
)
def test_a_wrong_command_line_is_told_in_a_sentence(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error


def test_a_fault_of_our_own_is_no_traceback_but_a_log(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("with sk-secret-key inside")

    monkeypatch.setattr(cli_options, "spec_word", broken)
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("THEIR_API_KEY", "sk-secret-key")
    assert main(["run", "x"]) == 1
    error = capsys.readouterr().err
    assert "bug" in error
    assert "ZeroDivisionError" in error
    assert "Traceback" not in error
    (log,) = folder.glob("prose-bug-*.log")
    assert str(log) in error
    assert "Traceback" in log.read_text()
    assert "sk-secret-key" not in log.read_text() + error


def test_a_reader_that_goes_away_is_no_fault(folder: Path) -> None:
    outcome = run(f"{prose()} --help | true || true", folder, folder)
    assert (outcome.exit, outcome.stderr) == (0, "")


def test_output_that_the_terminal_cannot_show_is_no_fault(folder: Path) -> None:
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    words = [sys.executable, "-m", "prose_runtime", "run", "schön"]
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no spec `sch" in done.stderr


SCRIPTED = 'services:\n  w: {provider: script, replies: ["a\\e[31mb"], repeat: true}\n'
CALL = "prose run dialectic t --thesis w --antithesis w --rounds 1 --no-record"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (f"{CALL} >&-", 0),
        (f"{CALL} 2>&-", 0),
        (f"{CALL} -q > /dev/full", 1),
        ("prose check . > /dev/full", 1),
        (f"{CALL.replace(' t ', ' - ')} <&-", 0),
    ],
)
def test_closed_and_full_streams_are_no_bug(tmp_path: Path, command: str, code: int) -> None:
    (tmp_path / "prose.yml").write_text(SCRIPTED, encoding="utf-8")
    (tmp_path / "faulty.prose.md").write_text("---\n", encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command],
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert "bug" not in done.stderr


def test_a_pipe_gets_what_the_service_said(tmp_path: Path) -> None:
    (tmp_path / "prose.yml").write_text(SCRIPTED, encoding="utf-8")
    words = [sys.executable, "-m", "prose_runtime", *CALL.split()[1:], "-q"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "a\x1b[31mb" in done.stdout
