"""Programs in files: indentation, spacing and comments, with the author's line breaks."""

import pytest

from prose_runtime.diagnostics import Collector
from prose_runtime.nodes import dump
from prose_runtime.syntax.delegation import parse_block
from prose_runtime.syntax.format_code import format_code
from prose_runtime.text import Source, Span


def read(text):
    source = Source("t.prose", text)
    span = Span(0, len(text))
    out = Collector(source)
    block = parse_block(source, span, out)
    assert not out.failed, text
    return source, span, block


def formatted(text):
    source, span, block = read(text)
    after = format_code(source, span, block)
    again = read(after)
    assert dump(again[2]) == dump(block), after
    assert format_code(*again) == after
    return after


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("let x=1", "let x = 1"),
        ("let   x  =   a+b*-c", "let x = a + b * -c"),
        ("let x = a-1 - b -c", "let x = a-1 - b - c"),
        ("x = [ 1,2 , 3 ]", "x = [1, 2, 3]"),
        ("x = {a:1,b}", "x = { a: 1, b }"),
        ("x = {  }", "x = {}"),
        ("x = xs[ 0 ].y", "x = xs[0].y"),
        ("append xs [1]", "append xs [1]"),
        ("x = len( xs )>=2", "x = len(xs) >= 2"),
        ("call w (a ,b:1)", "call w(a, b: 1)"),
        ("call w with{a:1}", "call w with { a: 1 }"),
        ("session:finder", "session: finder"),
        ('session"Say  it"', 'session "Say  it"'),
        ("return(a)", "return (a)"),
        ("x = not(a)", "x = not (a)"),
        ("sleep   2s", "sleep 2s"),
        ("x = group( xs   by kind )", "x = group(xs by kind)"),
        ("x = research_{a}", "x = research_{a}"),
        ("x = **what is   best**", "x = **what is best**"),
        ("escalate a  b=c", "escalate a  b=c"),
    ],
)
def test_spacing(written, text):
    assert formatted(written) == text + "\n"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("if   a==1   and the   text is (so-so) :\n  x", "if a==1 and the text is (so-so):\n  x"),
        ('loop until it says "a  b"(max:3)  as n :\n  x', 'loop until it says "a  b" (max: 3) as n:\n  x'),
        ("choice  the   best/cheapest :\n  option a/b :\n    x", "choice the best/cheapest:\n  option a/b:\n    x"),
        ("choice  **the   best**:\n  option a:\n    x", "choice **the best**:\n  option a:\n    x"),
        ("let x = a if b==1 else c", "let x = a if b==1 else c"),
    ],
)
def test_english_keeps_its_signs_and_loses_only_blanks(written, text):
    assert formatted(written) == text + "\n"


def test_each_level_is_indented_by_two_blanks():
    text = "repeat 2:\n      if a:\n         x\n      else:\n       y\nxs\n   | map:\n       item\n"
    assert formatted(text) == "repeat 2:\n  if a:\n    x\n  else:\n    y\nxs\n  | map:\n    item\n"


def test_brackets_keep_their_line_breaks():
    text = "return f( [\n1,\n      2\n ], {\n a: [\n3 ]\n})\n"
    assert formatted(text) == "return f([\n  1,\n  2\n], {\n  a: [\n    3]\n})\n"


def test_a_condition_goes_on_deeper_than_its_body():
    text = "if a\n and the text\n    is good:\n x\n"
    assert formatted(text) == "if a\n    and the text\n    is good:\n  x\n"


def test_triple_strings_move_with_their_line_and_say_the_same():
    text = 'repeat 2:\n     call w\n        text: """\n  one\n    two\n\n  three\n"""\n'
    assert formatted(text) == 'repeat 2:\n  call w\n    text: """\n    one\n      two\n\n    three\n    """\n'


@pytest.mark.parametrize(
    "literal",
    [
        '"""one\n    two\n  three"""',
        '"""\n  \n"""',
        '"""\n   \n  one\n"""',
        '"""  one\ntwo\n\n"""',
        '"""\none\n\ttwo\n   """',
    ],
)
def test_every_shape_of_a_triple_string_says_the_same(literal):
    formatted(f"if a:\n     let x = {literal}\n")


def test_strings_and_comments_stay_as_they_are():
    text = 'x = "a  {b}  # c"#  why  not  \n#  above  \ny = 1\n'
    assert formatted(text) == 'x = "a  {b}  # c"  #  why  not\n#  above\ny = 1\n'


def test_comments_belong_to_the_block_in_which_they_stand():
    text = "# first\nrepeat 2:\n      # in\n      x\n      # still in\n   # out by place\ny\n   # end of y\n# last"
    assert formatted(text) == ("# first\nrepeat 2:\n  # in\n  x\n  # still in\n# out by place\ny\n# end of y\n# last\n")


def test_comments_inside_brackets_and_conditions_stay():
    text = "x = [ # list\n1, # one\n# two\n2]\nif a # first\n and b: # both\n  y\n"
    assert formatted(text) == ("x = [  # list\n  1,  # one\n  # two\n  2]\nif a  # first\n    and b:  # both\n  y\n")


def test_blank_lines_are_kept_as_one_and_dropped_at_the_edges():
    text = "\n\na\n\n\n\nrepeat 2:\n\n  b\n\n\n  c\n\nd\n\n"
    assert formatted(text) == "a\n\nrepeat 2:\n  b\n\n  c\n\nd\n"


def test_data_of_unknown_properties_stays_as_it_is():
    text = "agent a:\n  tools: [read,   write]\n  rules: allow   **/*.md\n  model: big\n"
    assert "allow   **/*.md" in formatted(text)


def test_nothing_but_comments_is_a_program_too():
    assert formatted("  # one\n\n\n # two") == "# one\n\n# two\n"
