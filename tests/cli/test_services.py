"""``prose services``: who can answer here."""

from __future__ import annotations

from pathlib import Path

import pytest

from prose_runtime.cli import main

CONFIG = """
default: canned
judge: strict
services:
  canned: {provider: script, replies: [a]}
  strict: {provider: anthropic, model: opus}
  vllm: {provider: openai, base_url: "http://127.0.0.1:9/v1", model: m, key_env: VLLM_PASS}
  broken: {provider: command, command: [no-such-program-anywhere]}
  panel: {pattern: fan-out, with: {worker: canned}}
models: {opus: claude-opus-x}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_the_default_is_told_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROSE_DEFAULT", "echo")
    assert main(["services"]) == 0
    shown = capsys.readouterr().out
    assert "echo, because PROSE_DEFAULT" in shown
    assert "services: none" in shown
    for provider in ("anthropic", "command", "human", "local", "openai", "rehearsal", "script"):
        assert provider in shown


def test_services_of_prose_yml_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "prose.yml").write_text(CONFIG)
    assert main(["services"]) == 0
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")}
    assert "script" in rows["canned"]
    assert "claude-opus-x" in rows["strict"]
    assert "ANTHROPIC_API_KEY is not set" in rows["strict"]
    assert "VLLM_PASS is not set" in rows["vllm"]
    assert "fan-out" in rows["panel"]


def test_a_fault_in_prose_yml_has_its_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "prose.yml").write_text("default: a\nservicse: {}\n")
    assert main(["services"]) == 2
    error = capsys.readouterr().err
    assert "prose.yml:2" in error
    assert "services" in error


def test_ping_asks_and_tells_who_cannot_answer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "prose.yml").write_text("default: e\nservices: {e: {provider: echo}}\n")
    assert main(["services", "--ping"]) == 0
    (folder / "prose.yml").write_text(CONFIG)
    assert main(["services", "--ping"]) == 1
    answers = capsys.readouterr().out.rpartition("answers:")[2]
    rows = {line.split()[0]: line for line in answers.splitlines() if line}
    assert "ok" in rows["canned"]
    for name in ("broken", "vllm", "strict"):
        assert "fail" in rows[name]
