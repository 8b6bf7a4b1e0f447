"""What happens to a value: the facts that a walk against the order of execution gathers for each name.

A ``Use`` says which parts of a value are read, and which of them on every path. ``both`` joins what happens one
after the other, ``either`` what happens on one of two paths (LANGUAGE.md section 4, Demanded shape).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from prose_runtime.check.tables import Demand
from prose_runtime.nodes import Node
from prose_runtime.records import dataclass

DEEPEST = 8
"""How many fields and indexes deep a value is followed; a loop that walks down a chain has no end of its own."""

LARGEST = 300
"""How many parts of a field's value are followed, for the same reason."""

ERROR_FIELDS = frozenset({"message", "kind", "service"})
"""The fields of an error as a value (LANGUAGE.md section 2)."""

ASKED, TESTED, READ = 0, 1, 2
"""How firmly a field is used: named by an English condition, read by a condition's expression, or read elsewhere."""


@dataclass(frozen=True, slots=True)
class Use:
    """What is done with a value.

    Attributes:
        fields: Uses of the fields that are read, by name, in source order.
        must: Those of the fields that are read on every path.
        items: The use of the elements, when the value has to be a list.
        number: It takes part in arithmetic or a comparison of order.
        whole: It is used as it is.
        keyed: Its keys are looked at, so it has to be an object.
        level: As the use of a field: how firmly it is used at all.
        hint: JSON Schema that a condition suggests.
        readers: As the use of a field: the nodes that read it.
    """

    fields: Mapping[str, Use] = field(default_factory=dict)
    must: frozenset[str] = frozenset()
    items: Use | None = None
    number: bool = False
    whole: bool = False
    keyed: bool = False
    level: int = ASKED
    hint: Mapping[str, object] | None = None
    readers: frozenset[Node] = frozenset()
    depth: int = field(default=1, init=False, compare=False)
    size: int = field(default=1, init=False, compare=False)
    firm: bool = field(default=False, init=False, compare=False)

    def __post_init__(self) -> None:
        if self.fields or self.items:
            below = [*self.fields.values(), *([self.items] if self.items else [])]
            object.__setattr__(self, "depth", 1 + max([use.depth for use in below]))
            object.__setattr__(self, "size", 1 + sum([use.size for use in below]))
            object.__setattr__(self, "firm", bool(self.must) or any(use.firm for use in below))


NOTHING = Use()
WHOLE = Use(whole=True)
NUMBER = Use(number=True)
LIST = Use(items=NOTHING)
KEYED = Use(keyed=True)
FLAG = Use(hint={"type": "boolean"})


def read(name: str, use: Use, level: int, reader: Node | None = None) -> Use:
    """The use of an object of which one field is read and used.

    A condition that only asks whether the field is there, or true, does not make it required.
    """
    use = _bounded(use)
    readers = frozenset({reader} if reader else ())
    tested = Use(use.fields, use.must, use.items, use.number, use.whole, use.keyed, level, use.hint, readers)
    needed = level == READ or bool(use.number or use.whole or use.fields or use.items or use.keyed)
    return Use(fields={name: tested}, must=frozenset({name} if needed and level > ASKED else ()))


def element_of(use: Use) -> Use:
    """The use of each element of a list that is used so."""
    inside = use.items or NOTHING
    return both(inside, WHOLE) if use.whole else inside


def field_of(use: Use, name: str) -> Use:
    """The use of a field of an object that is used so."""
    inside = use.fields.get(name, NOTHING)
    return both(inside, WHOLE) if use.whole else inside


def list_of(use: Use) -> Use:
    """The use of a list whose elements are used so."""
    return Use(items=_bounded(use))


def _bounded(use: Use) -> Use:
    return use if use.depth < DEEPEST and use.size < LARGEST else WHOLE


def without(use: Use, name: str) -> Use:
    """The use of the other fields."""
    if name not in use.fields:
        return use
    fields = {key: value for key, value in use.fields.items() if key != name}
    return replace(use, fields=fields, must=use.must - {name})


