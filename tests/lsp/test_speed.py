"""Long files."""

from __future__ import annotations

import time
from pathlib import Path

from prose_runtime.lsp.desk import Desk
from support.editor import Editor, selected

HEAD = """\
---
name: long
kind: pattern
---

### Slots

- `writer`: writes
  - requires: `topic`, optional `advice`
- `critic`: reads
  - requires: `text`
  - ensures: `verdict`, `advice`

### Config

- `passes` (integer, default: 2): how often

### Parameters

- `topic`: what to write about

### Returns

- `text`: the last draft
- `notes`: what was said on the way

### Delegation

```prose
let notes = []
let text = null
let advice = null
"""

PART = '''
# Part {n}: a draft, and what the critic has to say of it.
repeat passes as round:
  let text = call writer
    topic: topic
    advice: advice
    prompt: """
      Write about {{topic}} for the {n}th time, in your own words, as if you had never seen it before.
      This is pass {{round}} of {{passes}}; keep what was good in the last one and change what was not.
      Do not repeat yourself, do not flatter anybody, and end with a question.
      """
  let view = call critic
    text: "{{text}} (part {n})"
  let advice = view.advice
  if view says accept and round > 1:
    record {{ part: {n}, text: text, advice: advice }} in notes
    break
  elif advice contains "{n}":
    emit "part {n}: {{advice}}"
'''


def long_file(lines: int) -> str:
    """A pattern of at least so many lines; a name on the last one is wrong."""
    text, number = HEAD, 0
    while text.count("\n") < lines:
        number += 1
        text += PART.format(n=number)
    return text + "\nreturn { text: text, notes: notez }\n```\n"


def test_five_thousand_lines_take_less_than_two_seconds(folder: Path) -> None:
    text = long_file(5000)
    desk = Desk()
    seconds = []
    for version in range(2):
        path = folder / "long.prose.md"
        desk.put(path.as_uri(), str(path), text.replace("what to write about", f"version {version}"), version)
        start = time.process_time()
        view = desk.view(path.as_uri())
        seconds.append(time.process_time() - start)
        assert view is not None
        assert [one.code for one in view.analysis.diagnostics if one.severity == "error"] == ["undefined-name"]
    assert min(seconds) < 2


def test_the_editor_hears_of_a_fault_on_the_last_line(editor: Editor, folder: Path) -> None:
    uri = editor.open(folder / "long.prose.md", long_file(5000))
    (fault,) = [one for one in editor.diagnostics(uri) if one["severity"] == 1]
    assert selected(editor.texts[uri], fault["range"]) == "notez"
    assert fault["range"]["start"]["line"] > 5000
    assert editor.close_file(uri) == []
