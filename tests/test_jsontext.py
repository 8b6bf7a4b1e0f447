import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prose_runtime.jsontext import objects_in, parse_json, read_json


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("no JSON here", []),
        ('Here you are:\n```json\n{"score": 2}\n```\nGood luck!', [{"score": 2}]),
        ('{"a": {"b": [1]}} then [2]', [{"a": {"b": [1]}}, [2]]),
        ('{"text": "a } and a \\" and a ["}', [{"text": 'a } and a " and a ['}]),
        ('{"text": "two\nlines"}', [{"text": "two\nlines"}]),
        ('[see {"a": 1} here]', [{"a": 1}]),
        ('{broken: {"a": 1}, "b": ', [{"a": 1}]),
        ('He said ["well {"score": 1} or so', [{"score": 1}]),
        ('{"a": 1,} [1,] [,1] [1 2] {"a"} {1: 2}', []),
        ("[NaN] [1e999] [Infinity] [3]", [[3]]),
        ("{} []", [{}, []]),
        ("", []),
    ],
)
def test_objects_and_lists_are_found_in_text(text, found):
    assert objects_in(text) == found


def test_the_last_that_fits_is_taken():
    text = 'First {"score": 1}, better {"score": 2}, and {"other": 3}'
    assert read_json(text) == {"other": 3}
    assert read_json(text, lambda value: "score" in value) == {"score": 2}
    assert read_json(text, lambda value: isinstance(value, list)) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.lists(st.lists(JSON) | st.dictionaries(st.text(), JSON), max_size=4), st.booleans())
def test_what_was_written_is_read_back(values, indented):
    text = " and then ".join(json.dumps(value, indent=2 if indented else None) for value in values)
    assert objects_in(f"Well: {text}.") == values


@given(st.text(alphabet='[]{},:"\\ 1atrue\n'))
def test_the_result_is_that_of_trying_each_bracket(text):
    decoder = json.JSONDecoder(strict=False)
    expected, at = [], 0
    while at < len(text):
        try:
            value, end = decoder.raw_decode(text, at) if text[at] in "[{" else (None, at + 1)
        except ValueError:
            value, end = None, at + 1
        expected += [] if value is None else [value]
        at = end
    assert objects_in(text) == expected


@pytest.mark.parametrize(
    "piece", ["[", "{", '{"a":', "[1,", '["a ', '"[', '["\\"', "[  ", '[{"a":1},', "[]", '["x [" ']
)
def test_anything_is_read_in_linear_time(piece):
    start = time.perf_counter()
    objects_in(piece * (200_000 // len(piece)))
    assert time.perf_counter() - start < 3, "a quadratic search would take hours"


def test_json_that_is_nested_too_deeply_is_no_json():
    assert objects_in("[" * 100_000 + "]" * 100_000 + " {}") == [{}]
    with pytest.raises(ValueError, match="deep"):
        parse_json("[" * 100_000 + "]" * 100_000)
