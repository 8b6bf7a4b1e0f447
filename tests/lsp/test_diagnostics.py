"""Faults appear as one types: of the text as it is on the screen, at exact places."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from lsprotocol import types

from prose_runtime.lsp.positions import Positions
from prose_runtime.text import Source
from support.commands import ROOT
from support.editor import Editor, selected
from support.editorial import EDITORIAL

SMALL = """\
---
name: small
kind: pattern
---

### Slots

- `writer`: writes

### Parameters

- `topic`: what to write about

### Delegation

```prose
let text = call writer
  topic: topic
return text
```
"""


def codes(found: list[dict[str, object]]) -> list[object]:
    return [one["code"] for one in found]


def test_faults_come_and_go_while_one_types(editor: Editor, folder: Path) -> None:
    path = folder / "small.prose.md"
    path.write_text(SMALL, encoding="utf-8")
    uri = editor.open(path)
    assert editor.diagnostics(uri) == []
    editor.change(uri, SMALL.replace("topic: topic\n", "topic: topik\n"))
    (fault,) = editor.diagnostics(uri)
    assert (fault["code"], fault["severity"], fault["source"]) == ("undefined-name", 1, "prose")
    assert selected(editor.texts[uri], fault["range"]) == "topik"
    assert "did you mean `topic`" in fault["message"]
    editor.change(uri, SMALL)
    assert editor.diagnostics(uri) == []
    assert path.read_text(encoding="utf-8") == SMALL


def test_a_text_that_was_never_saved_is_checked(editor: Editor, folder: Path) -> None:
    uri = editor.open(folder / "new.prose.md", SMALL.replace("return text", "return texts"))
    assert "undefined-name" in codes(editor.diagnostics(uri))


def test_columns_count_as_the_client_does(editor: Editor, folder: Path) -> None:
    text = SMALL.replace("topic: topic\n", 'topic: "🖋🖋 é" + topik\n')
    line = next(line for line in text.splitlines() if "topik" in line)
    before = line[: line.index("topik")]

    def column(editor: Editor) -> object:
        (fault,) = editor.diagnostics(editor.open(folder / "small.prose.md", text))
        assert fault["range"]["end"]["character"] == fault["range"]["start"]["character"] + len("topik")
        return fault["range"]["start"]["character"]

    assert editor.capabilities["positionEncoding"] == "utf-16"
    assert column(editor) == len(before) + 2
    with Editor(folder, ["utf-8"]) as other:
        assert other.capabilities["positionEncoding"] == "utf-8"
        assert column(other) == len(before.encode())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_positions_lead_back_to_their_offsets(encoding: str) -> None:
    positions = Positions(Source("x", "a🖋é\r\n\u2028🖋\n\nend"), encoding)
    for at in range(len(positions.source.text) + 1):
        assert positions.offset(positions.position(at)) == at
    assert positions.offset(types.Position(0, 99)) == positions.source.text.index("\n")
    assert positions.offset(types.Position(99, 0)) == len(positions.source.text)


def test_windows_line_ends_shift_nothing(editor: Editor, folder: Path) -> None:
    text = SMALL.replace("topic: topic\n", "topic: topik\n").replace("\n", "\r\n")
    uri = editor.open(folder / "small.prose.md", text)
    (fault,) = editor.diagnostics(uri)
    assert selected(text, fault["range"]) == "topik"


def test_another_open_text_counts_as_it_is_on_the_screen(editor: Editor, folder: Path) -> None:
    callee = folder / "helper.prose.md"
    helper = "---\nname: helper\nkind: function\n---\n\n### Parameters\n\n- `question`: what to answer\n"
    callee.write_text(helper, encoding="utf-8")
    caller = SMALL.replace("call writer\n  topic: topic", 'call helper\n  question: "why"')
    uri = editor.open(folder / "caller.prose.md", caller)
    assert "unknown-input" not in codes(editor.diagnostics(uri))
    other = editor.open(callee)
    editor.published.pop(uri)
    editor.change(other, helper.replace("question", "riddle"))
    assert {"unknown-input", "missing-input"} & set(codes(editor.diagnostics(uri)))
    assert editor.close_file(other) == []


def test_a_file_that_changes_on_disk_is_read_again_on_saving(editor: Editor, folder: Path) -> None:
    caller = SMALL.replace("call writer\n  topic: topic", "call later\n  topic: topic")
    uri = editor.open(folder / "caller.prose.md", caller)
    assert "unknown-target" in codes(editor.diagnostics(uri))
    later = "---\nname: later\nkind: function\n---\n\n### Parameters\n\n- `topic`: what to answer\n"
    (folder / "later.prose.md").write_text(later, encoding="utf-8")
    editor.published.pop(uri)
    editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert "unknown-target" not in codes(editor.diagnostics(uri))


def test_closing_takes_the_faults_away(editor: Editor, folder: Path) -> None:
    uri = editor.open(folder / "small.prose.md", SMALL.replace("return text", "return texts"))
    assert editor.diagnostics(uri)
    assert editor.close_file(uri) == []


def test_other_markdown_is_left_alone(editor: Editor, folder: Path) -> None:
    uri = editor.open(folder / "README.md", "# Notes\n\n### Slots\n\nNothing of ours.\n", "markdown")
    assert editor.diagnostics(uri) == []
    assert editor.ask("hover", uri, "Slots") is None
    uri = editor.open(folder / "notes.md", SMALL.replace("return text", "return texts"), "markdown")
    assert "undefined-name" in codes(editor.diagnostics(uri))


def test_the_oldest_dialect_is_checked_too(editor: Editor, folder: Path) -> None:
    uri = editor.open(folder / "old.prose", 'let a = session "Write."\nreturn b\n')
    assert "undefined-name" in codes(editor.diagnostics(uri))


def test_settings_of_prose_yml_hold(editor: Editor, folder: Path) -> None:
    text = SMALL.replace("return text", "return texts")
    (folder / "prose.yml").write_text("check: {ignore: [undefined]}\n", encoding="utf-8")
    uri = editor.open(folder / "small.prose.md", text)
    assert editor.diagnostics(uri) == []
    (folder / "prose.yml").write_text("check: {ignored: 1}\n", encoding="utf-8")
    editor.change(uri, text)
    assert "undefined-name" in codes(editor.diagnostics(uri))


def test_a_second_place_is_shown_beside_the_first(editor: Editor, folder: Path) -> None:
    text = SMALL.replace("- `writer`: writes\n", "- `writer`: writes\n- `writer`: again\n")
    uri = editor.open(folder / "small.prose.md", text)
    fault = next(one for one in editor.diagnostics(uri) if one["code"] == "duplicate-name")
    (related,) = fault["relatedInformation"]
    assert related["location"]["range"]["start"]["line"] == fault["range"]["start"]["line"] - 1


QUESTIONS = ("hover", "definition", "completion", "documentSymbol", "references", "prepareRename", "codeAction")


def ask_everything(editor: Editor, uri: str, line: int, character: int) -> None:
    """Every question at one place; a refusal in words is an answer."""
    where = {"line": line, "character": character}
    for question in QUESTIONS:
        params = {"textDocument": {"uri": uri}, "position": where, "range": {"start": where, "end": where}}
        params["context"] = {"includeDeclaration": True, "diagnostics": [], "triggerKind": 1}
        answer = editor.exchange(f"textDocument/{question}", params)
        assert answer.get("error", {"code": -32602})["code"] == -32602, (question, where, answer)


@pytest.mark.parametrize("seed", range(4))
def test_broken_texts_break_nothing(editor: Editor, folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    composite = (ROOT / "tests" / "conformance" / "composite-in-javascript").glob("*.md")
    whole = [EDITORIAL, SMALL, next(composite).read_text(encoding="utf-8"), "do:\n" * 300, "- [" * 400]
    uri = editor.open(folder / "broken.prose.md", "")
    for text in whole:
        for _ in range(4):
            start, end = sorted(chance.randrange(len(text)) for _ in range(2))
            noise = "".join(chance.choice('🖋`"{}[]()#:\n\r \t\u2028\x0c-|*') for _ in range(6))
            broken = chance.choice([text[:end], text[start:], text[:start] + noise + text[start:]])
            editor.change(uri, broken)
            lines = broken.count("\n") + 2
            ask_everything(editor, uri, chance.randrange(lines), chance.randrange(60))
    editor.diagnostics(uri)
