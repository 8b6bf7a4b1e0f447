"""Formulas over config and inputs: what the bounds of calls are made of.

A formula is a polynomial with whole coefficients over atoms: the length of a list, a number, a maximum of formulas.
Equal formulas are equal objects by content, so that they can be compared while the analysis looks for a fixed point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from prose_runtime.text import Where
from prose_runtime.values import number, to_text

Pick = Literal["max", "min"]
Op = Literal["count", "max", "min", "or", "/", "%", "round"]

ANY_ELEMENT = "*"
"""A step of a path: whichever element of the list."""


@dataclass(frozen=True, slots=True)
class KnownValue:
    """A value that is known, at the root of a path; ``text`` is its JSON."""

    text: str
    value: Any = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Element:
    """A step of a path: the element that a loop stands at. ``loop`` tells loops apart, ``name`` is its variable's."""

    loop: int
    name: str = field(compare=False)


Step: TypeAlias = str | int | Element
Path: TypeAlias = tuple[Any, ...]
"""A root (name of a config item, input or list slot, or a KnownValue), then steps."""


@dataclass(frozen=True, slots=True)
class Number:
    """The number at a path; with ``ANY_ELEMENT`` in the path the largest or smallest of them."""

    path: Path
    pick: Pick = "max"


@dataclass(frozen=True, slots=True)
class Length:
    """How many elements, characters or fields the value at a path has."""

    path: Path
    pick: Pick = "max"


@dataclass(frozen=True, slots=True)
class Characters:
    """How long the value at a path is as a role is shown it."""

    path: Path
    pick: Pick = "max"


@dataclass(frozen=True, slots=True)
class AnswerLength:
    """How long an answer of a target is assumed to be, in characters."""

    target: str


@dataclass(frozen=True, slots=True)
class Open:
    """A number that shows only while the program runs, so that there is no bound.

    ``reason`` is a phrase; ``label`` how the program spells the number, when it does.
    """

    reason: str
    where: Where
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """The length of a list where a loop's pass begins, while the analysis has not found it out yet."""

    loop: int
    place: Any
    pick: Pick


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation on formulas. ``count`` is the number, and 0 when it is negative; ``or`` the first that is not 0."""

    op: Op
    args: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of a formula over the elements of a list."""

    path: Path
    element: Element
    body: Formula


Atom: TypeAlias = Number | Length | Characters | AnswerLength | Open | Mark | Apply | Total
Monomial: TypeAlias = frozenset[tuple[Any, int]]
"""Atoms with their powers."""


@dataclass(frozen=True)
class Formula:
    """A sum of products: ``terms`` maps each product of atoms to its coefficient."""

    terms: frozenset[tuple[Monomial, float]]

    @cached_property
    def as_dict(self) -> dict[Monomial, float]:
        """The terms by product."""
        return dict(self.terms)

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    def __hash__(self) -> int:
        return self._hash

    def __add__(self, other: Formula) -> Formula:
        if not other.terms:
            return self
        if not self.terms:
            return other
        return _sum([(1, self), (1, other)])

    def minus(self, other: Formula) -> Formula:
        """The difference, which may be negative."""
        return _sum([(1, self), (-1, other)])

    def __mul__(self, other: Formula) -> Formula:
        found: dict[Monomial, float] = {}
        for one, factor in self.terms:
            for two, other_factor in other.terms:
                key = _product(one, two)
                found[key] = found.get(key, 0) + factor * other_factor
        return _made(found)

    @cached_property
    def constant(self) -> float | None:
        """The number that it is, or None when it has atoms."""
        if not self.terms:
            return 0
        return self.as_dict.get(frozenset()) if len(self.terms) == 1 else None

    @cached_property
    def atoms(self) -> frozenset[Atom]:
        """All atoms, those inside operations and sums as well."""
        found: set[Any] = set()
        for monomial, _ in self.terms:
            for atom, _ in monomial:
                found.add(atom)
                for inner in parts_of(atom):
                    found |= inner.atoms
        return frozenset(found)

    @cached_property
    def open(self) -> tuple[Open, ...]:
        """What in it shows only while the program runs, in the order of the file."""
        found = (atom for atom in self.atoms if isinstance(atom, Open))
        return tuple(sorted(found, key=lambda a: (a.where.file, a.where.line, a.where.column, a.reason)))

    @cached_property
    def positive(self) -> bool:
        """Whether it is surely not negative."""
        return all(factor >= 0 and all(_positive(atom) for atom, _ in monomial) for monomial, factor in self.terms)


