"""Plain assertions: what is decided in code, how, and what is left to the judge."""

from __future__ import annotations

import signal
import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prose_runtime.runtime.assertions import NoSuchOutput, count, decide, output, shown
from prose_runtime.services import searching
from prose_runtime.syntax.claims import BadClaim, Operand, read_claim

TIDE = "The tide turns twice a day."

# A sentence, a value for which it holds, one for which it does not.
PLAIN: list[tuple[str, Any, Any]] = [
    ("contains `twice`", TIDE, "once"),
    ("contains twice", TIDE, 3),
    ('includes the phrase "twice a day"', TIDE, "twice"),
    ("contains `tide` and `day`", TIDE, "tide"),
    ("contains `moon` or `day`", TIDE, "night"),
    ("contains `b`", ["a", "b"], ["a"]),
    ("contains 2", [1, 2], [1, 3]),
    ("contains `tide`", {"a": {"b": [TIDE]}}, {"tide": "sea"}),
    ("does not contain `moon`", TIDE, "the moon"),
    ("doesn't contain `moon` or `sea`", TIDE, "the sea"),
    ("does not contain `moon` and `sea`", TIDE, "the sea"),
    ("must not contain `moon`", TIDE, "moon"),
    ("never contains `moon`", TIDE, "moon"),
    ("contains no `moon`", TIDE, "moon"),
    ("contains neither `moon` nor `sea`", TIDE, "sea"),
    ("contains `tide` but not `moon`", TIDE, "tide and moon"),
    ("contains `t` at least 3 times", TIDE, "tt"),
    ("contains the word `tide` exactly once", TIDE, "tide tide"),
    ("contains `TIDE` (case-insensitive)", TIDE, "sea"),
    ("mentions `TIDE`", TIDE, "sea"),
    ("does not mention `MOON`", TIDE, "the moon"),
    ("equals `abc`", "abc", "abc "),
    ("equals: 3", 3.0, 4),
    ("equals 3", "3", "three"),
    ("is `true`", True, 1),
    ("is exactly accepted", "accepted", "rejected"),
    ("equals [1, 2]", [1, 2], [2, 1]),
    ('equals `{"a": [null]}`', {"a": [None]}, {"a": []}),
    ("`accepted`", "accepted", "rejected"),
    ("is not `accepted`", "rejected", "accepted"),
    ("is one of `a`, `b`", "b", "c"),
    ("is one of red, green", "red", "blue"),
    ("is either `a` or `b`", "a", "c"),
    ("is `a` or `b`", "b", "c"),
    ("is not `a` or `b`", "c", "b"),
    ("matches /tw[aio]ce/", TIDE, "twyce"),
    ("matches /TWICE/i", TIDE, "once"),
    ("matches the regex `^The`", TIDE, "the"),
    ("matches `/a/b$/`", "c/a/b", "a/bc"),
    ("does not match /moon/", TIDE, "moon"),
    ("starts with `The`", TIDE, "A tide. The end"),
    ("begins with the word `The`", TIDE, "A"),
    ("does not start with `A` or `An`", TIDE, "An end"),
    ("ends with `day.`", TIDE, "day"),
    ("starts with `a`", ["a", "b"], ["b", "a"]),
    ("is empty", "", TIDE),
    ("is not empty", [0], []),
    ("is non-empty", TIDE, "  "),
    ("not empty", TIDE, None),
    ("is present", 0, None),
    ("exists", "", None),
    ("is absent", None, 0),
    ("is null", None, ""),
    ("is not null", False, None),
    ("is true", True, "yes"),
    ("is false", False, None),
    ("is not true", False, True),
    ("is a number", 3.5, TIDE),
    ("is a number", "3.5", True),
    ("is not a number", TIDE, 3),
    ("is an integer", 3, 3.5),
    ("is a positive number", 0.1, 0),
    ("is a text", "3", 3),
    ("is a string", "", None),
    ("is a list", [], {}),
    ("is a non-empty list", [0], []),
    ("is a list of texts", ["a"], ["a", 1]),
    ("is a list of 3 items", [1, 2, 3], [1, 2]),
    ("is a list with at least 2 items", [1, 2], [1]),
    ("is an object", {}, []),
    ("is a boolean", False, "false"),
    ("is valid JSON", "[1]", "[1"),
    ("has field `a`", {"a": 0}, {"a": None}),
    ("has a field named a", {"a": 1}, "a"),
    ("has fields `a` and `b`", {"a": 1, "b": 2}, {"a": 1}),
    ("has `a`", {"a": 1}, {"b": "a"}),
    ("has no `moon`", TIDE, "moon"),
    ("has no field `a`", {"b": 1}, {"a": 1}),
    ("does not have the fields `a` or `b`", {"c": 1}, {"b": 1}),
    ("has 2 items", [1, 2], [1]),
    ("has no items", [], [1]),
    ("has more than one entry", [1, 2], [1]),
    ("has length 2", [1, 2], "abc"),
    ("count is 3", [1, 2, 3], [1]),
    ("count is at least 2", [1, 2, 3], [1]),
    ("has a length of at most 3", "abc", "abcd"),
    ("has 2 fields", {"a": 1, "b": 2}, {"a": 1}),
    ("is under 7 words", TIDE, TIDE * 2),
    ("is under 6 words", "five words and no more", TIDE),
    ("has at most 6 words", TIDE, TIDE + " x"),
    ("is no longer than 6 words", TIDE, TIDE + " x"),
    ("is between 3 and 6 words long", TIDE, "two words"),
    ("has 5-6 words", TIDE, "two words"),
    ("is 3 or more words", TIDE, "two words"),
    ("has exactly one sentence", TIDE, TIDE + " And again."),
    ("is a single sentence", "It is e.g. Dr. Tide, no end", "One. Two."),
    ("is less than 28 characters", TIDE, TIDE + "!"),
    ("has 2 lines", "a\nb\n", "a"),
    ("has 2 paragraphs", "a\nb\n\nc", "a\nb"),
    ("is at least 3", 3, 2.9),
    ("is at least 1,000", 1000, 999),
    ("is at most 3", "3", 4),
    ("is more than 3", 4, 3),
    ("is greater than -1", 0, -1),
    ("exceeds 3", 3.1, 3),
    ("is less than 3", 2, "three"),
    ("is no more than three", 3, 4),
    ("is >= 2", 2, 1),
    ("is 3 or more", 3, 2),
    ("is between 0 and 1", 1, 1.01),
    ("is a number between 0 and 1", 1, 2),
    ("is not under 3", 3, 2),
    ("is not empty and is under 12 words", TIDE, ""),
    ("is a text, not empty, and under 12 words", TIDE, ["x"]),
    ("contains `tide` and `day` and ends with `.`", TIDE, "tide day"),
    ("is empty or contains `tide`", "", "sea"),
    ("should be under 12 words.", TIDE, TIDE * 3),
    ("is “accepted”", "accepted", "rejected"),
]  # fmt: skip

