"""Frames: the names of a running piece of program, and what crosses from one frame to another.

A frame is one delegation, one ``block`` call, one parallel branch or iteration, one pipeline body (LANGUAGE.md
section 3, rules 1 and 2). Values are shared within a frame; a new frame starts from a snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from prose_runtime.runtime.memory import Memory
from prose_runtime.values import Value, snapshot


class Frame:
    """Names and their values.

    Attributes:
        names: The values by name. A name that no executed path has bound is missing.
        results: Names bound to the result of a call, in order of binding: what a judge is shown by default.
        base: The frame whose names a ``block`` called from here can read.
        made: Names that were made of letters and values, in order: a branch hands them on at the join.
        memory: What the agents remember here.
    """

    __slots__ = ("_additions", "_copied", "base", "constants", "made", "memory", "names", "results")

    def __init__(self, names: dict[str, Value], base: Frame | None = None):
        self.names = names
        self.results: dict[str, None] = {}
        self.constants: set[str] = set()
        self.base = base or self
        self.made: dict[str, None] = {}
        self.memory = Memory()
        self._copied: dict[int, tuple[list[Value], list[Value]]] = {}
        self._additions: list[tuple[list[Value], Value]] = []

    def bind(self, name: str, value: Value, *, result: bool = False) -> None:
        """Give a name its value; ``result`` marks the result of a call."""
        self.names[name] = value
        self.results.pop(name, None)
        if result:
            self.results[name] = None

    def make(self, name: str, value: Value, *, result: bool = False) -> None:
        """Give a name its value that was made of letters and values."""
        self.bind(name, value, result=result)
        self.made[name] = None

    def branch(self, extra: Mapping[str, Value] | None = None) -> Frame:
        """A frame that starts from a copy of this one, as a parallel branch or pipeline body does."""
        seen: dict[int, Any] = {}
        child = Frame({name: snapshot(value, seen) for name, value in self.names.items()})
        originals = _lists_in(self.names.values())
        child._copied = {id(copy): (copy, originals[key]) for key, copy in seen.items() if key in originals}
        child.results = dict(self.results)
        child.constants = set(self.constants)
        child.memory = self.memory.branch()
        child.names.update(extra or {})
        return child

    def block(self, arguments: Mapping[str, Value]) -> Frame:
        """A frame for a ``block`` call: it reads the delegation's names and has its own parameters."""
        names = {name: snapshot(value) for name, value in self.base.names.items()}
        child = Frame({**names, **arguments}, base=self.base)
        child.memory = self.memory
        return child

    def append(self, target: list[Value], value: Value) -> None:
        """Add to a list. An addition to a list that was bound outside this branch is kept for the join as well."""
        target.append(value)
        known = self._copied.get(id(target))
        if known is not None:
            self._additions.append((known[1], value))

    def join(self, branches: Iterable[Frame]) -> None:
        """Take over, in branch order, what finished branches added to lists and memory, and the names they made."""
        for branch in branches:
            for outer, value in branch._additions:
                self.append(outer, snapshot(value))
            for name in branch.made:
                self.make(name, branch.names.get(name), result=name in branch.results)
            self.memory.join(branch.memory)


def _lists_in(values: Iterable[Value]) -> dict[int, list[Value]]:
    """Every list among the values and inside them, by its id."""
    found: dict[int, list[Value]] = {}
    pending = [v for v in values if isinstance(v, list | dict)]
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, list):
            found[id(value)] = value
        inner = value if isinstance(value, list) else value.values()
        pending.extend(v for v in inner if isinstance(v, list | dict))
    return found
