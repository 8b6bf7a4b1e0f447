"""A condition that looks like an expression and names something unknown.

What it does
    Reports a condition with comparison signs, arithmetic, fields or a function in it, one of whose names is unknown;
    and a bare name that is close to a known one.

Why
    Such a text is no expression and is taken for English: a judge is asked what the program should compute.

Example
    ```prose
    if scor >= 0.8:
    ```

Use instead
    ```prose
    if score >= 0.8:
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.mentions import known
from prose_runtime.check.rule import Facts, Finding, Rule, meant

_SIGNS = frozenset({"+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">="})


def find(facts: Facts) -> Iterator[Finding]:
    """Clauses with signs of an expression and an unknown name."""
    for clause in facts.all(n.Clause):
        if clause.expr is None or known(clause, facts):
            continue
        visible = facts.scopes.visible.get(clause, frozenset())
        formal = _formal(clause.expr)
        for node in clause.expr.walk():
            if isinstance(node, n.Name) and node.id not in visible:
                close, fix = meant(node.span, node.id, visible)
                if formal or (close and _bare(clause.expr)):
                    message = f"`{node.id}` is not defined, so this condition is read as English"
                    yield Finding(node.span, message, close, fix=fix)


def _formal(expr: n.Expr) -> bool:
    """Whether it holds signs that English does without."""
    return any(
        isinstance(node, n.FunctionCall | n.Index | n.Field) or (isinstance(node, n.Binary) and node.op in _SIGNS)
        for node in expr.walk()
    )


def _bare(expr: n.Expr) -> bool:
    """Whether it is a name, or ``not`` and a name."""
    while isinstance(expr, n.Unary):
        expr = expr.operand
    return isinstance(expr, n.Name)


RULE = Rule("unresolved-condition", "warning", find, __doc__)
