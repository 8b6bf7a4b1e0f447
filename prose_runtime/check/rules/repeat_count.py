"""A count that is no number.

What it does
    Reports `repeat N`, `max: N`, `count: N`, and the `retry: N` of a call, whose N can never be a whole number of at
    least 0: a text that spells no number, a list, an object, a boolean, null, a fraction, a negative number, or a
    config item of such a type.

Why
    There is no such number of passes, and a call would not be tried again.

Example
    ```prose
    repeat "often":
    ```

Use instead
    ```prose
    repeat 3:
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.arguments import modifiers
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.values import number


def find(facts: Facts) -> Iterator[Finding]:
    """Counts that cannot be one."""
    for count in _counts(facts):
        wrong = _wrong(count, facts)
        if wrong:
            yield Finding(
                count.span,
                f"a whole number is needed here, and this is {wrong}",
                "write a number, or a name that holds one",
            )


def _counts(facts: Facts) -> Iterator[n.Expr]:
    for node in facts.all(n.Repeat, n.Loop, n.ForEach, n.ParallelOptions):
        if isinstance(node, n.Repeat):
            yield node.count
        elif isinstance(node, n.ParallelOptions):
            yield from [node.count] if node.count else []
        elif node.maximum is not None:
            yield node.maximum
    for modifier in modifiers("retry", facts):
        # `retry: null` is a call without one, as for every modifier.
        if not (isinstance(modifier.value, n.Constant) and modifier.value.value is None):
            yield modifier.value


def _wrong(count: n.Expr, facts: Facts) -> str | None:
    if isinstance(count, n.ListExpr):
        return "a list"
    if isinstance(count, n.ObjectExpr):
        return "an object"
    if isinstance(count, n.Template):
        return _text(count)
    if isinstance(count, n.Unary) and count.op == "-" and isinstance(count.operand, n.Constant):
        return "negative"
    if isinstance(count, n.Constant):
        return _constant(count.value)
    return _config(count, facts)


def _text(count: n.Template) -> str | None:
    parts = [part for part in count.parts if isinstance(part, str)]
    spells = number("".join(parts)) is not None or len(parts) < len(count.parts)
    return None if spells else "a text"


def _constant(value: object) -> str | None:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "negative" if value < 0 else "a fraction" if value != int(value) else None
    return None


def _config(count: n.Expr, facts: Facts) -> str | None:
    name = _config_name(count)
    item = next((item for item in facts.spec.config if item.name == name), None)
    if item is None or item.type is None or facts.scopes.bound_anywhere(item.name):
        return None
    kind = item.type.strip().lower()
    if kind.endswith("[]") or kind in ("array", "object", "boolean"):
        return f"a config item of type {item.type}"
    return None


def _config_name(node: n.Expr) -> str | None:
    """``x`` of ``x`` and ``config.x``."""
    if isinstance(node, n.Name):
        return node.id
    of_config = isinstance(node, n.Field) and isinstance(node.object, n.Name) and node.object.id == "config"
    return node.name if isinstance(node, n.Field) and of_config else None


RULE = Rule("repeat-count", "error", find, __doc__)