def parts_of(atom: Atom) -> tuple[Formula, ...]:
    """The formulas inside an atom."""
    return atom.args if isinstance(atom, Apply) else (atom.body,) if isinstance(atom, Total) else ()


def _positive(atom: Atom) -> bool:
    if isinstance(atom, Number):
        return False
    if not isinstance(atom, Apply) or atom.op == "count":
        return True
    return any(arg.positive for arg in atom.args) if atom.op == "max" else all(arg.positive for arg in atom.args)


def _product(one: Monomial, two: Monomial) -> Monomial:
    if not one or not two:
        return one or two
    powers = dict(one)
    for atom, power in two:
        powers[atom] = powers.get(atom, 0) + power
    return frozenset(powers.items())


def _made(terms: Mapping[Monomial, float]) -> Formula:
    return Formula(frozenset((monomial, factor) for monomial, factor in terms.items() if factor))


def _sum(parts: Iterable[tuple[int, Formula]]) -> Formula:
    found: dict[Monomial, float] = {}
    for sign, part in parts:
        for monomial, factor in part.terms:
            found[monomial] = found.get(monomial, 0) + sign * factor
    return _made(found)


def constant(value: float) -> Formula:
    """A number as a formula."""
    return Formula(frozenset({(frozenset(), value)}) if value else frozenset())


def atom(of: Atom) -> Formula:
    """An atom as a formula."""
    return Formula(frozenset({(frozenset({(of, 1)}), 1)}))


ZERO = constant(0)
ONE = constant(1)


# making


def most(formulas: Iterable[Formula]) -> Formula:
    """The largest of formulas; 0 when there is none."""
    kept = _undominated(_flat(formulas, "max"))
    if not kept:
        return ZERO
    return kept[0] if len(kept) == 1 else _chosen("max", kept)


def least(formulas: Iterable[Formula]) -> Formula:
    """The smallest of formulas, of which there is at least one."""
    kept = _flat(formulas, "min")
    if any(not formula.terms for formula in kept) and all(formula.positive for formula in kept):
        return ZERO
    kept = _undominating(kept)
    return kept[0] if len(kept) == 1 else _chosen("min", kept)


def _chosen(op: Op, formulas: list[Formula]) -> Formula:
    """A maximum or minimum behind what all of the formulas have in common."""
    shared = {m: f for m, f in formulas[0].terms if all(m in other.as_dict for other in formulas)}
    common = _made({m: min(other.as_dict[m] for other in formulas) for m in shared})
    rests = [formula.minus(common) for formula in formulas]
    return common + atom(Apply(op, tuple(sorted(rests, key=_order))))


def _order(formula: Formula) -> tuple[int, str]:
    """Constants first, so that equal choices are spelt alike."""
    return (0 if formula.constant is not None else 1, repr(sorted(map(repr, formula.terms))))


def _flat(formulas: Iterable[Formula], op: Op) -> list[Formula]:
    found: dict[Formula, None] = {}
    for formula in formulas:
        only = _only_atom(formula)
        inner = only.args if isinstance(only, Apply) and only.op == op else (formula,)
        found.update(dict.fromkeys(inner))
    return list(found)


def _only_atom(formula: Formula) -> Atom | None:
    """The atom that a formula consists of."""
    if len(formula.terms) != 1:
        return None
    ((monomial, factor),) = formula.terms
    if factor != 1 or len(monomial) != 1:
        return None
    ((found, power),) = monomial
    return found if power == 1 else None


def _undominated(formulas: list[Formula]) -> list[Formula]:
    kept = []
    for i, formula in enumerate(formulas):
        others = formulas[:i] + formulas[i + 1 :]
        if not any(at_most(formula, other) for other in others):
            kept.append(formula)
    return kept


