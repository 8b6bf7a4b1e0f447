"""What is told about the place that one points at."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.editor import Editor, selected
from support.editorial import EDITORIAL


@pytest.fixture
def uri(editor: Editor, folder: Path) -> str:
    return editor.open(folder / "editorial.prose.md", EDITORIAL)


@pytest.mark.parametrize(
    ("marker", "inside", "told"),
    [
        ("repeat passes", 9, ["config", "passes", "integer", "default: 2", "how often it is improved"]),
        ("{config.passes}", 9, ["config", "passes", "default: 2"]),
        ("{tone}", 2, ["input", "tone", "optional", "how it shall sound"]),
        ("call outliner", 6, ["outliner", "Makes an outline", "inputs: topic", "returns: outline"]),
        ("call argued", 6, ["argued", "dialectic", "slots: thesis, antithesis", "config: rounds"]),
        ("call debate", 6, ["dialectic", "Argue a question from both sides"]),
        ("call critic\n    text", 17, ["input", "`text` of `critic`", "required", "what to judge"]),
        ("let verdict", 5, ["variable", "verdict", "let verdict = call critic", "accepted"]),
        ("do polish", 4, ["block", "polish(draft)"]),
        ("repeat passes", 2, ["N times", "starts at 1"]),
        ("parallel for", 3, ["at once"]),
        ("trim(draft)", 1, ["without blanks"]),
        ("accepted and round", 3, ["condition", "structure", "expression", "judge"]),
        ("### Execution", 6, ["program of a function"]),
        ("pattern: dialectic", 12, ["Argue a question"]),
        ("- `article`", 4, ["output", "article", "the text"]),
    ],
)
def test_hover(editor: Editor, uri: str, marker: str, inside: int, told: list[str]) -> None:
    found = editor.ask("hover", uri, marker, inside)
    assert found["contents"]["kind"] == "markdown"
    assert [word for word in told if word not in found["contents"]["value"]] == []


def test_a_slot_shows_its_contract_and_its_job(editor: Editor, folder: Path) -> None:
    uri = editor.open(folder / "dialectic.prose.md")
    found = editor.ask("hover", uri, "call thesis", 7)
    for word in ("slot", "primary", "requires: `task_brief`", "ensures: an argument", "job: Write an argument"):
        assert word in found["contents"]["value"]
    assert selected(editor.texts[uri], found["range"]) == "thesis"


def test_the_parts_of_a_condition_take_their_own_rungs(editor: Editor, uri: str) -> None:
    told = editor.ask("hover", uri, "accepted and round", 3)["contents"]["value"].splitlines()
    (english,) = [line for line in told if "verdict accepted" in line]
    (computed,) = [line for line in told if "round >= 1" in line]
    assert "structure" in english
    assert "judge" in english
    assert "expression" in computed
    assert "judge" not in computed


def test_a_modifier_is_explained(editor: Editor, folder: Path) -> None:
    text = EDITORIAL.replace("let plan = call outliner\n", "let plan = call outliner\n  retry: 2\n")
    found = editor.ask("hover", editor.open(folder / "editorial.prose.md", text), "retry: 2", 2)
    assert "tried again" in found["contents"]["value"]


@pytest.mark.parametrize(
    ("marker", "inside"), [("round {round}", 2), ("Makes an outline", 3), ("version", 0), ("### Config\n\n", 12)]
)
def test_where_there_is_nothing_to_tell_nothing_is_told(editor: Editor, uri: str, marker: str, inside: int) -> None:
    editor.texts[uri] += "version"
    assert editor.ask("hover", uri, marker, inside) is None


FIELDS = """\
---
name: fields
kind: pattern
---

### Slots

- `critic`: reads
  - ensures: `accepted`, `score`

### Delegation

```prose
let view = call critic
emit "{view.score}, {view.tone}"
if view.accepted and view.score > 3:
  return view.score
return null
```
"""


@pytest.mark.parametrize(
    ("marker", "inside", "told"),
    [
        ("{view.score}", 8, ["**field** `score`", "of `critic`", "declared"]),
        ("{view.tone}", 8, ["**field** `tone`", "not declared", "needed"]),
        ("view.accepted", 7, ["**field** `accepted`", "condition", "expression"]),
    ],
)
def test_fields_of_answers(editor: Editor, folder: Path, marker: str, inside: int, told: list[str]) -> None:
    uri = editor.open(folder / "fields.prose.md", FIELDS)
    text = editor.ask("hover", uri, marker, inside)["contents"]["value"]
    assert [words for words in told if words not in text] == []
