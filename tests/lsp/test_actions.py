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
