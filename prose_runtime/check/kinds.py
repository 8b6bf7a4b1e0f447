"""Names that a program binds, and the kind of value that an expression surely has, as its text shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from prose_runtime import nodes as n

Kind = Literal["text", "list", "number"]

_FUNCTIONS: Mapping[str, Kind] = {
    **dict.fromkeys(("join", "lower", "upper", "trim", "short", "json"), "text"),
    **dict.fromkeys(("range", "split", "keys", "values"), "list"),
    **dict.fromkeys(("len", "sum", "round"), "number"),
}
_LITERALS: tuple[tuple[tuple[type[n.Expr], ...], Kind], ...] = (
    ((n.Template,), "text"),
    ((n.ListExpr, n.Repeat, n.ForEach, n.Loop, n.Pipeline), "list"),
)
_DEEP = 40


def kinds_of_names(spec: n.Spec) -> dict[str, Kind]:
    """The kind of each declared or bound name for which one is known: ``+`` on texts and lists joins."""
    found: dict[str, Kind] = {}
    rows = [(item.name, item.type) for item in spec.config] + [(item.name, item.type) for item in spec.parameters]
    for name, spelled in rows:
        kind = _declared(spelled)
        if kind:
            found[name] = kind
    for bind in n.nodes_of(spec.body, n.Bind):
        if isinstance(bind.target, n.Name):
            kind = kind_of(bind.value, found)
            if kind:
                found.setdefault(bind.target.id, kind)
    return found


def kind_of(expr: n.Expr, names: Mapping[str, Kind], depth: int = 0) -> Kind | None:
    """The kind of an expression's value, or None when it shows only at run time."""
    if isinstance(expr, n.Name) or depth > _DEEP:
        return names.get(expr.id) if isinstance(expr, n.Name) else None
    if isinstance(expr, n.Binary | n.Conditional):
        known = [kind for part in _operands(expr) if (kind := kind_of(part, names, depth + 1))]
        return next((kind for kind in known if kind != "number"), known[0] if known else None)
    if isinstance(expr, n.FunctionCall):
        return _FUNCTIONS.get(expr.name)
    if isinstance(expr, n.Constant):
        return "number" if isinstance(expr.value, int | float) and not isinstance(expr.value, bool) else None
    return next((kind for types, kind in _LITERALS if isinstance(expr, types)), None)


def _operands(expr: n.Binary | n.Conditional) -> Iterator[n.Expr]:
    if isinstance(expr, n.Conditional):
        yield from (expr.then, expr.orelse)
    elif expr.op in ("+", "or", "and"):
        yield from (expr.left, expr.right)


def _declared(spelled: str | None) -> Kind | None:
    word = (spelled or "").strip().lower()
    if word.endswith("[]") or word in ("array", "list"):
        return "list"
    return "text" if word in ("string", "text") else "number" if word in ("integer", "number") else None


def bound_names(body: n.Node) -> frozenset[str]:
    """All names that a piece of program gives a value, in whatever frame."""
    found: set[str] = {"item"} if n.nodes_of(body, n.Stage) else set()
    for part in (part for kind in _BINDING for node in n.nodes_of(body, kind) for part in _bound_by(node)):
        if isinstance(part, n.Name):
            found.add(part.id)
        elif isinstance(part, n.Destructure):
            found.update(name.id for name in part.names)
    return frozenset(found)


_BINDING: tuple[type[n.Node], ...] = (
    n.Bind,
    n.ForEach,
    n.Repeat,
    n.Loop,
    n.Catch,
    n.BlockDef,
    n.Stage,
    n.Session,
    n.Output,
)


def _bound_by(node: n.Node) -> tuple[n.Node | None, ...]:
    if isinstance(node, n.Bind):
        return (node.target,)
    if isinstance(node, n.ForEach):
        return (node.var, node.index)
    if isinstance(node, n.Repeat | n.Loop | n.Catch):
        return (node.var,)
    if isinstance(node, n.BlockDef):
        return node.params
    if isinstance(node, n.Stage):
        return node.names
    return (node.name,) if isinstance(node, n.Session | n.Output) else ()
