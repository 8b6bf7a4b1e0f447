"""Names, frames and lists: LANGUAGE.md section 3, rules 1 and 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from prose_runtime.testing import script
from tests.support.programs import line_of, pattern, run

ANY = {"a": script("reply", repeat=True)}


@pytest.mark.parametrize(
    ("body", "want"),
    [
        ("let x = 1\nif true:\n  let x = 2\nreturn x", 2),
        ("let x = 1\nrepeat 3 as i:\n  let x = x + i\nreturn x", 7),
        ("repeat 2 as i:\n  let last = i\nreturn { last, i }", {"last": 2, "i": 2}),
        ("if false:\n  let never = 1\nreturn never", None),
        ("let { p, q } = { p: 1, q: [2] }\nreturn q[0] + p", 3),
        ("let x = { f: { g: 1 } }\nx.f.g = 5\nlet y = x\ny.f.h = 6\nreturn x", {"f": {"g": 5, "h": 6}}),
        ("let xs = [1]\nlet ys = xs\nappend 2 to ys\nreturn xs", [1, 2]),
        ("let xs = []\nrecord 1 in xs\nappend 2 to xs\nappend xs 3\nadd 4 to xs\nreturn xs", [1, 2, 3, 4]),
        ('let xs = []\nadd "x" to xs with note "why"\nreturn xs', [{"value": "x", "note": "why"}]),
        ("let xs = [1, 2, 3]\nxs[1] = 9\nreturn xs[-1] + xs[1]", 12),
        ("let n = null\nreturn n.a.b", None),
        ('let t = "abcd"\nreturn t.length + [1, 2].length', 6),
    ],
)
def test_names_live_in_their_frame(tmp_path: Path, body: str, want: object) -> None:
    assert run(pattern(tmp_path, body), ANY).value == want


def test_a_branch_keeps_its_changes_but_gives_its_additions(tmp_path: Path) -> None:
    body = """
    let log = []
    let seen = { inner: [] }
    let x = 1
    parallel for n in [1, 2, 3]:
      record n in log
      append n * 10 to seen.inner
      record log.length in log
      x = n
    return { log, x, inner: seen.inner }
    """
    assert run(pattern(tmp_path, body), ANY).value == {"log": [1, 1, 2, 1, 3, 1], "x": 1, "inner": [10, 20, 30]}


def test_a_list_of_the_branch_itself_is_not_joined(tmp_path: Path) -> None:
    body = """
    let log = []
    parallel for n in [1, 2]:
      log = []
      record n in log
    return log
    """
    assert run(pattern(tmp_path, body), ANY).value == []


def test_additions_of_a_failed_branch_are_dropped(tmp_path: Path) -> None:
    body = """
    let log = []
    parallel for n in [1, 2, 3] (on-fail: "ignore"):
      record n in log
      if n == 2:
        throw "no"
    return log
    """
    assert run(pattern(tmp_path, body), ANY).value == [1, 3]


def test_nested_branches_join_outwards(tmp_path: Path) -> None:
    body = """
    let log = []
    parallel for n in [1, 2]:
      parallel for m in [1, 2]:
        record n * 10 + m in log
    return log
    """
    assert run(pattern(tmp_path, body), ANY).value == [11, 12, 21, 22]


def test_a_block_reads_outer_names_and_changes_none(tmp_path: Path) -> None:
    body = """
    block twice(n):
      x = n * factor
      return x
    let factor = 2
    let x = 0
    let got = do twice(4)
    return { got, x, again: do twice(n: 5) }
    """
    assert run(pattern(tmp_path, body), ANY).value == {"got": 8, "x": 0, "again": 10}


def test_what_enters_a_call_is_a_snapshot(tmp_path: Path) -> None:
    body = """
    let log = [1]
    call a
      log: log
    append 2 to log
    return log
    """
    result = run(pattern(tmp_path, body), ANY)
    assert result.calls[0]["inputs"] == {"log": [1]}
    assert result.value == [1, 2]


def test_finding_no_list_to_append_to_is_a_clear_error(tmp_path: Path) -> None:
    from prose_runtime.errors import RunFailed

    path = pattern(tmp_path, 'let x = "t"\nappend 1 to x\nreturn x')
    with pytest.raises(RunFailed, match="list") as caught:
        run(path, ANY)
    assert caught.value.where is not None
    assert caught.value.where.line == line_of(path, "append 1")


def test_the_callers_own_list_stays_as_it_was(tmp_path: Path) -> None:
    mine = [1]
    path = pattern(tmp_path, "record 2 in xs\nreturn xs", rows="xs: number[]")
    assert run(path, ANY, {"xs": mine}).value == [1, 2]
    assert mine == [1]
