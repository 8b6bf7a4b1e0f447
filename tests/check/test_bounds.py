"""Bounds of calls: formulas over config and inputs, and numbers for given ones."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from prose_runtime.check.bounds import Bounds, Given, formulas, numbers
from prose_runtime.check.bounds_evaluate import Values, evaluate, text
from prose_runtime.check.bounds_limit import beyond
from prose_runtime.check.checker import check_path
from support.commands import ROOT
from support.programs import line_of, pattern

CONFIG = "- `rounds` (integer, default: 2)\n- `most` (integer, default: 3)\n- `rule` (string, default: none)"
ROWS = "briefs: string[]\ntiers: array\ntask: string"


def bounds(folder: Path, body: str, **more: Any) -> Bounds:
    path = pattern(folder, body, slots="a b options[]", config=CONFIG, rows=ROWS, **more)
    analysis = check_path(path)
    assert [d.message for d in analysis.diagnostics if d.severity == "error"] == []
    return formulas(analysis)


def known(folder: Path, body: str, **given: Any) -> Bounds:
    path = pattern(folder, body, slots="a b options[]", config=CONFIG, rows=ROWS)
    return numbers(check_path(path), Given(given.get("config", {}), given.get("inputs", {}), complete=True))


def calls(found: Bounds) -> tuple[str, str]:
    return text(found.calls.low), text(found.calls.high)


@pytest.mark.parametrize(
    ("body", "low", "high"),
    [
        ("call a\ncall b", "2", "2"),
        ("repeat rounds:\n  call a\n  call b", "2*rounds", "2*rounds"),
        ("repeat 3:\n  repeat rounds:\n    call a", "3*rounds", "3*rounds"),
        ("repeat rounds:\n  call a\n  for o in options:\n    call o", "rounds*(len(options) + 1)", None),
        ("for x in briefs:\n  call a\n    x: x", "len(briefs)", "len(briefs)"),
        ("repeat rounds - 1:\n  call a", "max(0, rounds - 1)", None),
        ("repeat rounds + most:\n  call a", "most + rounds", None),
        ("repeat min(rounds, 2):\n  call a", "min(2, rounds)", None),
        ("repeat max(rounds, 2):\n  call a", "max(2, rounds)", None),
        ("repeat briefs.length:\n  call a", "len(briefs)", None),
        ("let n = rounds * 2\nrepeat n:\n  call a", "2*rounds", None),
        ("for t in tiers:\n  repeat t.count:\n    call a", "sum(t.count for t in tiers)", None),
        ("loop for each x in briefs (max: 2):\n  call a\n    x: x", "min(2, len(briefs))", None),
    ],
)
def test_what_a_loop_multiplies(tmp_path: Path, body: str, low: str, high: str | None) -> None:
    assert calls(bounds(tmp_path, body)) == (low, high or low)


@pytest.mark.parametrize(
    ("body", "low", "high"),
    [
        ("if rounds > 1:\n  call a\nelse:\n  call a\n  call b", "1", "2"),
        ("if rounds > 1:\n  return 1\ncall a", "0", "1"),
        ('choice the best:\n  option "x":\n    call a\n  option "y":\n    1', "0", "1"),
        ("repeat most:\n  call a\n  if rounds > 1:\n    break", "min(1, most)", "most"),
        ("repeat most:\n  let x = call a\n  if x.ok:\n    return x\n  call b", "min(1, 2*most)", "2*most"),
        ("repeat most:\n  if rounds > 1:\n    continue\n  call a", "0", "most"),
        ("try:\n  call a\ncatch:\n  call b", "1", "2"),
        ("try:\n  call a\ncatch:\n  throw\nfinally:\n  call b", "2", "2"),
        ('try:\n  throw "x"\ncatch:\n  call b', "1", "1"),
        ("loop while rounds > 1 (max: most):\n  call a", "0", "most"),
        ("loop until rounds > 1 (max: 4):\n  call a", "1", "4"),
        ("let x = call a\nlet y = x or call b", "1", "2"),
        ("let x = call a if rounds > 1 else call b", "1", "1"),
    ],
)
def test_ways_that_differ(tmp_path: Path, body: str, low: str, high: str) -> None:
    assert calls(bounds(tmp_path, body)) == (low, high)


@pytest.mark.parametrize(
    ("body", "count", "chain"),
    [
        ("parallel:\n  call a\n  call b", "2", "1"),
        ("parallel for x in briefs:\n  call a\n    x: x\n  call b", "2*len(briefs)", "2"),
        ("parallel repeat 3:\n  call a\ncall b", "4", "2"),
        ('parallel ("first"):\n  call a\n  call b', "2", "1"),
        ("let r = briefs | map:\n  call a\n    x: item", "len(briefs)", "len(briefs)"),
        ("let r = briefs | pmap:\n  call a\n    x: item", "len(briefs)", "1"),
        ("let r = [1, 2, 3] | reduce(s, x):\n  call a\n    x: x", "2", "2"),
        ("parallel:\n  call a\n  do:\n    call a\n    call b", "3", "2"),
    ],
)
def test_what_runs_at_the_same_time_waits_once(tmp_path: Path, body: str, count: str, chain: str) -> None:
    found = bounds(tmp_path, body)
    assert text(found.calls.high) == count
    assert text(found.chain.high) == chain


def test_the_first_of_many_may_be_the_only_one(tmp_path: Path) -> None:
    found = bounds(tmp_path, 'parallel for o in options ("first"):\n  call o')
    assert calls(found) == ("min(1, len(options))", "len(options)")


@pytest.mark.parametrize(
    ("body", "high"),
    [
        ("let xs = []\nrepeat rounds:\n  record 1 in xs\nfor x in xs:\n  call a", "rounds"),
        ("let xs = [0]\nrepeat rounds:\n  for x in xs:\n    call a\n  record 1 in xs", "rounds*(rounds + 1)"),
        ("let xs = []\nlet ys = xs\nrecord 1 in ys\nrecord 2 in ys\nfor x in xs:\n  call a", "2"),
        ("let xs = parallel for b in briefs:\n  call a\n    b: b\nfor x in xs:\n  call b", "2*len(briefs)"),
        ("let xs = []\nparallel for b in briefs:\n  record b in xs\nfor x in xs:\n  call a", "len(briefs)"),
        ("let xs = []\nrepeat rounds:\n  xs = xs + [1, 2]\nfor x in xs:\n  call a", "2*rounds"),
        ('record "more" in briefs\nfor x in briefs:\n  call a', "len(briefs) + 1"),
        ("let xs = briefs | filter: item is present\nfor x in xs:\n  call a", "len(briefs)"),
        ("let xs = briefs\nif rounds > 1:\n  xs = [1, 2]\nfor x in xs:\n  call a", "max(2, len(briefs))"),
        ("let xs = []\nrepeat rounds:\n  let xs = []\n  record 1 in xs\nfor x in xs:\n  call a", "1"),
    ],
)
def test_lists_that_the_program_makes(tmp_path: Path, body: str, high: str) -> None:
    assert text(bounds(tmp_path, body).calls.high) == high


@pytest.mark.parametrize(
    ("body", "reason", "cause"),
    [
        ("loop:\n  call a", "has no max", "loop:"),
        ("loop until rounds > 5:\n  call a", "has no max", "loop until"),
        ("let plan = call a\nfor step in plan.steps:\n  call b", "plan.steps", "for step"),
        ("let plan = call a\nrepeat plan.count:\n  call b", "plan.count", "repeat plan"),
        ("do again\nblock again:\n  call a\n  do again", "calls itself", "  do again"),
    ],
)
def test_no_bound_says_why_and_where(tmp_path: Path, body: str, reason: str, cause: str) -> None:
    found = bounds(tmp_path, body)
    assert evaluate(found.calls.high, Values()) == float("inf")
    (open_,) = found.calls.high.open
    assert reason in open_.reason
    assert open_.where.line == line_of(tmp_path / "probe.prose.md", cause)


@pytest.mark.parametrize(
    "body",
    [
        "let o = {n: 1}\nlet p = o\np.n = rounds\nrepeat o.n:\n  call a",
        "let o = {n: 1}\nlet key = task\no[key] = rounds\nlet { n } = o\nrepeat n:\n  call a",
        "for x in tiers:\n  record 1 in x.items\nfor t in tiers:\n  for i in t.items:\n    call a",
        "let n_1 = 1\nfor x in briefs:\n  let n_{x} = rounds\nrepeat n_1:\n  call a",
    ],
)
def test_what_is_not_followed_is_not_bounded(tmp_path: Path, body: str) -> None:
    assert bounds(tmp_path, body).open != ()


def test_a_length_that_a_role_decides_has_a_name(tmp_path: Path) -> None:
    found = bounds(tmp_path, "let plan = call a\nfor step in plan.steps:\n  call b\n  call b")
    assert calls(found) == ("1", "2*len(plan.steps) + 1")
    assert text(bounds(tmp_path, "loop:\n  call a").calls.high) == "no bound"


def test_blocks_count_where_they_are_called(tmp_path: Path) -> None:
    body = "block twice(n):\n  repeat n:\n    call a\n    call b\ndo twice(rounds)\ndo twice(1)"
    assert text(bounds(tmp_path, body).calls.high) == "2*rounds + 2"


def test_requests_count_retries_and_repairs(tmp_path: Path) -> None:
    found = bounds(tmp_path, "call a\n  retry: 2\nlet x = call b\nreturn x.score + 1")
    assert text(found.calls.high) == "2"
    assert (text(found.requests.low), text(found.requests.high)) == ("2", "5")


def test_targets_are_counted_apart(tmp_path: Path) -> None:
    found = bounds(tmp_path, 'repeat rounds:\n  call a\nif rounds > 1:\n  call a\n  call b\nlet x = session "hi"')
    shown = {name: (text(r.low), text(r.high)) for name, r in found.targets.items()}
    assert shown["a"] == ("rounds", "rounds + 1")
    assert shown["b"] == ("0", "1")
    assert shown["options"] == ("0", "0")
    assert shown["session"] == ("1", "1")


@pytest.mark.parametrize(
    ("condition", "low", "high"),
    [
        ("rounds > 1", "0", "0"),
        ("the moon is up", "1", "1"),
        ("x says yes", "0", "1"),
        ("rounds > 1 and the moon is up", "0", "1"),
        ("rule says x is failure", "0", "1"),
        ("x is absent", "0", "0"),
        ("rounds meets most", "0", "0"),
        ("x meets most", "0", "0"),
        ("x.score meets most", "0", "1"),
    ],
)
def test_the_judge_is_counted_apart(tmp_path: Path, condition: str, low: str, high: str) -> None:
    found = bounds(tmp_path, f"let x = call a\nif {condition}:\n  emit 1")
    assert (text(found.judge.low), text(found.judge.high)) == (low, high)
    assert text(found.calls.high) == "1"


def test_what_config_decides_is_decided(tmp_path: Path) -> None:
    body = "let x = call a\nif rule says x is failure:\n  call b\nif rounds > 1:\n  call b"
    assert text(known(tmp_path, body).judge.high) == "0"
    assert calls(known(tmp_path, body)) == ("2", "2")
    assert calls(known(tmp_path, body, config={"rounds": 1})) == ("1", "1")
    assert text(known(tmp_path, body, config={"rule": "bad"}).judge.high) == "1"


def test_numbers_for_given_inputs(tmp_path: Path) -> None:
    body = "for t in tiers:\n  repeat t.count:\n    call a\nfor x in briefs:\n  call b"
    inputs = {"tiers": [{"count": 2}, {"count": 3}], "briefs": ["x"]}
    assert calls(known(tmp_path, body, inputs=inputs)) == ("6", "6")
    formula = bounds(tmp_path, body).calls.high
    assert evaluate(formula, Values(inputs)) == 6
    assert evaluate(formula, Values({"briefs": ["x"]})) is None


def test_specs_inside_with_their_config(tmp_path: Path) -> None:
    shown = pattern(
        tmp_path, "repeat size:\n  call helper", slots="helper", config="- `size` (integer, default: 2)", name="sub"
    )
    assert shown.exists()
    assert calls(bounds(tmp_path, "call sub\ncall sub\n  size: rounds")) == ("rounds + 2", "rounds + 2")
    text_ = (
        "---\nname: outer\nkind: function\n---\n\n### Patterns\n\n```yaml\n- name: panel\n  pattern: sub\n"
        "  with:\n    helper:\n      pattern: sub\n      config: {size: 3}\n  config: {size: 4}\n```\n\n"
        "### Execution\n\n```prose\ncall panel\n```\n"
    )
    path = tmp_path / "outer.prose.md"
    path.write_text(text_, encoding="utf-8")
    found = formulas(check_path(path))
    assert calls(found) == ("12", "12")
    assert {name: text(r.high) for name, r in found.targets.items()} == {"helper": "12"}


def test_a_block_that_calls_itself_has_no_bound_for_any_role_in_it(tmp_path: Path) -> None:
    body = "call b\ndo again\nblock again:\n  call a\n  if rounds > 1:\n    do again\n  call b"
    found = bounds(tmp_path, body)
    assert [evaluate(found.targets[name].high, Values()) for name in ("a", "b")] == [float("inf"), float("inf")]
    assert [text(found.targets[name].low) for name in ("a", "b")] == ["1", "2"]


def test_a_spec_that_calls_itself_has_no_bound(tmp_path: Path) -> None:
    path = pattern(
        tmp_path,
        "call a\nif task is present:\n  call probe\n    task: task",
        slots="a",
        rows="task: string -- (optional)",
    )
    found = formulas(check_path(path))
    assert "calls itself" in found.open[0].reason


@pytest.mark.parametrize("path", sorted((ROOT / "patterns").glob("*.prose.md")), ids=lambda path: path.stem)
def test_every_pattern_of_the_library_is_bounded_by_what_it_is_given(path: Path) -> None:
    found = formulas(check_path(path))
    assert found.open == ()
    assert found.calls.high.terms


def test_deep_nesting_is_given_up_in_time(tmp_path: Path) -> None:
    lines = ["  " * depth + f"repeat {'rounds' if depth % 2 else 'most'} as i{depth}:" for depth in range(14)]
    lines += ["  " * 14 + "let x = call a", "  " * 14 + "record x in xs", "  " * 14 + "let k = k + 1"]
    started = time.process_time()
    found = bounds(tmp_path, "let xs = []\nlet k = 0\n" + "\n".join(lines))
    assert time.process_time() - started < 20
    assert found.calls.high.terms


# prose check --max-calls


def limited(folder: Path, body: str, limit: int) -> list[tuple[int, str]]:
    path = pattern(folder, body, slots="a b options[]", config=CONFIG, rows=ROWS)
    return [
        (d.start.line, f"{d.source.slice(d.span)} | {d.message} | {d.help}") for d in beyond(check_path(path), limit)
    ]


def test_a_limit_names_formula_number_and_place(tmp_path: Path) -> None:
    body = "call b\nrepeat rounds:\n  repeat most:\n    call a"
    assert limited(tmp_path, body, 7) == []
    ((line, said),) = limited(tmp_path, body, 6)
    assert line == line_of(tmp_path / "probe.prose.md", "repeat rounds")
    assert said.startswith("repeat rounds | ")
    assert "most*rounds + 1 calls" in said
    assert "7 with the default" in said


def test_a_limit_fails_what_has_no_bound(tmp_path: Path) -> None:
    ((line, said),) = limited(tmp_path, "call a\nloop until the moon is up:\n  call b", 1000)
    assert line == line_of(tmp_path / "probe.prose.md", "loop until")
    assert "no max" in said
    assert "(max: N)" in said
    ((_, said),) = limited(tmp_path, "for x in briefs:\n  call a", 1000)
    assert "len(briefs)" in said


def test_a_comment_silences_the_limit_and_is_never_unused(tmp_path: Path) -> None:
    body = "# prose: ignore call-bound it is meant\nrepeat rounds:\n  call a"
    assert limited(tmp_path, body, 1) == []
    analysis = check_path(tmp_path / "probe.prose.md")
    assert "unused-suppression" not in {d.code for d in analysis.diagnostics}
