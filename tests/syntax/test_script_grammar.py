"""The tables of the grammar: they belong to its text, and nothing depends on the file with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prose_runtime.syntax import grammar, tables
from prose_runtime.text import Source

LINES = (
    "let x = call critic(draft: draft, notes: [a, {b: 1}]) if score >= 0.5 else null",
    "record (a or b) in xs",
    "let x = [1,,2]",
    "call",
)


def test_the_tables_are_those_of_the_grammar() -> None:
    kept = (tables.resource("grammar") / "prosescript.json").read_text(encoding="utf-8")
    assert kept == tables.rendered(), "run python -m prose_runtime.lsp.reference"


def read() -> list[object]:
    grammar._terminals.cache_clear()
    source = Source("a.prose", "\n".join(LINES))
    return [grammar.parse(source, source.line_span(number), "statement") for number in range(1, len(LINES) + 1)]


@pytest.mark.parametrize("content", ["", "nonsense", "[]", None, json.dumps({"grammar": 1})])
def test_tables_that_are_missing_damaged_or_of_another_grammar_are_made_anew(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [str(tree) for tree in read()]
    text = (tables.resource("grammar") / "prosescript.lark").read_text(encoding="utf-8")
    (tmp_path / "prosescript.lark").write_text(text, encoding="utf-8")
    if content is not None:
        (tmp_path / "prosescript.json").write_text(content, encoding="utf-8")
    monkeypatch.setattr(tables, "resource", lambda name: tmp_path)
    assert [str(tree) for tree in read()] == expected
    grammar._terminals.cache_clear()


def test_a_tree_names_its_parts_from_the_inside_out() -> None:
    tree = read()[0]
    assert isinstance(tree, grammar.Tree)
    assert tree.data == "bind"
    assert tree.parts[-1] is tree
    assert (tree.start, tree.end) == (0, len(LINES[0]))
    seen: set[int] = set()
    for part in tree.parts:
        assert all(id(kid) in seen for kid in part.children if isinstance(kid, grammar.Tree))
        seen.add(id(part))


def test_the_grammar_is_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from prose_runtime.resources import resource

    monkeypatch.chdir(tmp_path)
    assert (resource("grammar") / "prosescript.lark").is_file()
    with pytest.raises(FileNotFoundError, match="nowhere"):
        resource("nowhere")
