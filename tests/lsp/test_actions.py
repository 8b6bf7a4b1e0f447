"""Fixes as actions."""

from __future__ import annotations

from pathlib import Path

from support.editor import Editor, Json, applied

TEXT = """\
---
name: small
kind: pattern
---

### Slots

- `writer`: writes 🖋

### Delegation

```prose
emit "🖋🖋" # prose: ignore undefined-name because
return call writer
```
<!-- prose: ignore unused-slot -->
Text.
"""


def actions(editor: Editor, uri: str, marker: str, only: list[str] | None = None) -> list[Json]:
    """The actions that are offered at a place."""
    where = editor.place(uri, marker)
    context = {"diagnostics": [], **({"only": only} if only else {})}
    found: list[Json] = editor.request(
        "textDocument/codeAction",
        {"textDocument": {"uri": uri}, "range": {"start": where, "end": where}, "context": context},
    )
    return found


def test_a_fix_is_an_action_at_its_fault(editor: Editor, folder: Path) -> None:
    uri = editor.open(folder / "small.prose.md", TEXT)
    assert "unused-suppression" in [one["code"] for one in editor.diagnostics(uri)]
    (action,) = actions(editor, uri, "unused-slot", ["quickfix"])
    assert action["kind"] == "quickfix"
    assert action["diagnostics"][0]["code"] == "unused-suppression"
    editor.change(uri, applied(TEXT, action["edit"]["changes"][uri]))
    assert "<!--" not in editor.texts[uri]
    assert len([one for one in editor.diagnostics(uri) if one["code"] == "unused-suppression"]) == 1
    assert actions(editor, uri, "Text.", ["quickfix"]) == []


def test_all_safe_fixes_at_once(editor: Editor, folder: Path) -> None:
    uri = editor.open(folder / "small.prose.md", TEXT)
    (action,) = actions(editor, uri, "kind", ["source.fixAll"])
    text = applied(TEXT, action["edit"]["changes"][uri])
    assert "prose: ignore" not in text
    assert "- `writer`: writes 🖋" in text
    assert [one["kind"] for one in actions(editor, uri, "kind", ["source"])] == ["source.fixAll"]


def test_all_safe_fixes_with_those_that_they_bring_to_light(editor: Editor, folder: Path) -> None:
    text = TEXT.replace(
        'emit "🖋🖋" #', "for each x in ['a']: # prose: ignore portable-for-each, single-quotes\n  emit x #"
    )
    uri = editor.open(folder / "small.prose.md", text)
    (action,) = actions(editor, uri, "kind", ["source.fixAll"])
    assert action["title"].startswith("Apply all safe fixes")
    editor.change(uri, applied(text, action["edit"]["changes"][uri]))
    assert actions(editor, uri, "kind", ["source.fixAll"]) == []


BAD = '''\
---
name: other # a remark
kind: pattern
---

### Slots

- `writer`
- `editor`

### Returns

- `text`

### Delegation

```prose
let text = call writer
emit """
  about {texd}
"""
emit toppic or topik # why
```
'''


def test_any_fault_can_be_ignored_where_it_stands(editor: Editor, folder: Path) -> None:
    uri = editor.open(folder / "bad.prose.md", BAD)
    left = editor.diagnostics(uri)
    assert len(left) >= 5
    for _ in range(len(left)):
        where = left[0]["range"]
        found = editor.request(
            "textDocument/codeAction",
            {"textDocument": {"uri": uri}, "range": where, "context": {"diagnostics": [], "only": ["quickfix"]}},
        )
        title = f"Ignore `{left[0]['code']}` here"
        ignore = next(one for one in found if one["title"] == title and one["diagnostics"] == left[:1])
        editor.change(uri, applied(editor.texts[uri], ignore["edit"]["changes"][uri]))
        fewer = editor.diagnostics(uri)
        assert len(fewer) < len(left)
        left = fewer
        if not left:
            break
    assert left == []
    assert "# why # prose: ignore undefined-name\n" in editor.texts[uri]
