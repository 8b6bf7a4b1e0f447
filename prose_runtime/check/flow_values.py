"""The abstract values of the flow analysis: where a value comes from, and what lists and objects hold.

A label says what a value was made of; its trace is the chain of places by which it travelled. Lists and objects live
in cells, so that a change through one name shows through every other name of the same list (LANGUAGE.md section 2).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Literal, NamedTuple

from prose_runtime.text import Span

Kind = Literal["output", "input", "config", "error", "counter", "reference", "name"]
"""``error`` is the failure of a role's call, ``reference`` the binding's name of a slot, ``name`` a text in the program
that holds the pattern's name."""

OLDER = 1
"""Of an output: the role has been called again since."""

EARLIER = 2
"""Of an output: it was given in an earlier pass of the outermost loop."""

FUZZY = 4
"""The analysis only knows that the value may get here through a part that it does not look into."""


class Label(NamedTuple):
    """What a value was made of. ``flags`` add up the three constants above."""

    kind: Kind
    name: str
    flags: int = 0


class Trace(NamedTuple):
    """The last place of a value's way, and the way before it."""

    span: Span
    before: Trace | None = None

    def places(self) -> list[Span]:
        """All places from the origin on."""
        found: list[Span] = []
        trace: Trace | None = self
        while trace is not None:
            found.append(trace.span)
            trace = trace.before
        return found[::-1]


Labels = Mapping[Label, Trace]
NO_LABELS: Labels = {}


def merged(one: Labels, other: Labels) -> Labels:
    """Both sets of labels; the first one's ways are kept."""
    if not other or one is other:
        return one
    if not one:
        return other
    return one if other.keys() <= one.keys() else {**other, **one}


def going_on(labels: Labels, span: Span) -> Labels:
    """The same labels, one place further."""
    return {label: trace if trace.span == span else Trace(span, trace) for label, trace in labels.items()}


def flagged(labels: Labels, flag: int, roles: Collection[str] | None) -> Labels:
    """The same labels with a flag on the outputs of some roles, or of all."""

    def due(label: Label) -> bool:
        kind, name, flags = label
        return kind == "output" and not flags & flag and (roles is None or name in roles)

    made = {label: Label(label[0], label[1], label[2] | flag) for label in labels if due(label)}
    return {made.get(label, label): trace for label, trace in labels.items()} if made else labels


def outdated(labels: Labels, roles: Collection[str], surely: bool) -> Labels:
    """The same labels after some roles were called again; not ``surely``: any of them may have been, or none."""
    if surely:
        return flagged(labels, OLDER, roles)
    late = {
        label._replace(flags=label.flags | OLDER | FUZZY): trace
        for label, trace in labels.items()
        if label.kind == "output" and label.name in roles
    }
    return merged(labels, late)


def _perhaps_older(labels: Labels, roles: Collection[str]) -> Labels:
    """The same labels where the latest call of some roles may not be made in a run at all."""
    made: dict[Label, Trace] = {}
    for label, trace in labels.items():
        if label.kind == "output" and label.flags & OLDER and label.name in roles:
            made.setdefault(label._replace(flags=label.flags & ~OLDER), trace)
            made[label._replace(flags=label.flags | FUZZY)] = trace
        else:
            made[label] = trace
    return made


def _all_flagged(labels: Labels, flag: int) -> Labels:
    return {label._replace(flags=label.flags | flag): trace for label, trace in labels.items()}


Place = tuple[object, int]
"""A list or object: the node that makes it, and 0 for the latest one made there, 1 for all earlier ones."""

_NOWHERE: frozenset[Place] = frozenset()


class Val(NamedTuple):
    """A value: what it was made of, on what it depended which value it is, and which cells it may be."""

    data: Labels = NO_LABELS
    control: Labels = NO_LABELS
    places: frozenset[Place] = _NOWHERE

    def under(self, control: Labels) -> Val:
        """The same value, chosen under some conditions."""
        return Val(self.data, merged(self.control, control), self.places) if control else self

    def flagged(self, flag: int) -> Val:
        """The same value with a flag on everything that it was made of, and on what chose it."""
        return Val(_all_flagged(self.data, flag), _all_flagged(self.control, flag), self.places) if flag else self


NOTHING = Val()


def joined(one: Val, other: Val) -> Val:
    """A value that is one of two."""
    if one is other or other is NOTHING:
        return one
    if one is NOTHING:
        return other
    places = one.places if one.places is other.places else one.places | other.places
    return Val(merged(one.data, other.data), merged(one.control, other.control), places)


