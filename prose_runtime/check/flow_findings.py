"""What the flow analysis finds: the places of calls, what reaches each role, and the ways through the program."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from prose_runtime import nodes as n
from prose_runtime.check.flow_values import Fact, Label, Trace, Val, joined
from prose_runtime.records import dataclass

WHETHER = ""
"""Among what reaches a role: not an input, but on what it depended whether the role is called."""

Freedom = Literal["no", "maybe", "surely"]
"""Whether roles alone decide a condition; ``maybe``: what it looks at may also be something else than an answer."""

FREEDOMS: tuple[Freedom, ...] = ("no", "maybe", "surely")
"""From the least on."""

Step = tuple[n.Node, int]
"""A construct on the way to a node, and which of its parts the way goes through."""

Path = tuple[Step, ...]
"""The way from the program's body to a node, through the blocks that are called."""


@dataclass(slots=True, eq=False)
class Site:
    """A place that calls roles.

    Attributes:
        roles: The role that is called first, then those inside when it is a spec with calls of its own.
        facts: What the conditions before it always say.
        paths: The ways that lead here, numbered in order of the walk.
        reached: For each of the ways the roles that may be called by it; in a run, each call is one of them.
        data, control: What reaches the roles as inputs, and what the call depends on.
    """

    node: n.Node
    roles: tuple[str, ...]
    facts: frozenset[Fact]
    paths: dict[Path, int] = field(default_factory=dict)
    reached: dict[Path, frozenset[str]] = field(default_factory=dict)
    data: dict[Label, Trace] = field(default_factory=dict)
    control: dict[Label, Trace] = field(default_factory=dict)
    unit: bool = False


@dataclass(slots=True)
class Findings:
    """What the walk finds.

    Attributes:
        received: For each role and each of its inputs, what may be in it; ``WHETHER`` is no input.
        sites: The places of calls, by node.
        result: What the spec's result, or one of its fields, may be made of; the key of the whole is "".
        free: For each condition whether roles alone decide it: it looks at an answer, and at nothing that the program
            counts. ``maybe``: what it looks at may also be something else than an answer.
        jumps: The ways to each ``return``, ``break``, ``continue`` and ``throw``.
        dead: Branches behind which control does not go on.
        opaque: Roles inside specs that the analysis cannot look into.
        remembering: Agents that are told what they were asked before.
    """

    received: dict[str, dict[str, Val]] = field(default_factory=dict)
    sites: dict[n.Node, Site] = field(default_factory=dict)
    result: dict[str, Val] = field(default_factory=dict)
    free: dict[n.Node, Freedom] = field(default_factory=dict)
    jumps: dict[Path, n.Node] = field(default_factory=dict)
    dead: dict[Step, bool] = field(default_factory=dict)
    opaque: set[str] = field(default_factory=set)
    remembering: set[str] = field(default_factory=set)

    def receive(self, role: str, name: str, value: Val) -> None:
        """A value reaches an input of a role."""
        inputs = self.received.setdefault(role, {})
        known = inputs.get(name)
        inputs[name] = Val(value.data, value.control) if known is None else joined(known, value)
