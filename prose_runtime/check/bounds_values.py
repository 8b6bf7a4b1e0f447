"""What the analysis of bounds knows of values: how long lists are, how large numbers, which services are meant.

A value is a set of alternatives. Lists that a program makes live in the state, at the place where they were made, so
that all names for one list see it grow; those that come from another frame are snapshots of a known length.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from prose_runtime.check.bounds_formula import (
    ANY_ELEMENT,
    ZERO,
    Element,
    Formula,
    KnownValue,
    Length,
    Number,
    Path,
    at_path,
    constant,
    least,
    most,
    values_at,
)
from prose_runtime.check.tables import Analysis, Demand
from prose_runtime.nodes import Spec
from prose_runtime.records import dataclass
from prose_runtime.values import number, truthy

MOST_ALTERNATIVES = 8
DEEPEST = 5


class Range(NamedTuple):
    """The smallest and the largest number of something."""

    low: Formula
    high: Formula


NONE = Range(ZERO, ZERO)


def exactly(formula: Formula) -> Range:
    """A number that is known."""
    return Range(formula, formula)


@dataclass(frozen=True, slots=True, eq=False)
class UnitFill:
    """A spec with calls of its own, and what fills its slots. ``bare``: it yields its ``result`` alone."""

    analysis: Analysis
    slots: Mapping[str, tuple[Fill, ...]] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Fill:
    """Who answers a call: a service, a function that is one call (``spec``), or a spec with calls of its own.

    ``name`` is the target as the result of a run shows it; ``service`` the binding that answers, where that is known.
    """

    name: str
    unit: UnitFill | None = None
    spec: Spec | None = None
    service: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it apart from others, also when it was made anew."""
        unit = self.unit
        if unit is None:
            return self.name, self.service, self.spec
        slots = tuple((name, tuple(fill.key for fill in fills)) for name, fills in unit.slots.items())
        return self.name, unit.analysis.spec, slots, json.dumps(unit.config, default=str), unit.bare


# alternatives of a value


@dataclass(frozen=True, slots=True)
class Null:
    """Null, or a name that is not bound yet."""


@dataclass(frozen=True, slots=True)
class Num:
    """A number between two formulas, which may be negative; None is unknown."""

    low: Formula | None
    high: Formula | None


@dataclass(frozen=True, slots=True)
class At:
    """What stands at a path of config, inputs or a known value; ``fills`` are the bindings of a list slot."""

    path: Path
    fills: tuple[Fill, ...] = ()


@dataclass(frozen=True, slots=True)
class ListAt:
    """The list that was made at a place of the program."""

    place: Any


@dataclass(frozen=True, slots=True)
class Row:
    """A list from another frame. ``inner``: it stands in a list or object, so that it may have other names."""

    size: Range
    element: Val
    inner: bool = False


