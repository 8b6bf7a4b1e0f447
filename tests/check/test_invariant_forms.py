"""The sentences that are understood as invariants, and those that are not."""

from __future__ import annotations

import re

import pytest

from prose_runtime.check.invariant_claims import (
    Claim,
    Count,
    Grows,
    Independent,
    InOrder,
    NeverSees,
    OnlyIf,
    Order,
    Reaches,
    Rounds,
    SameInputs,
    SeesOnly,
    Unaware,
)
from prose_runtime.check.invariant_forms import FORMS, read, spelt
from prose_runtime.check.invariant_words import REWRITES, Vocabulary, marked, plain, sentences

ROLES = ("left", "right", "judge", "reviewers", "ensemble_member")
VALUES = frozenset({"rounds", "topic", "log", "critique", "max_calls"})
WORDS = Vocabulary("paper-trail", ROLES, frozenset({"reviewers"}), VALUES)
PAIR = Vocabulary("duel", ("left", "right"), frozenset(), VALUES)

LEFT, RIGHT, JUDGE, BOTH = ("left",), ("right",), ("judge",), ("left", "right")
ROUNDS = ((1, ("rounds",)),)


def times(number: int) -> tuple[tuple[int, tuple[str, ...]], ...]:
    return ((number, ()),)


SENTENCES: list[tuple[str, list[Claim]]] = [
    ("`left` never sees the output of `right`.", [NeverSees(LEFT, RIGHT)]),
    ("The left never sees the right's argument", [NeverSees(LEFT, RIGHT)]),
    ("`left` must not see `right`'s reasoning.", [NeverSees(LEFT, RIGHT)]),
    ("Left cannot see right's latest answer in the same round", [NeverSees(LEFT, RIGHT, within=True)]),
    ("In every round, `left` never sees the output of `right`.", [NeverSees(LEFT, RIGHT, within=True)]),
    ("`judge` is never shown the output of `left` or `right`", [NeverSees(JUDGE, BOTH)]),
    ("`left` does not see what `right` writes", [NeverSees(LEFT, RIGHT)]),
    ("`left` has no access to the output of `right`", [NeverSees(LEFT, RIGHT)]),
    ("The output of `left` never reaches `judge`.", [NeverSees(JUDGE, LEFT)]),
    ("Nothing from `judge` reaches `left`.", [NeverSees(LEFT, JUDGE)]),
    ("`judge` never sees `topic`.", [NeverSees(JUDGE, (), ("topic",))]),
    ("Neither `left` nor `right` sees the other's output", [NeverSees(BOTH, BOTH)]),
    (
        "**Isolation.** Reviewers never see each other's reviews.",
        [NeverSees(("reviewers",), ("reviewers",))],
    ),
    ("No reviewer sees another reviewer's review", [NeverSees(("reviewers",), ("reviewers",))]),
    (
        "`left` never sees `right`'s output, and `right` never sees `left`'s output",
        [NeverSees(LEFT, RIGHT), NeverSees(RIGHT, LEFT)],
    ),
    ("`judge` sees only the outputs of `left` and `right`", [SeesOnly(JUDGE, BOTH)]),
    ("`judge` only sees `topic` and the latest output of `left`", [SeesOnly(JUDGE, LEFT, ("topic",), latest=True)]),
    ("`judge` sees nothing but `topic`", [SeesOnly(JUDGE, (), ("topic",))]),
    (
        "Each reviewer sees only the review of the reviewer before it",
        [SeesOnly(("reviewers",), ("reviewers",), latest=True)],
    ),
    ("`left` sees only its own previous output and that of `judge`", []),
    ("`left` sees only its own previous output and the output of `judge`", [SeesOnly(LEFT, ("left", "judge"))]),
    ("As `critique`, `left` sees only the output of `judge`.", [SeesOnly(LEFT, JUDGE, inputs=("critique",))]),
    (
        "The `critique` of `left` is always the latest output of `judge`.",
        [SeesOnly(LEFT, JUDGE, latest=True, inputs=("critique",)), Reaches(LEFT, JUDGE, inputs=("critique",))],
    ),
    ("`left` and `right` are independent of each other", [Independent(BOTH, BOTH)]),
    ("`left` is independent of `right`", [Independent(LEFT, RIGHT)]),
    (
        "The calls of `ensemble_member` are independent of each other.",
        [Independent(("ensemble_member",), ("ensemble_member",))],
    ),
    ("Ensemble members work independently of each other", [Independent(("ensemble_member",), ("ensemble_member",))]),
    ("All `reviewers` receive the same inputs", [SameInputs(("reviewers",))]),
    ("Both `left` and `right` get the same `topic`", [SameInputs(BOTH, ("topic",))]),
    ("All roles get the same topic.", [SameInputs(ROLES, ("topic",))]),
    ("Neither `left` nor `right` is aware of the pattern.", [Unaware(BOTH)]),
    ("The roles never learn that they are part of a pattern", [Unaware(ROLES)]),
    ("`judge` does not know it is in a paper trail", [Unaware(JUDGE)]),
    ("`judge` runs only if `left` approves", [OnlyIf(JUDGE, LEFT)]),
    ("`judge` is never called unless the left accepts it", [OnlyIf(JUDGE, LEFT)]),
    ("`judge` never runs without `left`'s approval", [OnlyIf(JUDGE, LEFT)]),
    ("When `left` refuses, `judge` is never called.", [OnlyIf(JUDGE, LEFT)]),
    ("`judge` is called only after `left` rejects", [OnlyIf(JUDGE, LEFT, -1)]),
    ("`left` speaks before `right` in every round", [Order(LEFT, RIGHT, each_round=True)]),
    ("In each round, `right` follows `left`.", [Order(LEFT, RIGHT, each_round=True)]),
    ("`left`, `right` and `judge` run in this order", [Order(LEFT, RIGHT), Order(RIGHT, JUDGE)]),
    ("`judge` is called last", [Order(ROLES, JUDGE)]),
    (
        "`reviewers` run in order, each at most once.",
        [InOrder(("reviewers",)), Count(("reviewers",), "at most", times(1), "member")],
    ),
    ("`left` is called at most 3 times", [Count(LEFT, "at most", times(3))]),
    ("`left` is never called more than `rounds` times", [Count(LEFT, "at most", ROUNDS)]),
    ("`left` is called exactly `2 * rounds` times", [Count(LEFT, "exactly", ((2, ("rounds",)),))]),
    ("`left` is called at most rounds times", [Count(LEFT, "at most", ROUNDS)]),
    ("`left` speaks exactly once in every round", [Count(LEFT, "exactly", times(1), "round")]),
    ("Each reviewer is called exactly once", [Count(("reviewers",), "exactly", times(1), "member")]),
    ("`judge` is called exactly once, after `left`.", [Count(JUDGE, "exactly", times(1)), Order(LEFT, JUDGE)]),
    (
        "There are no more than `max_calls` calls in all.",
        [Count(ROLES, "at most", ((1, ("max_calls",)),), together=True)],
    ),
    ("The number of rounds never exceeds `rounds`.", [Rounds(ROUNDS)]),
    ("At most `rounds` iterations", [Rounds(ROUNDS)]),
    ("`log` only grows", [Grows("log")]),
    ("The log is append-only", [Grows("log")]),
    ("Nothing is ever removed from `log`.", [Grows("log", strict=False)]),
    ("The critique reaches `left`", [Reaches(LEFT, (), ("critique",))]),
    ("The judge's verdict is passed to the left", [Reaches(LEFT, JUDGE)]),
    ("`left` sees the output of `right`", [Reaches(LEFT, RIGHT)]),
    # what has a condition, an exception or a meaning of its own is not understood
    ("`left` never sees the output of `right` before round 2.", []),
    ("`left` never sees the output of `right` unless it asks.", []),
    ("`judge` never sees who wrote what", []),
    ("`judge` is called at most twice as often as `left`", []),
    ("`left` is aware of the pattern", []),
    ("Neither side sees the other's argument", []),
    ("`left` and `right` are friends", []),
    ("`nobody` never sees the output of `left`", []),
]


