"""Properties of agents and sessions: which have a meaning, and how all others are kept as the data they look like."""

from __future__ import annotations

from prose_runtime.nodes import (
    Argument,
    Binary,
    Constant,
    Entry,
    Expr,
    Interpolation,
    ListExpr,
    Name,
    ObjectExpr,
    Template,
)
from prose_runtime.text import Source

AGENT = frozenset({"model", "prompt", "persist", "retry", "backoff", "context"})
"""The properties of an agent that the runtime knows."""

SESSION = frozenset({"context", "prompt", "model", "retry", "backoff"})
"""The properties of a session that the runtime knows."""

ASK = frozenset({"prompt", "context", "options"})
"""The properties of a gate or question to a person."""


def known_to(kind: str) -> frozenset[str] | None:
    """The properties that a rule of the grammar knows, or None when it takes inputs of any name."""
    if kind == "agent":
        return AGENT
    if kind in ("ask", "gate"):
        return ASK
    return SESSION if kind == "resume" or kind.startswith("session") else None


def read(args: tuple[Argument, ...], known: frozenset[str], source: Source) -> tuple[Argument, ...]:
    """Properties with their words as text: the model of ``model: sonnet``, and all of those that nobody knows."""
    return tuple(_read(arg, known, source) for arg in args)


def _read(arg: Argument, known: frozenset[str], source: Source) -> Argument:
    spelled = arg.name == "options" and isinstance(arg.value, ListExpr)
    if arg.name is not None and (spelled or arg.name not in known):
        value: Expr = as_data(arg.value, source)
    elif arg.name in ("model", "persist") and isinstance(arg.value, Name | Binary):
        value = text_of(arg.value, source)
    else:
        return arg
    return Argument(span=arg.span, name=arg.name, name_span=arg.name_span, value=value)


def text_of(expr: Expr, source: Source) -> Template:
    """An expression as the text that it is written with."""
    return Template(span=expr.span, parts=(" ".join(source.read(expr.span).split()),))


def as_data(expr: Expr, source: Source) -> Expr:
    """What a value says when its words are no names: lists and objects of texts and constants."""
    if isinstance(expr, Constant):
        return expr
    if isinstance(expr, Template):
        parts = [part.raw if isinstance(part, Interpolation) else part for part in expr.parts]
        joined = "".join(parts)
        return Template(span=expr.span, parts=(joined,) if joined else (), triple=expr.triple)
    if isinstance(expr, ListExpr):
        return ListExpr(span=expr.span, items=tuple(as_data(item, source) for item in expr.items))
    if isinstance(expr, ObjectExpr):
        entries = [Entry(span=e.span, key=e.key, value=as_data(e.value, source)) for e in expr.entries]
        return ObjectExpr(span=expr.span, entries=tuple(entries))
    return text_of(expr, source)
