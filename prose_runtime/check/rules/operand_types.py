"""A computation with a value that it has no meaning for.

What it does
    Reports arithmetic and small functions over a value whose type is certain and does not fit, such as a text that is
    subtracted from, something added to what is no list, a call of a plain value, and a division by zero. Text that
    spells a number counts as one.

Why
    It ends the run when it is reached.

Example
    ```prose
    let left = "many" - 1
    emit join(3)
    ```

Use instead
    ```prose
    let left = rounds - 1
    emit join(drafts)
    ```
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.types import Type, Types, types_of

_NUMBERS: frozenset[Type] = frozenset({"number"})
_LISTS: frozenset[Type] = frozenset({"list"})
_TAKES: Mapping[str, tuple[frozenset[Type], ...]] = {
    "len": (frozenset({"text", "list", "object"}),),
    "join": (_LISTS,),
    "keys": (frozenset({"object"}),),
    "values": (frozenset({"object"}),),
    "round": (_NUMBERS, _NUMBERS),
    "range": (_NUMBERS, _NUMBERS, _NUMBERS),
}
"""The types that the arguments of a function can have; the others take everything."""


def find(facts: Facts) -> Iterator[Finding]:
    """Operands and arguments of a certain type that fails."""
    types = facts.shared(types_of)
    yield from _added_to(facts, types)
    yield from _called(facts, types)
    for node in facts.all(n.Binary, n.Unary, n.FunctionCall, n.Group, n.Sleep):
        for expr, wanted, where in _needs(node, types):
            kind = types.of(expr)
            if kind is not None and kind not in wanted:
                yield Finding(
                    expr.span, f"{where} must be {_any_of(wanted)}, and this is {_article(kind)}", _help(kind)
                )
        if isinstance(node, n.Binary) and node.op in ("/", "%") and _is_zero(node.right):
            yield Finding(node.right.span, "a division by 0 has no value", "divide by another number")


def _added_to(facts: Facts, types: Types) -> Iterator[Finding]:
    """``append`` and its like to what is surely no list."""
    for node in facts.all(n.Append):
        kind = "null" if types.is_null(node.target) else types.of(node.target)
        if kind not in (None, "list"):
            what = kind if kind == "null" else _article(kind)
            message = f"{node.word} adds to a list, and this is {what}"
            yield Finding(node.target.span, message, "begin with a list: `let found = []`")


def _called(facts: Facts, types: Types) -> Iterator[Finding]:
    """Calls of what surely holds a plain value. A name that is typed as a text may be given a service all the same."""
    for node in facts.all(n.Call):
        target = facts.targets.get(node)
        kind = types.of(node.target) if target is not None and target.kind == "reference" else None
        if kind in ("number", "boolean", "object") or (kind == "text" and isinstance(node.target, n.Field)):
            yield Finding(
                node.target.span, f"this is {_article(kind)}, which cannot be called", "call a slot or a spec"
            )


def _needs(node: n.Node, types: Types) -> Iterator[tuple[n.Expr, frozenset[Type], str]]:
    """Each operand with the types that it can have, and its place in a sentence."""
    if isinstance(node, n.Unary) and node.op == "-":
        yield node.operand, _NUMBERS, "what follows -"
    elif isinstance(node, n.Binary) and node.op in ("-", "*", "/", "%"):
        yield node.left, _NUMBERS, f"the left side of {node.op}"
        yield node.right, _NUMBERS, f"the right side of {node.op}"
    elif isinstance(node, n.Binary) and node.op == "+":
        yield from _added(node, types)
    elif isinstance(node, n.FunctionCall):
        yield from _arguments(node)
    elif isinstance(node, n.Group):
        yield node.source, _LISTS, "the value of group"
    elif isinstance(node, n.Sleep):
        yield node.seconds, _NUMBERS, "the seconds of sleep"


def _added(node: n.Binary, types: Types) -> Iterator[tuple[n.Expr, frozenset[Type], str]]:
    """``+`` joins texts with anything and lists with lists; anything else must be numbers."""
    sides = {types.of(node.left), types.of(node.right)}
    if None in sides or "text" in sides or sides == {"list"}:
        return
    wanted = _LISTS if "list" in sides else _NUMBERS
    yield node.left, wanted, "the left side of +"
    yield node.right, wanted, "the right side of +"


def _arguments(node: n.FunctionCall) -> Iterator[tuple[n.Expr, frozenset[Type], str]]:
    if node.name in ("max", "min", "sum"):
        wanted = _LISTS if len(node.args) == 1 else _NUMBERS
        yield from ((argument, wanted, f"an argument of {node.name}") for argument in node.args)
        return
    for argument, wanted in zip(node.args, _TAKES.get(node.name, ()), strict=False):
        yield argument, wanted, f"an argument of {node.name}"


def _is_zero(expr: n.Expr) -> bool:
    return isinstance(expr, n.Constant) and expr.value == 0 and not isinstance(expr.value, bool)


def _any_of(wanted: frozenset[Type]) -> str:
    return " or ".join(_article(kind) for kind in sorted(wanted))


def _article(kind: str) -> str:
    return f"an {kind}" if kind == "object" else f"a {kind}"


def _help(kind: Type) -> str | None:
    return "to count, write len(...)" if kind in ("list", "object") else None


RULE = Rule("operand-types", "warning", find, __doc__)
