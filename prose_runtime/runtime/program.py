"""A checked spec, made ready to run: immutable tables that every run of it shares."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from prose_runtime.check.conditions import Criterion, Wording, alternatives, criterion, wording
from prose_runtime.check.demand import values_named
from prose_runtime.check.tables import Analysis, Demand
from prose_runtime.nodes import (
    Agent,
    Ask,
    Bind,
    Block,
    BlockDef,
    Call,
    Choice,
    Clause,
    Condition,
    Discretion,
    Do,
    DoBlock,
    Effect,
    Expr,
    ForEach,
    If,
    Loop,
    Name,
    Node,
    Parallel,
    Pipeline,
    Repeat,
    Session,
    Sleep,
    Slot,
    Spec,
    Try,
)
from prose_runtime.text import Span, Where


@dataclass(frozen=True, slots=True)
class Plan:
    """How a clause can be decided, in the order of the rungs."""

    expr: Expr | None = None
    claim: Wording | None = None
    criterion: Criterion | None = None


class Expected(NamedTuple):
    """What an answer has to hold: what the program reads, that with what the target declares, and its JSON Schema.

    ``errors`` are the names of errors that it may be instead; ``where`` is the call's place.
    """

    demand: Demand
    wanted: Demand
    schema: Mapping[str, Any] | None
    errors: frozenset[str]
    where: Where


class Program:
    """A spec with all that is known of it."""

    def __init__(self, analysis: Analysis):
        self.analysis = analysis
        self.spec = analysis.spec
        self.source = analysis.spec.source
        self.body: Block | None = analysis.spec.body
        definitions = self.body.statements if self.body else ()
        self.blocks: Mapping[str, BlockDef] = {n.name.id: n for n in definitions if isinstance(n, BlockDef)}
        self.agents: Mapping[str, Agent] = {n.name.id: n for n in definitions if isinstance(n, Agent)}
        self.slots: Mapping[str, Slot] = {slot.name: slot for slot in self.spec.slots}
        self._children: dict[Spec, Program] = {}
        self.expected: dict[tuple[Node, Slot | None, Spec | None, bool], Expected] = {}
        self._places: dict[Span, Where] = {}
        self.labels: Mapping[Node, str] = dict(_labels(self.body)) if self.body else {}

    def where(self, span: Span) -> Where:
        """The place of a span of this spec's file."""
        place = self._places.get(span)
        if place is None:
            place = self._places[span] = self.source.where(span)
        return place

    def child(self, spec: Spec) -> Program:
        """The program of a spec that this one calls."""
        if spec not in self._children:
            self._children[spec] = Program(self.analysis.callees.get(spec) or Analysis(spec))
        return self._children[spec]

    @cached_property
    def plans(self) -> Mapping[Clause, Plan]:
        """For each clause of the body how it can be decided."""
        nodes = self.body.walk() if self.body else iter(())
        return {node: self._plan(node) for node in nodes if isinstance(node, Clause)}

    def _plan(self, clause: Clause) -> Plan:
        visible = self.analysis.visible.get(clause, frozenset())
        known = clause.expr is not None and all(name.id in visible for name in values_named(clause.expr))
        claimable = visible - self.given
        return Plan(
            clause.expr if known else None,
            wording(clause.text, claimable, visible),
            criterion(clause.text, visible),
        )

    @cached_property
    def given(self) -> frozenset[str]:
        """Names that only ever stand for something from outside: they are no results of calls."""
        config = {item.name for item in self.spec.config}
        outside = config | set(self.analysis.inputs) | set(self.slots) | {"config"}
        nodes = self.body.walk() if self.body else iter(())
        return frozenset(outside - {n.target.id for n in nodes if isinstance(n, Bind) and isinstance(n.target, Name)})

    @cached_property
    def alternatives(self) -> Mapping[str, list[frozenset[str]]]:
        """For each name the words that its value may say."""
        names = {name for visible in self.analysis.visible.values() for name in visible}
        return alternatives(self.spec, self.analysis.targets, names)

    @cached_property
    def closed_gates(self) -> Mapping[Ask, str]:
        """The gates whose answer nothing in the program reads, with their names: a refusal ends what they guard."""
        nodes = list(self.body.walk()) if self.body else []
        gates = {
            n.value: n.target
            for n in nodes
            if isinstance(n, Bind) and isinstance(n.value, Ask) and n.value.gate and isinstance(n.target, Name)
        }
        targets = set(gates.values())
        read = {n.id for n in nodes if isinstance(n, Name) and n not in targets}
        told = " ".join(n.text for n in nodes if isinstance(n, Clause | Discretion | Effect))
        read |= set(re.findall(r"[A-Za-z_][\w-]*", told))
        return {ask: name.id for ask, name in gates.items() if name.id not in read}

    @cached_property
    def optional(self) -> frozenset[str]:
        """Optional inputs and config: a required item of a slot of that name may be null."""
        names = {p.name for p in self.analysis.inputs.values() if p.optional or p.has_default}
        return frozenset(names | {item.name for item in self.spec.config if item.optional})

    @cached_property
    def notes(self) -> Mapping[str, str]:
        """The spec's own description of its inputs, config and slots: what a judge is told about them."""
        items: list[Any] = [*self.analysis.inputs.values(), *self.spec.config, *self.spec.slots]
        return {item.name: item.description for item in items if item.description}


_KEYWORDS: Mapping[type[Node], str] = {
    Choice: "choice",
    Ask: "ask",
    Discretion: "question",
    Do: "do",
    If: "if",
    Loop: "loop",
    Parallel: "parallel",
    Pipeline: "pipeline",
    Sleep: "sleep",
    Try: "try",
}


def _keyword(node: Node) -> str | None:
    if isinstance(node, Call):
        return f"call {_spelled(node.target)}"
    if isinstance(node, Session):
        return f"session {node.agent.id}" if node.agent else "session"
    if isinstance(node, Effect):
        return node.name
    if isinstance(node, DoBlock):
        return f"do {node.block.id}"
    if isinstance(node, Repeat | ForEach):
        word = "repeat" if isinstance(node, Repeat) else "for"
        return f"parallel {word}" if node.parallel else word
    return "condition" if isinstance(node, Condition) else _KEYWORDS.get(type(node))


def _spelled(target: Expr) -> str:
    return target.id if isinstance(target, Name) else "*"


def _labels(block: Block) -> Iterator[tuple[Node, str]]:
    """Name each construct by keyword and ordinal within its block, so that edits elsewhere keep its step."""
    counts: Counter[str] = Counter()
    pending: list[Node] = list(reversed(block.statements))
    while pending:
        node = pending.pop()
        word = _keyword(node)
        if word is not None:
            counts[word] += 1
            yield node, word if counts[word] == 1 else f"{word}~{counts[word]}"
        for child in reversed(list(node.children())):
            if isinstance(child, Block):
                yield from _labels(child)
            else:
                pending.append(child)
