"""A condition that looks like an expression, or like a plain yes or no, and is none.

What it does
    Reports a condition with comparison signs, arithmetic, fields or a function in it, one of whose names is unknown or
    that cannot be read; a name that is close to a known one where it stands alone, before `is absent` and the like, or
    has a `_` in it; and a result that `accepts`, `rejects` or the like something whose name is unknown.
    What stands in `**` is meant as English.

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
from prose_runtime.check.conditions import decides, wording
from prose_runtime.check.mentions import known
from prose_runtime.check.rule import Facts, Finding, Rule, meant
from prose_runtime.syntax.messages import slip_in
from prose_runtime.text import Span, compiled

_SIGNS = frozenset({"+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">="})
_SIGN = (
    r'"(?:[^"\\\n]|\\.)*"|[\w\])]\s*(?P<compares>[=!]==?|[<>]=?|[-=]>|=)'
    r'|(?P<sign>&&|\|\||(?<!\w)!(?=\w)|(?<![\w-])gate(?= "))'
)
_IDENTIFIER = re.compile(r"(?<![\w.])[A-Za-z]\w*_\w+")


def find(facts: Facts) -> Iterator[Finding]:
    """Clauses with signs of an expression and an unknown name."""
    marked = {part for condition in facts.all(n.Condition) if condition.marked for part in condition.walk()}
    for clause in facts.all(n.Clause):
        if known(clause, facts):
            continue
        visible = facts.scopes.visible.get(clause, frozenset())
        if clause.expr is None:
            yield from _in_english(clause, visible, facts)
            if clause not in marked:
                yield from _signs(clause, facts)
                yield from _object(clause, visible, facts)
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


def _signs(clause: n.Clause, facts: Facts) -> Iterator[Finding]:
    """Signs that English does without, in what is no expression all the same."""
    text = facts.spec.source.text
    found = next((m for m in compiled(_SIGN).finditer(text, clause.span.start, clause.span.end) if m.lastgroup), None)
    if found is None:
        return
    slip = slip_in(text, clause.span)
    if slip is not None:
        yield Finding(slip.span, f"{slip.message}, so this condition is read as English", slip.help)
    else:
        sign = found.lastgroup or ""
        message = f"`{found[sign]}` stands between no two values here, so this condition is read as English"
        yield Finding(Span(*found.span(sign)), message, "compare values, as in `score > 3`, or say it in words")


def _object(clause: n.Clause, visible: frozenset[str], facts: Facts) -> Iterator[Finding]:
    """``verdict accepts reslt``: with a known name behind the word, or none, it is decided without a judge."""
    claim, _, name = clause.text.rpartition(" ")
    bare = claim.removesuffix(" the")
    said = wording(bare, visible - facts.scopes.start.keys())
    if said is None or said.says or not decides(said.word) or not name.isidentifier() or name in visible:
        return
    close, fix = meant(facts.word(clause.span, name), name, visible)
    message = f"`{name}` is not defined, so a judge decides this"
    yield Finding(facts.word(clause.span, name), message, close or f"write `{bare}`", fix=fix)


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
