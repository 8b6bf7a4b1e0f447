"""The two entry points of the tree walk: ``execute`` a block, ``evaluate`` an expression.

Each construct has one small runner, registered here for its node type. Runners get the node and the activation:
the program's tree is never written to, and what happens becomes events.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from prose_runtime.errors import ProseError
from prose_runtime.events import Event, Status, StepFinished, StepStarted
from prose_runtime.nodes import Block, Expr, Node
from prose_runtime.runtime.frame import Frame
from prose_runtime.runtime.unit import Unit
from prose_runtime.values import Value


class Completion(NamedTuple):
    """How a block ended: ``normal`` with the value of its last statement, or by return, break or continue."""

    kind: str
    value: Value = None

    @property
    def normal(self) -> bool:
        """Whether the next statement runs."""
        return self.kind == "normal"


NOTHING = Completion("normal")


class Unwind(Exception):
    """Carries a return, break or continue out of a construct in value position to the statement around it."""

    def __init__(self, completion: Completion):
        super().__init__(completion.kind)
        self.completion = completion


class Activation:
    """Where the walk stands: the unit that runs, its frame, and the step (path of constructs and iterations).

    ``closing``: the body of a ``finally`` after a limit or a cancellation, in which calls fail at once.
    """

    __slots__ = ("closing", "frame", "path", "unit")

    def __init__(self, unit: Unit, frame: Frame, path: str = "", closing: bool = False):
        self.unit = unit
        self.frame = frame
        self.path = path
        self.closing = closing

    def at(self, part: str | int) -> Activation:
        """The same place, one construct or iteration deeper: ``repeat`` then ``repeat[2]``."""
        if isinstance(part, int):
            return Activation(self.unit, self.frame, f"{self.path}[{part}]", self.closing)
        return Activation(self.unit, self.frame, f"{self.path}/{part}" if self.path else part, self.closing)

    def within(self, frame: Frame) -> Activation:
        """The same place with another frame."""
        return Activation(self.unit, frame, self.path, self.closing)

    def shut(self) -> Activation:
        """The same place, where no call goes out any more."""
        return Activation(self.unit, self.frame, self.path, True)

    def emit(self, event: Event) -> None:
        """Tell the listeners."""
        self.unit.run.host.emit(event)

    @property
    def collecting(self) -> frozenset[Node]:
        """The loops and blocks in value position."""
        return self.unit.program.analysis.collected


class Bracket:
    """Wraps a construct: step, start event, end event with its status, and the place of an error that passes.

    The step's name is ``label``, else the program's own for the node, else the kind.
    """

    __slots__ = ("inner", "kind", "node", "outer")

    def __init__(self, act: Activation, node: Node, kind: str, label: str | None = None):
        self.outer = act
        self.node = node
        self.kind = kind
        self.inner = act.at(label or act.unit.program.labels.get(node, kind))

    def __enter__(self) -> Activation:
        act = self.inner
        act.emit(StepStarted(act.path, self.kind, act.unit.program.where(self.node.span)))
        return act

    def __exit__(self, _type: Any, error: BaseException | None, _traceback: Any) -> None:
        status: Status = "completed"
        if isinstance(error, ProseError):
            status = "paused" if error.kind == "paused" else "failed"
            if error.where is None:
                error.where = self.inner.unit.program.where(self.node.span)
            if error.step is None:
                error.step = self.inner.path
        elif isinstance(error, asyncio.CancelledError):
            status = "cancelled"
        self.inner.emit(StepFinished(self.inner.path, self.kind, status))


StatementRunner = Callable[[Any, Activation], Awaitable[Completion]]
ExpressionRunner = Callable[[Any, Activation], Awaitable[Value]]
STATEMENTS: dict[type[Node], StatementRunner] = {}
EXPRESSIONS: dict[type[Node], ExpressionRunner] = {}


def statement(kind: type[Node]) -> Callable[[StatementRunner], StatementRunner]:
    """Register the runner of a statement."""

    def register(runner: StatementRunner) -> StatementRunner:
        STATEMENTS[kind] = runner
        return runner

    return register


def expression(kind: type[Expr]) -> Callable[[ExpressionRunner], ExpressionRunner]:
    """Register the runner of an expression."""

    def register(runner: ExpressionRunner) -> ExpressionRunner:
        EXPRESSIONS[kind] = runner
        return runner

    return register


async def execute(block: Block, act: Activation) -> Completion:
    """Run the statements of a block until one leaves it. The value is that of the last statement."""
    done = NOTHING
    try:
        for node in block.statements:
            done = await STATEMENTS[type(node)](node, act)
            if done.kind != "normal":
                return done
    except Unwind as unwind:
        return unwind.completion
    return done


def evaluate(expr: Expr, act: Activation) -> Awaitable[Value]:
    """The value of an expression."""
    return EXPRESSIONS[type(expr)](expr, act)