def _undominating(formulas: list[Formula]) -> list[Formula]:
    kept = []
    for i, formula in enumerate(formulas):
        others = formulas[:i] + formulas[i + 1 :]
        if not any(at_most(other, formula) for other in others):
            kept.append(formula)
    return kept


def at_most(one: Formula, other: Formula, depth: int = 0) -> bool:
    """Whether the first is surely not larger than the second."""
    if one == other or other.minus(one).positive:
        return True
    if depth > DEEPEST_COMPARISON:
        return False
    if any(at_most(one, choice, depth + 1) for choice in _choices(other, "max")):
        return True
    if any(at_most(choice, other, depth + 1) for choice in _choices(one, "min")):
        return True
    every = _choices(one, "max")
    return bool(every) and all(at_most(choice, other, depth + 1) for choice in every)


DEEPEST_COMPARISON = 2


def _choices(formula: Formula, op: Op) -> list[Formula]:
    """What a formula becomes when the first maximum or minimum in it gives way to each of its formulas in turn."""
    for monomial, factor in formula.terms:
        ((found, power), *others) = monomial or [(None, 0)]
        if not others and power == 1 and factor > 0 and isinstance(found, Apply) and found.op == op:
            rest = formula.minus(Formula(frozenset({(monomial, factor)})))
            return [rest + constant(factor) * arg for arg in found.args]
    return []


def count(formula: Formula) -> Formula:
    """The number as one of passes: what is negative is none."""
    value = formula.constant
    if value is not None:
        return constant(max(0, value))
    return formula if formula.positive else atom(Apply("count", (formula,)))


def applied(op: Op, *args: Formula) -> Formula:
    """``or``, ``/``, ``%`` or ``round`` of formulas; a number where all of them are."""
    values = [arg.constant for arg in args]
    if None not in values:
        found = calculate(op, [value for value in values if value is not None])
        if found is not None:
            return constant(found)
    return atom(Apply(op, args))


def calculate(op: Op, values: list[float]) -> float | None:
    """An operation on numbers, None where it has no value."""
    if op in ("/", "%") and values[1] == 0:
        return None
    return _CALCULATE[op](values)


_CALCULATE: Mapping[Op, Callable[[list[float]], float]] = {
    "count": lambda values: max(0, values[0]),
    "max": max,
    "min": min,
    "or": lambda values: values[0] or values[1],
    "/": lambda values: values[0] / values[1],
    "%": lambda values: values[0] % values[1],
    "round": lambda values: values[0] if math.isinf(values[0]) else math.floor(values[0] + 0.5),
}


def at_path(kind: type[Number] | type[Length] | type[Characters], path: Path, pick: Pick = "max") -> Formula:
    """The number, length or text length of the value at a path; a number where the value is known."""
    if isinstance(path[0], KnownValue) and not any(isinstance(step, Element) for step in path):
        return constant(measured(kind, values_at(path[0].value, path[1:]), pick))
    return atom(kind(path, pick if ANY_ELEMENT in path else "max"))


def values_at(value: Any, steps: Path) -> list[Any]:
    """The values that a path without elements of loops leads to from a value."""
    found = [value]
    for step in steps:
        if step == ANY_ELEMENT:
            found = [entry for one in found if isinstance(one, list) for entry in one]
        else:
            found = [_step(one, step) for one in found]
    return found


def _step(value: Any, step: Any) -> Any:
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and -len(value) <= step < len(value) else None
    return value.get(step) if isinstance(value, dict) else None


def measured(kind: type[Number] | type[Length] | type[Characters], values: list[Any], pick: Pick) -> float:
    """The largest or smallest measure among values; what has none counts as 0."""
    return (max if pick == "max" else min)((_MEASURES[kind](value) for value in values), default=0)


def _characters(value: Any) -> int:
    return len(to_text(value))


_MEASURES: Mapping[Any, Callable[[Any], float]] = {
    Number: lambda value: number(value) or 0,
    Length: lambda value: len(value) if isinstance(value, list | str | dict) else 0,
    Characters: _characters,
}


