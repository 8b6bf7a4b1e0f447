"""The characters that a match of a regular expression can begin with: what tells which terminals are worth trying."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

ASCII = frozenset(map(chr, range(128)))

_CATEGORIES: Mapping[str, Callable[[str], bool]] = {
    "CATEGORY_DIGIT": str.isdigit,
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_WORD": lambda char: char.isalnum() or char == "_",
}


def beginnings(pattern: str) -> frozenset[str]:
    """The ASCII characters with which a match can begin. What looks ahead or behind is not asked: some may not do.

    Raises:
        ValueError: The pattern can match nothing at all, or is of a kind that no terminal has.
    """
    parser: Any = re._parser  # only this knows how a pattern is read
    found, empty = _of_items(list(parser.parse(pattern)))
    if empty:
        raise ValueError(f"{pattern} matches the empty text")
    return found


def _of_items(items: list[Any]) -> tuple[frozenset[str], bool]:
    """What a sequence can begin with, and whether it can be empty."""
    found: frozenset[str] = frozenset()
    for kind, given in items:
        more, empty = _of(str(kind), given)
        found |= more
        if not empty:
            return found, False
    return found, True


def _of(kind: str, given: Any) -> tuple[frozenset[str], bool]:
    if kind in ("AT", "ASSERT", "ASSERT_NOT"):
        return frozenset(), True
    if kind in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
        return _of_class([(kind, given)] if kind != "IN" else given), False
    if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        found, empty = _of_items(list(given[2]))
        return found, empty or given[0] == 0
    if kind == "BRANCH":
        parts = [_of_items(list(part)) for part in given[1]]
        return frozenset().union(*(found for found, _ in parts)), any(empty for _, empty in parts)
    if kind == "ATOMIC_GROUP":
        return _of_items(list(given))
    if kind == "SUBPATTERN" and not given[1] & re.IGNORECASE:
        return _of_items(list(given[3]))
    raise ValueError(f"a terminal with {kind} is not expected")


def _of_class(items: list[Any]) -> frozenset[str]:
    found: set[str] = set()
    for kind, given in items:
        found |= _members(str(kind), given)
    return ASCII - found if str(items[0][0]) == "NEGATE" else frozenset(found)


def _members(kind: str, given: Any) -> frozenset[str]:
    if kind == "LITERAL":
        return frozenset(chr(given)) & ASCII
    if kind == "RANGE":
        return frozenset(map(chr, range(given[0], given[1] + 1))) & ASCII
    if kind == "CATEGORY":
        name = str(given)
        within = frozenset(filter(_CATEGORIES[name.replace("_NOT", "")], ASCII))
        return ASCII - within if "_NOT" in name else within
    return (
        ASCII - (frozenset(chr(given)) if kind == "NOT_LITERAL" else frozenset()) if kind != "NEGATE" else frozenset()
    )
