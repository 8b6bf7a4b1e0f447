"""A comparison of values that are never equal and in no order.

What it does
    Reports `==`, `<` and the other comparisons, also in English, between values of two different types, such as a text
    and a number, when both types are certain. Text that spells a number counts as one.

Why
    Such a comparison is always false, or ends the run.

Example
    ```prose
    if rounds == "many":
    ```

Use instead
    ```prose
    if rounds > 5:
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.types import types_of
from prose_runtime.text import Span

_SIGNS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_ENGLISH = frozenset({"is", "meets", "exceeds", "at_most"})
_LITERALS = (n.Template, n.Constant, n.ListExpr, n.ObjectExpr)


def find(facts: Facts) -> Iterator[Finding]:
    """Comparisons between two certain types."""
    types = facts.shared(types_of)
    for node in facts.all(n.Binary, n.Predicate):
        sides = _sides(node)
        if sides is None:
            continue
        one, other = types.of(sides[0]), types.of(sides[1])
        if one is not None and other is not None and one != other:
            message = f"this compares {_article(one)} with {_article(other)}"
            yield Finding(_span(node, sides), message, "compare values of one type")


def _sides(node: n.Binary | n.Predicate) -> tuple[n.Expr, n.Expr] | None:
    if isinstance(node, n.Binary):
        return (node.left, node.right) if node.op in _SIGNS else None
    return (node.subject, node.operand) if node.op in _ENGLISH and node.operand is not None else None


def _span(node: n.Node, sides: tuple[n.Expr, n.Expr]) -> Span:
    """The literal that does not fit, else the comparison."""
    literal = [side for side in sides if isinstance(side, _LITERALS)]
    return literal[-1].span if literal else node.span


def _article(kind: str) -> str:
    return f"an {kind}" if kind == "object" else f"a {kind}"


RULE = Rule("compared-types", "warning", find, __doc__)