class Cell(NamedTuple):
    """What a list or object holds: fields by name, and ``items`` for elements and fields of unknown names."""

    fields: Mapping[str, Val] = {}
    items: Val = NOTHING


EMPTY = Cell()


def joined_cells(one: Cell, other: Cell) -> Cell:
    """A cell that holds what either holds."""
    if one is other or other is EMPTY:
        return one
    fields = {
        name: joined(one.fields.get(name, NOTHING), other.fields.get(name, NOTHING))
        for name in {**one.fields, **other.fields}
    }
    return Cell(fields, joined(one.items, other.items))


class Fact(NamedTuple):
    """What conditions say on the way to a point: a role's latest answer was a yes (1), a no (-1), or looked at (0).

    Not ``firm``: only that it was not the opposite, as what is missing is no refusal, and no approval either.
    """

    role: str
    side: int
    firm: bool = True


class Held(NamedTuple):
    """A role's latest answer, or the field of it of this name, which a variable surely holds."""

    role: str
    field: str | None = None


class State:
    """Names and cells at a point of the program, the conditions it is under, and what they say of the roles.

    ``dead``: control does not get here. ``outer`` are the names that a block reads when it is called from here.
    ``answered`` are the roles that may have been called before, ``held`` the names that surely hold an answer.
    """

    __slots__ = ("answered", "cells", "control", "dead", "facts", "held", "names", "outer")

    def __init__(
        self,
        names: dict[str, Val],
        cells: dict[Place, Cell],
        control: Labels = NO_LABELS,
        facts: frozenset[Fact] = frozenset(),
        outer: dict[str, Val] | None = None,
    ):
        self.names = names
        self.cells = cells
        self.control = control
        self.facts = facts
        self.outer = outer
        self.dead = False
        self.answered: frozenset[str] = frozenset()
        self.held: dict[str, Held] = {}

    def copy(self) -> State:
        """A state that can be changed on its own."""
        made = State(dict(self.names), dict(self.cells), self.control, self.facts, self.outer)
        made.dead = self.dead
        made.answered = self.answered
        made.held = dict(self.held)
        return made

    def become(self, other: State) -> None:
        """Take over another state."""
        self.names, self.cells, self.control = other.names, other.cells, other.control
        self.facts, self.dead, self.answered, self.held = other.facts, other.dead, other.answered, other.held

    # reading

    def deep(self, value: Val) -> Val:
        """All labels of a value and of everything inside it."""
        if not value.places:
            return value
        data, control = value.data, value.control
        waiting, seen = list(value.places), set(value.places)
        while waiting:
            cell = self.cells.get(waiting.pop(), EMPTY)
            for inside in (*cell.fields.values(), cell.items):
                data, control = merged(data, inside.data), merged(control, inside.control)
                fresh = inside.places - seen
                seen |= fresh
                waiting += fresh
        return Val(data, control)

    def field(self, value: Val, name: str) -> Val:
        """``value.name``."""
        found = Val(value.data, value.control)
        for place in value.places:
            cell = self.cells.get(place, EMPTY)
            found = joined(found, joined(cell.fields.get(name, NOTHING), cell.items))
        return found if name != "length" else self.size(value)

    def element(self, value: Val) -> Val:
        """Any element or field of a value."""
        found = Val(value.data, value.control)
        for place in value.places:
            cell = self.cells.get(place, EMPTY)
            for inside in (*cell.fields.values(), cell.items):
                found = joined(found, inside)
        return found

    def size(self, value: Val) -> Val:
        """The length of a value: it tells nothing of what stands in a list, but how the list came about."""
        control = value.control
        for place in value.places:
            control = merged(control, self.cells.get(place, EMPTY).items.control)
        return Val(value.data, control)

    # changing

    def make(self, node: object, cell: Cell, afresh: bool) -> Val:
        """A new list or object. ``afresh``: those made here before are told apart from it."""
        place: Place = (node, 0)
        if place in self.cells:
            if afresh:
                self._set_aside(place)
            else:
                cell = joined_cells(cell, self.cells[place])
        self.cells[place] = cell
        return Val(places=frozenset({place}))

    def _set_aside(self, place: Place) -> None:
        older: Place = (place[0], 1)
        self.cells[older] = joined_cells(self.cells.pop(place), self.cells.get(older, EMPTY))

        def renamed(value: Val) -> Val:
            if place not in value.places:
                return value
            return Val(value.data, value.control, value.places - {place} | {older})

        self.each(renamed)

    def each(self, change: Callable[[Val], Val]) -> None:
        """Change all values."""
        names, cells = self.names, self.cells
        for name, value in names.items():
            if value.data or value.places or value.control:
                names[name] = change(value)
        for place, cell in cells.items():
            if cell is EMPTY:
                continue
            items = cell.items if cell.items is NOTHING else change(cell.items)
            fields = {name: change(value) for name, value in cell.fields.items()}
            if items is not cell.items or any(fields[name] is not value for name, value in cell.fields.items()):
                cells[place] = Cell(fields, items)

    def put(self, holder: Val, name: str | None, value: Val) -> None:
        """Store a value in a field, or as an element; which of the cells it is may be unknown, so nothing goes."""
        for place in holder.places:
            cell = self.cells.get(place, EMPTY)
            if name is None:
                self.cells[place] = Cell(cell.fields, joined(cell.items, value))
            else:
                known = joined(cell.fields.get(name, NOTHING), value)
                self.cells[place] = Cell({**cell.fields, name: known}, cell.items)

    def called(self, roles: Iterable[str], surely: bool = True) -> None:
        """Roles are called: what they gave before is no longer their latest output.

        Not ``surely``: which of them is called is open.
        """
        names = frozenset(roles)
        if not names & self.answered:
            self.answered |= names
            return
        self.answered |= names
        self.facts = frozenset(fact for fact in self.facts if fact.role not in names)
        self.held = {name: held for name, held in self.held.items() if held.role not in names}
        self._relabel(lambda labels: outdated(labels, names, surely))

    def perhaps_called(self, roles: Collection[str]) -> None:
        """Roles were called on a way that it is open if any run takes."""
        if roles:
            self._relabel(lambda labels: _perhaps_older(labels, roles))

    def next_pass(self) -> None:
        """The outermost loop begins another pass."""
        self._relabel(lambda labels: flagged(labels, EARLIER, None))

    def _relabel(self, made: Callable[[Labels], Labels]) -> None:
        done: dict[int, Labels] = {}

        def on(labels: Labels) -> Labels:
            """Many values share what they were made of."""
            if id(labels) not in done:
                done[id(labels)] = made(labels)
            return done[id(labels)]

        def change(value: Val) -> Val:
            data, control = on(value.data), on(value.control)
            same = data is value.data and control is value.control
            return value if same else Val(data, control, value.places)

        self.each(change)
        self.control = on(self.control)

    def take_in(self, branch: State) -> None:
        """At a join: what a finished branch added to lists from outside, and what its values hold."""
        for place, cell in branch.cells.items():
            known = self.cells.get(place)
            self.cells[place] = cell if known is None else joined_cells(known, cell)

    def is_like(self, other: State) -> bool:
        """Whether two states are the same in everything but the ways of the labels."""
        return (
            self.control.keys() == other.control.keys()
            and self.facts == other.facts
            and self.held == other.held
            and _alike(self.names, other.names)
            and self.cells.keys() == other.cells.keys()
            and all(
                cell is other.cells[place]
                or (_alike(cell.fields, other.cells[place].fields) and _is_alike(cell.items, other.cells[place].items))
                for place, cell in self.cells.items()
            )
        )