@pytest.mark.parametrize(("sentence", "claims"), SENTENCES, ids=[sentence for sentence, _ in SENTENCES])
def test_what_a_sentence_claims(sentence: str, claims: list[Claim]) -> None:
    found, _ = read(sentence, WORDS)
    assert found == claims
    assert [type(claim) for claim in found] == [type(claim) for claim in claims]


def test_both_sides_are_the_two_roles_of_a_spec_with_two() -> None:
    assert read("Neither side sees the other's argument", PAIR)[0] == [NeverSees(BOTH, BOTH)]


def test_an_unknown_name_in_backticks_is_told() -> None:
    assert read("`lefft` is called at most once", WORDS) == ([], ["lefft"])


def parts_of_all_sentences() -> list[str]:
    """The parts of the sentences above with marks for their names, as they are rewritten."""
    texts = [marked(text, WORDS, bare_values=bare).text for text, _ in SENTENCES for bare in (False, True)]
    return sorted({part for text in texts for part in sentences(text)})


def test_the_words_of_a_rewriting_stand_wherever_it_applies() -> None:
    for part in parts_of_all_sentences():
        text = part.lower().strip(" .")
        for _, pattern, new in REWRITES:
            text = re.sub(pattern, new, text)
        assert plain(part) == text.strip(" .,;")


def test_the_words_of_a_form_stand_in_each_of_its_sentences() -> None:
    parts = [plain(part) for part in parts_of_all_sentences()]
    for words, form, _ in FORMS:
        fitting = [part for part in parts if re.fullmatch(spelt(form), part)]
        assert [part for part in fitting if not all(word in part for word in words.split())] == []


@pytest.mark.parametrize(
    "word", ["same", "latest", "each", "every", "output", "round", "only", "order", "other", "input"]
)
def test_a_pattern_can_be_called_by_a_word_of_a_sentence(word: str) -> None:
    called = Vocabulary(word, ROLES, WORDS.lists, VALUES)
    for sentence, claims in SENTENCES:
        if "paper" not in sentence.lower():
            assert read(sentence, called)[0] == claims, sentence
    assert read(f"`left` is unaware of the {word}.", called)[0] == [Unaware(LEFT)]
