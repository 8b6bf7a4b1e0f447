"""Faults: each is reported at its own line, and none hides the statements around it."""

from __future__ import annotations

import pytest

from prose_runtime.nodes import Bind, Block, Call, Emit, ExprStatement, If, Invalid, Name, Parallel, Return
from support.scripts import Parsed, expression, read, read_alone


def bound(parsed: Parsed) -> list[str]:
    return [node.target.id for node in parsed.nodes(Bind) if isinstance(node.target, Name)]


def only(text: str) -> tuple[int, str, str]:
    """Line, code and words of the only fault."""
    parsed = read_alone(text)
    assert len(parsed.diagnostics) == 1, parsed.diagnostics
    found = parsed.diagnostics[0]
    return found.start.line, found.code, f"{found.message} {found.help}"


def test_several_faults_are_all_reported() -> None:
    parsed = read_alone(
        """let a = call
let b = 1
repeat 3:
  let c
  let d = 2
  cal writer
    topic: topic
if a:
  foo: bar
  let e = "open
else:
  let f = 3
let g = [1, 2
for x of xs:
  let h = 4
let i = 5
"""
    )
    assert parsed.faults() == [
        (1, "syntax"),
        (4, "syntax"),
        (6, "syntax"),
        (9, "syntax"),
        (10, "unclosed-string"),
        (13, "unclosed-bracket"),
        (14, "syntax"),
    ]
    assert bound(parsed) == ["b", "d", "f", "h", "i"]
    assert len(parsed.nodes(Invalid)) == 7


@pytest.mark.parametrize("open_", ["(", "[", "{", "{ a: [1, ("])
def test_an_open_bracket_does_not_swallow_what_follows(open_: str) -> None:
    parsed = read_alone(f"let a = {open_} 1\nlet b = 2\nreturn b\n")
    assert parsed.faults() == [(1, "unclosed-bracket")]
    assert bound(parsed) == ["b"]
    assert len(parsed.nodes(Return)) == 1


def test_the_innermost_open_bracket_is_named() -> None:
    parsed = read_alone("let a = { b: [1, 2\nlet c = 3")
    found = parsed.diagnostics[0]
    assert "`[`" in found.message and found.start.column == 14


def test_an_open_bracket_in_a_condition_keeps_the_body() -> None:
    parsed = read_alone("if the text (as it stands is good:\n  let a = 1\nelse:\n  let b = 2\n")
    assert parsed.faults() == [(1, "unclosed-bracket")]
    assert bound(parsed) == ["a", "b"]


def test_the_wrong_bracket_is_an_error_at_the_opening() -> None:
    line, code, words = only("let a = [1, 2)\nlet b = 1")
    assert (line, code) == (1, "unclosed-bracket")
    assert "`[`" in words and "`]`" in words


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('let a = "x\nlet b = 1', 1),
        ('let a = """\n x\nlet b = 1', 1),
        ('let a = """\n x\nlet b = """\n y\n"""', 1),
        ('call w\n  t: """\n   x\nlet b = 1', 2),
        ('call w(a: "x)\nlet b = 1', 1),
        ('let c = {\n  d: "x\n  e: 1\n}\nlet b = 1', 2),
    ],
)
def test_an_open_string_is_an_error_at_its_opening(text: str, line: int) -> None:
    parsed = read_alone(text)
    assert parsed.faults() == [(line, "unclosed-string")]
    assert "b" in bound(parsed)


def test_an_open_mark() -> None:
    parsed = read_alone("if **the text is good:\n  let a = 1\nlet b = 2")
    assert parsed.faults() == [(1, "unclosed-mark")]
    assert bound(parsed) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "word", "partner"),
    [
        ("loop (max: 2):\n  call a\nelse:\n  let b = 1", "else", "if"),
        ("elif a:\n  let b = 1", "elif", "if"),
        ("if a:\n  call a\nelse:\n  call c\nelse:\n  let b = 1", "else", "if"),
        ("catch as e:\n  let b = 1", "catch", "try"),
        ("try:\n  call a\nfinally:\n  call c\ncatch:\n  let b = 1", "catch", "try"),
        ("finally:\n  let b = 1", "finally", "try"),
        ('option "x":\n  let b = 1', "option", "choice"),
        ("if a:\n  call c\ncall d\nelse:\n  let b = 1", "else", "if"),
    ],
)
def test_a_clause_without_its_partner(text: str, word: str, partner: str) -> None:
    line, code, words = only(text)
    assert code == "orphan-clause"
    assert line == text.count("\n", 0, text.rindex(word)) + 1
    assert f"`{word}`" in words and partner in words
    assert bound(read_alone(text)) == ["b"]


def test_a_stage_without_a_value() -> None:
    line, code, words = only("let a = 1\nemit a\nbreak\n| map:\n  item")
    assert (line, code) == (4, "orphan-clause")
    assert "stage" in words


