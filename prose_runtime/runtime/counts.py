"""How often a loop runs and over what: the checked numbers and lists behind ``repeat``, ``for`` and ``max``."""

from __future__ import annotations

from prose_runtime.errors import RunFailed
from prose_runtime.nodes import Expr, ForEach
from prose_runtime.runtime.core import Activation, evaluate
from prose_runtime.runtime.functions import described
from prose_runtime.values import Value, number


async def count(expr: Expr, act: Activation) -> int:
    """The number of passes that an expression gives.

    Raises:
        RunFailed: It is no whole number (kind ``value``).
    """
    value = await evaluate(expr, act)
    found = number(value)
    if found is None or found != int(found):
        raise _wrong(f"the number of passes must be a whole number, not {described(value)}", expr, act)
    return max(0, int(found))


async def elements(node: ForEach, act: Activation) -> list[Value]:
    """The elements that a loop walks over: those at its start.

    Raises:
        RunFailed: The value is no list (kind ``value``).
    """
    value = await evaluate(node.iterable, act)
    if not isinstance(value, list):
        raise _wrong(f"for needs a list, not {described(value)}", node.iterable, act)
    bound = len(value) if node.maximum is None else await count(node.maximum, act)
    return value[:bound]


def _wrong(message: str, node: Expr, act: Activation) -> RunFailed:
    return RunFailed(message, kind="value", where=act.unit.program.where(node.span), step=act.path)
