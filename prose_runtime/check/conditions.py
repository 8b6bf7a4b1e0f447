"""English conditions that a structured value can decide (LANGUAGE.md, Conditions, rungs 2 and 3).

``wording`` reads a clause such as ``verdict accepts result``; ``verdict_of`` compares it with a value. Both are
exact on purpose: what they cannot tell for sure is left to the judge.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from prose_runtime.check.tables import Target
from prose_runtime.nodes import Bind, Call, Clause, Name, Node, Slot, Spec, nodes_of
from prose_runtime.records import dataclass
from prose_runtime.text import compiled

POSITIVE = ("accept", "approve", "pass", "certify", "yes", "valid", "proceed", "continue", "ok")
NEGATIVE = ("reject", "refuse", "fail", "no", "invalid", "abort", "stop", "block")


@dataclass(frozen=True, slots=True)
class Wording:
    """``subject word``: what a clause claims about a named value.

    Attributes:
        subject: The name that the clause is about; ``path`` holds the fields behind it (``review.status``).
        word: The claim: ``abort`` in ``decision says abort``, ``accepted`` in ``review is not accepted``.
        says: Written with a verb of saying, so that the value itself or a field named like it holds the word.
        negated: The claim is denied.
        explicit: ``explicitly``: whatever is not a clear yes counts as no.
    """

    subject: str
    word: str
    path: tuple[str, ...] = ()
    says: bool = False
    negated: bool = False
    explicit: bool = False


@dataclass(frozen=True, slots=True)
class Criterion:
    """``C says X is W``: decided without a judge when the criterion C is null."""

    name: str
    verdict: bool


_ARTICLES = frozenset({"the", "a", "an", "this", "that", "its"})
_SAYING = frozenset(
    "say says said decide decides decided answer answers answered reply replies replied choose chooses chose "
    "return returns returned report reports reported recommend recommends recommended signal signals".split()
)
_COPULA = frozenset({"is", "was", "are", "were"})
_DENIAL = {"not": 1, "never": 1, "isn't": 1, "wasn't": 1, "aren't": 1, "doesn't": 1, "didn't": 1, "don't": 1}
_AUXILIARY = frozenset({"does", "did", "do", "has", "to", "be", "been"})
_WORD = r"[A-Za-z_][\w'’.-]*"
_FULFILLED = frozenset({"acceptable", "accepted", "valid"})
_UNFULFILLED = frozenset({"failure", "failed", "unacceptable"})


def wording(text: str, names: Collection[str], objects: Collection[str] | None = None) -> Wording | None:
    """Read a clause as a claim about one of the names, or None when it is anything else.

    ``objects`` are the names that may stand behind the word, as ``result`` in ``verdict accepts result``; those that
    the claim may be about, when nothing is said.
    """
    words = text.replace("’", "'").rstrip(".!").split()
    if not words or any(not compiled(_WORD).fullmatch(w) for w in words):
        return None
    negated = words[0].lower() == "not"
    words = words[negated:]
    if words and words[0].lower() in _ARTICLES:
        words = words[1:]
    if len(words) < 2:
        return None
    subject, *path = words[0].split(".")
    if subject not in names:
        return None
    return _claim(subject, tuple(path), words[1:], negated, names if objects is None else objects)


def _claim(
    subject: str, path: tuple[str, ...], rest: list[str], negated: bool, names: Collection[str]
) -> Wording | None:
    says = copula = explicit = False
    while rest:
        word = rest[0].lower()
        if word in _DENIAL:
            negated = not negated
            copula = copula or word in ("isn't", "wasn't", "aren't")
        elif word == "explicitly":
            explicit = True
        elif word in _COPULA:
            copula = True
        elif word in _SAYING and len(rest) > 1:
            says = True
        elif word not in _AUXILIARY or len(rest) == 1:
            break
        rest = rest[1:]
    if not rest or not (len(rest) == 1 or (not says and not copula and _is_object(rest[1:], names))):
        return None
    word = rest[0].strip("'").lower()
    return Wording(subject, word, path, says, negated, explicit) if word not in _ARTICLES else None


def _is_object(words: list[str], names: Collection[str]) -> bool:
    """Whether ``result`` or ``the result`` names a value: the object of ``verdict accepts result``."""
    words = words[1:] if words[0].lower() in _ARTICLES else words
    return len(words) == 1 and words[0] in names


def criterion(text: str, names: Collection[str]) -> Criterion | None:
    """Read ``C says X is W`` where C is a name and W one of the words that a missing criterion decides."""
    words = text.replace("’", "'").split()
    words = words[1:] if words and words[0].lower() in _ARTICLES else words
    if len(words) < 4 or words[0] not in names or words[1].lower() not in _SAYING:
        return None
    word = words[-1].lower()
    if word not in _FULFILLED | _UNFULFILLED:
        return None
    before = [w for w in map(str.lower, words[2:-1]) if w not in _ARTICLES]
    if not before or not (before[-1] in _COPULA or before[-1] in _DENIAL):
        return None
    negations = sum(w in _DENIAL for w in before)
    return Criterion(words[0], (word in _FULFILLED) != bool(negations % 2))


def asked_field(claim: Wording) -> tuple[str, dict[str, object]]:
    """The field to ask a service for, so that the claim can be decided by structure, and its JSON Schema."""
    if claim.says:
        return (claim.path[-1] if claim.path else claim.subject), {"type": "string"}
    return _participle(claim.word), {"type": "boolean"}


def bearing(asked: str, hint: Mapping[str, object], declared: Collection[str]) -> str | None:
    """The first declared field that tells what a condition would ask for as a field of its own, or None.

    ``asked`` and ``hint`` are what ``asked_field`` gave.
    """
    if hint.get("type") == "string":
        return next((name for name in declared if name in VERDICT_FIELDS - _FREE_TEXT), None)
    return next((name for name in declared if _flag(name, True, asked) is not None), None)


def _participle(word: str) -> str:
    """``accepts`` as the name of a field: ``accepted``. Other forms stay as they are."""
    if not word.endswith("s") or word.endswith("ss") or stem(word) == word:
        return word
    if word.endswith("ies"):
        return word[:-3] + "ied"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-1] + "d"
    return word[:-1] + ("d" if word.endswith("es") else "ed")


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """The part that ``accept``, ``accepts`` and ``accepted`` share."""
    word = word.lower()
    for prefix in ("is_", "has_", "should_", "was_", "is-", "should-"):
        word = word.removeprefix(prefix)
    for ending, instead in (("ies", "y"), ("ied", "y"), ("able", ""), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        root = word.removesuffix(ending)
        if root != word and len(root) >= 3 and not word.endswith(("eed", "ss") if ending in ("ed", "s") else ()):
            word = root + instead
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "sle":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


_SIDES = {stem(w): True for w in (*POSITIVE, "okay")} | {stem(w): False for w in (*NEGATIVE, "failure")}
VERDICT_FIELDS = frozenset(
    "verdict decision status outcome action answer choice judgement judgment recommendation conclusion text".split()
)

_FREE_TEXT = frozenset({"text", "answer", "action", "outcome"})
"""Fields that may hold one word, but are as often named so for a text."""


def verdict_of(claim: Wording, value: Any, enumerations: Collection[frozenset[str]] = ()) -> bool | None:
    """Whether a value bears the claim out: exact words and fields only, None when it takes a judge.

    ``enumerations`` are the sets of word stems that the subject may say, from sibling conditions and contracts.
    """
    held = _evidence(claim, value, enumerations)
    if held is None and claim.explicit:
        held = False
    return None if held is None else held != claim.negated


def _evidence(claim: Wording, value: Any, enumerations: Collection[frozenset[str]]) -> bool | None:
    if isinstance(value, bool):
        return None if claim.says else _flag(claim.path[-1] if claim.path else claim.subject, value, claim.word)
    if isinstance(value, str):
        word = one_word(value)
        return None if word is None else compare(claim.word, word, enumerations)
    if not isinstance(value, dict):
        return None
    found = {v for v in _field_evidence(claim, value, enumerations) if v is not None}
    return found.pop() if len(found) == 1 else None


def _field_evidence(
    claim: Wording, value: Mapping[str, Any], enumerations: Collection[frozenset[str]]
) -> Iterator[bool | None]:
    own = {claim.subject, *claim.path}
    for name, content in value.items():
        flag = _as_flag(content) if _flag(name, True, claim.word) is not None else content
        if isinstance(flag, bool):
            yield _flag(name, flag, claim.word)
        elif isinstance(flag, str) and (name in VERDICT_FIELDS or name in own):
            word = one_word(flag)
            yield None if word is None else compare(claim.word, word, enumerations)


def _as_flag(content: Any) -> Any:
    """A boolean that a service wrote as a word."""
    words = {"true": True, "yes": True, "false": False, "no": False}
    return words.get(content.strip().lower(), content) if isinstance(content, str) else content


def _flag(name: str, content: bool, word: str) -> bool | None:
    """What a boolean field says of a word: its own name, a synonym or an antonym of it."""
    one, other = stem(name), stem(word)
    if one == other:
        return content
    if one in _SIDES and other in _SIDES:
        return content if _SIDES[one] == _SIDES[other] else not content
    return None


def compare(claimed: str, said: str, enumerations: Collection[frozenset[str]] = ()) -> bool | None:
    """Whether a service that said one word said the claimed one: True, False, or None when that is unclear."""
    one, other = stem(claimed), stem(said)
    if one == other:
        return True
    if any(one in words and other in words for words in enumerations):
        return False
    if one in _SIDES and other in _SIDES:
        return _SIDES[one] == _SIDES[other]
    return False if any(other in words for words in enumerations) else None


def decides(word: str) -> bool:
    """Whether a word stands in one of the two lists, so that it says yes or no by itself."""
    return stem(word) in _SIDES


def one_word(text: str) -> str | None:
    """The only word of a text, without quotes, marks and punctuation around it."""
    bare = text.strip().strip("\"'`*_.!:;()[]").strip()
    return bare if re.fullmatch(r"[^\W\d][\w-]*", bare) else None


_LISTED = r"[`\"'“]?([A-Za-z][\w-]*)[`\"'”]?"
_ENUMERATION = rf"(?<![\w-]){_LISTED}(?:(?:\s*,\s*(?:or\s+)?|\s+or\s+|\s*[|/]\s*){_LISTED})+(?![\w-])"


def enumerated(text: str) -> list[frozenset[str]]:
    """The stems of each list of alternatives in a sentence: ``continue, adjust or abort``, ``pass | fail``."""
    found = []
    for match in compiled(_ENUMERATION).finditer(text):
        if re.search(r"\bor\b|[|/]", match.group()):
            words = re.split(r"\s*,\s*(?:or\s+)?|\s+or\s+|\s*[|/]\s*", match.group())
            found.append(frozenset(stem(w.strip("`\"'“”")) for w in words))
    return found


def alternatives(spec: Spec, targets: Mapping[Node, Target], names: Collection[str]) -> dict[str, list[frozenset[str]]]:
    """For each name of a program the words that its value may say, as ``verdict_of`` wants them."""
    said: dict[str, set[str]] = defaultdict(set)
    found: dict[str, list[frozenset[str]]] = defaultdict(list)
    for node in nodes_of(spec.body, Clause, Bind):
        if isinstance(node, Clause) and (claim := wording(node.text, names)):
            said[claim.subject].add(stem(claim.word))
        if isinstance(node, Bind) and isinstance(node.target, Name) and isinstance(node.value, Call):
            target = targets.get(node.value)
            found[node.target.id] += _contract_words(target) if target else []
    for name, words in said.items():
        found[name].append(frozenset(words))
    return dict(found)


def _contract_words(target: Target) -> list[frozenset[str]]:
    texts = [promise.text for promise in target.slot.ensures] if isinstance(target.slot, Slot) else []
    returns = target.spec.returns if target.spec else None
    if returns:
        texts += [output.description for output in returns.outputs] + [promise.text for promise in returns.promises]
    return [words for text in texts for words in enumerated(text)]