FOR_THE_JUDGE = [
    "reads like a haiku",
    "is the best of all summaries",
    "contains a joke about the sea",
    "mentions the moon and its phases",
    "contains humour",
    "is concise",
    "is not concise",
    "is concise and polite",
    "has a good title",
    "has three short reasons",
    "is one of the best",
    "does not contain `moon` or mention `sea`",
    "is about 12 words",
    "starts with a greeting",
    "",
    "is",
    "contains",
    "x" * 5000,
]


@pytest.mark.parametrize(("sentence", "yes", "no"), PLAIN, ids=[row[0] for row in PLAIN])
def test_plain(sentence: str, yes: Any, no: Any) -> None:
    claim = read_claim(sentence)
    assert claim is not None
    assert decide(claim, yes) is True
    # A bare word that does not stand there may still be meant in another way.
    assert decide(claim, no) is (None if sentence == "contains twice" else False)


@pytest.mark.parametrize("sentence", FOR_THE_JUDGE, ids=lambda sentence: sentence[:30])
def test_what_is_not_plain_is_for_the_judge(sentence: str) -> None:
    claim = read_claim(sentence)
    assert claim is None or decide(claim, TIDE) is None


@pytest.mark.parametrize("value", [None, 3, True, "", TIDE, [], [1, "a"], {}, {"a": None}])
def test_every_value_can_be_asked(value: Any) -> None:
    for sentence, *_ in PLAIN:
        claim = read_claim(sentence)
        assert claim is not None
        assert decide(claim, value) in (True, False, None)


