"""Files of the library as other editors and keyboards write them: read the same, or refused; never a crash."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from prose_runtime.nodes import dump
from prose_runtime.syntax.parse import decoded, parse
from prose_runtime.text import Source
from support.commands import ROOT

FILES = sorted([*(ROOT / "patterns").rglob("*.md"), *(ROOT / "examples").rglob("*.prose.md")])

HARMLESS: dict[str, Callable[[str], str]] = {
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "CR": lambda text: text.replace("\n", "\r"),
    "byte order mark": lambda text: "\ufeff" + text,
    "no final newline": lambda text: text.rstrip("\n"),
}
STRANGE: dict[str, Callable[[str], str]] = {
    "no-break spaces": lambda text: text.replace(" ", "\xa0"),
    "no-break indentation": lambda text: text.replace("\n  ", "\n\xa0\xa0"),
    "tabs": lambda text: text.replace("  ", "\t"),
    "smart quotes": lambda text: text.replace('"', "\u201c").replace("'", "\u2019"),
    "long dashes": lambda text: text.replace("- ", "\u2014 "),
    "line separators": lambda text: text.replace("\n", "\u2028"),
    "wide indentation": lambda text: text.replace("\n  ", "\n    "),
    "trailing blanks": lambda text: text.replace("\n", "  \n"),
    "tildes": lambda text: text.replace("```", "~~~"),
    "form feeds": lambda text: text.replace("\n", "\f\n"),
    "one line": lambda text: text.replace("\n", " "),
    "no blanks": lambda text: text.replace(" ", ""),
}


def read(path: Path, text: str) -> Source:
    return Source(str(path), decoded(str(path), text.encode("utf-8")))


@pytest.mark.parametrize("change", HARMLESS.values(), ids=HARMLESS.keys())
def test_what_does_not_matter_changes_no_tree(change: Callable[[str], str]) -> None:
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        spec, found = parse(read(path, change(text)))
        assert dump(spec) == dump(parse(read(path, text))[0]), path
        assert not [d for d in found if d.severity == "error"], path


@pytest.mark.parametrize("change", STRANGE.values(), ids=STRANGE.keys())
def test_strange_typography_is_read_or_refused_with_places(change: Callable[[str], str]) -> None:
    for path in FILES:
        spec, found = parse(read(path, change(path.read_text(encoding="utf-8"))))
        end = len(spec.source.text)
        assert all(0 <= d.span.start <= d.span.end <= end for d in found), path


@pytest.mark.parametrize("label", ["```prose", "~~~prose", "~~~~ prose", "````"])
def test_the_kind_of_fence_does_not_matter(label: str) -> None:
    mark = label.rstrip(" prose")
    text = "---\nname: t\nkind: pattern\n---\n\n### Delegation\n\n{}\nlet a = [1]\nreturn a\n{}\n"
    spec, found = parse(Source("t.md", text.format(label, mark)))
    assert found == []
    assert spec.body is not None
    assert len(spec.body.statements) == 2


PRINTED: dict[str, Callable[[str], str]] = {
    "no-break spaces": lambda text: text.replace(" = ", "\xa0=\xa0").replace("if ", "if\xa0"),
    "no-break indentation": lambda text: text.replace("\n  ", "\n\xa0\xa0"),
    "wide spaces": lambda text: text.replace(" = ", "\u3000=\u2009"),
    "curly quotes": lambda text: re.sub(r'"([^"\n]*)"', "\u201c\\1\u201d", text),
    "low quotes": lambda text: re.sub(r'"([^"\n]*)"', "\u201e\\1\u201c", text),
    "no-break markers": lambda text: text.replace("- ", "-\xa0").replace("### ", "###\xa0"),
}
PRINTABLE = """\
---
name: t
kind: pattern
---

### Slots

- `writer`: writes
  - requires: topic

### Delegation

```prose
let topic = "tides"
if topic:
  let draft = call writer
    topic: topic
  emit "one {topic} of two"
return { draft, note: "done" }
```
"""


@pytest.mark.parametrize("change", PRINTED.values(), ids=PRINTED.keys())
def test_signs_of_printed_text_are_read_as_plain_ones(change: Callable[[str], str]) -> None:
    spec, found = parse(Source("t.md", change(PRINTABLE)))
    assert dump(spec) == dump(parse(Source("t.md", PRINTABLE))[0])
    assert {d.severity for d in found} <= {"warning"}


LINE = 1_000_000
"""Characters of a line that no editor shows."""


@pytest.mark.parametrize("path", ["t.prose", "t.md"])
@pytest.mark.parametrize(
    "line",
    [
        *("x" * LINE, "word " * (LINE // 5), f'emit "{"x" * LINE}"', "#" * LINE, "- " * (LINE // 2), "`" * LINE),
        *("\u201c" + "x" * LINE, "\u201c" * (LINE // 3), "-" + "\xa0" * (LINE // 2), "x\xa0" * (LINE // 3)),
    ],
)
def test_a_line_of_a_megabyte_is_read_at_once(path: str, line: str) -> None:
    text = (
        line if path == "t.prose" else f"---\nname: t\nkind: pattern\n---\n\n### Delegation\n\n```prose\n{line}\n```\n"
    )
    start = time.process_time()
    parse(Source(path, text))
    assert time.process_time() - start < 1
