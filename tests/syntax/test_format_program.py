"""What trees look like as text: the few forms that are chosen among many that mean the same."""

import pytest

from prose_runtime.nodes import Block
from prose_runtime.syntax.format import print_block, print_expression
from support.scripts import expression, read_alone


def printed(text, indent=0):
    parsed = read_alone(text)
    assert [d for d in parsed.diagnostics if d.severity == "error"] == []
    return print_block(parsed.block, indent)


def printed_expression(text):
    found, diagnostics = expression(text)
    assert diagnostics == []
    return print_expression(found)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("(a+b) * c", "(a + b) * c"),
        ("a+(b*c)", "a + b * c"),
        ("a-(b - c)", "a - (b - c)"),
        ("(a - b)-c", "a - b - c"),
        ("not (a and b)", "not (a and b)"),
        ("(not a) and b", "not a and b"),
        ("-(a + b)", "-(a + b)"),
        ("(a == b) == c", "(a == b) == c"),
        ("(a or b).c[0]", "(a or b).c[0]"),
        ("a if b else (c if d else e)", "a if b else c if d else e"),
        ("(a if b else c) if d else e", "(a if b else c) if d else e"),
        ("if a else b then c else d", "(if a else b then c else d)"),
        ("x is (null)", "x is (null)"),
        ("x is (-1)", "x is (-1)"),
        ("(call w(a: 1)).score + 1", "(call w(a: 1)).score + 1"),
        ("(emit) + 1", "(emit) + 1"),
        ('{"a b":1,c:c,"d":[ ]}', '{ "a b": 1, c: c, d: [] }'),
        ("{a: a, b}", "{ a, b }"),
        ("group( keys(xs)  by  kind )", "group(keys(xs) by kind)"),
    ],
)
def test_expressions_have_the_parentheses_that_they_need(written, text):
    assert printed_expression(written) == text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r'"say \"hi\"\n"', r'"say \"hi\"\n"'),
        (r'"{a.b} and \{a\} and { b: 1 } and {}"', r'"{a.b} and \{a\} and { b: 1 } and {}"'),
        (r'"{{a}} and ${HOME}"', r'"\{a\} and ${HOME}"'),
        (r'"a \\ b"', r'"a \\ b"'),
        ('"""one"""', '"""\none\n"""'),
        ('"""  one"""', '"""  one"""'),
        ('"""\n    one\n      two\n    """', '"""\none\n  two\n"""'),
    ],
)
def test_strings_say_the_same_with_the_least_escapes(written, text):
    assert printed_expression(written) == text


def test_inputs_of_a_call_that_is_a_line_stand_below_it():
    assert printed("let x = call w(a: 1, b: call v(c: 2))") == "let x = call w\n  a: 1\n  b: call v\n    c: 2\n"


def test_inputs_of_a_call_inside_an_expression_stand_in_parentheses():
    assert printed("emit 1 + call w\n  a: 1") == "emit 1 + call w(a: 1)\n"


def test_long_lists_and_objects_take_a_line_for_each_part():
    names = [f"a_name_of_some_length_{number}" for number in range(6)]
    assert printed(f"return [{', '.join(names)}]") == "return [\n" + ",\n".join(f"  {name}" for name in names) + "\n]\n"


def test_triple_strings_stand_at_the_indentation_of_their_line():
    text = 'repeat 2:\n  call w\n    text: """\n    one\n      two\n\n    three\n    """\n'
    assert printed(text) == text


def test_blank_lines_set_off_what_has_a_body_at_the_outermost_level():
    text = "let a = 1\n\nrepeat 2:\n  repeat 3:\n    a = 2\n  a = 3\n\nreturn a\n"
    assert printed(text.replace("\n\n", "\n")) == text


def test_a_block_may_be_printed_at_an_indentation():
    assert printed("if a:\n  return 1", indent=4) == "    if a:\n      return 1\n"
    assert print_block(Block(span=read_alone("a").block.span, statements=())) == ""


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("sleep 1500ms", "sleep 1.5s\n"),
        ("append xs 1", "append 1 to xs\n"),
        ("for each x in xs:\n  x", "for x in xs:\n  x\n"),
        ("xs | map: item.a | filter: item", "xs\n  | map:\n    item.a\n  | filter:\n    item\n"),
        ("xs | map: item.a", "xs | map:\n  item.a\n"),
        ("choice **which one**:\n  option one:\n    1", 'choice which one:\n  option "one":\n    1\n'),
        ("if a:\n  1\nelse if b:\n  2", "if a:\n  1\nelif b:\n  2\n"),
        ("loop until a as n (max: 3):\n  1", "loop until a (max: 3) as n:\n  1\n"),
    ],
)
def test_one_spelling_is_chosen_of_several(written, text):
    assert printed(written) == text


def test_a_construct_as_an_input_stands_below_its_name():
    text = "call w\n  items:\n    - for x in xs:\n      x\n    - 2\n  more: repeat 2:\n    call v\n"
    assert printed(text) == text
