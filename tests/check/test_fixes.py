"""Safe fixes: they end, leave nothing of their kind behind, and never make a file worse."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from prose_runtime.check.checker import check_path
from prose_runtime.check.fixes import edited, fixed, repair
from prose_runtime.check.project import Project
from prose_runtime.diagnostics import Diagnostic, Edit, Fix
from prose_runtime.text import Source, Span
from support.suites import Case, cases

CASES = cases()
HEAD = """\
---
name: spec
kind: pattern
---

### Slots

- `writer`

### Parameters

- `names`: whom to ask

### Delegation

```prose
let xs = []
BODY
return [xs, names]
```
"""


def codes(path: Path, severity: str = "error") -> list[str]:
    return sorted(d.code for d in check_path(path, Project.around(path)).diagnostics if d.severity == severity)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.suite}: {case.title}")
def test_fixes_mend_and_break_nothing(case: Case, tmp_path: Path) -> None:
    case.write(tmp_path)
    for name in case.files:
        path = tmp_path / name
        if path.suffix not in (".md", ".prose"):
            continue
        errors = codes(path)
        done = repair(path, lambda _: True)
        path.write_text(done.after, encoding="utf-8")
        assert set(codes(path)) <= set(errors), done.diff
        again = repair(path, lambda _: True)
        assert (again.fixes, again.diff) == (0, "")


def program(tmp_path: Path, text: str) -> Path:
    head = (
        "---\nname: spec\nkind: pattern\n---\n\n### Slots\n\n- `writer`\n\n### Parameters\n\n- `names`: whom to ask\n"
    )
    path = tmp_path / "spec.prose.md"
    path.write_text(
        f"{head}\n### Delegation\n\n```prose\nlet xs = []\n{text}return [xs, names]\n```\n", encoding="utf-8"
    )
    return path


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("for each name in names:\n  emit name\n", "for name in names:\n  emit name\n"),
        ("add 1 to xs\nappend xs [1, 2]\n", "append 1 to xs\nappend [1, 2] to xs\n"),
        ("let a = len(names) + 1\nemit a\n", "let a = names.length + 1\nemit a\n"),
        ("let a = {}\nlet a.b = 1\n", "let a = {}\na.b = 1\n"),
        (
            "if names:\n  let a = call writer topic: names, tone: 'plain' # why\n  emit a\n",
            'if names:\n  let a = call writer\n    topic: names\n    tone: "plain" # why\n  emit a\n',
        ),
        (
            "call writer\n  topics:\n    - names\n    - xs\n  tone: 1\n",
            "call writer\n  topics: [names, xs]\n  tone: 1\n",
        ),
        ("if names.length > 3 and\n    xs is empty:\n  emit 1\n", "if names.length > 3 and xs is empty:\n  emit 1\n"),
        ("let a = None\nemit a\n", "let a = null\nemit a\n"),
    ],
)
def test_what_becomes_of_a_line(before: str, after: str, tmp_path: Path) -> None:
    done = repair(program(tmp_path, before), lambda _: True)
    assert done.after == program(tmp_path, after).read_text(encoding="utf-8")


def test_the_closest_name_is_offered_and_not_applied(tmp_path: Path) -> None:
    path = program(tmp_path, "emit nmes\n")
    found = next(d for d in check_path(path).diagnostics if d.code == "undefined-name")
    assert found.fix is not None
    assert not found.fix.safe
    assert edited(found.source, found.fix.edits) == path.read_text(encoding="utf-8").replace("nmes", "names")
    assert repair(path, lambda _: True).fixes == 0


def test_of_overlapping_fixes_one_is_applied_at_a_time() -> None:
    source = Source("x.prose.md", "abcd")
    fixes = [Fix("1", (Edit(Span(0, 2), "x"),)), Fix("2", (Edit(Span(1, 3), "y"),)), Fix("3", (Edit(Span(3, 4), "z"),))]
    found = [Diagnostic("code", "warning", "m", source, Span(0, 1), fix=fix) for fix in fixes]
    assert fixed(source, found) == ("xcz", 2)


def test_new_lines_end_as_those_of_the_file() -> None:
    source = Source("x.prose.md", "a\r\nb\r\n")
    assert edited(source, [Edit(Span(0, 1), "x\ny")]) == "x\r\ny\r\nb\r\n"


def test_the_diff_is_one_that_can_be_applied(tmp_path: Path) -> None:
    path = program(tmp_path, "for each name in names:\n  emit name\n")
    text = path.read_text(encoding="utf-8").replace("### Slots", "A\u2028line \x0c here.\n\n### Slots").rstrip("\n")
    path.write_text("\ufeff" + text.replace("kind: pattern", "kind: Pattern"), encoding="utf-8")
    before = path.read_bytes()
    diff = repair(path, lambda _: True).diff
    done = subprocess.run(
        ["git", "apply", "--unsafe-paths", "-p0", "-"], cwd=tmp_path, input=diff.encode(), check=False
    )
    assert done.returncode == 0
    assert path.read_bytes() != before
    assert path.read_bytes() == before.replace(b"Pattern", b"pattern").replace(b"for each name", b"for name")


def test_older_spellings_of_kinds_sections_and_labels(tmp_path: Path) -> None:
    path = tmp_path / "pick.prose.md"
    text = "---\nname: pick\nkind: Service\n---\n\n## Requires\n\n- `topic`: what\n\n### Delegation\n\n```prose\n"
    path.write_text(f"{text}choice the better:\n  option patch:\n    return topic\n```\n", encoding="utf-8")
    changed = {"Service": "function", "## Requires": "### Parameters", "Delegation": "Execution", "patch": '"patch"'}
    wanted = path.read_text(encoding="utf-8")
    for old, new in changed.items():
        wanted = wanted.replace(old, new)
    assert repair(path, lambda _: True).after == wanted
