"""Frames: the names of a running piece of program, and what crosses from one frame to another.

A frame is one delegation, one ``block`` call, one parallel branch or iteration, one pipeline body (LANGUAGE.md
section 3, rules 1 and 2). Values are shared within a frame; a new frame starts from a snapshot.
The snapshot of a name is taken when the new frame first reads it: the outer frame waits meanwhile and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from prose_runtime.runtime.memory import Memory
from prose_runtime.values import Copies, Value, snapshot


class Names(dict[str, Value]):
    """The names of a frame: its own, and those of the frame that it starts from, copied when they are first read.

    So a branch costs what it reads, not what is in sight. ``copies`` are the lists and objects copied so far.
    """

    __slots__ = ("copies", "outer")

    def __init__(self, own: Mapping[str, Value], outer: Names | None = None):
        super().__init__(own)
        self.outer = outer
        self.copies: Copies = {}

    def __missing__(self, name: str) -> Value:
        if self.outer is None:
            raise KeyError(name)
        value = self[name] = snapshot(self.outer[name], self.copies)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a name, or ``default`` when no executed path has bound it."""
        try:
            return self[name]
        except KeyError:
            return default

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (self.outer is not None and name in self.outer)

    def __iter__(self) -> Iterator[str]:
        yield from super().__iter__()
        if self.outer is not None:
            yield from (name for name in self.outer if not super(Names, self).__contains__(name))


class Frame:
    """Names and their values.

    Attributes:
        names: The values by name. A name that no executed path has bound is missing.
        results: Names bound to the result of a call, in order of binding: what a judge is shown by default.
        base: The frame whose names a ``block`` called from here can read.
        made: Names that were made of letters and values, in order: a branch hands them on at the join.
        memory: What the agents remember here.
    """

    __slots__ = ("_additions", "_origins", "base", "made", "memory", "names", "results")

    def __init__(self, names: Mapping[str, Value], outer: Names | None = None, base: Frame | None = None):
        self.names = Names(names, outer)
        self.results: dict[str, None] = {}
        self.base = base or self
        self.made: dict[str, None] = {}
        self.memory = Memory()
        self._origins: dict[int, Any] = {}
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

    def branch(self, own: Mapping[str, Value] | None = None) -> Frame:
        """A frame that starts from a copy of this one, as a parallel branch or pipeline body does."""
        child = Frame(own or {}, self.names)
        child.results = dict(self.results)
        child.memory = self.memory.branch()
        return child

    def block(self, arguments: Mapping[str, Value]) -> Frame:
        """A frame for a ``block`` call: it reads the delegation's names and has its own parameters."""
        child = Frame(arguments, self.base.names, base=self.base)
        child.memory = self.memory
        return child

    def append(self, target: list[Value], value: Value) -> None:
        """Add to a list. An addition to a list that was bound outside this branch is kept for the join as well."""
        target.append(value)
        origin = self._origin(target)
        if origin is not None:
            self._additions.append((origin, value))

    def _origin(self, target: list[Value]) -> Any:
        """The list outside of which a list is the copy."""
        copies = self.names.copies
        for original, copy in islice(copies.values(), len(self._origins), None):
            self._origins[id(copy)] = original
        return self._origins.get(id(target))

    def join(self, branches: Iterable[Frame]) -> None:
        """Take over, in branch order, what finished branches added to lists and memory, and the names they made."""
        for branch in branches:
            for outer, value in branch._additions:
                self.append(outer, snapshot(value))
            for name in branch.made:
                self.make(name, branch.names.get(name), result=name in branch.results)
            self.memory.join(branch.memory)

    @staticmethod
    def made_twice(branches: Iterable[Frame]) -> str | None:
        """A name that more than one of these branches made: which value it has would be chance."""
        seen: set[str] = set()
        for branch in branches:
            twice = next((name for name in branch.made if name in seen), None)
            if twice is not None:
                return twice
            seen.update(branch.made)
        return None
