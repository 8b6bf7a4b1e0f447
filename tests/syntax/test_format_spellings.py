"""Spellings that a printed tree needs, and that the parser has to read for what they are."""

import time

import pytest

from prose_runtime.nodes import Argument, Bind, Call, FunctionCall, Group, If, Loop, Pipeline, Session, dump
from prose_runtime.syntax.format import format_spec
from prose_runtime.text import Source
from support.scripts import expression, read


def only(text):
    parsed = read(text)
    assert parsed.diagnostics == []
    return parsed.block.statements[0]


@pytest.mark.parametrize("name", ["option", "for", "loop", "repeat", "try", "else", "if", "choice", "parallel", "or"])
def test_an_input_may_be_named_like_the_head_of_a_construct(name):
    key = f'"{name}"' if name == "or" else name
    call = only(f'call judge\n  {key}: "a"\n  {key}: call other').value
    assert isinstance(call, Call)
    assert [argument.name for argument in call.args] == [name, name]
    assert all(isinstance(argument, Argument) for argument in call.args)


@pytest.mark.parametrize("name", ["option", "loop", "try", "parallel", "choice", "choice.x", "loop.x"])
def test_an_assigned_name_may_be_the_head_of_a_construct(name):
    bind = only(f"{name} = session call: finder")
    assert isinstance(bind, Bind)
    assert isinstance(bind.value, Session)


def test_a_loop_condition_may_begin_with_a_parenthesis():
    loop = only("loop until (a or b) and c (max: 3) as i:\n  break").value
    assert isinstance(loop, Loop)
    assert loop.condition.text == "(a or b) and c"
    assert dump(loop.maximum)["value"] == 3


def test_the_bound_of_a_loop_may_be_calls_in_calls():
    loop = only("loop until all agree (max: min(len(keys(xs)), (n + 1) * 2)):\n  break").value
    assert loop.condition.text == "all agree"
    assert isinstance(loop.maximum, FunctionCall)


def test_a_loop_without_a_condition_still_takes_its_bound():
    loop = only("loop (max: 3):\n  break").value
    assert (loop.kind, loop.condition) == (None, None)


@pytest.mark.parametrize("text", ["group(keys(xs) by kind)", 'group(f("by (x) by", [1]) by kind)', "group(xs by kind)"])
def test_what_is_grouped_may_be_a_call_of_a_function(text):
    found, diagnostics = expression(text)
    assert diagnostics == []
    assert isinstance(found, Group)
    assert found.field == "kind"


def test_a_function_named_group_needs_no_by():
    found, _ = expression('group("one by one")')
    assert isinstance(found, FunctionCall)


def test_a_stage_behind_a_loop_in_a_body_belongs_to_the_loop_alone():
    statement = only("if done:\n  let a = for x in xs:\n    x\n  | map:\n    item\n  emit a")
    assert isinstance(statement.value, If)
    body = statement.value.branches[0].body.statements
    assert [type(node).__name__ for node in body] == ["Bind", "Emit"]
    assert isinstance(body[0].value, Pipeline)


def test_a_bracket_in_a_text_opens_nothing_before_a_stage():
    pipeline = only('"[" | map:\n  item').value
    assert isinstance(pipeline, Pipeline)


def test_inputs_may_follow_the_stages_of_an_input():
    call = only(
        "call w\n  a: for x in xs:\n    x\n  | map:\n    item\n  b: 1\n  c: xs\n    | filter:\n      item"
    ).value
    assert [(arg.name, type(arg.value).__name__) for arg in call.args] == [
        ("a", "Pipeline"),
        ("b", "Constant"),
        ("c", "Pipeline"),
    ]


def test_a_value_may_stand_below_a_name_that_begins_a_choice_elsewhere():
    bind = only("choice =\n  xs | map:\n    item\n| filter:\n  item.ok")
    assert isinstance(bind.value, Pipeline)
    assert isinstance(bind.value.source, Pipeline)


def test_many_blank_lines_inside_brackets_are_read_quickly():
    start = time.monotonic()
    assert len(only("x = [1" + "\n" * 20_000 + ", 2" + "\n # c" * 20_000 + "\n]").value.items) == 2
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("written", "laid"),
    [
        ('let a = n > 2   ?"many":"few"', 'let a = n > 2 ? "many" : "few"'),
        ("if ***\n  it is good\n  and so on\n***:\n  emit 1", "if ***\n    it is good\n    and so on\n***:\n  emit 1"),
        ('session "A"\n  model: opus\n  ->   session "B"', 'session "A"\n  model: opus\n  -> session "B"'),
        ("sleep null -  a", "sleep null - a"),
        ("repeat  3  times:\n    emit 1", "repeat 3 times:\n  emit 1"),
    ],
)
def test_other_spellings_are_laid_out_as_they_stand(written: str, laid: str) -> None:
    source = Source("t.prose", written + "\n")
    assert format_spec(source) == laid + "\n"
    assert format_spec(Source("t.prose", laid + "\n")) == laid + "\n"
