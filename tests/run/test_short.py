"""The small function ``short``: a text on one line, cut between words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prose_runtime.runtime.functions import FUNCTIONS
from prose_runtime.testing import script
from support.programs import pattern, run

short = FUNCTIONS["short"]


@pytest.mark.parametrize(
    ("text", "length", "want"),
    [
        ("a few words", 11, "a few words"),
        ("a few words", 10, "a few…"),
        ("a few, words", 7, "a few…"),
        ("two\n  lines", 20, "two lines"),
        ("unbreakable", 6, "unbre…"),
        ("", 5, ""),
        (None, 5, ""),
        (["a", "b"], 20, '["a", "b"]'),
    ],
)
def test_cuts_between_words(text: object, length: int, want: str) -> None:
    assert short(text, length) == want


@given(st.text(), st.integers(min_value=1, max_value=40))
def test_is_never_longer_and_begins_like_the_text(text: str, length: int) -> None:
    found = short(text, length)
    assert len(found) <= length
    assert " ".join(text.split()).startswith(found.removesuffix("…"))


def test_in_a_program(tmp_path: Path) -> None:
    body = 'return short("one two three", 9)'
    assert run(pattern(tmp_path, body), {"a": script("x")}).value == "one two…"
