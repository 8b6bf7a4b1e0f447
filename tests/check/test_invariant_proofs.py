"""What is proved of an invariant holds in every run: programs near the edge, each with the verdict that it gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from prose_runtime.check.checker import check_path
from support.programs import pattern

ASKED = "let v = call a(x: topic)\n"
SAID = "let y = call b(x: topic)\n"
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
ONE = "All calls of `a` get the same inputs."
TURNS = "`ps` run in order."
ROUNDS = "There are at most 2 rounds."
ONCE = "`a` runs at most 1 times."
EACH = "Each of the `ps` is called exactly once."
EVERY = "`a` runs at least 1 times in every round."
IN_TURN = 'let text = "start"\nfor role in [{}]:\n  text = call role\n    x: text'
SAY = "block say(r):\n  call r(x: 1)\n"
AFTER = "runs after all calls of `b`."
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
    # what a value holds grows old while it is in no name
    (LATEST, SAID + "call a(x: y, z: call b(x: 2))", "refuted"),
    (LATEST, SAID + "let z = [y, call b(x: 2)]\ncall a(x: z)", "refuted"),
    (LATEST, SAID + "let z = { f: y, g: call b(x: 2) }\ncall a(x: z.f)", "refuted"),
    (LATEST, SAID + "for u in [y, y]:\n  call a(x: u)\n  call b(x: 2)", "watched"),
    (LATEST, SAID + "for u in [y, y]:\n  call a(x: u)", "proved"),
    (LATEST, SAID + "let z = [y] | filter:\n  call b(x: 2)\ncall a(x: z)", "watched"),
    (LATEST, "let z = repeat 2:\n  call b(x: 2)\ncall a(x: z)", "refuted"),
    (LATEST, SAID + "let z = do:\n  try:\n    return y\n  finally:\n    call b(x: 1)\ncall a(x: z)", "refuted"),
    # who depends on another one may do so by way of a third
    (FREE, "call a(x: topic)\ncall b(x: topic)", "proved"),
    (FREE, ASKED + "let w = call c(x: v)\ncall b(x: w)", "unread"),
    # and no condition may look at the other one
    (FREE, ASKED + "if v.approved:\n  call b(x: topic)", "refuted"),
    (FREE, ASKED + "if v accepts:\n  call c(x: 1)\nelse:\n  call b(x: topic)", "refuted"),
    (FREE, ASKED + "if v.approved:\n  call b(x: 1)\nelse:\n  call b(x: 1)", "watched"),
    (FREE, ASKED + "if n > 2:\n  if v.approved:\n    call b(x: topic)", "watched"),
    (FREE, ASKED + "if v.approved:\n  return 1\ncall b(x: topic)", "watched"),
    (FREE, ASKED + "let t = 1 if v.approved else 2\ncall b(x: t)", "watched"),
    (FREE, "let s = [a, c]\nlet v = call s[1](x: 1)\nif v.approved:\n  call b(x: 1)", "watched"),
    (FREE, "try:\n  call a(x: 1)\ncatch:\n  call b(x: 1)", "watched"),
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
    (GROWS, "block note(xs):\n  record 1 in xs\n  xs\nlet xs = []\ndo note(xs)", "proved"),
    (GROWS, "let xs = []\nparallel repeat 2:\n  record 1 in xs\n  let xs = []\nxs = []", "refuted"),
    # what is told to all is one thing
    (ALIKE, "for m in ps:\n  call m(x: topic)", "proved"),
    (ALIKE, "let xs = []\nparallel for m, i in ps:\n  call m(x: xs[i])", "watched"),
    (ALIKE, "repeat 2 as i:\n  for m in ps:\n    call m(x: i)", "proved"),
    (ALIKE, "parallel repeat 2 as i:\n  for m in ps:\n    call m(x: i)", "watched"),
    (ALIKE, "parallel repeat 2:\n  for m in ps:\n    call m(x: topic)", "proved"),
    (ALIKE, "let z = [1, 2] | pmap:\n  for m in ps:\n    call m(x: item)", "watched"),
    (ONE, "repeat 2:\n  call a(x: topic)", "proved"),
    (ONE, "let z = [1, 2] | map:\n  call a(x: item)", "refuted"),
    (ONE, "block say(p):\n  call a(x: p)\ndo say(1)\ndo say(2)", "watched"),
    (ONE, "block say(p):\n  call a(x: p)\nrepeat 2 as i:\n  do say(i)", "watched"),
    (ONE, "block say:\n  let z = call c(x: 1)\n  call a(x: z)\nrepeat 2:\n  do say", "watched"),
    (ONE, "block say:\n  let z = call c(x: 1)\n  call a(x: z)\ndo say\ndo say", "watched"),
    (ONE, "repeat 2:\n  let z = topic\n  call a(x: z)", "proved"),
    (ONE, "repeat 2:\n  call a(x: topic)\n  let topic = 1", "watched"),
    (ONE, "repeat 2 as i:\n  if i > 1:\n    let z = 1\n  call a(x: z)", "watched"),
    (ONE, "call a(x: topic)\nlet topic = 1\ncall a(x: topic)", "watched"),
    (ONE, "let xs = []\ncall a(x: xs)\nrecord 1 in xs\ncall a(x: xs)", "watched"),
    (ONE, "let t = topic\ncall a(x: t)\ncall a(x: topic)", "proved"),
    (ONE, "call a(x: call c(x: 1))\ncall a(x: call c(x: 1))", "refuted"),
    (ONE, "if n > 1:\n  call a(x: 1)\nelse:\n  call a(x: 2)", "proved"),
    (ONE, "if n > 1:\n  call a(x: 1)\nelse:\n  call a(x: 2)\ncall a(x: 1)", "refuted"),
    (ONE, "repeat 2 as i:\n  if i > 1:\n    call a(x: 1)\n  else:\n    call a(x: 2)", "watched"),
    (ONE, "block say:\n  call a(x: topic)\nparallel for i in [1, 2]:\n  let topic = i\n  do say", "watched"),
    (ONCE, "block say(k):\n  call c(x: k)\nlet k = 1\ndo say(2)\nrepeat k:\n  call a(x: topic)", "proved"),
    # in order: in one walk, and in one walk after the other
    (
        TURNS,
        "block say:\n  for m in ps:\n    call m(x: 1)\nparallel repeat 2:\n  call a(x: 1)\n  let y = do say",
        "watched",
    ),
    (TURNS, "for m in ps:\n  call m(x: topic)", "proved"),
    (TURNS, "repeat 2:\n  for m in ps:\n    call m(x: topic)", "proved"),
    (TURNS, "parallel repeat 2:\n  for m in ps:\n    call m(x: topic)", "watched"),
    (TURNS, "parallel for i in [1, 2]:\n  repeat 2:\n    for m in ps:\n      call m(x: topic)", "watched"),
    (TURNS, "let z = [1, 2] | pmap:\n  for m in ps:\n    call m(x: item)", "watched"),
    (TURNS, "parallel:\n  for m in ps:\n    call m(x: topic)\n  call a(x: 1)", "proved"),
    (TURNS, "block say(m):\n  call m(x: topic)\nfor m in ps:\n  do say(ps[0])", "watched"),
    (TURNS, "let ps = [ps[1], ps[0]]\nfor m in ps:\n  call m(x: topic)", "unread"),
    (EACH, "for m in ps:\n  call m(x: topic)", "proved"),
    (EACH, "block say(m):\n  call m(x: topic)\nfor m in ps:\n  do say(ps[0])", "watched"),
    # rounds are all passes, wherever the loop stands
    (ROUNDS, "repeat 2:\n  call a(x: topic)", "proved"),
    (ROUNDS, "repeat 3:\n  call a(x: topic)", "refuted"),
    (ROUNDS, "if n > 1:\n  repeat 2:\n    call a(x: topic)\nelse:\n  repeat 2:\n    call b(x: topic)", "proved"),
    (ROUNDS, "parallel repeat 2:\n  repeat 2:\n    call a(x: topic)", "unread"),
    (ROUNDS, "parallel:\n  repeat 2:\n    call a(x: 1)\n  repeat 2:\n    call b(x: 1)", "unread"),
    (ROUNDS, "let z = [1, 2] | map:\n  repeat 2:\n    call a(x: item)", "unread"),
    (ROUNDS, "block say:\n  repeat 2:\n    call a(x: topic)\ndo say\ndo say", "unread"),
    (ROUNDS, "repeat 3:\n  call a(x: topic)\n  return 1", "unread"),
    ("There are at most 1 rounds.", "repeat n - 1:\n  call a(x: topic)", "unread"),
    (EVERY, "repeat 2:\n  call a(x: topic)", "proved"),
    (EVERY, 'parallel repeat 2 ("first"):\n  repeat 2:\n    call b(x: 1)\n    call a(x: topic)', "watched"),
    (EVERY, "try:\n  repeat 2:\n    call b(x: 1)\n    call a(x: topic)\ncatch:\n  call c(x: 1)", "watched"),
    # a number is what the name holds where it is read
    (ONCE, "let k = 1\nrepeat k:\n  call a(x: topic)", "proved"),
    (ONCE, "repeat n:\n  call a(x: topic)\nlet n = 1", "watched"),
    (
        ONCE,
        "let k = 2\nparallel:\n  do:\n    repeat k:\n      call a(x: topic)\n    let k = 1\n  call b(x: 1)",
        "watched",
    ),
    ("`a` runs at least 1 times.", "loop until b (max: n):\n  call a(x: topic)", "watched"),
    # a catch runs only after a failure, and what comes last whatever failed
    (ORDER, "try:\n  call a(x: topic)\ncatch:\n  call b(x: 1)", "proved"),
    (ORDER, 'try:\n  if n > 1:\n    throw "no"\n  call a(x: topic)\ncatch:\n  call b(x: 1)', "watched"),
    (ORDER, "try:\n  call c(x: topic)\ncatch:\n  call a(x: 1)\nfinally:\n  call b(x: 1)", "watched"),
    # what is called in a branch inside a branch is called as well
    (
        LATEST,
        "let y = call b(x: 1)\nlet z = [1, 2] | map:\n  let w = [1] | map:\n    call c(x: 1)\n  call b(x: 2)\n"
        "call a(x: y)",
        "refuted",
    ),
    # which of several roles a place calls, and in which order, shows in a run
    (ORDER, IN_TURN.format("a, b"), "watched"),
    (ORDER, IN_TURN.format("b, a"), "watched"),
    (f"`a` {AFTER}", IN_TURN.format("b, a"), "watched"),
    (ORDER, "call a(x: 1)\n" + IN_TURN.format("a, b"), "proved"),
    (ORDER, SAY + "do say(a)\ndo say(b)", "proved"),
    (ORDER, SAY + "do say(b)\ndo say(a)", "watched"),
    (APART, IN_TURN.format("b, a"), "watched"),
    (APART, "for r in [b, a]:\n  call r(x: topic)", "proved"),
    (APART, "let s = [b, a]\nlet t = call s[0](x: 1)\ncall s[1](x: t)", "watched"),
    (APART, "let r = a if n > 1 else c\nlet t = call r(x: 1)\ncall b(x: t)", "watched"),
    (LATEST, SAID + "let s = [b, c]\ncall s[1](x: 1)\ncall a(x: y)", "watched"),
    (LATEST, SAID + "let s = [b, c]\ncall a(x: y, z: call s[1](x: 1))", "watched"),
    (LATEST, SAID + "block say:\n  let s = [b, c]\n  call s[1](x: 1)\ndo say\ncall a(x: y)", "watched"),
    (LATEST, SAID + "parallel for r in [c, b]:\n  call r(x: 1)\ncall a(x: y)", "watched"),
    (LATEST, SAID + "block say:\n  call b(x: 1)\ndo say\ncall a(x: y)", "refuted"),
    (LATEST, SAID + "if n > 9:\n  call b(x: 1)\ncall a(x: y)", "watched"),
    (LATEST, SAID + "block say:\n  if n > 9:\n    call b(x: 1)\ndo say\ncall a(x: y)", "watched"),
    (LATEST, SAID + "if y approves:\n  call b(x: 1)\ncall a(x: y)", "refuted"),
    (LATEST, SAID + "call b(x: 1)\nif n > 9:\n  call b(x: 1)\ncall a(x: y)", "refuted"),
    ("`a` never sees the output of `b`.", SAID + "if n > 9:\n  call b(x: 1)\n  call a(x: y)", "watched"),
    ("The output of `b` reaches `a`.", SAID + "if n > 9:\n  call b(x: 1)\ncall a(x: y)", "proved"),
    (LATEST, SAID + "let z = call b(x: 2) if n > 9 else 1\ncall a(x: y)", "watched"),
    (LATEST, SAID + "repeat n - 2:\n  call b(x: 2)\ncall a(x: y)", "watched"),
    (LATEST, SAID + "if n > 1:\n  call c(x: 1)\nelse:\n  call b(x: 2)\ncall a(x: y)", "watched"),
    (LATEST, SAID + "repeat 2:\n  call a(x: y)\n  call b(x: 2)", "refuted"),
    ("The output of `b` reaches `a`.", "let s = [call b(x: 1), call c(x: 1)]\ncall a(x: s[1])", "watched"),
    ("The output of `b` reaches `a`.", "let s = [call b(x: 1), call c(x: 1)]\ncall a(x: s)", "proved"),
    ("`a` sees only the output of `b`.", IN_TURN.format("a, c"), "watched"),
    ("`a` sees only the output of `b`.", "for r in [a, c]:\n  call r(x: topic)", "proved"),
    ("The output of `b` reaches `a`.", IN_TURN.format("a, b"), "watched"),
    ("The output of `b` reaches `a`.", "for r in [a, c]:\n  call r(x: topic)", "refuted"),
    ("`a` never sees `topic`.", "let s = [a, b]\ncall s[1](x: topic)", "watched"),
    ("`a` is not aware of the pattern.", 'let s = [a, b]\ncall s[1](x: "the probe")', "watched"),
    ("`a` and `b` get the same inputs.", "for r in [a, b]:\n  call r(x: topic)", "proved"),
    ("`a` and `b` get the same inputs.", "let s = [a, c]\ncall s[1](x: 1)\ncall b(x: 2)", "watched"),
    (FREE, "for r in [a, b]:\n  call r(x: topic)", "proved"),
    (FREE, IN_TURN.format("a, b"), "watched"),
    (GUARD, "let s = [b, a]\ncall s[1](x: 1)", "watched"),
    (ONCE, "for r in [a, b]:\n  call r(x: 1)", "watched"),
    (ONCE, SAY + "do say(b)\ndo say(a)", "proved"),
    # other numbers may compute the same
    (ALIKE, "for m, i in ps:\n  let k = i * 0\n  call m(x: k)", "watched"),
    (ALIKE, "for m, i in ps:\n  call m(x: i - i)", "watched"),
    (ALIKE, 'for m, i in ps:\n  let k = i + 1\n  call m(x: "no {k}")', "refuted"),
    (ONE, "call a(x: 1 + 1)\ncall a(x: 2)", "watched"),
    # where a block calls itself, nothing is counted
    (TWICE, "block say(p):\n  call a(x: p)\n  if n > p:\n    do say(n)\ndo say(1)", "watched"),
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


def test_members_that_a_called_spec_asks_too_are_in_no_known_order(tmp_path: Path) -> None:
    pattern(tmp_path, "call helper(x: 1)", slots="helper", name="inner")
    body = "for m in ps:\n  call inner(helper: ps[1])\n  call m(x: 1)"
    path = pattern(tmp_path, body, slots="ps[]", extra=f"### Invariants\n\n- {TURNS}\n")
    (verdict,) = check_path(path).verdicts
    assert verdict.status == "watched", verdict.how


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("parallel:\n  call a(x: topic)\n  call b(x: topic)", "same time"),
        ("repeat 2 as k:\n  if k > 1:\n    call b(x: topic)\n  call a(x: topic)", "in a first pass"),
        (IN_TURN.format("a, b"), "which of several roles"),
    ],
)
def test_why_an_order_is_open_is_said_truly(tmp_path: Path, body: str, words: str) -> None:
    path = pattern(tmp_path, body, slots="a b", rows="topic: string", extra=f"### Invariants\n\n- {ORDER}\n")
    (verdict,) = check_path(path).verdicts
    assert verdict.status == "watched"
    assert words in verdict.how
