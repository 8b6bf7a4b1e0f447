"""The number of calls on the command line: ``show --calls``, ``check --max-calls``, the first line of ``run``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prose_runtime.cli import main
from support.programs import line_of, pattern

CONFIG = "- `rounds` (integer, default: 2)"
SETTINGS = """
default: canned
services:
  canned: {provider: script, replies: [one], repeat: true}
  claude: {provider: anthropic, model: claude-haiku-4-5, max_tokens: 1000}
  mystery: {provider: openai, base_url: "http://localhost:9", model: nobody-knows}
  panel: {pattern: probe, with: {a: claude}, config: {rounds: 4}}
limits: {max_calls: 7}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "prose.yml").write_text(SETTINGS, encoding="utf-8")
    pattern(tmp_path, "repeat rounds:\n  call a\n    topic: topic", rows="topic: string", config=CONFIG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["show", *words, "--calls", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_table_with_formulas_and_numbers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "probe.prose.md", "--calls"]) == 0
    out = capsys.readouterr().out
    row = next(line for line in out.splitlines() if line.startswith("a "))
    assert row.split() == ["a", "rounds", "rounds", "2"]
    assert "longest chain" in out
    assert "$" not in out


def test_numbers_follow_the_options_of_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = shown(capsys, "probe.prose.md", "--rounds", "5")
    assert found["calls"]["max"] == {"formula": "rounds", "number": 5}
    assert main(["show", "probe.prose.md", "--calls", "--round", "5"]) == 2
    assert "--rounds" in capsys.readouterr().err


def test_a_pattern_in_a_slot_counts_with_its_own_calls(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = shown(capsys, "probe.prose.md", "--a", "panel", "--rounds", "3")
    assert found["calls"]["max"]["number"] == 12


def test_an_estimate_by_binding(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = shown(capsys, "probe.prose.md", "--a", "claude", "x" * 4000)["estimate"]
    assert (row["service"], row["model"], row["calls"]) == ("claude", "claude-haiku-4-5", 2)
    assert row["output_tokens"] == 2000
    assert 2000 < row["input_tokens"] < 2400
    assert row["cost_usd"] == pytest.approx((row["input_tokens"] * 1 + 2000 * 5) / 1e6)


def test_an_unknown_price_is_said_and_never_zero(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = shown(capsys, "probe.prose.md", "--a", "mystery")["estimate"]
    assert row["cost_usd"] is None
    assert main(["show", "probe.prose.md", "--calls", "--a", "mystery"]) == 0
    out = capsys.readouterr().out
    assert "unknown" in out
    assert "no price for mystery" in out


def test_what_is_not_given_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pattern(folder, "for x in items:\n  call a\n    x: x", rows="items: string[]", name="each")
    assert shown(capsys, "each.prose.md")["calls"]["max"] == {"formula": "len(items)", "number": None}
    assert main(["show", "each.prose.md", "--calls"]) == 0
    assert "? depends on `items`" in capsys.readouterr().out
    assert shown(capsys, "each.prose.md", "--items", "x", "--items", "y")["calls"]["max"]["number"] == 2


def test_no_bound_is_said_with_its_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = pattern(folder, "loop:\n  let x = call a\n  if x is present:\n    break", config=CONFIG, name="endless")
    found = shown(capsys, "endless.prose.md")
    assert found["calls"]["max"] == {"formula": "no bound", "number": "unbounded"}
    assert [row["line"] for row in found["unbounded"]] == [line_of(path, "loop:")]
    assert main(["show", "endless.prose.md", "--calls"]) == 0
    assert "limits.max_calls = 7" in capsys.readouterr().out


def test_options_of_a_run_belong_to_calls_only(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "probe.prose.md", "--rounds", "5"]) == 2
    assert "--rounds" in capsys.readouterr().err


def test_check_holds_specs_to_a_number(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "probe.prose.md", "--max-calls", "2"]) == 0
    capsys.readouterr()
    assert main(["check", "probe.prose.md", "--max-calls", "1", "--format", "json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert row["code"] == "call-bound"
    assert row["line"] == line_of(folder / "probe.prose.md", "repeat rounds")
    assert main(["check", "probe.prose.md", "--max-calls", "1", "--ignore", "call-bound"]) == 0


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The line about the bound, which stands right before the first call."""
    assert main(["run", *words, "--no-record"]) == 0
    lines = capsys.readouterr().err.splitlines()
    return lines[next(i for i, line in enumerate(lines) if line.startswith("call ")) - 1]


def test_a_run_begins_with_its_bound(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "probe.prose.md", "t") == "at most 2 calls"
    assert told(capsys, "probe.prose.md", "t", "--rounds", "1") == "at most 1 call"
    assert told(capsys, "probe.prose.md", "t", "--a", "canned", "--rounds", "3") == "at most 3 calls"


def test_a_run_without_a_bound_says_what_stops_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pattern(folder, "loop:\n  let x = call a\n  if x is present:\n    break", config=CONFIG, name="endless")
    line = told(capsys, "endless.prose.md")
    assert line.startswith("no bound: ")
    assert "limits.max_calls = 7 stops it" in line


def test_a_run_whose_bound_lies_above_the_limit_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "repeat rounds:\n  let x = call a\n  if x is present:\n    break"
    pattern(folder, body, config=CONFIG, name="many")
    line = told(capsys, "many.prose.md", "--rounds", "20")
    assert "at most 20 calls" in line
    assert "limits.max_calls = 7" in line
