"""The characters that a pattern can begin with."""

from __future__ import annotations

import re

import pytest

from prose_runtime.syntax import tables
from prose_runtime.syntax.beginnings import ASCII, beginnings

PATTERNS = {
    "if(?![\\w-])": "i",
    "(?:null|true|false)(?![\\w-])": "ntf",
    "(?!x)[a-c_]": "abc_",
    "-?\\d+": "-0123456789",
    "(?s:\\*\\*(?=[^*]).*?\\*\\*)": "*",
    "(?:[ \\t]*(?:#[^\\n]*)?\\n)+": " \t#\n",
    "(?>a|b)?+c": "abc",
    "==|!=|<=|>=|<|>": "=!<>",
    "'[^'\\n]*'": "'",
}


@pytest.mark.parametrize(("pattern", "characters"), PATTERNS.items())
def test_what_a_pattern_can_begin_with(pattern: str, characters: str) -> None:
    assert beginnings(pattern) == set(characters)


@pytest.mark.parametrize("pattern", ['[^"\\d]', ".", "\\S", "[^x]|x", "\\W"])
def test_classes_are_what_the_regular_expression_takes(pattern: str) -> None:
    assert beginnings(f"(?s:{pattern})") == {char for char in ASCII if re.match(f"(?s:{pattern})", char)}


@pytest.mark.parametrize("pattern", ["a*", "(?=a)", "(?i:a)"])
def test_what_no_terminal_is_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"empty text|not expected"):
        beginnings(pattern)


def test_the_kept_tables_know_the_beginnings_of_their_terminals() -> None:
    for terminal in tables.load().terminals:
        assert set(terminal.first) == beginnings(terminal.pattern)
