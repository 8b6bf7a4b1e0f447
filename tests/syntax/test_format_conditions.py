"""Conditions as text: the one-line spelling of what stands in a file, and the text of a tree."""

import pytest

from prose_runtime.diagnostics import Collector
from prose_runtime.nodes import Clause, Junction, dump
from prose_runtime.syntax import conditions
from prose_runtime.syntax.format_conditions import spelling
from prose_runtime.text import Source, Span


def read(text):
    source = Source("t.prose", text)
    return conditions.read(source, Span(0, len(text)), Collector(source))


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("a  is\n  nice  # why\n  and b", "a is nice and b"),
        ("**a  is\n  nice**", "a is nice"),
        ('x is "a  b"', 'x is "a  b"'),
        ('x is "**"  and y', 'x is "**" and y'),
        ('x is "# no comment"  # but this', 'x is "# no comment"'),
        ("**issue #3 is done**", "issue #3 is done"),
        ("**issue #3 is done** and x", "issue #3 is done and x"),
        ("***a * b > 3*** and c", "a * b > 3 and c"),
        ('é# "one" or two', 'é# "one" or two'),
    ],
)
def test_the_spelling_keeps_strings_and_leaves_comments_and_marks_out(written, text):
    assert read(written).text == text


def test_a_marked_number_sign_is_no_comment_that_leaves_a_name():
    test = read("**issue #3 is done**").test
    assert isinstance(test, Clause)
    assert test.expr is None


@pytest.mark.parametrize(("text", "marked"), [('x is "**"', False), ("x is **fine**", True), ("**x**", True)])
def test_stars_in_a_string_are_no_marks(text, marked):
    assert read(text).marked is marked


@pytest.mark.parametrize(
    "text",
    [
        'x is "a" or "b" and done',
        "**a and b** or c",
        "it says **this and that** twice",
        "score is **high**",
        'a, and **b (** and x is "a" or "b"',
        '**x is "a" or "b"** or c d e',
        "***everything* is fine***",
        "(one two and three four) or **five #6**",
    ],
)
def test_the_text_of_a_tree_is_read_as_the_same_tree(text):
    condition = read(text)
    assert dump(read(spelling(condition))) == dump(condition)


def test_marks_are_written_where_they_make_a_difference():
    assert spelling(read("**a and b** or c")) == "**a and b** or c"
    assert spelling(read("***all\n  of it***")) == "**all of it**"
    assert spelling(read("all of it")) == "all of it"
    assert isinstance(read("**a and b**").test, Junction)
