"""What real programs use outside of any grammar (LANGUAGE.md section 3), read and run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prose_runtime.check.checker import check_path
from prose_runtime.errors import RunFailed
from support.oldest import asked, faults, program, run, scripted


@pytest.mark.parametrize(
    ("body", "want"),
    [
        ("let n = 3\nlet r = n > 2 and n <= 3 and n != 4", True),
        ("let n = 7\nlet r = (n + 1) * 2 - n % 4 / 1", 13),
        ('let n = 3\nlet r = "many" if n > 2 else "few"', "many"),
        ('let n = 1\nlet r = if n > 2 then "many" else "few"', "few"),
        ('let n = 1\nlet r = n > 2 ? "many" : n == 1 ? "one" : "few"', "one"),
        ('let x = null\nlet r = x or "default"', "default"),
        ('let x = ""\nlet r = x or null or [] or "last"', "last"),
        ("let xs = [1, 2]\nlet r = len(xs) + xs.length", 4),
        ("let r = []\nfor each x in [1, 2]:\n  add x to r", [1, 2]),
        ("let r = []\nloop for each x in [1, 2, 3] (max: 2):\n  add x to r", [1, 2]),
        ('let r = []\nadd "a" to r with note "why"', [{"value": "a", "note": "why"}]),
        ("let r = {}\nlet r.b = 3\nr.c = 4", {"b": 3, "c": 4}),
        ("let r =\n  - 1\n  - two: 2\n    three: 3\n  - [3]", [1, {"two": 2, "three": 3}, [3]]),
        (
            "let r =\n  - a:\n    - 1\n    - 2\n    b: 3\n  - c:\n      d: 4\n    e: 5",
            [{"a": [1, 2], "b": 3}, {"c": {"d": 4}, "e": 5}],
        ),
        ("let r =\n  a: 1\n  b:\n    - 2\n    - 3", {"a": 1, "b": [2, 3]}),
        ("let most = 2\nlet r = 0\nloop until r > 9 (max: {most}):\n  r = r + 1", 2),
        ("let r = 0\nif r == 0 and\n    r < 1 or\n    r > 5:\n  r = 1", 1),
        ("let r = 0\nif r == 0\n    and (r < 1\n    or r > 5):\n  r = 1", 1),
        ("let r = 0\nloop while r < 3\n    and r < 5:\n  r = r + 1", 3),
    ],
)
def test_it_has_its_plain_meaning(tmp_path: Path, body: str, want: Any) -> None:
    path = program(tmp_path, f"{body}\noutput r = r\n")
    assert [row for row in faults(path) if row[1] == "error"] == []
    assert run(path).value == {"r": want}


def test_a_discretion_is_a_value_and_a_condition_over_lines_is_one(tmp_path: Path) -> None:
    text = """
    let draft = session "Draft"
    let verdict = **is the draft any good?**
    if ***
      the draft is good
      and nobody minds
    ***:
      emit verdict
    """
    result = run(program(tmp_path, text, m=scripted("the draft", "very")))
    assert asked(result)[1] == ("session", "is the draft any good?", {"draft": "the draft"})
    assert [c["text"] for c in result.conditions] == ["the draft is good and nobody minds"]
    assert result.emitted == ["very"]


@pytest.mark.parametrize(
    "call",
    [
        "call helper\n  a: 1\n  b: [2]",
        "call helper a: 1, b: [2]",
        "call helper(a: 1, b: [2])",
        "call helper(1, [2])",
        "call helper with { a: 1, b: [2] }",
        "call helper with a: 1, b: [2]",
        "helper(a: 1, b: [2])",
    ],
)
def test_properties_of_a_call_stand_below_it_or_on_its_line(tmp_path: Path, call: str) -> None:
    (tmp_path / "helper.prose").write_text('input a: "a"\ninput b: "b"\noutput r = [a, b]\n', encoding="utf-8")
    path = program(tmp_path, f'use "helper.prose" as helper\nlet x = {call}\noutput r = x.r\n')
    assert run(path).value == {"r": [1, [2]]}


@pytest.mark.parametrize("call", ["do pair(1, [2])", "do pair(a: 1, b: [2])", "do pair a: 1, b: [2]"])
@pytest.mark.parametrize("colon", ["", ":"])
def test_a_block_takes_arguments_in_all_forms(tmp_path: Path, call: str, colon: str) -> None:
    block = "block pair(a, b):\n  output both = [a, b]\n"
    below = f"do pair{colon}\n  a: 1\n  b:\n    - 2"
    for form in (call, below):
        assert run(program(tmp_path, f"{block}let x = {form}\noutput r = x\n")).value == {"r": [1, [2]]}


def test_names_are_made_in_a_loop(tmp_path: Path) -> None:
    text = """
    let trends = ["ai", "green power"]
    parallel for trend in trends:
      research_{trend} = session "Research {trend}"
    let parts = []
    for trend in trends:
      append research_{trend} to parts
      emit "{trend}: {research_{trend}}, {other_{trend}}"
    let s = { name: "ai" }
    session "Sum up"
      context: [research_{s.name}]
    output r = parts
    """
    path = program(tmp_path, text)
    assert faults(path) == []
    result = run(path)
    assert result.value == {"r": ["Research ai", "Research green power"]}
    assert result.emitted == [
        "ai: Research ai, {other_{trend}}",
        "green power: Research green power, {other_{trend}}",
    ]


def test_a_made_name_that_no_path_has_made_is_null(tmp_path: Path) -> None:
    text = 'let k = "x"\nif k == "y":\n  note_{k} = 1\noutput r = [note_{k}, "<{note_{k}}>"]\n'
    assert run(program(tmp_path, text)).value == {"r": [None, "<>"]}


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ('parallel (on-fail: "stop"):\n  session "x"', "head-option", ["fail-fast", "continue", "ignore"]),
        ('parallel (on-fail: keep):\n  session "x"', "head-option", ["fail-fast", "continue", "ignore"]),
        ("First ask the critic to read the draft.", "syntax", ["English", "statement", "call"]),
        ("Repeat the step above until it is good:", "syntax", ["English", "statement"]),
        ("escalate to the owner", "unknown-effect", ["escalate", "services:", "words and the values"]),
        ('apply "patch"', "unknown-effect", ["prose.yml"]),
        ("revert the_last_change", "unknown-effect", ["prose.yml"]),
        ('session "a" -> 3', "arrow-target", ["session", "call"]),
        ("let x = helpr(3)", "unknown-function", ["helpr"]),
        ("retrun 3", "syntax", ["return"]),
    ],
)
def test_what_has_no_meaning_is_explained(tmp_path: Path, line: str, code: str, words: list[str]) -> None:
    found = [row for row in faults(program(tmp_path, f"{line}\n")) if row[1] == "error"]
    assert [(number, kind) for number, _, kind, _ in found] == [(1, code)]
    assert [word for word in words if word not in found[0][3]] == []


def test_braces_around_a_name_are_warned_about_with_a_fix(tmp_path: Path) -> None:
    path = program(tmp_path, "let n = 2\nloop until false (max: {n}):\n  emit n\n")
    assert [(line, severity, code) for line, severity, code, _ in faults(path)] == [(2, "warning", "braced-name")]
    assert run(path).emitted == [2, 2]


def test_a_detect_fix_recheck_loop_ends_at_its_bound(tmp_path: Path) -> None:
    text = """
    input max_attempts: "bound"
    let attempt = 0
    let found = session "Detect"
    loop until **found is empty** (max: {max_attempts}):
      attempt = attempt + 1
      let fixed = session "Fix {found}"
      found = session "Recheck {fixed}"
    output tries = attempt
    """
    judge = {"provider": "script", "replies": [{"verdict": False, "reason": "r"}], "repeat": True}
    assert run(program(tmp_path, text, j=judge), {"max_attempts": 4}).value == {"tries": 4}


@pytest.mark.parametrize(
    ("body", "code", "want"),
    [
        ("let r = 0\nrepeat 3 times:\n  r = r + 1", "repeat-times", 3),
        ("let r = parallel repeat 2 times as i:\n  i", "repeat-times", [1, 2]),
        ("let r = 0\nwhile r < 3 (max: 9):\n  r = r + 1", "bare-loop", 3),
        ("let r = 0\nuntil r is at least 3 (max: 9) as n:\n  r = n + 1", "bare-loop", 3),
        ('block f(x: "text", y: number[]):\n  return [x, y]\nlet r = do f(1, [2])', "parameter-text", [1, [2]]),
        ("block f(x, y = 2):\n  return [x, y]\nlet r = do f(1)", "parameter-default", [1, 2]),
        ("block f(x, y = 2):\n  return [x, y]\nlet r = do f(1, false)", "parameter-default", [1, False]),
        ('session "A" as r', "name-behind", "A"),
        ("block f(x):\n  return x\nlet r = f(3)", "", 3),
        ("block f():\n  return 4\nlet r = f()", "", 4),
    ],
)
def test_spellings_of_other_languages_are_read_and_told_of(tmp_path: Path, body: str, code: str, want: Any) -> None:
    path = program(tmp_path, f"{body}\noutput r = r\n")
    found = faults(path)
    assert {(severity, kind) for _, severity, kind, _ in found} == ({("warning", code)} if code else set())
    assert run(path).value == {"r": want}
    strict = [d for d in check_path(path).diagnostics if d.code == code or d.code == "portable-inputs"]
    assert strict


def test_words_of_other_languages_may_still_be_names(tmp_path: Path) -> None:
    text = "let while = 1\nlet times = 2\nuntil = 3\nrepeat times:\n  while = while + until\noutput r = while\n"
    assert run(program(tmp_path, text)).value == {"r": 7}


@pytest.mark.parametrize(
    "text",
    [
        'session "A"\n  model: opus\n  -> session "B"\n    retry: 1\n  -> session: c\n    prompt: "C"\n',
        'session "A"\n  model: opus\n-> session "B"\n  retry: 1\n-> session: c\n  prompt: "C"\n',
        'session "A"\n-> session "B" -> session: c\n     prompt: "C"\n',
        'let x = session "A"\n  -> session "B"\n  -> session: c\n    prompt: "C"\noutput x = x\n',
    ],
)
def test_an_arrow_may_begin_a_line_behind_properties(tmp_path: Path, text: str) -> None:
    path = program(tmp_path, f"agent c:\n  model: opus\n{text}", m=scripted("a", "b", "c"))
    assert [row for row in faults(path) if row[1] == "error"] == []
    calls = asked(run(path))
    assert [(target, inputs) for target, _, inputs in calls] == [
        ("session", {}),
        ("session", {"context_1": "a"}),
        ("c", {"context_1": "b"}),
    ]
    assert [prompt for _, prompt, _ in calls] == ["A", "B", "C"]


def test_an_arrow_with_nothing_before_it_is_an_error(tmp_path: Path) -> None:
    assert [row[2] for row in faults(program(tmp_path, '-> session "B"\n'))] == ["orphan-clause"]


@pytest.mark.parametrize(
    "line", ["let r = {}", "r = {}", "const r = {}", "output r = {}", "output r = do:\n  return {}"]
)
def test_the_answer_of_an_effect_can_be_used(tmp_path: Path, line: str) -> None:
    text = f'let report = "R"\n{line.format("escalate report to the owner")}\n'
    text += "" if line.startswith("output") else "output r = r\n"
    path = program(tmp_path, text, escalate=scripted("told"))
    assert [row for row in faults(path) if row[1] == "error"] == []
    result = run(path)
    assert result.value == {"r": "told"}
    assert asked(result) == [("escalate", "escalate report to the owner", {"report": "R"})]


def test_a_name_behind_a_name_is_no_effect(tmp_path: Path) -> None:
    path = program(tmp_path, 'let facts = "a"\nlet other = "b"\nlet r = facts other\n')
    assert [(line, code) for line, _, code, _ in faults(path)] == [(3, "syntax")]


def test_a_made_name_is_read_by_its_letters(tmp_path: Path) -> None:
    text = 'parallel for t in ["ai", "bio"]:\n  note_{t} = t\noutput r = [note_ai, "<{note_bio}>", "{note_x}{other}"]\n'
    path = program(tmp_path, text)
    assert [row for row in faults(path) if row[1] == "error"] == []
    assert run(path).value == {"r": ["ai", "<bio>", "{other}"]}


def test_two_branches_that_make_one_name_fail_the_run(tmp_path: Path) -> None:
    text = 'parallel for t in ["ai", "ai"]:\n  note_{t} = t\noutput r = note_ai\n'
    with pytest.raises(RunFailed, match="two branches make the name `note_ai`"):
        run(program(tmp_path, text))


def test_branches_may_make_names_that_were_made_before(tmp_path: Path) -> None:
    text = 'for t in ["ai", "bio"]:\n  note_{t} = 1\nparallel for t in ["ai", "bio"]:\n  note_{t} = 2\n'
    assert run(program(tmp_path, text + "output r = [note_ai, note_bio]\n")).value == {"r": [2, 2]}


def test_a_service_of_prose_yml_is_no_target_and_it_is_said_how_to_reach_it(tmp_path: Path) -> None:
    path = program(tmp_path, "call helper\n  x: 1\n", helper=scripted("no"))
    ((line, severity, code, words),) = faults(path)
    assert (line, severity, code) == (1, "error", "unknown-target")
    assert "service of prose.yml" in words


def test_a_session_in_parentheses_is_told_how_it_is_written(tmp_path: Path) -> None:
    ((_, _, code, words),) = faults(program(tmp_path, 'let a = session("A")\n'))
    assert code == "unknown-function"
    assert 'session "text"' in words


def test_bare_words_of_a_list_in_lines_are_texts_unless_they_are_names(tmp_path: Path) -> None:
    text = 'let known = 1\nlet xs =\n  - tides\n  - known\n  - "known"\n  - two: storms\noutput r = xs\n'
    path = program(tmp_path, text.replace("  - two: storms\n", ""))
    assert [row for row in faults(path) if row[1] == "error"] == []
    assert run(path).value == {"r": ["tides", 1, "known"]}
    bare = program(tmp_path, "let r = [tides]\n")
    assert [row[2] for row in faults(bare)] == ["undefined-name"]


def test_values_without_names_are_numbered_over_all_of_a_context(tmp_path: Path) -> None:
    result = run(program(tmp_path, 'session "A"\n  -> session "B"\n    context: ["x", "y"]\n'))
    assert asked(result)[1][2] == {"context_1": "A", "context_2": "x", "context_3": "y"}
