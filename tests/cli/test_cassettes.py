"""Cassettes as a person uses them: recorded, reviewed, replayed without anybody being asked, compared."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from prose_runtime.cli import main
from prose_runtime.journal import Journal

SPEC = """---
name: relay
kind: pattern
---

### Slots

- `runner`: carries the baton
  - requires: baton
- `timer`: measures

### Parameters

- `baton`: what is carried

### Delegation

```prose
let now = baton
repeat 11 as leg:
  let now = call runner
    baton: now
parallel ("first"):
  let a = call timer
    now: now
  let b = call timer
    then: now
try:
  call timer
    at: 1
catch as e:
  emit e.kind
if the race is fair:
  return { result: now }
return { result: "unfair" }
```
"""

SERVICES = """
judge: jury
services:
  feet: {provider: script, rules: [{when: {baton: /4/}, reply: "two\\nlines"}], else: {echo: true}}
  clock: {provider: script, rules: [{when: {at: 1}, error: stopped, kind: overloaded}], else: tick}
  jury: {provider: script, rules: [{reply: {verdict: true, reason: sk-very-secret-key}}]}
  nobody: {provider: script, replies: []}
"""

RUN = ["run", "relay.prose.md", "4", "--runner", "feet", "--timer", "clock", "--quiet"]
UNANSWERED = ["run", "relay.prose.md", "4", "--runner", "nobody", "--timer", "nobody", "--quiet"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret-key")
    (tmp_path / "relay.prose.md").write_text(SPEC, encoding="utf-8")
    (tmp_path / "prose.yml").write_text(SERVICES, encoding="utf-8")
    assert main([*RUN, "--record", "race.yml"]) == 0
    return tmp_path


def silence(folder: Path) -> None:
    """From now on no service answers."""
    text = SERVICES.split("services:", maxsplit=1)[0] + "services:\n"
    names = ("feet", "clock", "jury", "nobody")
    services = "".join(f"  {name}: {{provider: script, replies: []}}\n" for name in names)
    (folder / "prose.yml").write_text(text + services, encoding="utf-8")


def test_a_cassette_is_read_by_people_and_holds_no_secret(folder: Path) -> None:
    text = (folder / "race.yml").read_text(encoding="utf-8")
    assert text.startswith("cassette: 1\nspec: relay\n")
    assert "sk-very" not in text
    assert "***" in text
    assert "reply: |-\n    two\n    lines\n" in text
    content = yaml.safe_load(text)
    assert content["given"] == {"inputs": {"baton": "4"}}
    steps = [row["step"] for row in content["answers"] if "repeat" in row["step"]]
    assert steps == [f"repeat[{n}]/call runner" for n in range(1, 12)]


def test_recording_again_gives_the_same_file(folder: Path) -> None:
    assert main([*RUN, "--record", "again.yml"]) == 0
    assert (folder / "again.yml").read_text() == (folder / "race.yml").read_text()


def test_a_replay_asks_nobody_and_comes_to_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    silence(folder)
    capsys.readouterr()
    assert main([*RUN, "--replay", "race.yml", "--strict", "--max-calls", "1"]) == 0
    assert "lines" in capsys.readouterr().out
    assert main([*RUN, "--replay", "race.yml", "--no-record", "--json"]) == 0
    assert '"unfair"' not in capsys.readouterr().out


def test_a_missing_answer_names_its_step(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (folder / "race.yml").read_text()
    cut = text.index("- step: repeat[3]/call runner")
    (folder / "race.yml").write_text(text[:cut] + text[text.index("- step: repeat[4]/call runner") :])
    assert main([*UNANSWERED, "--replay", "race.yml"]) == 1
    said = capsys.readouterr().err
    assert "repeat[3]/call runner" in said
    assert "--replay-missing ask" in said
    assert main([*RUN, "--replay", "race.yml", "--replay-missing", "ask", "--record", "race.yml"]) == 0
    assert (folder / "race.yml").read_text() == text


def test_another_request_is_told_and_with_strict_it_is_an_error(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "relay.prose.md").write_text(SPEC.replace("then: now", "later: now"), encoding="utf-8")
    words = [word for word in RUN if word != "--quiet"]
    assert main([*words, "--replay", "race.yml"]) == 0
    assert "answers another request at parallel[2]/call timer" in " ".join(capsys.readouterr().err.split())
    assert main([*words, "--replay", "race.yml", "--strict"]) == 1
    assert "another request" in capsys.readouterr().err


def test_what_is_no_cassette_is_told_before_anything_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.yml").write_text("a: [1\n")
    for file, words in (("prose.yml", "no cassette"), ("none.yml", "no such file"), ("bad.yml", "no valid YAML")):
        assert main([*RUN, "--replay", file]) == 2
        assert words in capsys.readouterr().err
    assert main([*RUN, "--replay-missing", "ask"]) == 2
    (folder / "new.yml").write_text("cassette: 99\n")
    assert main([*RUN, "--replay", "new.yml"]) == 2
    assert "newer" in capsys.readouterr().err
    assert main([*RUN, "--record", "race.yml/in.yml"]) == 2


def test_a_resumed_run_records_its_cassette(folder: Path) -> None:
    whole = (folder / "race.yml").read_text()
    assert main([*RUN, "--record", "late.yml", "--max-calls", "3"]) == 4
    assert main(["resume", "last", "--max-calls", "100", "--quiet"]) == 0
    assert (folder / "late.yml").read_text() == whole
    assert Journal(folder / ".prose").list()[0].status == "completed"


def test_runs_and_cassettes_are_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--record", "again.yml"]) == 0
    capsys.readouterr()
    assert main(["runs", "diff", "race.yml", "again.yml"]) == 0
    runs = [row.run for row in Journal(folder / ".prose").list()]
    assert main(["runs", "diff", *runs[:2]]) == 0
    assert main(["runs", "diff", runs[0], "race.yml"]) == 0
    assert capsys.readouterr().out == ""
    words = [word if word != "4" else "go\x1b[31m" for word in RUN]
    assert main([*words, "--record", "other.yml"]) == 0
    capsys.readouterr()
    assert main(["runs", "diff", "race.yml", "other.yml"]) == 1
    said = capsys.readouterr().out
    for part in ("@@ given @@", "@@ call repeat[1]/call runner @@", "+   go", "@@ result @@", "-   two"):
        assert part in said
    assert "\x1b" not in said
    assert main(["runs", "diff", "race.yml", "last", "--json"]) == 1
    assert main(["runs", "diff", "race.yml", "nothing"]) == 2


TEST = """---
name: a fair race
kind: test
subject: relay
cassette: fair.yml
---

### Fixtures

- `baton`: 4
- `runner`: feet
- `timer`: clock

### Expects

- `result`: contains `lines`
- the race was worth it
"""


def test_a_test_is_answered_by_its_cassette(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "fair.test.prose.md").write_text(TEST, encoding="utf-8")
    assert main(["check", "fair.test.prose.md"]) == 0
    assert main(["test", "fair.test.prose.md"]) == 1
    assert "--record" in "".join(capsys.readouterr())
    assert main(["test", "fair.test.prose.md", "--record"]) == 0
    recorded = (folder / "fair.yml").read_text()
    silence(folder)
    assert main(["test", "fair.test.prose.md"]) == 0
    assert main(["test", "fair.test.prose.md", "--record"]) == 0
    assert (folder / "fair.yml").read_text() == recorded
    (folder / "fair.test.prose.md").write_text(TEST.replace("fair.yml", "../fair.yml"), encoding="utf-8")
    assert main(["test", "fair.test.prose.md"]) == 1
    assert "outside" in "".join(capsys.readouterr())