def total(path: Path, element: Element, body: Formula) -> Formula:
    """The sum of a formula over the elements of the list at a path."""
    if element not in elements_of(body):
        return at_path(Length, path) * body
    if isinstance(path[0], KnownValue) and not any(isinstance(step, Element | str) for step in path[1:]):
        (values,) = values_at(path[0].value, path[1:])
        known = values if isinstance(values, list) else []
        return _sum([(1, _added(Formula(frozenset({term})), element, path, known)) for term in body.terms])
    return atom(Total(path, element, body))


def _added(term: Formula, element: Element, path: Path, values: list[Any]) -> Formula:
    """The sum of one product over the elements of a known list; a measure of the elements needs no formula for each."""
    ((monomial, factor),) = term.terms
    found, power = next(iter(monomial), (None, 0))
    if len(monomial) == power == 1 and isinstance(found, Number | Length | Characters) and element in found.path:
        steps = found.path[found.path.index(element) + 1 :]
        if not any(isinstance(step, Element) for step in steps):
            return constant(factor * sum(measured(type(found), values_at(value, steps), "max") for value in values))
    return _sum([(1, renamed(term, element, (*path, i))) for i in range(len(values))])


def elements_of(formula: Formula) -> frozenset[Element]:
    """The elements of loops whose values a formula needs."""
    return frozenset(
        step
        for found in formula.atoms
        for step in (found.path if isinstance(found, Number | Length | Characters | Total) else ())
        if isinstance(step, Element)
    )


# changing


Replace = Callable[[Any], "Formula | None"]
"""What an atom without formulas inside becomes, or None when it stays."""


def changed(formula: Formula, replace: Replace) -> Formula:
    """The formula with some of its atoms replaced, those inside operations and sums as well."""
    if not formula.atoms:
        return formula
    result = ZERO
    for monomial, factor in formula.terms:
        term = constant(factor)
        for found, power in monomial:
            new = _changed_atom(found, replace)
            for _ in range(power):
                term = term * new
        result = result + term
    return result


def _changed_atom(found: Any, replace: Replace) -> Formula:
    if isinstance(found, Apply):
        args = [changed(arg, replace) for arg in found.args]
        return most(args) if found.op == "max" else least(args) if found.op == "min" else _again(found.op, args)
    if isinstance(found, Total):
        body = changed(found.body, replace)
        path = replace(found)
        return total(found.path, found.element, body) if path is None else path
    new = replace(found)
    return atom(found) if new is None else new


def _again(op: Op, args: list[Formula]) -> Formula:
    return count(args[0]) if op == "count" else applied(op, *args)


def renamed(formula: Formula, element: Element, path: Path, pick: Pick = "max") -> Formula:
    """The formula with a path in the place of a loop's element."""

    def replace(found: Any) -> Formula | None:
        if isinstance(found, Total) and element in found.path:
            return total(_with(found.path, element, path), found.element, renamed(found.body, element, path, pick))
        if isinstance(found, Number | Length | Characters) and element in found.path:
            return at_path(type(found), _with(found.path, element, path), pick)
        return None

    return changed(formula, replace)


def _with(path: Path, element: Element, instead: Path) -> Path:
    return (*instead, *path[path.index(element) + 1 :])


def generalised(formula: Formula, element: Element, path: Path, pick: Pick) -> Formula | None:
    """A formula that bounds this one for whichever element of the list at ``path``; None when none is known."""
    if element not in elements_of(formula):
        return formula
    return renamed(formula, element, (*path, ANY_ELEMENT), pick) if _rises(formula, element) else None


def _rises(formula: Formula, element: Element) -> bool:
    """Whether a formula grows with everything in it that depends on the element."""
    for monomial, factor in formula.terms:
        for found, _ in monomial:
            inside = parts_of(found)
            touched = [part for part in inside if element in elements_of(part)]
            direct = isinstance(found, Number | Length | Characters | Total) and element in found.path
            if not (touched or direct):
                continue
            rising = not isinstance(found, Apply) or found.op in ("max", "min", "count", "round")
            if factor < 0 or not rising or not all(_rises(part, element) for part in touched):
                return False
            others = [other for other, _ in monomial if other is not found]
            if isinstance(found, Number) and not all(map(_positive, others)):
                return False
    return True