def test_a_block_is_the_operand_that_a_sentence_lacks() -> None:
    block = Operand("a\nb", "a\nb")
    for sentence, value, held in [("equals", "a\nb", True), ("", "a", False), ("does not contain", "xa\nb", False)]:
        claim = read_claim(sentence, block)
        assert claim is not None
        assert decide(claim, value) is held
    assert read_claim("reads like", block) is None


@pytest.mark.parametrize("sentence", ["matches /(/", "matches `[`", "matches /a/q", "is empty or matches /+/"])
def test_a_broken_expression_is_told(sentence: str) -> None:
    with pytest.raises(BadClaim, match="regular expression"):
        read_claim(sentence)


@pytest.mark.parametrize("sentence", ["matches /(a+)+$/", "matches /(a|aa)+$/"])
def test_a_search_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch, sentence: str) -> None:
    text = "a" * 60 + "b"
    monkeypatch.setattr(searching, "PATIENCE", 0.1)
    claim = read_claim(sentence)
    assert claim is not None
    with pytest.raises(TimeoutError, match="takes longer"):
        decide(claim, text)
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: rung.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)  # somebody else's alarm goes off all the same
        with pytest.raises(TimeoutError):
            decide(claim, text)
        time.sleep(0.2)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert rung == [signal.SIGALRM]


WORDS = ["is", "not", "contains", "`a`", '"b"', "and", "or", "at least", "3", "words", "/a/", "matches", ",", "of", "["]


@given(st.one_of(st.text(max_size=80), st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)))
@example("contains `")
@example("matches /" + "(" * 500 + "/")
@example("is not not not `a`")
@example("a and " * 300)
def test_reading_never_fails_otherwise(sentence: str) -> None:
    try:
        claim = read_claim(sentence)
    except BadClaim:
        return
    if claim is not None:
        assert decide(claim, sentence) in (True, False, None)


@pytest.mark.parametrize(
    ("path", "result", "declared", "value"),
    [
        ("summary", {"summary": "s", "n": 1}, (), "s"),
        ("summary", "bare", ("summary",), "bare"),
        ("result", "bare", (), "bare"),
        ("result", {"result": 1, "rest": 2}, (), 1),
        ("result", {"rest": 2}, (), {"rest": 2}),
        ("a.b[0]", {"a": {"b": [7]}}, (), 7),
        ('a["b c"][-1]', {"a": {"b c": [7, 8]}}, (), 8),
        ("a.length", {"a": [1, 2]}, (), 2),
        ("a.x.y[3]", {"a": 1}, (), None),
        ("rest", {"a": 1}, ("a", "rest"), None),
    ],
)
def test_where_in_the_result(path: str, result: Any, declared: tuple[str, ...], value: Any) -> None:
    assert output(path, result, declared) == value


def test_a_name_that_the_result_does_not_have() -> None:
    with pytest.raises(NoSuchOutput, match="`a`"):
        output("b", {"a": 1}, ("a",))
    with pytest.raises(NoSuchOutput):
        output("b.c", "text", ("a", "d"))


def test_counts_over_parts_and_of_nothing() -> None:
    assert count(["one two", {"a": "three"}], "words") == 3
    assert count(None, "words") is None
    assert count(3, "items") is None
    assert count([], "words") == 0


def test_long_values_are_cut() -> None:
    assert shown("ab") == '"ab"'
    assert len(shown("x" * 9000)) < 400
