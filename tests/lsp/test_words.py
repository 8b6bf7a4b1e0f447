"""Each word of the language has its sentence."""

from __future__ import annotations

from prose_runtime.check.arguments import MODIFIERS
from prose_runtime.lsp.words import FUNCTION_HELP, HELP, MODIFIER_HELP, SECTION_HELP, words
from prose_runtime.syntax.expressions import FUNCTIONS
from prose_runtime.syntax.names import SECTIONS


def test_words_are_those_of_the_grammar() -> None:
    groups = words()
    assert {"let", "return", "emit", "elif", "else if"} <= set(groups["statement"])
    assert {"if", "call", "repeat", "parallel"} <= set(groups["construct"])
    assert {"and", "contains", "at least", "empty"} <= set(groups["operator"])
    assert {"as", "until", "map", "reduce"} <= set(groups["connective"])
    assert set(groups["constant"]) == {"null", "true", "false"}


def test_every_word_is_explained_and_nothing_else() -> None:
    assert {word for group in words().values() for word in group} == set(HELP)
    assert set(FUNCTION_HELP) == FUNCTIONS
    assert set(MODIFIER_HELP) == MODIFIERS
    assert set(SECTION_HELP) == SECTIONS


def test_explanations_are_single_sentences() -> None:
    for told in (*HELP.values(), *FUNCTION_HELP.values(), *MODIFIER_HELP.values(), *SECTION_HELP.values()):
        assert "\n" not in told
        assert told.endswith(".")
