"""A printed tree is read as the same tree, whatever the tree."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prose_runtime.nodes import dump
from prose_runtime.syntax.format_program import print_block, print_expression
from support.scripts import expression, read_alone
from support.trees import blocks, expressions

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def same(one, other):
    """Whether two trees are alike in all but their places; true is not 1 here."""
    return repr(dump(one)) == repr(dump(other))


@settings(max_examples=300, deadline=None, suppress_health_check=SLOW)
@given(st.integers(0, 3).flatmap(blocks))
def test_a_printed_program_is_read_as_the_same_tree(block):
    text = print_block(block)
    parsed = read_alone(text)
    assert [d for d in parsed.diagnostics if d.severity == "error"] == [], text
    assert same(parsed.block, block), text
    assert print_block(parsed.block) == text


@settings(max_examples=200, deadline=None, suppress_health_check=SLOW)
@given(expressions(2))
def test_a_printed_expression_is_read_as_the_same_expression(tree):
    text = print_expression(tree)
    parsed, diagnostics = expression(text)
    assert [d for d in diagnostics if d.severity == "error"] == [], text
    assert same(parsed, tree), text
