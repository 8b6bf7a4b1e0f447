"""The side tables that the checker fills and the interpreter reads: nothing derived is written into the tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from prose_runtime.diagnostics import Diagnostic
from prose_runtime.nodes import Instance, Node, Parameter, Slot, Spec
from prose_runtime.records import dataclass

if TYPE_CHECKING:
    from prose_runtime.check.invariants import Verdict

TargetKind = Literal["slot", "reference", "component", "instance", "block", "alias", "spec", "service"]


@dataclass(frozen=True, slots=True)
class Target:
    """What ``call x`` calls (LANGUAGE.md section 3, rule 9).

    ``slot``: a single slot. ``reference``: a name, field or index whose value is a service reference; ``slot`` is
    then the list slot it walks over, when that is known. ``component``, ``alias``, ``spec``: ``spec`` is the callee.
    ``instance``: ``spec`` is the instantiated pattern and ``instance`` says what fills it. ``block``: a local block.
    ``service``: the service of prose.yml that handles an effect.
    """

    kind: TargetKind
    name: str
    slot: Slot | None = None
    spec: Spec | None = None
    instance: Instance | None = None


@dataclass(slots=True)
class Demand:
    """What the program does with a value: the shape that a service is asked to fill (LANGUAGE.md section 4).

    Attributes:
        fields: Demands on the fields that are read, by name, in source order.
        required: Fields that are read on every path.
        mentioned: Fields that only conditions mention: asked for, never demanded.
        hints: JSON Schema of a field: of a mentioned one as the condition's wording suggests it, else as declared.
        items: The demand on the elements, when the value is iterated, indexed by number or measured by length.
        number: It takes part in arithmetic or a comparison of order.
        whole: It is also used as it is: returned, passed, interpolated.
        keyed: Its keys are looked at without naming them, so that it has to be an object.
        bare: The target's only declared output: an object that holds nothing else stands for its value.
    """

    fields: dict[str, Demand] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)
    mentioned: set[str] = field(default_factory=set)
    hints: dict[str, dict[str, object]] = field(default_factory=dict)
    items: Demand | None = None
    number: bool = False
    whole: bool = False
    keyed: bool = False
    bare: str | None = None

    @property
    def structured(self) -> bool:
        """Whether anything but plain text is wanted."""
        return bool(self.fields) or self.items is not None or self.number or self.keyed


@dataclass(frozen=True, slots=True)
class Analysis:
    """All that is known of one spec.

    Attributes:
        inputs: Declared and undeclared inputs by name, in order.
        visible: For each Template, Condition and Clause the names that resolve there: those in scope at the start
            and those bound anywhere in the frame, plus what an enclosing frame binds.
        made: The patterns of the names that a loop makes, such as ``research_{}``: they resolve in strings.
        words: The Name nodes that stand for their own letters, as in a list of lines ``- tides``.
        targets: What each Call, DoBlock, Session and Effect calls; missing when it cannot be known or is wrong.
        collected: Loops and blocks in value position (LANGUAGE.md section 3, rule 3).
        demands: For each Call, Session, DoBlock and Discretion what is done with its value.
        itself: Field nodes, and Names in a Destructure, that read the only declared output of a call and so give
            the value itself (LANGUAGE.md section 1, Returns).
        callees: The analyses of the specs that targets and instances lead to, components included.
        verdicts: What is known of each invariant before a run.
    """

    spec: Spec
    diagnostics: tuple[Diagnostic, ...] = ()
    inputs: Mapping[str, Parameter] = field(default_factory=dict)
    visible: Mapping[Node, frozenset[str]] = field(default_factory=dict)
    made: frozenset[str] = frozenset()
    words: frozenset[Node] = frozenset()
    targets: Mapping[Node, Target] = field(default_factory=dict)
    collected: frozenset[Node] = frozenset()
    demands: Mapping[Node, Demand] = field(default_factory=dict)
    itself: frozenset[Node] = frozenset()
    callees: Mapping[Spec, Analysis] = field(default_factory=dict)
    verdicts: tuple[Verdict, ...] = ()
