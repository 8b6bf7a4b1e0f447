"""Formulas as numbers, for given config and inputs, and as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any

from prose_runtime.check.bounds_formula import (
    ANY_ELEMENT,
    AnswerLength,
    Apply,
    Atom,
    Characters,
    Element,
    Formula,
    KnownValue,
    Length,
    Monomial,
    Number,
    Open,
    Path,
    Total,
    calculate,
    constant,
    measured,
    values_at,
)
from prose_runtime.records import dataclass

NO_BOUND = "no bound"


@dataclass(frozen=True, slots=True)
class Values:
    """What formulas are evaluated with.

    Attributes:
        given: Config and inputs by name; a list slot is a list as long as its bindings are many.
        answer: How many characters an answer of a target is assumed to have.
        assumed: How many characters the value of a name is assumed to have that is not given; None is unknown.
    """

    given: Mapping[str, Any] = field(default_factory=dict)
    answer: Callable[[str], float] = lambda target: 0
    assumed: float | None = None
    elements: Mapping[Element, Any] = field(default_factory=dict)


_MISSING = object()


def evaluate(formula: Formula, values: Values) -> float | None:
    """The number, infinite when there is no bound, None when it depends on a name that is not given."""
    result: float = 0
    unknown = False
    for monomial, factor in formula.terms:
        found = _term(monomial, values)
        if found is None:
            unknown = True
        else:
            result += found * factor
    return None if unknown and not math.isinf(result) else result


def _term(monomial: Monomial, values: Values) -> float | None:
    found = [(_atom(atom, values), power) for atom, power in monomial]
    if any(value == 0 for value, _ in found):
        return 0
    if any(value is None for value, _ in found):
        return None
    return math.prod(value**power for value, power in found if value is not None)


def _atom(atom: Atom, values: Values) -> float | None:
    if isinstance(atom, Number | Length | Characters):
        found = _values_of(atom.path, values)
        if found is _MISSING:
            return values.assumed if isinstance(atom, Characters) else None
        return measured(type(atom), found, atom.pick)
    if isinstance(atom, AnswerLength):
        return values.answer(atom.target)
    if isinstance(atom, Apply):
        return _apply(atom, values)
    if isinstance(atom, Total):
        return _total(atom, values)
    return math.inf if isinstance(atom, Open) else None


def _apply(atom: Apply, values: Values) -> float | None:
    args = [evaluate(arg, values) for arg in atom.args]
    known = [arg for arg in args if arg is not None]
    if len(known) < len(args):
        ends = {"max": math.inf, "min": 0}
        return ends[atom.op] if ends.get(atom.op) in known else None
    return calculate(atom.op, known) or 0


def _total(atom: Total, values: Values) -> float | None:
    found = _values_of(atom.path, values)
    if found is _MISSING:
        return None
    result: float = 0
    for entry in found[0] if found and isinstance(found[0], list) else []:
        part = evaluate(atom.body, replace(values, elements={**values.elements, atom.element: entry}))
        if part is None:
            return None
        result += part
    return result


def _values_of(path: Path, values: Values) -> Any:
    """The values at a path, or that its root is not given."""
    for i in range(len(path) - 1, 0, -1):
        if isinstance(path[i], Element):
            if path[i] not in values.elements:
                return _MISSING
            return values_at(values.elements[path[i]], path[i + 1 :])
    root = path[0]
    if isinstance(root, KnownValue):
        return values_at(root.value, path[1:])
    return values_at(values.given[root], path[1:]) if root in values.given else _MISSING


def names_in(formula: Formula) -> list[str]:
    """The config items, inputs and list slots that a formula depends on, sorted."""
    paths = [a.path for a in formula.atoms if isinstance(a, Number | Length | Characters | Total)]
    return sorted({path[0] for path in paths if isinstance(path[0], str)})


# text


def text(formula: Formula) -> str:
    """The formula as one would write it: ``2*rounds + 1``, ``sum(tier.count for tier in tiers)``."""
    if any(atom.label is None for atom in formula.open):
        return NO_BOUND
    return _text(formula)


def _text(formula: Formula) -> str:
    if not formula.terms:
        return "0"
    common = _common(formula)
    if common:
        rest = Formula(frozenset((_without(monomial, common), factor) for monomial, factor in formula.terms))
        return f"{_product(common, 1)}*({_text(rest)})"
    terms = sorted(((_product(m, abs(f)), f, len(m)) for m, f in formula.terms), key=lambda t: (t[2] == 0, t[0]))
    if len(terms) == 1 and terms[0][1] > 0:
        return _bare(terms[0][0])
    shown = ""
    for i, (written, factor, _) in enumerate(terms):
        sign = " - " if factor < 0 else " + "
        shown += written if i == 0 and factor > 0 else ("-" if i == 0 else sign) + written
    return shown


def _bare(written: str) -> str:
    """Without the parentheses around all of it."""
    inside = written[1:-1]
    whole = written.startswith("(") and written.endswith(")") and "(" not in inside and ")" not in inside
    return inside if whole else written


def _common(formula: Formula) -> Monomial:
    """The atoms that all of several terms have in common."""
    if len(formula.terms) < 2:
        return frozenset()
    powers = [dict(monomial) for monomial, _ in formula.terms]
    shared = frozenset.intersection(*(frozenset(found) for found in powers))
    return frozenset((atom, min(found[atom] for found in powers)) for atom in shared)


def _without(monomial: Monomial, common: Monomial) -> Monomial:
    less = dict(common)
    rest = ((atom, power - less.get(atom, 0)) for atom, power in monomial)
    return frozenset((atom, power) for atom, power in rest if power)


def _product(monomial: Monomial, factor: float) -> str:
    parts = sorted(_atom_text(atom) + (f"**{power}" if power > 1 else "") for atom, power in monomial)
    if factor != 1 or not parts:
        parts.insert(0, f"{factor:g}")
    return "*".join(parts)


def _atom_text(atom: Any) -> str:
    if isinstance(atom, Number | Length | Characters):
        return _measure_text(atom)
    if isinstance(atom, Open):
        return atom.label or NO_BOUND
    if isinstance(atom, Apply):
        return _apply_text(atom)
    if isinstance(atom, Total):
        return f"sum({_text(atom.body)} for {atom.element.name} in {path_text(atom.path)})"
    return f"answer({atom.target})" if isinstance(atom, AnswerLength) else "?"


def _measure_text(atom: Number | Length | Characters) -> str:
    written = path_text(atom.path)
    if not isinstance(atom, Number):
        written = f"len({written})"
    return f"{atom.pick}({written})" if ANY_ELEMENT in atom.path else written


def path_text(path: Path) -> str:
    """A path as the program would spell it; it begins at the innermost loop variable."""
    start = max((i for i, step in enumerate(path) if isinstance(step, Element)), default=0)
    root = path[start]
    shown = root.name if isinstance(root, Element) else root.text if isinstance(root, KnownValue) else str(root)
    for step in path[start + 1 :]:
        shown += f"[{step}]" if isinstance(step, int) or step == ANY_ELEMENT else f".{step}"
    return shown


def _apply_text(atom: Apply) -> str:
    args = [_text(arg) for arg in atom.args]
    if atom.op == "count":
        if any(factor < 0 for _, factor in atom.args[0].terms):
            return f"max(0, {args[0]})"
        return args[0] if len(atom.args[0].terms) == 1 else f"({args[0]})"
    if atom.op in ("/", "%"):
        return "(" + f" {atom.op} ".join(arg if arg.isidentifier() else f"({arg})" for arg in args) + ")"
    return f"({args[0]} or {args[1]})" if atom.op == "or" else f"{atom.op}({', '.join(args)})"


def number_text(value: float | None) -> str:
    """A number of calls: ``4``, ``no bound``, or ``?`` when it depends on what is not given."""
    if value is None:
        return "?"
    return NO_BOUND if math.isinf(value) else f"{value:,.0f}"


__all__ = ["NO_BOUND", "Values", "constant", "evaluate", "names_in", "number_text", "path_text", "text"]
