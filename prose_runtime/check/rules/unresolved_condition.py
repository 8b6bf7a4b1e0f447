"""A condition that looks like an expression and names something unknown.

What it does
    Reports a condition with comparison signs, arithmetic, fields or a function in it, one of whose names is unknown;
    and a name that is close to a known one where it stands alone, before `is absent` and the like, or has a `_` in it.

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

import re
from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.mentions import known
from prose_runtime.check.rule import Facts, Finding, Rule, meant
from prose_runtime.text import Span

_SIGNS = frozenset({"+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">="})
_IDENTIFIER = re.compile(r"(?<![\w.])[A-Za-z]\w*_\w+")


def find(facts: Facts) -> Iterator[Finding]:
    """Clauses with signs of an expression and an unknown name."""
    for clause in facts.all(n.Clause):
        if known(clause, facts):
            continue
        visible = facts.scopes.visible.get(clause, frozenset())
        if clause.expr is None:
            yield from _in_english(clause, visible, facts)
            continue
        formal, likely = _formal(clause.expr), _bare(clause.expr) or isinstance(clause.expr, n.Predicate)
        for node in clause.expr.walk():
            if isinstance(node, n.Name) and node.id not in visible:
                close, fix = meant(node.span, node.id, visible)
                if formal or (close and likely):
                    yield Finding(node.span, _message(node.id), close, fix=fix)


def _in_english(clause: n.Clause, visible: frozenset[str], facts: Facts) -> Iterator[Finding]:
    """Words that no English has, because they hold a ``_``, and that are close to a name."""
    for match in _IDENTIFIER.finditer(facts.spec.source.text, clause.span.start, clause.span.end):
        span = Span(match.start(), match.end())
        close, fix = meant(span, match[0], visible) if match[0] not in visible else (None, None)
        if close:
            yield Finding(span, _message(match[0]), close, fix=fix)


def _message(name: str) -> str:
    return f"`{name}` is not defined, so this condition is read as English"


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
