"""Parameters of blocks as other languages write them: ``block review(draft: "what to read", depth = 2):``."""

from __future__ import annotations

from prose_runtime.diagnostics import Collector, Edit, Fix
from prose_runtime.nodes import Bind, Block, Branch, Clause, Condition, Expr, ExprStatement, If, Name, Predicate
from prose_runtime.text import Span

Parameter = tuple[Name, ExprStatement | None]
"""A parameter, and the statement at the begin of the body that gives it its default."""


def read(span: Span, name: Name, said: Span | None, default: Expr | None, out: Collector) -> Parameter:
    """A parameter; what is ``said`` of it is for readers, and the default is its value when it is absent."""
    if said is not None:
        place = Span(name.span.end, said.end)
        fix = Fix("Remove it", (Edit(place, ""),))
        message = "a parameter of a block is a name alone"
        out.warning("parameter-text", place, message, f"write `{name.id}`", fix=fix)
    if default is None:
        return name, None
    help_ = f"write `if {name.id} is absent:` and `{name.id} = ...` in the body"
    out.warning("parameter-default", default.span, "a parameter of a block has no default", help_)
    test = Predicate(span=name.span, subject=name, op="absent")
    clause = Clause(span=name.span, text=f"{name.id} is absent", expr=test)
    condition = Condition(span=name.span, text=clause.text, test=clause)
    bind = Bind(span=span, keyword=None, target=name, value=default)
    branch = Branch(span=span, condition=condition, body=Block(span=span, statements=(bind,)))
    return name, ExprStatement(span=span, value=If(span=span, branches=(branch,)))
