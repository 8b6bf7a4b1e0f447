"""Bounds in words: ``at least three``, ``under 12``, ``between 0 and 1``, ``5 or more``."""

from __future__ import annotations

import re
from collections.abc import Callable

from prose_runtime.records import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """Limits of a number or count, None where it has none; ``open``: a limit is not itself allowed."""

    low: float | None = None
    high: float | None = None
    open: bool = False

    def holds(self, number: float) -> bool:
        """Whether a number lies within the limits."""
        if self.open:
            return (self.low is None or number > self.low) and (self.high is None or number < self.high)
        return (self.low is None or number >= self.low) and (self.high is None or number <= self.high)


_NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
} | {"a single": 1, "fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50, "a hundred": 100}  # fmt: skip
NUMBER = (
    r"`?[-+]?(?:\d{1,3}(?:[,_]\d{3})+|\d{1,15})(?:\.\d{1,15})?`?|`?[-+]?\.\d{1,15}`?|"
    + "|".join(sorted(_NUMBER_WORDS, key=len, reverse=True))
)  # fmt: skip
_AT_LEAST = r"at\s+least|no\s+(?:fewer|less|shorter)\s+than|(?:a\s+)?minimum(?:\s+of)?|>=|≥"
_AT_MOST = (
    r"at\s+most|(?:no|not)\s+(?:more|longer|greater|higher|larger)\s+than|up\s+to|within|"
    r"(?:a\s+)?maximum(?:\s+of)?|<=|≤"
)
_OVER = r"(?:more|greater|higher|larger|longer|bigger)\s+than|over|above|>"
_UNDER = r"(?:fewer|less|lower|smaller|shorter)\s+than|under|below|<"
COMPARISON = rf"{_AT_LEAST}|{_AT_MOST}|{_OVER}|{_UNDER}|exactly|only"
"""The words before a number that make a bound of it."""

_BOUNDS: tuple[tuple[str, Callable[[float, float], Bound]], ...] = (
    (rf"(?:between|from)\s+(?P<n>{NUMBER})\s+(?:and|to)\s+(?P<m>{NUMBER})(?:\s*,?\s*inclusive)?", Bound),
    (rf"(?P<n>{NUMBER})\s*(?:to|–|—|-)\s*(?P<m>{NUMBER})", Bound),
    (rf"(?:{_AT_LEAST})\s*(?P<n>{NUMBER})", lambda n, _: Bound(n)),
    (rf"(?:{_AT_MOST})\s*(?P<n>{NUMBER})", lambda n, _: Bound(high=n)),
    (rf"(?P<n>{NUMBER})\s+or\s+(?:more|greater|higher|above|over)", lambda n, _: Bound(n)),
    (rf"(?P<n>{NUMBER})\s+or\s+(?:fewer|less|lower|below|under)", lambda n, _: Bound(high=n)),
    (rf"(?:{_OVER})\s*(?P<n>{NUMBER})", lambda n, _: Bound(n, open=True)),
    (rf"(?:{_UNDER})\s*(?P<n>{NUMBER})", lambda n, _: Bound(high=n, open=True)),
    (rf"(?:(?:exactly|only|equal\s+to|==?)\s*)?(?P<n>{NUMBER})", lambda n, _: Bound(n, n)),
)
_BOUND_PATTERNS = tuple((re.compile(pattern, re.I), make) for pattern, make in _BOUNDS)


def is_number(text: str) -> bool:
    """A number alone is a value to equal, not a bound."""
    return bool(re.fullmatch(NUMBER, text, re.I)) or re.match(r"(?:equal\s+to|only|==?)\b", text, re.I) is not None


def read_bound(text: str) -> Bound | None:
    """The bound that a text spells, or None."""
    for pattern, make in _BOUND_PATTERNS:
        match = pattern.fullmatch(text.strip())
        if match:
            groups = match.groupdict()
            return make(_number(groups["n"]), _number(groups.get("m") or groups["n"]))
    return None


def _number(text: str) -> float:
    bare = text.strip("`").lower()
    if bare in _NUMBER_WORDS:
        return _NUMBER_WORDS[bare]
    value = float(bare.replace(",", "").replace("_", ""))
    return int(value) if value.is_integer() else value
