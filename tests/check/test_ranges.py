"""Every fault is marked at the smallest text that is wrong: the thing its message names, or what its rule is about.

The faults are those of the suites and of the examples on all pages of `prose explain`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from prose_runtime.check.checker import check_paths
from prose_runtime.check.rules import EVERY_RULE
from prose_runtime.diagnostics import Diagnostic
from support.pages import SUBJECT, examples, placed
from support.suites import cases

VALUE = r"\"[^\"\n]*\"|-?\d[\d.e]*|null|true|\[[^\n]*\]|\{[^\n]*\}|[\w.-]+(?:\[\d\])?"
NAME = r"[\w-]+"
TITLE = r"[A-Z][a-z]+(?: [A-Z]?[a-z]+)?"
ENGLISH = r"[a-z][\w ]+"
SENTENCE = r"[A-Z`][^\n]*\."
HEAD = r"(?:repeat|if|for|loop)\b[^\n]*:"
STATEMENT = r"(?:let|emit|call|return|output|append|record|add)\b[^\n]*"
FENCE = r"```prose"
DASHES = r"---"

SHAPES = {
    "arrow-target": NAME,
    "assignment-target": r"len\(xs\)",
    "bad-frontmatter": r"- my-pattern",
    "choice-body": STATEMENT,
    "compared-types": VALUE + r"|\w+ (?:<|>|meets) \w+",
    "count-beyond-branches": r"\d",
    "duplicate-option": NAME,
    "duplicate-section": TITLE,
    "empty-condition": r"\" *\"",
    "empty-delegation": TITLE,
    "empty-file": "",
    "end-without-return": HEAD,
    "function-arguments": r"[\w, ]+",
    "indentation": STATEMENT,
    "inline-body": rf"(?:if|for|repeat|loop|parallel|option)\b[^\n]*|{STATEMENT}",
    "input-form": VALUE,
    "invariant-in-doubt": SENTENCE,
    "invariant-refuted": SENTENCE,
    "javascript-syntax": r"[\w$]+|\W",
    "judge-for-field": ENGLISH,
    "loop-counter": NAME,
    "loop-over-no-list": VALUE,
    "loop-without-bound": r"loop|while|until",
    "loose-program": FENCE,
    "member-of-plain-value": VALUE + r"|\w+\[\"a\"\]|rounds > 1",
    "missing-body": HEAD,
    "missing-colon": r"[\w)]",
    "missing-delegation": rf"{DASHES}|{NAME}",
    "missing-frontmatter": r"# My pattern",
    "missing-kind": DASHES,
    "missing-name": DASHES,
    "name-behind": r"as \w+",
    "number-too-large": VALUE,
    "operand-types": VALUE,
    "parameter-default": VALUE,
    "parameter-text": r": \"[^\"]*\"",
    "pattern-instance": r"name: \w+",
    "portable-comparison": r"[^\n=:]+",
    "portable-condition-lines": r"[\w.> ]+and",
    "portable-conditional": r"[^\n=]+",
    "portable-discretion": r"\*\*[^*\n]+\*\*",
    "portable-inputs": r"\([^\n]*\)|with [^\n]+|\w+: [^\n]+",
    "printed-sign": r"\u00a0+|[“”][^\n]*[“”]",
    "question-mark": r"[^\n=]+ \? [^\n]+",
    "repeat-count": VALUE,
    "section-label": NAME,
    "section-level": TITLE,
    "single-quotes": r"'[^']*'",
    "spread-inputs": NAME,
    "stage-names": NAME,
    "stray-colon": r":",
    "syntax": r"let draft",
    "tab-indentation": r"\t",
    "test-expects-nothing": rf"Expects|{NAME}",
    "test-subject": NAME,
    "too-deep": r"\(",
    "trailing-comma": r",",
    "two-fences": FENCE,
    "two-programs": TITLE,
    "unclosed-comment": r"<!--",
    "unclosed-fence": FENCE,
    "unclosed-frontmatter": DASHES,
    "unclosed-parenthesis": r"\(",
    "unclosed-string": r"\"\w+",
    "unknown-backoff": VALUE,
    "unknown-input": VALUE + '|session "x"',
    "unknown-section": TITLE,
    "unquoted-label": NAME,
    "unreachable": STATEMENT,
    "quoted-declaration": r"`[^`]+`",
    "missing-input": NAME,
    "unread-bullet": ENGLISH,
    "unresolved-condition": r"[<>=]=?",
}
"""What the range of a fault is when it is not what the message names in backticks."""

WIDER = {"braced-name": r"\{{name}\}"}
"""What stands around the name in the range of a fault; ``{name}`` is the name."""


def faults(folder: Path) -> Iterator[Diagnostic]:
    for number, case in enumerate(cases()):
        case.write(folder / str(number))
    (folder / "pages").mkdir()
    (folder / "pages" / "summary.prose.md").write_text(SUBJECT, encoding="utf-8")
    paths = [folder / str(number) for number in range(len(cases()))]
    for rule in EVERY_RULE:
        path = folder / "pages" / rule.code / "page.prose.md"
        path.parent.mkdir()
        path.write_text(placed(rule, examples(rule)[0]), encoding="utf-8")
        (path.parent / "summary.prose.md").write_text(SUBJECT, encoding="utf-8")
        paths.append(path)
    for path in paths:
        yield from check_paths([path]).diagnostics


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Diagnostic]:
    return list(faults(tmp_path_factory.mktemp("ranges")))


def named(diagnostic: Diagnostic) -> bool:
    """Whether the range is exactly what the message names."""
    return diagnostic.source.slice(diagnostic.span) in re.findall(r"`([^`]+)`", diagnostic.message)


def shape(diagnostic: Diagnostic) -> str:
    wider = WIDER.get(diagnostic.code)
    name = re.search(r"`([^`]+)`", diagnostic.message)
    return wider.replace("{name}", re.escape(name[1])) if wider and name else SHAPES.get(diagnostic.code, "(?!)")


def test_the_range_is_the_smallest_text_that_is_wrong(found: list[Diagnostic]) -> None:
    wide = {
        f"{d.code}: {d.source.slice(d.span)!r} for {d.message!r}"
        for d in found
        if not named(d) and not re.fullmatch(shape(d), d.source.slice(d.span))
    }
    assert wide == set()


def test_no_range_goes_beyond_its_line(found: list[Diagnostic]) -> None:
    assert [d.where for d in found if d.start.line != d.end.line] == []
    others = [d.source.slice(other.span) for d in found for other in d.secondary]
    assert [text for text in others if "\n" in text or not text.strip()] == []


def test_shapes_are_for_faults_that_name_nothing(found: list[Diagnostic]) -> None:
    needed = {d.code for d in found if not named(d)}
    assert SHAPES.keys() | WIDER.keys() <= needed


@pytest.mark.parametrize(
    ("before", "after", "code", "marked"),
    [
        ("- `a`", "*", "unread-bullet", "*"),
        ("return call a", "let x = 1\n   return {\n     b: x\n   }", "indentation", "return {"),
        (
            "- `a`",
            "- `a`\n\n### Patterns\n\n```yaml\n- name: x\n  pattern: fan-out\n  with:\n    b:\n```",
            "pattern-instance",
            "b:",
        ),
        ("kind: pattern", "kind: pattern\nnote: * x", "bad-frontmatter", "*"),
        ("```prose\nreturn call a\n", "  ```prose\n", "empty-delegation", "```prose"),
    ],
)
def test_ranges_where_little_is_written(before: str, after: str, code: str, marked: str, tmp_path: Path) -> None:
    text = (
        "---\nname: page\nkind: pattern\n---\n\n### Slots\n\n- `a`\n\n### Delegation\n\n```prose\nreturn call a\n```\n"
    )
    path = tmp_path / "page.prose.md"
    path.write_text(text.replace(before, after, 1), encoding="utf-8")
    marks = [d.source.slice(d.span) for d in check_paths([path]).diagnostics if d.code == code]
    assert marks[:1] == [marked]
