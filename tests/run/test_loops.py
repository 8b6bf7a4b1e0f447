"""Loops as statements and as values, and what return leaves: LANGUAGE.md section 3, rules 3 to 6."""

from __future__ import annotations

from pathlib import Path

import pytest

from prose_runtime.testing import script
from tests.support.programs import line_of, pattern, run

ANY = {"a": script("reply", repeat=True)}


@pytest.mark.parametrize(
    ("body", "want"),
    [
        ("let xs = repeat 3 as i:\n  i * 2\nreturn xs", [2, 4, 6]),
        ("let xs = for x, i in [5, 6]:\n  [i, x]\nreturn xs", [[0, 5], [1, 6]]),
        (
            "let xs = for x in [1, 2, 3, 4]:\n  if x == 2:\n    continue\n  if x == 4:\n    break\n  x\nreturn xs",
            [1, None, 3],
        ),
        ("let xs = for x in [1, 2]:\n  if x == 1:\n    return 10\n  x\nreturn xs", [10, 2]),
        ("let xs = repeat 2:\n  let log = []\n  record 1 in log\nreturn xs", [None, None]),
        ("repeat 3 as i:\n  if i == 2:\n    return i\nreturn 9", 2),
        ("let xs = repeat 2 as i:\n  repeat 2 as j:\n    return i * 10 + j\nreturn xs", [[11, 12], [21, 22]]),
        ("let xs = repeat 2 as i:\n  if i == 1:\n    let v = 5\n  else:\n    6\nreturn xs", [5, 6]),
        ("let n = 0\nloop until n == 3 (max: 10) as i:\n  n = n + 1\nreturn { n, i }", {"n": 3, "i": 3}),
        ("let n = 0\nloop while n < 2 (max: 10):\n  n = n + 1\nreturn n", 2),
        ("let n = 0\nloop while false (max: 3):\n  n = n + 1\nreturn n", 0),
        ("let n = 0\nloop until false (max: 4):\n  n = n + 1\nreturn n", 4),
        ("let n = 0\nfor each x in [1, 2]:\n  n = n + x\nreturn n", 3),
        ("let n = 0\nloop for each x in [1, 2, 3] (max: 2):\n  n = n + x\nreturn n", 3),
        ("let got = do:\n  let x = 4\n  return x + 1\nreturn [got, x]", [5, 4]),
        ("do:\n  return 1\nreturn 2", 2),
        ("return repeat 2 as i:\n  i", [1, 2]),
        ("let xs = parallel repeat 3 as i:\n  i\nreturn xs", [1, 2, 3]),
        ("let xs = [3, 4] | map:\n  item + 1\nreturn xs", [4, 5]),
        ("let xs = [1, 2, 3] | filter:\n  item > 1\nreturn xs", [2, 3]),
        ("let xs = [1, 2] | pmap:\n  item * 2\n| reduce(acc, x):\n  acc + x\nreturn xs", 6),
        ("let xs = [] | reduce(acc, x):\n  acc + x\nreturn xs", None),
    ],
)
def test_loops(tmp_path: Path, body: str, want: object) -> None:
    assert run(pattern(tmp_path, body), ANY).value == want


def test_a_return_in_a_branch_ends_that_branch(tmp_path: Path) -> None:
    body = """
    let found = parallel for x in [1, 2]:
      for y in [1, 2, 3]:
        if y == 2:
          return x * 100 + y
    return found
    """
    assert run(pattern(tmp_path, body), ANY).value == [102, 202]


def test_finally_runs_when_return_leaves(tmp_path: Path) -> None:
    body = """
    try:
      return 1
    finally:
      emit "closing"
    """
    result = run(pattern(tmp_path, body), ANY)
    assert (result.value, result.emitted) == (1, ["closing"])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("repeat a_text:\n  emit 1\nreturn 1", "whole number"),
        ("for x in a_text:\n  emit x\nreturn 1", "list"),
        ("return a_text * 2", "number"),
        ("return 1 / zero", "0"),
        ("return a_text < 3", "compare"),
        ("return range(1000000000000)", "range"),
    ],
)
def test_a_value_of_the_wrong_kind_is_told_with_its_line(tmp_path: Path, body: str, words: str) -> None:
    from prose_runtime.errors import RunFailed

    path = pattern(tmp_path, body, rows="a_text: string\nzero: number")
    with pytest.raises(RunFailed, match=words) as caught:
        run(path, ANY, {"a_text": "many", "zero": 0})
    assert caught.value.where is not None
    assert caught.value.where.line == line_of(path, body)


def test_deep_nesting_runs(tmp_path: Path) -> None:
    body = "".join("  " * i + "if true:\n" for i in range(200)) + "  " * 200 + "return 1"
    assert run(pattern(tmp_path, body), ANY).value == 1


@pytest.mark.parametrize("grow", ["s = s + s", 's = "{s}{s}"', "s = [s, s]\n  s = join(s)"])
def test_texts_do_not_grow_without_bound(tmp_path: Path, grow: str) -> None:
    from prose_runtime.errors import RunFailed

    with pytest.raises(RunFailed, match="characters"):
        run(pattern(tmp_path, f'let s = "x"\nrepeat 60:\n  {grow}\nreturn len(s)'), ANY)


@pytest.mark.parametrize(
    ("stage", "want"), [("map", [2, 3]), ("filter", [1, 2]), ("pmap", [2, 3]), ("reduce(total, item)", 3)]
)
def test_a_stage_walks_the_elements_that_its_list_had_at_the_start(tmp_path: Path, stage: str, want: object) -> None:
    body = f"let xs = [1, 2]\nlet ys = xs | {stage}:\n  record 0 in xs\n  item + 1\nreturn {{ ys, size: len(xs) }}"
    added = 1 if stage.startswith("reduce") else 2
    assert run(pattern(tmp_path, body), ANY).value == {"ys": want, "size": 2 + added}
