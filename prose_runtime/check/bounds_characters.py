"""How long values are as a role is shown them: what the estimate of input tokens is made of.

The rule: text and data from outside count with their own length; an answer with the length that is assumed for its
target (``AnswerLength``); a number with 6 characters, true and false with 5; a list or object with its parts, and 4
characters around each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from prose_runtime.check.bounds_formula import ZERO, AnswerLength, Characters, Formula, at_path, atom, constant, most
from prose_runtime.check.bounds_values import (
    DEEPEST,
    Answer,
    Anything,
    At,
    Flag,
    ListAt,
    Num,
    Obj,
    Row,
    State,
    Text,
    Val,
)

AROUND = 4
"""Characters that JSON puts around each part of a list or object: quotes, comma, blank."""


def characters(value: Val, state: State, depth: int = 0) -> Formula:
    """The length of a value, as a formula."""
    return most(_length(basic, state, depth) for basic in value)


def _length(basic: Any, state: State, depth: int) -> Formula:
    if depth > DEEPEST:
        return atom(AnswerLength(""))
    measure = _MEASURES.get(type(basic))
    return measure(basic, state, depth) if measure else ZERO


def _list(basic: ListAt, state: State, depth: int) -> Formula:
    kept = state.lists[basic.place]
    return kept.size.high * (characters(kept.element, state, depth + 1) + constant(AROUND))


def _row(basic: Row, state: State, depth: int) -> Formula:
    return basic.size.high * (characters(basic.element, state, depth + 1) + constant(AROUND))


def _object(basic: Obj, state: State, depth: int) -> Formula:
    size = ZERO
    for name, inside in basic.fields:
        size = size + constant(len(name) + AROUND) + characters(inside, state, depth + 1)
    return size


_MEASURES: Mapping[type[Any], Callable[[Any, State, int], Formula]] = {
    At: lambda basic, state, depth: at_path(Characters, basic.path),
    Text: lambda basic, state, depth: basic.size,
    Num: lambda basic, state, depth: constant(6),
    Flag: lambda basic, state, depth: constant(5),
    Answer: lambda basic, state, depth: atom(AnswerLength(basic.target)),
    Anything: lambda basic, state, depth: atom(AnswerLength("")),
    ListAt: _list,
    Row: _row,
    Obj: _object,
}
