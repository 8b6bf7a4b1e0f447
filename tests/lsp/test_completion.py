"""What could be written next, also where the text is not finished."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.editor import Editor, applied
from support.editorial import EDITORIAL

PATTERN = """\
---
name: drafting
kind: pattern
---

### Slots

- `writer`: writes
  - requires: `topic`, optional `advice`
- `critic`: reads
  - requires: `text`
  - ensures: `verdict`, `advice`
- `readers`: read, too

### Config

- `passes` (integer, default: 2): how often
- `manner` (plain | florid, default: plain)

### Parameters

- `topic`: what about
- `readers`: string[]

### Delegation

```prose
let notes = []
let view = call critic
  text: topic
repeat passes as round:
  let inner = round
parallel for reader in readers:
  let heard = call reader
    text: topic
HERE
return notes
```
"""


def proposals(editor: Editor, folder: Path, line: str, text: str = PATTERN) -> list[str]:
    """The labels at ``|`` in a line that stands in place of ``HERE``."""
    return [item["label"] for item in items(editor, folder, line, text)]


def items(editor: Editor, folder: Path, line: str, text: str = PATTERN) -> list[dict[str, object]]:
    whole = text.replace("HERE", line)
    at = whole.replace(" | ", "   ").index("|", text.index("HERE") if line else 0)
    uri = editor.open(folder / "drafting.prose.md", whole[:at] + whole[at + 1 :])
    marker = whole[:at][-30:]
    found: list[dict[str, object]] = editor.ask("completion", uri, marker, len(marker))["items"]
    return found


@pytest.mark.parametrize(
    ("line", "first", "never"),
    [
        ("call |", ["writer", "critic"], ["readers", "topic", "emit"]),
        ("let a = call wr|", ["writer"], ["notes"]),
        ("call writer\n  |", ["topic", "advice", "backoff"], []),
        ("call writer\n  topic: topic\n  |", ["advice"], ["topic: "]),
        ("call writer(|", ["topic", "advice"], []),
        ("call writer with { |", ["topic", "advice"], []),
        ("emit config.|", ["passes"], ["topic"]),
        ("emit view.|", ["verdict", "advice", "length"], ["topic", "emit"]),
        ('emit "so {|', ["notes", "view", "round", "inner", "writer"], ["emit", "repeat"]),
        ('emit "so {view.|', ["verdict"], ["notes"]),
        ('if manner == "|', ["plain", "florid"], ["notes", "emit"]),
        ('call writer\n  backoff: "|', ["none", "linear"], ["notes"]),
        ('parallel ("|', ["first", "any"], ["notes"]),
        ('use "|', ["dialectic"], ["notes", "emit"]),
        ("emit |", ["notes", "view", "topic", "passes"], ["heard", "reader"]),
    ],
)
def test_in_a_program(editor: Editor, folder: Path, line: str, first: list[str], never: list[str]) -> None:
    found = proposals(editor, folder, line)
    missing = [word for word in first if word not in found]
    assert missing == [], found
    assert [word for word in never if word in found] == []


def test_the_likeliest_stand_first(editor: Editor, folder: Path) -> None:
    assert proposals(editor, folder, "call |")[:2] == ["writer", "critic"]
    assert proposals(editor, folder, "call writer\n  |")[:2] == ["topic", "advice"]
    assert "dialectic" in proposals(editor, folder, "call |")


def test_names_of_the_frame_one_writes_in(editor: Editor, folder: Path) -> None:
    text = PATTERN.replace("    text: topic\nHERE", "    text: topic\n  HERE")
    assert proposals(editor, folder, "call |", text)[:3] == ["writer", "critic", "reader"]
    assert {"heard", "reader", "notes"} <= set(proposals(editor, folder, "emit |", text))


def test_statements_where_one_begins(editor: Editor, folder: Path) -> None:
    found = proposals(editor, folder, "|")
    assert {"let", "repeat", "parallel", "return", "call", "notes"} <= set(found)
    assert not {"contains", "at least", "then"} & set(found)
    assert {"contains", "at least", "len"} <= set(proposals(editor, folder, "if view |"))


@pytest.mark.parametrize("line", ['emit "so |', "# so |", 'emit "{ so: |'])
def test_nothing_in_plain_text(editor: Editor, folder: Path, line: str) -> None:
    assert proposals(editor, folder, line) == []


def test_what_is_accepted_replaces_the_word_that_was_begun(editor: Editor, folder: Path) -> None:
    whole = PATTERN.replace("HERE", "call writer\n  to")
    uri = editor.open(folder / "drafting.prose.md", whole)
    found = editor.ask("completion", uri, "call writer\n  to", 16)["items"]
    (item,) = [item for item in found if item["label"] == "topic"]
    assert "call writer\n  topic: \n" in applied(whole, [item["textEdit"]])


def test_sections_that_are_not_there_yet(editor: Editor, folder: Path) -> None:
    text = PATTERN.replace("### Delegation", "###|\n\n### Delegation")
    found = proposals(editor, folder, "", text)
    assert found == ["### Returns", "### Invariants", "### Shape"]
    test = "---\nname: t\nkind: test\nsubject: drafting\n---\n\n### Expects\n\n## |\n"
    assert proposals(editor, folder, "", test) == ["### Fixtures", "### Expects Not"]


def test_the_head_of_a_file(editor: Editor, folder: Path) -> None:
    assert "pattern" in proposals(editor, folder, "", "---\nname: x\nkind: |\n---\n")
    assert "kind" in proposals(editor, folder, "", "---\n|\n---\n")
    assert "dialectic" in proposals(editor, folder, "", "---\nname: x\nkind: test\nsubject: |\n---\n")


def test_instances_of_patterns(editor: Editor, folder: Path) -> None:
    text = EDITORIAL.replace("pattern: dialectic", "pattern: |")
    assert "dialectic" in proposals(editor, folder, "", text)
    text = EDITORIAL.replace("antithesis: critic", "antithesis: |")
    assert proposals(editor, folder, "", text)[:2] == ["outliner", "critic"]


def test_names_between_backticks(editor: Editor, folder: Path) -> None:
    text = PATTERN.replace("### Delegation", "### Shape\n\n- `delegates`:\n  - `|\n\n### Delegation")
    assert {"writer", "critic"} <= set(proposals(editor, folder, "", text))


def test_components_agents_and_blocks(editor: Editor, folder: Path) -> None:
    found = proposals(editor, folder, "", EDITORIAL.replace("let plan = call outliner", "let plan = call |"))
    assert {"outliner", "critic", "argued", "polish", "debate"} <= set(found)
    assert proposals(editor, folder, "", EDITORIAL.replace("do polish(text)", "do |")) == ["polish"]
    assert proposals(editor, folder, "", 'agent scout:\n  prompt: "Look."\nlet a = session: |\n') is not None


def test_proposals_say_what_they_are(editor: Editor, folder: Path) -> None:
    told = {item["label"]: item for item in items(editor, folder, "emit |")}
    assert "how often" in str(told["passes"]["documentation"])
    assert told["passes"]["detail"] == "config"
    assert told["writer"]["detail"] == "slot"
