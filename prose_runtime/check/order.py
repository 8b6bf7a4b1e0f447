"""Which bindings of a name can have happened when a place reads it (LANGUAGE.md section 3, rules 1 and 2).

Offsets in the file stand for the order of execution, with these exceptions: what a loop runs again, the branches of
``if`` and ``choice`` that exclude each other, the branches of ``parallel:`` that cannot see each other, and blocks and
agents, which run when they are called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts
from prose_runtime.check.scope import Binding, Use
from prose_runtime.text import Span


class Order:
    """The order in which the parts of one program run."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self.loops = [loop for loop in facts.all(n.Repeat, n.ForEach, n.Loop) if not getattr(loop, "parallel", None)]
        self.forks = [bodies for node in facts.all(n.If, n.Choice) if len(bodies := list(_bodies(node))) > 1]
        self.later = [node.span for node in facts.all(n.Agent, n.BlockDef)]
        self.branches = [[statement.span for statement in node.body.statements] for node in facts.all(n.Parallel)]

    def bindings(self, use: Use) -> list[Binding]:
        """All bindings of the used name in its frame and those around it: an inner frame starts from a copy."""
        return [b for frame in use.frame.outwards() for b in frame.bindings.get(use.name.id, ())]

    def runs_later(self, span: Span) -> bool:
        """Whether a place runs when it is called, in no order with what stands around it."""
        return any(around.covers(span) for around in self.later)

    def reaches(self, binding: Binding, place: Span) -> bool:
        """Whether the value of a binding can be there when a place runs."""
        if isinstance(binding.node, n.Invalid | n.Input) or self.runs_later(place) or self.runs_later(binding.span):
            return True
        if self.loop_around(binding.node.span, place):
            return True
        if _since(binding) > place.start:
            return False
        return self.sibling(binding.span, place) is None and not _apart(self.forks, binding.span, place)

    def loop_around(self, one: Span, other: Span) -> bool:
        """Whether a loop in sequence runs both places again."""
        return any(loop.span.covers(other) and loop.body.span.covers(one) for loop in self.loops)

    def sibling(self, one: Span, other: Span) -> Span | None:
        """The branch with the first place, when the other stands in another branch of the same ``parallel:``."""
        return _apart(self.branches, one, other)


def _since(binding: Binding) -> int:
    """The offset from which on a name has its value."""
    if isinstance(binding.node, n.Bind | n.Output | n.Session):
        return binding.node.span.end
    return binding.node.span.start


def _apart(groups: Sequence[Sequence[Span]], one: Span, other: Span) -> Span | None:
    """The part with the first place, when the other one stands in a different part of the same group."""
    for parts in groups:
        if not parts or not (parts[0].start <= one.start and other.end <= parts[-1].end):
            continue
        first = next((part for part in parts if part.covers(one)), None)
        second = next((part for part in parts if part.covers(other)), None)
        if first is not None and second is not None and first != second:
            return first
    return None


def _bodies(node: n.If | n.Choice) -> Iterator[Span]:
    """The parts of which only one runs; a condition stands in none of them."""
    if isinstance(node, n.Choice):
        yield from (option.body.span for option in node.options)
        return
    yield from (branch.body.span for branch in node.branches)
    if node.orelse is not None:
        yield node.orelse.span
