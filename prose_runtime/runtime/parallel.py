"""Runners of parallel blocks and loops: branches are frames, joined in their order (LANGUAGE.md section 3, 2 and 8)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from prose_runtime.errors import RunFailed
from prose_runtime.nodes import Bind, Block, Destructure, ForEach, Name, Node, Parallel, ParallelOptions, Repeat
from prose_runtime.runtime.concurrency import Outcome, run_all, run_until
from prose_runtime.runtime.constructs import construct
from prose_runtime.runtime.core import NOTHING, Activation, Bracket, Completion, execute
from prose_runtime.runtime.counts import count, elements
from prose_runtime.runtime.failures import as_value
from prose_runtime.runtime.frame import Frame
from prose_runtime.values import Value, snapshot


class Branches:
    """The branches of one parallel construct: they run, are joined, and give their values."""

    def __init__(self, options: ParallelOptions, act: Activation):
        self.options = options
        self.act = act
        self.frames: list[Frame] = []
        self.runs: list[Callable[[], Awaitable[Completion]]] = []
        self.outcomes: list[Outcome[Completion]] = []

    def add(self, body: Block, names: dict[str, Value]) -> None:
        """Add a branch with names of its own."""
        frame = self.act.frame.branch({name: snapshot(value) for name, value in names.items()})
        here = self.act.at(len(self.runs) + 1).within(frame)
        self.frames.append(frame)
        self.runs.append(lambda: execute(body, here))

    async def run(self) -> None:
        """Run them as the options say, then take over what the finished ones added to lists.

        Raises:
            ProseError: The first failure, or the last one when too few branches succeed.
            RunFailed: Two branches made one name.
        """
        wanted = await self._wanted()
        if wanted is None:
            self.outcomes = await run_all(self.runs, tolerant=self.options.on_fail != "fail-fast")
        else:
            self.outcomes = await run_until(self.runs, wanted)
        finished = [f for f, o in zip(self.frames, self.outcomes, strict=True) if o.status == "done"]
        if twice := Frame.made_twice(finished):
            where = self.act.unit.program.where(self.options.span)
            raise RunFailed(f"two branches make the name `{twice}`", kind="value", where=where, step=self.act.path)
        self.act.frame.join(finished)

    async def _wanted(self) -> int | None:
        if self.options.mode == "all":
            return None
        if self.options.mode == "first" or self.options.count is None:
            return 1
        return max(1, await count(self.options.count, self.act))

    def value(self, index: int) -> Value:
        """What a branch gives: its value, or its failure as ``on-fail`` says."""
        outcome = self.outcomes[index]
        if outcome.status == "failed" and outcome.error is not None and self.options.on_fail == "continue":
            return as_value(outcome.error)
        return outcome.value.value if outcome.value else None

    @property
    def values(self) -> Value:
        """All values in source order; with ``"first"`` the winner's, with ``"any"`` the winners'.

        An iteration that ends with ``break`` ends the list: neither its value nor those after it are in it.
        """
        if self.options.mode == "all":
            ended = (i for i, o in enumerate(self.outcomes) if o.value is not None and o.value.kind == "break")
            return [self.value(i) for i in range(next(ended, len(self.outcomes)))]
        winners = [o.value.value for o in self.outcomes if o.value is not None]
        return winners if self.options.mode == "any" else winners[0] if winners else None


@construct(Parallel)
async def parallel(node: Parallel, act: Activation) -> Completion:
    """``parallel:``; each statement is a branch, and one that binds a name publishes it at the join."""
    with Bracket(act, node, "parallel") as inner:
        branches = Branches(node.options, inner)
        for statement in node.body.statements:
            branches.add(Block(span=statement.span, statements=(statement,)), {})
        await branches.run()
        for i, statement in enumerate(node.body.statements):
            _publish(statement, branches, i, act.frame)
        return Completion("normal", branches.values) if node in act.collecting else NOTHING


def _publish(statement: Node, branches: Branches, index: int, frame: Frame) -> None:
    if not isinstance(statement, Bind):
        return
    target = statement.target
    names: Sequence[Name] = (
        target.names if isinstance(target, Destructure) else (target,) if isinstance(target, Name) else ()
    )
    finished = branches.outcomes[index].status == "done"
    for name in names:
        branch = branches.frames[index]
        value = branch.names.get(name.id) if finished else branches.value(index)
        frame.bind(name.id, value, result=finished and name.id in branch.results)


async def parallel_for(node: ForEach, act: Activation) -> Completion:
    """``parallel for x, i in xs:``; one branch an element."""
    with Bracket(act, node, "parallel for") as inner:
        branches = Branches(node.parallel or ParallelOptions(span=node.span), inner)
        for i, value in enumerate(await elements(node, inner)):
            branches.add(node.body, {node.var.id: value, **({node.index.id: i} if node.index else {})})
        return await _collected(node, branches, act)


async def parallel_repeat(node: Repeat, act: Activation) -> Completion:
    """``parallel repeat N as i:``; one branch a pass."""
    with Bracket(act, node, "parallel repeat") as inner:
        branches = Branches(node.parallel or ParallelOptions(span=node.span), inner)
        for i in range(1, await count(node.count, inner) + 1):
            branches.add(node.body, {node.var.id: i} if node.var else {})
        return await _collected(node, branches, act)


async def _collected(node: ForEach | Repeat, branches: Branches, act: Activation) -> Completion:
    await branches.run()
    return Completion("normal", branches.values) if node in act.collecting else NOTHING
