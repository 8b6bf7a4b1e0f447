"""Plain assertions of a test, decided in code (LANGUAGE.md section 1, ``test``): does a claim hold of a value?

How sentences are read is in ``syntax.claims``. A claim with a bare word, such as ``is concise``, is decided only when
it holds as it stands; otherwise nobody can tell here what the word is meant to say, and the judge is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from prose_runtime.runtime import operators
from prose_runtime.services.searching import is_in
from prose_runtime.syntax.claims import Claim, Joined, Measures, Negation, Operand, Says
from prose_runtime.values import Value, field, item, number, to_json, to_text


def decide(claim: Claim, value: Value) -> bool | None:
    """Whether a claim holds of a value; None when that is for the judge.

    Raises:
        TimeoutError: A regular expression takes too long; it says so in a sentence.
    """
    if isinstance(claim, Negation):
        held = decide(claim.claim, value)
        return None if held is None else not held
    if isinstance(claim, Joined):
        return _joined([decide(part, value) for part in claim.claims], claim.every)
    if isinstance(claim, Measures):
        return _measured(claim, value)
    return _joined([_holds(claim, operand, value) for operand in claim.operands], claim.every)


def _joined(verdicts: list[bool | None], every: bool) -> bool | None:
    if every:
        return False if False in verdicts else None if None in verdicts else True
    return True if True in verdicts else None if None in verdicts else False


def _holds(claim: Says, operand: Operand, value: Value) -> bool | None:
    held = _VERBS[claim.verb](claim, operand, value)
    return None if operand.word and not held else held


# texts


def _contains(claim: Says, operand: Operand, value: Value) -> bool:
    if claim.times is not None:
        return claim.times.holds(_occurrences(value, operand.text, claim.ignore_case))
    return _found(value, operand, claim.ignore_case)


def _found(value: Value, operand: Operand, ignore_case: bool) -> bool:
    """Whether a text stands in a text, a value among the elements of a list or the values of an object."""
    if isinstance(value, list):
        return any(_same(entry, operand) or _found(entry, operand, ignore_case) for entry in value)
    if isinstance(value, dict):
        return _found(list(value.values()), operand, ignore_case)
    return _folded(operand.text, ignore_case) in _folded(to_text(value), ignore_case) and value is not None


def _occurrences(value: Value, text: str, ignore_case: bool) -> int:
    if isinstance(value, list | dict):
        parts = value.values() if isinstance(value, dict) else value
        return sum(_occurrences(part, text, ignore_case) for part in parts)
    return _folded(to_text(value), ignore_case).count(_folded(text, ignore_case)) if text else 0


def _folded(text: str, ignore_case: bool) -> str:
    return text.casefold() if ignore_case else text


def _starts(_: Says, operand: Operand, value: Value) -> bool:
    if isinstance(value, list):
        return bool(value) and _same(value[0], operand)
    return value is not None and to_text(value).lstrip().startswith(operand.text)


def _ends(_: Says, operand: Operand, value: Value) -> bool:
    if isinstance(value, list):
        return bool(value) and _same(value[-1], operand)
    return value is not None and to_text(value).rstrip().endswith(operand.text)


def _matches(_: Says, operand: Operand, value: Value) -> bool:
    return value is not None and is_in(operand.value, to_text(value))


def _equals(_: Says, operand: Operand, value: Value) -> bool:
    return _same(value, operand)


def _same(value: Value, operand: Operand) -> bool:
    """Equal as values, or, where neither is a list or object, equal as texts; 3 and 3.0 are the same."""
    if operators.equal(value, operand.value):
        return True
    if isinstance(value, list | dict) or value is None:
        return False
    left, right = number(value), number(operand.text)
    if left is not None and right is not None:
        return left == right
    return to_text(value) == operand.text


# fields, kinds, states


def _field(_: Says, operand: Operand, value: Value) -> bool:
    return isinstance(value, dict) and field(value, operand.text) is not None


def _has(claim: Says, operand: Operand, value: Value) -> bool:
    return _field(claim, operand, value) if isinstance(value, dict) else _found(value, operand, False)


def _kind(_: Says, operand: Operand, value: Value) -> bool:
    word = operand.text
    if word.startswith("list of "):
        return isinstance(value, list) and all(_KINDS[word.removeprefix("list of ")](entry) for entry in value)
    sign, kind = word.rpartition(" ")[::2]
    held = _KINDS[kind](value)
    figure = number(value)
    return held and (not sign or (figure is not None and (figure > 0) == (sign == "positive") and figure != 0))


def _is_whole(value: Value) -> bool:
    figure = number(value)
    return figure is not None and float(figure).is_integer()


def _is_json(value: Value) -> bool:
    if not isinstance(value, str):
        return value is not None
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return False
    return True


_KINDS: Mapping[str, Callable[[Value], bool]] = {
    "number": lambda value: number(value) is not None,
    "integer": _is_whole,
    "text": lambda value: isinstance(value, str),
    "list": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "boolean": lambda value: isinstance(value, bool),
    "json": _is_json,
}


def _state(_: Says, operand: Operand, value: Value) -> bool:
    if operand.text == "empty":
        return operators.empty(value) or (isinstance(value, str) and not value.strip())
    return bool(operators.PREDICATES[operand.text](value, None))


_VERBS: Mapping[str, Callable[[Says, Operand, Value], bool]] = {
    "contains": _contains,
    "mentions": _contains,
    "starts": _starts,
    "ends": _ends,
    "matches": _matches,
    "equals": _equals,
    "has": _has,
    "field": _field,
    "kind": _kind,
    "state": _state,
}


# counts


def _measured(claim: Measures, value: Value) -> bool:
    figure = number(value) if claim.unit is None else count(value, claim.unit)
    return figure is not None and claim.bound.holds(figure)


def count(value: Value, unit: str) -> int | None:
    """How many of a unit a value has; None when it has none of that kind, as a number has no words.

    Words, sentences, lines and paragraphs are counted in texts, also over all texts of a list or object.
    """
    if unit in ("items", "length") and isinstance(value, list):
        return len(value)
    if unit in ("fields", "items", "length") and isinstance(value, dict):
        return len(value)
    if unit in _IN_TEXT or unit == "length":
        texts = list(_texts(value))
        counter = _IN_TEXT["characters" if unit == "length" else unit]
        return sum(map(counter, texts)) if texts or isinstance(value, list | dict) else None
    return None


def _texts(value: Value) -> list[str]:
    if isinstance(value, list | dict):
        parts = value.values() if isinstance(value, dict) else value
        return [text for part in parts for text in _texts(part)]
    return [] if value is None else [to_text(value)]


_SENTENCE_END = re.compile(r"[.!?…。！？]+[\"'”’)\]]*(?=\s|$)")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|Mr|Mrs|Ms|Dr|Prof|No|approx)|\b[A-Z])\.$")


def _sentences(text: str) -> int:
    """Sentence ends followed by a blank or the end, and a last sentence without an end; abbreviations end nothing."""
    found = 0
    at = 0
    for end in _SENTENCE_END.finditer(text):
        piece = text[at : end.end()]
        last = not text[end.end() :].strip()
        if re.search(r"\w", piece) and (last or not _ABBREVIATION.search(piece)):
            found += 1
            at = end.end()
    return found + bool(re.search(r"\w", text[at:]))


def _words(text: str) -> int:
    return sum(1 for word in text.split() if re.search(r"\w", word))


_IN_TEXT: Mapping[str, Callable[[str], int]] = {
    "words": _words,
    "characters": lambda text: len(text.strip()),
    "lines": lambda text: len(text.strip().splitlines()),
    "sentences": _sentences,
    "paragraphs": lambda text: len([part for part in re.split(r"\n\s*\n", text.strip()) if part]),
}


# where in the result


_STEP = re.compile(
    r"\.(?P<name>[^.\[]+)|\[(?P<index>-?\d+)\]|\[(?P<quote>[\"'])(?P<key>.*?)(?P=quote)\]|^(?P<first>[^.\[]+)"
)


class NoSuchOutput(LookupError):
    """A result has no field of the name that an expectation starts with; the argument lists those it has."""


def output(path: str, result: Value, declared: tuple[str, ...]) -> Value:
    """The value that a path means in a result: an output by its name, ``result``, or the one output that stands bare.

    Raises:
        NoSuchOutput: The first name is no field of the result and none that the subject declares.
    """
    steps = list(_STEP.finditer(path))
    value = _first(steps[0]["first"], result, declared)
    for step in steps[1:]:
        if step["name"]:
            value = field(value, step["name"])
        else:
            value = item(value, int(step["index"]) if step["index"] else step["key"])
    return value


def _first(name: str, result: Value, declared: tuple[str, ...]) -> Value:
    if isinstance(result, dict) and name in result:
        return result[name]
    if name == "result" or declared == (name,):
        return result
    if name in declared:
        return None
    held = ", ".join(f"`{key}`" for key in result) if isinstance(result, dict) else ""
    raise NoSuchOutput(held)


def shown(value: Value, most: int = 300) -> str:
    """A value for a report: JSON on one line, cut where it is long."""
    text: Any = json.dumps(to_json(value), ensure_ascii=False)
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"