def test_only_options_stand_below_a_choice() -> None:
    line, code, words = only('choice what now:\n  call a\n  option "x":\n    call b')
    assert (line, code) == (2, "choice-body")
    assert "option" in words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("repeat 3", "`repeat`"),
        ("for x in xs", "`for`"),
        ("if the critic accepts", "`if`"),
        ("loop until done (max: 3)", "`loop`"),
        ("parallel", "`parallel`"),
        ("try", "`try`"),
        ("block b(x)", "`block`"),
    ],
)
def test_a_missing_colon_is_named_and_the_body_is_kept(text: str, words: str) -> None:
    whole = f"{text}\n  let a = 1"
    line, code, found = only(whole)
    assert (line, code) == (1, "missing-colon")
    assert words in found
    parsed = read_alone(whole)
    assert bound(parsed) == ["a"]
    fix = parsed.diagnostics[0].fix
    assert fix is not None
    edit = fix.edits[0]
    assert read_alone(whole[: edit.span.start] + edit.text + whole[edit.span.end :]).diagnostics == []


@pytest.mark.parametrize("head", ["if a: f(1)", 'if a == "b":"text"'])
def test_a_body_behind_the_colon_that_is_no_statement_lacks_no_colon(head: str) -> None:
    parsed = read_alone(f"{head}\nlet b = 2")
    assert parsed.faults() == [(1, "missing-body")]
    assert parsed.diagnostics[0].fix is None
    assert "next line" in str(parsed.diagnostics[0].help)


def test_a_colon_is_no_fix_where_the_body_is_missing_too() -> None:
    parsed = read_alone("if a\nlet b = 2")
    assert parsed.faults() == [(1, "missing-colon")]
    assert parsed.diagnostics[0].fix is None


@pytest.mark.parametrize("head", ["repeat 3:", "if a:", "loop:", "parallel:", "do:", "choice which:", "let x = try:"])
def test_a_missing_body(head: str) -> None:
    line, code, words = only(f"let a = 1\n{head}\n# nothing but a remark\n")
    assert (line, code) == (2, "missing-body")
    assert "body" in words or "option" in words


def test_a_missing_value() -> None:
    assert only("let a =\nlet b = 1")[:2] == (1, "missing-value")
    assert only("call w\n  a:\n  b: 1")[:2] == (2, "missing-value")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ('"most"', ["most", "all", "first", "any"]),
        ('on-fail: "contine"', ["contine", "fail-fast", "continue", "ignore"]),
        ("on-fail: sometimes", ["sometimes", "fail-fast", "continue", "ignore"]),
        ("limit: 3", ["limit", "count", "on-fail"]),
    ],
)
def test_a_wrong_word_of_parallel_lists_the_right_ones(options: str, words: list[str]) -> None:
    line, code, found = only(f"let a = 1\nparallel ({options}):\n  call a")
    assert (line, code) == (2, "head-option")
    assert all(word in found for word in words)
    assert len(read_alone(f"parallel ({options}):\n  call a").nodes(Parallel)) == 1


def test_options_that_a_loop_does_not_know() -> None:
    assert "max" in only("loop until done (max: 3, count: 2):\n  call a")[2]
    assert only("for x in xs (max: 2) as i:\n  call a")[1] == "loop-counter"
    assert only('repeat 3 ("first"):\n  call a')[1] == "head-option"


# layout


def test_tabs_are_errors_at_their_lines_and_reading_goes_on() -> None:
    parsed = read_alone("repeat 2:\n\tlet a = 1\n\tcall w\n\t\ttopic: a\nlet b = {\n\tc: 1\n}\n")
    assert parsed.faults() == [(line, "tab-indentation") for line in (2, 3, 4, 6)]
    assert bound(parsed) == ["a", "b"]
    assert [argument.name for argument in parsed.nodes(Call)[0].args] == ["topic"]


def test_tabs_inside_text_and_remarks_are_none() -> None:
    assert read_alone('let a = """\n\tx\n"""\n\t# remark\nlet\tb = 1\t\n').diagnostics == []


def test_a_dedent_that_fits_no_block() -> None:
    parsed = read_alone("repeat 2:\n    let a = 1\n  let b = 2\nlet c = 3\n")
    assert parsed.faults() == [(3, "indentation")]
    assert bound(parsed) == ["a", "b", "c"]


def test_an_indented_line_that_no_line_opens() -> None:
    parsed = read_alone("let a = 1\n    let b = 2\nlet c = 3\n")
    assert parsed.faults() == [(2, "indentation")]
    assert bound(parsed) == ["a", "b", "c"]
    assert read_alone("  let a = 1\nlet b = 2").faults() == [(2, "indentation")]


def test_a_program_may_stand_indented_as_a_whole() -> None:
    assert read_alone("\n    let a = 1\n    repeat 2:\n        let b = 1\n\n    let c = 2\n").diagnostics == []


def test_what_is_empty_is_an_empty_block() -> None:
    for text in ("", "\n\n", "# remark\n   # another\n", "   "):
        parsed = read(text)
        assert (parsed.block.statements, parsed.diagnostics) == ((), [])