def _alike(values: Mapping[str, Val], others: Mapping[str, Val]) -> bool:
    return values.keys() == others.keys() and all(_is_alike(value, others[name]) for name, value in values.items())


def _is_alike(value: Val, other: Val) -> bool:
    return value is other or (
        value.data.keys() == other.data.keys()
        and value.control.keys() == other.control.keys()
        and value.places == other.places
    )


def join_states(states: Iterable[State]) -> State:
    """Control comes from one of these; dead when it comes from none."""
    alive = [state for state in states if not state.dead]
    if not alive:
        nowhere = State({}, {})
        nowhere.dead = True
        return nowhere
    made = alive[0].copy()
    for state in alive[1:]:
        _join_into(made, state)
    return made


def _join_into(made: State, state: State) -> None:
    names, cells = made.names, made.cells
    for name, value in state.names.items():
        known = names.get(name)
        if known is not value:
            names[name] = value if known is None else joined(known, value)
    for place, cell in state.cells.items():
        kept = cells.get(place)
        if kept is not cell:
            cells[place] = cell if kept is None else joined_cells(kept, cell)
    made.control = merged(made.control, state.control)
    made.facts = made.facts & state.facts
    made.held = {name: held for name, held in made.held.items() if state.held.get(name) == held}
    made.answered = made.answered | state.answered