def both(one: Use, other: Use) -> Use:
    """The use of a value of which first the one, then the other use is made."""
    return _merged(one, other, True)


def either(one: Use, other: Use) -> Use:
    """The use of a value of which one of two uses is made."""
    return _merged(one, other, False)


def maybe(use: Use) -> Use:
    """The use on a path that may not be taken: the same, but nothing in it is certain."""
    if not use.firm:
        return use
    fields = {name: maybe(inside) for name, inside in use.fields.items()}
    return replace(use, fields=fields, must=frozenset(), items=maybe(use.items) if use.items else None)


def _merged(one: Use, other: Use, certain: bool) -> Use:
    if one is other:
        return one
    if other is NOTHING or one is NOTHING:
        use = one if other is NOTHING else other
        return use if certain else maybe(use)
    return Use(
        fields={name: _inside(one, other, name, certain) for name in {**one.fields, **other.fields}},
        must=one.must | other.must if certain else one.must & other.must,
        items=_items(one.items, other.items, certain),
        number=one.number or other.number,
        whole=one.whole or other.whole,
        keyed=one.keyed or other.keyed,
        level=max(one.level, other.level),
        hint=_hint(one.hint, other.hint),
        readers=one.readers | other.readers,
    )


def _inside(one: Use, other: Use, name: str, certain: bool) -> Use:
    left, right = one.fields.get(name), other.fields.get(name)
    if left is not None and right is not None:
        return _merged(left, right, certain)
    alone = left or right or NOTHING
    return alone if certain else maybe(alone)


def _items(one: Use | None, other: Use | None, certain: bool) -> Use | None:
    if one is not None and other is not None:
        return _merged(one, other, certain)
    alone = one or other
    return alone if certain or alone is None else maybe(alone)


def _hint(one: Mapping[str, object] | None, other: Mapping[str, object] | None) -> Mapping[str, object] | None:
    """Two suggestions that disagree suggest nothing; an empty schema keeps a third one from deciding."""
    if one is None or other is None:
        return other if one is None else one
    return one if one == other else {}


State = dict[str, Use]
"""What is done with the value of each name from a point of the program onwards."""


def both_states(one: State, other: State) -> State:
    """What is done when the first state's uses come on top of the other's."""
    merged = dict(other)
    for name, use in one.items():
        merged[name] = both(use, other.get(name, NOTHING))
    return merged


def either_states(one: State, other: State) -> State:
    """What is done when the program goes one of two ways."""
    if one is other:
        return one
    return {name: either(one.get(name, NOTHING), other.get(name, NOTHING)) for name in {**one, **other}}


def maybe_state(state: State) -> State:
    """What is done on a path that may not be taken."""
    return {name: maybe(use) for name, use in state.items()}


def demand_of(use: Use, inner: bool = False) -> Demand:
    """The demand that a use makes on a value.

    English conditions about a part of a value ask for nothing: only the result of a call can be decided by its
    structure (LANGUAGE.md, Conditions, rung 2).
    """
    fields = {name: part for name, part in use.fields.items() if part.level > ASKED or not inner}
    return Demand(
        fields={name: demand_of(part, inner=True) for name, part in fields.items()},
        required={name for name, part in fields.items() if name in use.must and part.level == READ},
        mentioned={name for name, part in fields.items() if part.level < READ},
        hints={name: dict(part.hint) for name, part in fields.items() if part.hint and _hinted(part)},
        items=demand_of(use.items, inner=True) if use.items is not None else None,
        number=use.number,
        whole=use.whole,
        keyed=use.keyed,
    )


def _hinted(use: Use) -> bool:
    """Whether the hint says more than the use: a flag that is also shown to somebody may be any value."""
    return not (use.fields or use.items or use.number or use.keyed or (use.whole and use.hint == FLAG.hint))


def beside_errors(use: Use) -> Use:
    """What is asked of a value that may be an error instead: the fields that errors have are theirs alone."""
    own = {name: part for name, part in use.fields.items() if name not in ERROR_FIELDS}
    if len(own) == len(use.fields):
        return use
    return replace(use, fields=own, must=use.must - ERROR_FIELDS, whole=True)
