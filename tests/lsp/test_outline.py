"""A file's outline."""

from __future__ import annotations

from pathlib import Path

from support.editor import Editor, Json, selected
from support.editorial import EDITORIAL


def names(entries: list[Json]) -> list[str]:
    return [entry["name"] for entry in entries]


def outline(editor: Editor, uri: str) -> list[Json]:
    found: list[Json] = editor.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    return found


def test_sections_hold_what_they_declare(editor: Editor, folder: Path) -> None:
    found = outline(editor, editor.open(folder / "dialectic.prose.md"))
    assert names(found) == ["Slots", "Config", "Parameters", "Returns", "Invariants", "Shape", "Delegation"]
    inside = {entry["name"]: names(entry.get("children") or []) for entry in found}
    assert inside["Slots"] == ["thesis", "antithesis"]
    assert inside["Config"] == ["rounds"]
    assert inside["Returns"] == ["result", "exchange"]
    assert inside["Delegation"] == ["exchange", "case_for", "case_against"]


def test_components_hold_their_own_sections(editor: Editor, folder: Path) -> None:
    found = outline(editor, editor.open(folder / "editorial.prose.md", EDITORIAL))
    assert names(found)[-2:] == ["outliner", "critic"]
    assert names(found[-1]["children"]) == ["Parameters", "Returns"]
    (execution,) = [entry for entry in found if entry["name"] == "Execution"]
    assert names(execution["children"])[:3] == ["polish", "clean", "plan"]


def test_what_is_selected_lies_in_what_is_covered(editor: Editor, folder: Path) -> None:
    uri = editor.open(folder / "editorial.prose.md", EDITORIAL)

    def check(entry: Json, within: Json | None) -> None:
        whole, name = entry["range"], entry["selectionRange"]
        assert place(whole["start"]) <= place(name["start"]) <= place(name["end"]) <= place(whole["end"])
        if within:
            assert place(within["start"]) <= place(whole["start"])
        if entry["kind"] not in (24,):
            assert entry["name"] in selected(editor.texts[uri], name)
        for inner in entry.get("children") or []:
            check(inner, whole)

    for entry in outline(editor, uri):
        check(entry, None)


def place(position: Json) -> tuple[int, int]:
    return position["line"], position["character"]


def test_the_oldest_dialect_has_one_too(editor: Editor, folder: Path) -> None:
    uri = editor.open(folder / "old.prose", 'let draft = session "Write."\noutput result = draft\n')
    assert names(outline(editor, uri)) == ["draft"]
