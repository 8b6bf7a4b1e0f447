"""Registry of the constructs that are statements and values: loops, branches, blocks.

A construct's runner gives a completion. As a statement the completion is the statement's own; as a value, what it
holds is the value, and a return, break or continue in it unwinds to the statement around.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prose_runtime.nodes import Expr
from prose_runtime.runtime.core import Activation, StatementRunner, Unwind, expression
from prose_runtime.values import Value

CONSTRUCTS: dict[type[Expr], StatementRunner] = {}


def construct(kind: type[Expr]) -> Callable[[StatementRunner], StatementRunner]:
    """Register a runner for both positions."""

    def register(runner: StatementRunner) -> StatementRunner:
        CONSTRUCTS[kind] = runner

        async def value(node: Any, act: Activation) -> Value:
            done = await runner(node, act)
            if not done.normal:
                raise Unwind(done)
            return done.value

        expression(kind)(value)
        return runner

    return register
