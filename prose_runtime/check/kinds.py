"""What kind of value an expression surely has, as far as that shows in the program's text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from prose_runtime.nodes import (
    Binary,
    Bind,
    Conditional,
    Constant,
    Expr,
    ForEach,
    FunctionCall,
    ListExpr,
    Loop,
    Name,
    Pipeline,
    Repeat,
    Spec,
    Template,
)

Kind = Literal["text", "list", "number"]

_FUNCTIONS: Mapping[str, Kind] = {
    **dict.fromkeys(("join", "lower", "upper", "trim", "json"), "text"),
    **dict.fromkeys(("range", "split", "keys", "values"), "list"),
    **dict.fromkeys(("len", "sum", "round"), "number"),
}
_LITERALS: tuple[tuple[tuple[type[Expr], ...], Kind], ...] = (
    ((Template,), "text"),
    ((ListExpr, Repeat, ForEach, Loop, Pipeline), "list"),
)
_DEEP = 40


def kinds_of_names(spec: Spec) -> dict[str, Kind]:
    """The kind of each declared or bound name for which one is known: ``+`` on texts and lists joins."""
    found: dict[str, Kind] = {}
    rows = [(item.name, item.type) for item in spec.config] + [(item.name, item.type) for item in spec.parameters]
    for name, spelled in rows:
        kind = _declared(spelled)
        if kind:
            found[name] = kind
    for bind in spec.body.walk() if spec.body else ():
        if isinstance(bind, Bind) and isinstance(bind.target, Name):
            kind = kind_of(bind.value, found)
            if kind:
                found.setdefault(bind.target.id, kind)
    return found


def kind_of(expr: Expr, names: Mapping[str, Kind], depth: int = 0) -> Kind | None:
    """The kind of an expression's value, or None when it shows only at run time."""
    if isinstance(expr, Name) or depth > _DEEP:
        return names.get(expr.id) if isinstance(expr, Name) else None
    if isinstance(expr, Binary | Conditional):
        known = [kind for part in _operands(expr) if (kind := kind_of(part, names, depth + 1))]
        return next((kind for kind in known if kind != "number"), known[0] if known else None)
    if isinstance(expr, FunctionCall):
        return _FUNCTIONS.get(expr.name)
    if isinstance(expr, Constant):
        return "number" if isinstance(expr.value, int | float) and not isinstance(expr.value, bool) else None
    return next((kind for types, kind in _LITERALS if isinstance(expr, types)), None)


def _operands(expr: Binary | Conditional) -> Iterator[Expr]:
    if isinstance(expr, Conditional):
        yield from (expr.then, expr.orelse)
    elif expr.op in ("+", "or", "and"):
        yield from (expr.left, expr.right)


def _declared(spelled: str | None) -> Kind | None:
    word = (spelled or "").strip().lower()
    if word.endswith("[]") or word in ("array", "list"):
        return "list"
    return "text" if word in ("string", "text") else "number" if word in ("integer", "number") else None
