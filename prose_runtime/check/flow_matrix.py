"""The flow of a spec as a table: which sources reach which receivers, how, and by which lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from prose_runtime import nodes as n
from prose_runtime.check.flow_findings import WHETHER, Findings
from prose_runtime.check.flow_values import EARLIER, FUZZY, OLDER, Label, Labels, Trace, Val
from prose_runtime.records import dataclass

RESULT = "result"
"""The receiver that stands for what the spec returns, unless a role is called so."""

Mark = Literal["data", "control"]


@dataclass(frozen=True, slots=True)
class Source:
    """A column: an input, a config item, or what a role answers."""

    kind: Literal["input", "config", "output", "error"]
    name: str

    def __str__(self) -> str:
        words = {"input": "input", "config": "config", "output": "output of", "error": "failure of"}
        return f"{words[self.kind]} {self.name}"


@dataclass(frozen=True, slots=True)
class Entry:
    """One way from a source to a receiver.

    Attributes:
        input: The receiver's input, or the result's field; "" for a way that decides whether it is called.
        lines: The lines of the file by which the value, or the decision, travels.
        earlier: Only what a role answered in an earlier round or call gets there.
        sure: False when the analysis cannot look into a spec on the way.
    """

    receiver: str
    source: Source
    mark: Mark
    input: str
    lines: tuple[int, ...]
    earlier: bool
    sure: bool


@dataclass(frozen=True, slots=True)
class Matrix:
    """The whole table. ``receivers`` and ``sources`` are in the order in which a reader meets them."""

    receivers: tuple[str, ...]
    sources: tuple[Source, ...]
    entries: tuple[Entry, ...]

    def between(self, receiver: str, source: Source) -> list[Entry]:
        """The entries of one cell."""
        return [entry for entry in self.entries if entry.receiver == receiver and entry.source == source]


def matrix(spec: n.Spec, findings: Findings) -> Matrix:
    """The table of a spec's flow."""
    slots = [slot.name for slot in spec.slots if slot.name in findings.received]
    receivers = [*slots, *(role for role in findings.received if role not in slots)]
    entries = [entry for role in receivers for entry in _received(role, findings.received[role], spec)]
    if findings.result:
        entries += _received(RESULT, findings.result, spec)
        receivers.append(RESULT)
    found = dict.fromkeys(entry.source for entry in entries)
    rank = ("input", "config", "output", "error")
    order = {name: at for at, name in enumerate([*(p.name for p in spec.config), *receivers])}
    sources = sorted(found, key=lambda source: (rank.index(source.kind), order.get(source.name, -1)))
    return Matrix(tuple(receivers), tuple(sources), tuple(dict.fromkeys(entries)))


def _received(role: str, inputs: dict[str, Val], spec: n.Spec) -> Iterator[Entry]:
    deciding: dict[Source, Entry] = {}
    for name, value in inputs.items():
        if name != WHETHER or list(inputs) == [WHETHER]:
            yield from _entries(role, name, "data", value.data, spec)
        for entry in _entries(role, WHETHER, "control", value.control, spec):
            deciding.setdefault(entry.source, entry)
    yield from deciding.values()


def _entries(role: str, name: str, mark: Mark, labels: Labels, spec: n.Spec) -> Iterator[Entry]:
    by_source: dict[Source, list[tuple[Label, Trace]]] = {}
    for label, trace in labels.items():
        if label.kind in ("input", "config", "output", "error"):
            by_source.setdefault(Source(label.kind, label.name), []).append((label, trace))
    for source, found in by_source.items():
        firm = [pair for pair in found if not pair[0].flags & FUZZY] or found
        label, trace = min(firm, key=lambda pair: pair[0].flags)
        earlier = source.kind == "output" and all(one.flags & (OLDER | EARLIER) for one, _ in firm)
        lines = dict.fromkeys(spec.source.place(span.start).line for span in trace.places())
        yield Entry(role, source, mark, name, tuple(lines), earlier, not label.flags & FUZZY)
