"""What is proved of an invariant holds in every run: programs near the edge, each with the verdict that it gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from prose_runtime.check.checker import check_path
from support.programs import pattern

ASKED = "let v = call a(x: topic)\n"
GUARD = "`b` runs only when `a` approves."
ORDER = "`a` runs before `b`."
LAST = "`b` is called exactly once, after all calls of `a`."
TWICE = "`a` runs at least 2 times."
NEVER = "`a` runs at most 0 times."
LATEST = "`a` sees only the latest output of `b`."
FREE = "`a` and `b` are independent of each other."
GROWS = "`xs` only grows."
APART = "`b` never sees the output of `a`."
ALIKE = "All `ps` get the same inputs."
FINALLY = "  return 1\nfinally:\n"

VERDICTS = [
    # what guards a call has to be the latest answer, and a plain yes
    (GUARD, ASKED + "if v.approved:\n  call b(x: topic)", "proved"),
    (GUARD, ASKED + "if not v.approved:\n  return 1\ncall b(x: topic)", "proved"),
    (GUARD, ASKED + 'if v.verdict == "accept":\n  call b(x: topic)', "proved"),
    (GUARD, ASKED + "let ok = v.approved\nif ok:\n  call b(x: topic)", "proved"),
    (GUARD, ASKED + "let y = call b(x: topic) if v.approved else null", "proved"),
    (GUARD, "let { approved } = call a(x: topic)\nif approved:\n  call b(x: topic)", "proved"),
    (GUARD, "parallel:\n  let v = call a(x: topic)\n  call c(x: 1)\nif v approves:\n  call b(x: topic)", "proved"),
    (GUARD, ASKED + "if v.approved == false:\n  return 1\ncall b(x: topic)", "watched"),
    (GUARD, "if n > 5:\n  let v = call a(x: 1)\nif v.approved == false:\n  return 1\ncall b(x: n)", "watched"),
    (GUARD, "let v = { approved: true }\nif n > 5:\n  let v = call a(x: 1)\nif v.approved:\n  call b(x: n)", "watched"),
    (GUARD, ASKED + "v.approved = true\nif v.approved:\n  call b(x: topic)", "watched"),
    (GUARD, ASKED + "let w = v.note or true\nif w approves:\n  call b(x: topic)", "watched"),
    (GUARD, ASKED + "if v.rejected:\n  return 1\ncall b(x: topic)", "watched"),
    (GUARD, ASKED + 'if v.rejected == "yes":\n  call b(x: topic)', "refuted"),
    (GUARD, ASKED + "if v.approved:\n  parallel:\n    call a(x: topic)\n    call b(x: topic)", "watched"),
    (GUARD, "parallel repeat 2:\n  let v = call a(x: 1)\n  if v.approved:\n    call b(x: topic)", "watched"),
    (GUARD, ASKED + "if v.approved:\n  let y = [1, 2] | map:\n    call b(x: item)\n    call a(x: item)", "watched"),
    (GUARD, ASKED + "try:\n  if not v.approved:\n    return 1\n  call c(x: 1)\nfinally:\n  call b(x: 1)", "watched"),
    # what comes last sees what every way out left
    (APART, "try:\n" + FINALLY + "  let y = call a(x: topic)\n  call b(x: y)", "refuted"),
    (
        APART,
        "let y = 1\nlet z = do:\n  try:\n    return 1\n  finally:\n    let y = call a(x: 1)\ncall b(x: y)",
        "refuted",
    ),
    # an order needs a call that is surely made
    (ORDER, "call a(x: topic)\ncall b(x: topic)\ncall a(x: topic)", "proved"),
    (ORDER, "for i in items:\n  call a(x: i)\ncall b(x: topic)", "watched"),
    (ORDER, "repeat n:\n  call a(x: topic)\ncall b(x: topic)", "watched"),
    (ORDER, "for m in ps:\n  call a(x: topic)\ncall b(x: topic)", "watched"),
    (ORDER, "call b(x: topic)\ncall a(x: topic)", "refuted"),
    (ORDER, "parallel:\n  call a(x: topic)\n  call b(x: topic)", "watched"),
    (ORDER, "parallel:\n  call b(x: topic)\n  call a(x: topic)", "refuted"),
    (LAST, "for i in items:\n  call a(x: i)\ncall b(x: topic)", "proved"),
    (LAST, "call b(x: topic)\nfor i in items:\n  call a(x: i)", "refuted"),
    # of branches side by side nobody knows which answered last
    (LATEST, "let y = call b(x: topic)\ncall a(x: y)", "proved"),
    (LATEST, "parallel:\n  let y = call b(x: topic)\n  call b(x: 2)\ncall a(x: y)", "watched"),
    # who depends on another one may do so by way of a third
    (FREE, "call a(x: topic)\ncall b(x: topic)", "proved"),
    (FREE, ASKED + "let w = call c(x: v)\ncall b(x: w)", "unread"),
    # calls are counted where none is cancelled, and no list changes its length
    (TWICE, "parallel repeat 2:\n  call a(x: topic)", "proved"),
    (TWICE, 'parallel repeat 2 ("first"):\n  call a(x: topic)', "watched"),
    (TWICE, 'parallel repeat 2 (on-fail: "ignore"):\n  call a(x: topic)', "proved"),
    (TWICE, 'parallel repeat 2 (on-fail: "ignore"):\n  call c(x: topic)\n  call a(x: topic)', "watched"),
    (NEVER, "let xs = []\nfor i in xs:\n  call a(x: i)", "proved"),
    (NEVER, 'let xs = []\nrecord "one" in xs\nfor i in xs:\n  call a(x: i)', "watched"),
    # a list grows when what it held is in it afterwards
    (GROWS, "let xs = []\nrepeat n:\n  record call a(x: topic) in xs", "proved"),
    (GROWS, "let xs = [1]\nrepeat n:\n  let xs = call a(x: topic)", "unread"),
    # what is told to all is one thing
    (ALIKE, "for m in ps:\n  call m(x: topic)", "proved"),
    (ALIKE, "let xs = []\nparallel for m, i in ps:\n  call m(x: xs[i])", "watched"),
]


@pytest.mark.parametrize(("claim", "body", "status"), VERDICTS)
def test_a_verdict(tmp_path: Path, claim: str, body: str, status: str) -> None:
    path = pattern(
        tmp_path,
        body,
        slots="a b c ps[]",
        rows="topic: string\nitems: string[]   -- (optional) several",
        config="- `n` (integer, default: 2)",
        extra=f"### Invariants\n\n- {claim}\n",
    )
    (verdict,) = check_path(path).verdicts
    assert verdict.status == status, verdict.how


@pytest.mark.parametrize(("words", "status"), [("accept | reject", "proved"), ("accept | reject | unsure", "watched")])
def test_no_refusal_is_an_approval_where_a_contract_has_two_words(tmp_path: Path, words: str, status: str) -> None:
    body = ASKED + "if v rejects:\n  return 1\ncall b(x: topic)"
    path = pattern(tmp_path, body, slots="a b", rows="topic: string", extra=f"### Invariants\n\n- {GUARD}\n")
    text = path.read_text(encoding="utf-8").replace("- `a`\n", f"- `a`\n  - ensures: `verdict` ({words}), `note`\n", 1)
    path.write_text(text, encoding="utf-8")
    (verdict,) = check_path(path).verdicts
    assert verdict.status == status, verdict.how