# readings with a warning


@pytest.mark.parametrize(
    ("text", "code", "same"),
    [
        ("if a:\n  call b\nelse if c:\n  call d", "else-if", "if a:\n  call b\nelif c:\n  call d"),
        ("if a = 3:\n  call b", "equals-sign", "if a == 3:\n  call b"),
        ("call w:\n  a: 1", "stray-colon", "call w\n  a: 1"),
        ("call w\n  a: 1,\n  b: 2", "trailing-comma", "call w\n  a: 1\n  b: 2"),
        ("call w\n  topic", "input-shorthand", "call w\n  topic: topic"),
        ("emit 'x'", "single-quotes", 'emit "x"'),
        ("choice w:\n  option a b:\n    call c", "unquoted-label", 'choice w:\n  option "a b":\n    call c'),
        ("for x in xs: emit x", "inline-body", "for x in xs:\n  emit x"),
        ("for x in xs:emit x", "inline-body", "for x in xs:\n  emit x"),
        ("block f(x):return x", "inline-body", "block f(x):\n  return x"),
        ('agent z: model: "m"', "inline-body", 'agent z:\n  model: "m"'),
        ('if a == "b":return 1', "inline-body", 'if a == "b":\n  return 1'),
    ],
)
def test_what_is_read_in_a_sensible_way_gets_a_warning(text: str, code: str, same: str) -> None:
    from support.scripts import outline

    parsed, meant = read_alone(text), read_alone(same)
    assert [(d.code, d.severity) for d in parsed.diagnostics] == [(code, "warning")]
    assert meant.diagnostics == []
    assert outline(parsed.block).replace("'a = 3'", "'a == 3'") == outline(meant.block)


@pytest.mark.parametrize("text", ["if a = 3:\n  call b", "call w:\n  a: 1", "call w\n  topic", "emit 'x'"])
def test_fixes_make_the_warning_go(text: str) -> None:
    fix = read_alone(text).diagnostics[0].fix
    assert fix is not None
    for edit in sorted(fix.edits, key=lambda e: -e.span.start):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    assert read_alone(text).diagnostics == []


# limits


def test_deep_nesting_is_read_and_very_deep_nesting_is_an_error() -> None:
    deep = "".join("  " * i + "if a:\n" for i in range(200)) + "  " * 200 + "emit 1"
    parsed = read_alone(deep)
    assert parsed.diagnostics == []
    block, depth = parsed.block, 0
    while isinstance(block.statements[0], ExprStatement):
        value = block.statements[0].value
        assert isinstance(value, If)
        block, depth = value.branches[0].body, depth + 1
    assert depth == 200 and isinstance(block.statements[0], Emit)
    too_deep = "".join(" " * i + "if a:\n" for i in range(1500)) + " " * 1500 + "emit 1"
    assert "too-deep" in {code for _, code in read_alone(too_deep).faults()}


@pytest.mark.parametrize(
    "text", ["return " + "[" * 2000 + "]" * 2000, "return " + "not " * 3000 + "a", "return " + "+".join("a" * 3000)]
)
def test_expressions_that_nest_too_deeply_are_errors(text: str) -> None:
    assert [code for _, code in read_alone(text).faults()] == ["too-deep"]


def test_brackets_nest_two_hundred_deep() -> None:
    assert read_alone("return " + "[" * 200 + "]" * 200).diagnostics == []
    assert read_alone("return " + "(" * 200 + "a" + ")" * 200).diagnostics == []


# expressions alone


def test_a_single_expression() -> None:
    found, diagnostics = expression("  a.b or 3 ")
    assert found is not None and (found.span.start, found.span.end) == (2, 10)
    assert diagnostics == []


@pytest.mark.parametrize("text", ["", "  ", "a b", "let x = 1", "a +", "[1", '"x', "é"])
def test_no_expression_is_an_error(text: str) -> None:
    found, diagnostics = expression(text)
    assert found is None
    assert [d.severity for d in diagnostics] == ["error"]


def test_a_number_without_a_json_form() -> None:
    assert only("let a = 1e999")[1] == "number-too-large"
    assert only("let a = " + "9" * 5000)[1] == "number-too-large"


def test_the_whole_block_is_one_node() -> None:
    parsed = read("let a = 1\n\nlet b = 2\n")
    assert isinstance(parsed.block, Block)
    assert parsed.text(parsed.block) == "let a = 1\n\nlet b = 2"


def test_an_input_that_is_indented_too_deeply_stays_an_input() -> None:
    parsed = read_alone("call w\n  a: 1\n   b: 2\n  c: 3")
    assert parsed.faults() == [(3, "indentation")]
    assert sorted(argument.name for argument in parsed.nodes(Call)[0].args) == ["a", "b", "c"]


def test_an_operator_at_the_end_of_a_line_goes_on() -> None:
    assert read_alone("let a = b +\n  c\nlet d = e *\n    f -\n  g\n").diagnostics == []
