"""A number or a text that stands where a part of a condition should.

What it does
    Reports a condition, or a part of one between `and` and `or`, that is nothing but a number or a text.

Why
    It compares nothing: it is always true (or always false, as `0` and `""` are). Mostly it belongs to what stands
    before it, as in `between 1 and 3`, which is cut at its `and`.

Example
    ```prose
    if rounds is between 1 and 3:
    ```

Use instead
    ```prose
    if rounds >= 1 and rounds <= 3:
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.text import compiled

_BETWEEN = r"(?:.*\s)?between\s+\S+"


def find(facts: Facts) -> Iterator[Finding]:
    """Clauses that are one constant."""
    for condition in facts.all(n.Condition):
        clauses = [part for part in condition.walk() if isinstance(part, n.Clause)]
        for before, clause in zip([None, *clauses], clauses, strict=False):
            if _is_constant(clause.expr):
                between = before is not None and compiled(_BETWEEN).fullmatch(before.text)
                what = f"`{facts.text(clause.span)}` compares nothing"
                yield Finding(clause.span, f"{what} and decides alone", _RANGE if between else _WHOLE)


_RANGE = "write both bounds: `x >= 1 and x <= 3`"
_WHOLE = "write a whole comparison on each side of `and` and `or`, or say it in words"


def _is_constant(expr: n.Expr | None) -> bool:
    """Whether it is a number or a plain text, or ``not`` one. An empty text is another rule's."""
    while isinstance(expr, n.Unary):
        expr = expr.operand
    if isinstance(expr, n.Template):
        return bool(expr.parts) and all(isinstance(part, str) for part in expr.parts)
    return isinstance(expr, n.Constant) and expr.value is not None and not isinstance(expr.value, bool)


RULE = Rule("constant-condition", "warning", find, __doc__)
