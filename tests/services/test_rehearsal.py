import asyncio

import pytest

from prose_runtime.services import registry
from prose_runtime.services.api import Request
from prose_runtime.services.settings import ServiceSettings

ROW = {"properties": {"n": {"type": "number"}}}


def ask(**request):
    service = registry.create("r", ServiceSettings(provider="rehearsal"))
    return asyncio.run(service(Request(**request)))


def test_text_shows_what_the_role_was_given_and_is_no_answer():
    text = ask(
        job="weighs the case",
        inputs={"case": "Tabs beat spaces", "notes": None},
        prompt="Be short",
        target="left",
        line=12,
    ).value
    assert text.startswith("[rehearsal]")
    for part in ("weighs the case", "case: Tabs beat spaces", "notes: nothing", "Be short"):
        assert part in text
    assert "left" not in text


def test_texts_stay_short_when_answers_are_passed_on():
    text = "x " * 500
    for _ in range(5):
        text = ask(job="j", inputs={"last": text}).value
    assert len(text) < 200
    assert text.count("[rehearsal]") == 1


def test_the_same_request_gets_the_same_answer_at_no_cost():
    request = {"job": "j", "inputs": {"a": 1}, "schema": {"type": "object", "properties": {"x": {"type": "string"}}}}
    assert ask(**request) == ask(**request)
    assert ask(**request).usage.cost_usd == 0


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "boolean"}, True),
        ({"type": "integer"}, 1),
        ({"type": "number", "maximum": 10}, 10),
        ({"type": "number", "exclusiveMaximum": 1, "minimum": 0.5}, 0.5),
        ({"type": "integer", "minimum": 3}, 3),
        ({"enum": ["low", "high"]}, "low"),
        ({"const": 5}, 5),
        ({"type": ["null", "boolean"]}, True),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, 1),
        ({"$ref": "#/$defs/flag", "$defs": {"flag": {"type": "boolean"}}}, True),
        ({"type": "array", "items": {"type": "integer"}}, [1, 1]),
        ({"type": "array", "items": {"enum": ["a"]}, "maxItems": 1}, ["a"]),
        ({"type": "null"}, None),
        (
            {"allOf": [{"properties": {"a": {"type": "boolean"}}}, {"properties": {"b": {"type": "integer"}}}]},
            {"a": True, "b": 1},
        ),
        (
            {
                "type": "object",
                "properties": {"ok": {"type": "boolean"}, "rows": {"type": "array", "items": ROW}},
                "required": ["ok"],
            },
            {"ok": True, "rows": [{"n": 1}, {"n": 1}]},
        ),
    ],
)  # fmt: skip
def test_any_shape_is_filled(schema, value):
    assert ask(job="j", schema=schema).value == value


def test_texts_inside_a_shape_are_marked_and_undeclared_required_fields_filled():
    value = ask(
        job="judges", schema={"type": "object", "required": ["why"], "properties": {"text": {"type": "string"}}}
    ).value
    assert set(value) == {"text", "why"}
    assert all("[rehearsal]" in text for text in value.values())


def test_a_shape_that_holds_itself_ends():
    node = {"type": "object", "properties": {"next": {"$ref": "#"}, "n": {"type": "integer"}}}
    assert ask(job="j", schema=node).value["next"]["n"] == 1


def test_judgements_and_choices_are_made():
    assert ask(purpose="judge", prompt="it is calm").value["verdict"] is True
    assert ask(purpose="choice", prompt="safest", options=("patch", "give up")).value["option"] == "patch"