@dataclass(frozen=True, slots=True)
class Obj:
    """An object with these fields."""

    fields: tuple[tuple[str, Val], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its fields, in order."""
        return tuple(name for name, _ in self.fields)


@dataclass(frozen=True, slots=True)
class Ref:
    """A service reference."""

    fills: tuple[Fill, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """Text of at most so many characters."""

    size: Formula


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """A demand by identity: what an answer is known to be."""

    demand: Demand

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Wanted) and other.demand is self.demand

    def __hash__(self) -> int:
        return id(self.demand)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a target answered, or a part of it. ``number``, ``plain``: it is surely a number, or no list or object."""

    target: str
    demand: Wanted | None = None
    number: bool = False
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Anything:
    """Whatever the program has put there; it may be another name for any list."""


Basic: TypeAlias = Null | Num | At | ListAt | Row | Obj | Ref | Text | Flag | Answer | Anything
Val: TypeAlias = frozenset[Any]

NULL: Val = frozenset({Null()})
FLAG: Val = frozenset({Flag()})
UNKNOWN: Val = frozenset({Answer("")})
ANYTHING: Val = frozenset({Anything()})


def val(*basics: Basic) -> Val:
    """A value with these alternatives."""
    return frozenset(basics)


def literal(value: Any) -> Val:
    """A value that is known."""
    return NULL if value is None else val(At((KnownValue(json.dumps(value, default=str), value),)))


def joined(*values: Val) -> Val:
    """One of several values."""
    if all(value == values[0] for value in values):
        return values[0]
    basics = frozenset(basic for value in values for basic in value)
    if Anything() in basics:
        return ANYTHING
    basics = _merged(_merged(_merged(basics, Num, _hull), Text, _longest), Row, _one_row)
    for names in {basic.names for basic in basics if isinstance(basic, Obj)}:
        basics = _merged(basics, Obj, _one_object, partial(_has_names, names))
    return ANYTHING if len(basics) > MOST_ALTERNATIVES else basics


def _merged(
    basics: Val, kind: type[Any], merge: Callable[[list[Any]], Any], alike: Callable[[Any], bool] = lambda found: True
) -> Val:
    """The alternatives with those of a kind made one."""
    same = [basic for basic in basics if isinstance(basic, kind) and alike(basic)]
    return basics if len(same) < 2 else frozenset([*(b for b in basics if b not in same), merge(same)])


def _has_names(names: tuple[str, ...], found: Obj) -> bool:
    return found.names == names


def _one_row(rows: list[Row]) -> Row:
    inner = any(row.inner for row in rows)
    return Row(hull(row.size for row in rows), joined(*(row.element for row in rows)), inner)


def _one_object(objects: list[Obj]) -> Obj:
    columns = zip(*(found.fields for found in objects), strict=True)
    return Obj(tuple((column[0][0], joined(*(inside for _, inside in column))) for column in columns))


def _hull(nums: list[Num]) -> Num:
    lows, highs = [num.low for num in nums], [num.high for num in nums]
    return Num(_end(lows, least), _end(highs, most))


def _end(ends: list[Formula | None], choose: Callable[[list[Formula]], Formula]) -> Formula | None:
    """The outermost of several ends. What may be negative is in no order with others."""
    known = [end for end in ends if end is not None]
    if len(known) < len(ends):
        return None
    if all(end == known[0] for end in known):
        return known[0]
    values = [end.constant for end in known]
    if None not in values:
        numbers = [value for value in values if value is not None]
        return constant(min(numbers) if choose is least else max(numbers))
    return choose(known) if all(end.positive for end in known) or choose is most else None


def _longest(texts: list[Text]) -> Text:
    return Text(most(text.size for text in texts))


# state


class Kept(NamedTuple):
    """A list in the state: its length, and what its elements may be."""

    size: Range
    element: Val


@dataclass(slots=True, eq=False)
class State:
    """Names and lists at a point of the program.

    ``base`` is the frame that blocks read, when it is another one. ``wary``: the program adds to lists of which this
    state keeps no account, so that the length of no list from outside or inside others counts as known.
    """

    names: dict[str, Val] = field(default_factory=dict)
    lists: dict[Any, Kept] = field(default_factory=dict)
    base: State | None = None
    wary: bool = False

    def copy(self) -> State:
        """A state that can be changed apart from this one."""
        return State(dict(self.names), dict(self.lists), self.base, self.wary)

    def name(self, name: str) -> Val:
        """The value of a name."""
        return self.names.get(name, NULL)

    def make(self, place: Any, size: Range, element: Val) -> Val:
        """A list that is made now. An earlier one of the same place goes on as an old one of it."""
        if place in self.lists:
            self._retire(place)
        self.lists[place] = Kept(size, element)
        return val(ListAt(place))

    def _retire(self, place: Any) -> None:
        old = place if isinstance(place, tuple) and place and place[0] == "old" else ("old", place)
        swap = {ListAt(place): ListAt(old)}
        held = self.lists.pop(place)
        self.names = {name: replaced(value, swap) for name, value in self.names.items()}
        self.lists = {key: kept._replace(element=replaced(kept.element, swap)) for key, kept in self.lists.items()}
        element = replaced(held.element, swap)
        before = self.lists.get(old)
        self.lists[old] = Kept(held.size, element) if before is None else either_list(before, Kept(held.size, element))


def replaced(value: Val, swap: Mapping[Any, Any], depth: int = 0) -> Val:
    """The value with other alternatives in the place of some, also inside objects and snapshots."""
    return mapped(value, lambda basic: swap.get(basic, basic))


def mapped(value: Val, change: Callable[[Any], Any], depth: int = 0) -> Val:
    """The value with each alternative changed, those inside objects and snapshots first."""
    if depth > DEEPEST:
        return ANYTHING
    basics: list[Any] = []
    for basic in value:
        inside = basic
        if isinstance(basic, Obj):
            inside = Obj(tuple((name, mapped(inner, change, depth + 1)) for name, inner in basic.fields))
        elif isinstance(basic, Row):
            inside = Row(basic.size, mapped(basic.element, change, depth + 1), basic.inner)
        basics.append(change(inside))
    return joined(*(frozenset({basic}) for basic in basics)) if basics else value


def either_list(one: Kept, other: Kept) -> Kept:
    """A list that is one of two."""
    return Kept(either_range(one.size, other.size), joined(one.element, other.element))


def either_range(one: Range, other: Range) -> Range:
    """The range of a number that is in one of two."""
    return Range(least((one.low, other.low)), most((one.high, other.high)))


def either_state(one: State, other: State) -> State:
    """The state where two ways meet."""
    names = {name: joined(one.name(name), other.name(name)) for name in dict.fromkeys([*one.names, *other.names])}
    lists = dict(one.lists)
    for place, kept in other.lists.items():
        lists[place] = kept if place not in lists else either_list(lists[place], kept)
    return State(names, lists, one.base, one.wary)


def frozen(value: Val, state: State, depth: int = 0) -> Val:
    """The value as a snapshot that no later change reaches."""
    if depth > DEEPEST:
        return UNKNOWN
    basics: list[Val] = []
    for basic in value:
        if isinstance(basic, ListAt):
            kept = state.lists[basic.place]
            basics.append(val(Row(kept.size, frozen(kept.element, state, depth + 1), depth > 0)))
        elif isinstance(basic, Row):
            basics.append(val(Row(basic.size, frozen(basic.element, state, depth + 1), depth > 0)))
        elif isinstance(basic, Obj):
            fields = tuple((name, frozen(inner, state, depth + 1)) for name, inner in basic.fields)
            basics.append(val(Obj(fields)))
        else:
            basics.append(UNKNOWN if isinstance(basic, Anything) else val(basic))
    return joined(*basics) if basics else UNKNOWN


def inner(value: Val) -> Val:
    """The value as a part of another one: a snapshot may have other names there."""
    return frozenset(Row(b.size, b.element, True) if isinstance(b, Row) else b for b in value)


# what a value is


def known(value: Val) -> tuple[bool, Any]:
    """Whether a value is known, and it."""
    if len(value) != 1:
        return False, None
    (basic,) = value
    if isinstance(basic, Null):
        return True, None
    if isinstance(basic, Num) and basic.low == basic.high and basic.low is not None:
        found = basic.low.constant
        whole = found is not None and float(found).is_integer()
        return found is not None, int(found) if whole and found is not None else found
    return _known_at(basic) if isinstance(basic, At) else (False, None)


def _known_at(basic: At) -> tuple[bool, Any]:
    path = basic.path
    fixed = isinstance(path[0], KnownValue) and not any(isinstance(s, Element) or s == ANY_ELEMENT for s in path)
    return (True, values_at(path[0].value, path[1:])[0]) if fixed and not basic.fills else (False, None)


def may_be_reference(basic: Basic) -> bool:
    """Whether it may be a reference without being known as one; what a role answers never is."""
    return isinstance(basic, Anything) or (isinstance(basic, Answer) and not basic.target)


def truth(value: Val, state: State) -> bool | None:
    """Whether a value counts as true, None when that shows only while the program runs."""
    found = {_truth(basic, state) for basic in value}
    return found.pop() if len(found) == 1 else None


def _truth(basic: Any, state: State) -> bool | None:
    is_known, content = known(frozenset({basic}))
    if is_known:
        return truthy(content)
    if isinstance(basic, Ref):
        return True
    if isinstance(basic, Obj):
        return bool(basic.fields)
    size = size_of(basic, state) if isinstance(basic, ListAt | Row) or (isinstance(basic, At) and basic.fills) else None
    return None if size is None else filled(size)


def filled(size: Range) -> bool | None:
    """Whether something of that size has anything in it."""
    if size.high.constant == 0:
        return False
    low = size.low.constant
    return True if low is not None and low >= 1 else None


def size_of(basic: Any, state: State) -> Range | None:
    """The length of a list; None when it is unknown or there is none."""
    if isinstance(basic, ListAt):
        return state.lists[basic.place].size
    if isinstance(basic, Row):
        return None if state.wary and basic.inner else basic.size
    if isinstance(basic, At) and (basic.fills or not state.wary):
        return Range(at_path(Length, basic.path, "min"), at_path(Length, basic.path, "max"))
    return None


_NO_LIST = (Null, Num, Obj, Ref, Text, Flag)
"""What ends the run where a list is due, so that nothing is called there."""


def list_size(value: Val, state: State, unknown: Formula) -> Range:
    """How many elements a value has where the program needs a list; ``unknown`` where nothing is known of it."""
    sizes = []
    for basic in value:
        if isinstance(basic, _NO_LIST):
            continue
        sizes.append(size_of(basic, state) or Range(ZERO, unknown))
    return hull(sizes)


def hull(ranges: Iterable[Range]) -> Range:
    """The range of a number that is in one of several; none is 0."""
    found = list(ranges)
    return Range(least(r.low for r in found), most(r.high for r in found)) if found else NONE


def element_of(value: Val, state: State) -> Val:
    """What an element of a list may be."""
    return joined(*(_element(basic, state) for basic in value)) if value else UNKNOWN


def _element(basic: Any, state: State) -> Val:
    if isinstance(basic, ListAt):
        return state.lists[basic.place].element
    if isinstance(basic, Row):
        return basic.element
    if isinstance(basic, At):
        return val(Ref(basic.fills)) if basic.fills else val(At((*basic.path, ANY_ELEMENT)))
    return ANYTHING if isinstance(basic, Anything) else UNKNOWN


def numeric(value: Val) -> Num:
    """The number that a value is where the program needs one."""
    nums = [found for basic in value if (found := _numeric(basic)) is not None]
    return _hull(nums) if nums else Num(ZERO, ZERO)


def _numeric(basic: Any) -> Num | None:
    if isinstance(basic, Num):
        return basic
    if isinstance(basic, At) and not basic.fills:
        is_known, content = known(frozenset({basic}))
        if is_known and number(content) is None:
            return None
        return Num(at_path(Number, basic.path, "min"), at_path(Number, basic.path, "max"))
    return None if isinstance(basic, Null | ListAt | Row | Obj | Ref | Flag | At) else Num(None, None)
