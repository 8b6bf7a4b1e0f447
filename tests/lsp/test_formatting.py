"""Formatting on request."""

from __future__ import annotations

from pathlib import Path

from support.commands import run
from support.editor import Editor, Json, applied
from support.editorial import EDITORIAL

UNTIDY = EDITORIAL.replace("let rounds = 0\n", "let   rounds=0   # 🖋\n").replace(
    "- `tone` (optional)", "*  `tone` (optional)"
)


def edits(editor: Editor, uri: str) -> list[Json]:
    options = {"tabSize": 4, "insertSpaces": True}
    found: list[Json] = editor.request("textDocument/formatting", {"textDocument": {"uri": uri}, "options": options})
    return found


def test_the_result_is_that_of_prose_fmt(editor: Editor, folder: Path) -> None:
    path = folder / "editorial.prose.md"
    path.write_text(UNTIDY, encoding="utf-8")
    uri = editor.open(path)
    found = edits(editor, uri)
    assert run("prose fmt editorial.prose.md", folder, home=folder).exit == 0
    assert applied(UNTIDY, found) == path.read_text(encoding="utf-8") != UNTIDY
    editor.change(uri, applied(UNTIDY, found))
    assert edits(editor, uri) == []


def test_only_lines_that_change_are_touched(editor: Editor, folder: Path) -> None:
    uri = editor.open(folder / "dialectic.prose.md")
    text = editor.texts[uri]
    assert edits(editor, uri) == []
    line = next(number for number, line in enumerate(text.splitlines()) if line.startswith("let exchange"))
    editor.change(uri, text.replace("let exchange = []", "let  exchange=[]"))
    (edit,) = edits(editor, uri)
    assert (edit["range"]["start"]["line"], edit["range"]["end"]["line"]) == (line, line + 1)
    assert applied(editor.texts[uri], [edit]) == text


def test_windows_line_ends_stay(editor: Editor, folder: Path) -> None:
    text = UNTIDY.replace("\n", "\r\n")
    uri = editor.open(folder / "editorial.prose.md", text)
    after = applied(text, edits(editor, uri))
    assert "let rounds = 0" in after
    assert after.count("\r\n") == after.count("\n")


def test_a_broken_file_is_left_as_it_is(editor: Editor, folder: Path) -> None:
    uri = editor.open(folder / "editorial.prose.md", UNTIDY.replace("let plan = call", "let plan ="))
    assert edits(editor, uri) == []
