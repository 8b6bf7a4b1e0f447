"""Names: what a program binds, in which frame, and what can be seen where (LANGUAGE.md section 3, rules 1 and 2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any, Literal

from prose_runtime import nodes as n
from prose_runtime.records import dataclass
from prose_runtime.text import Span, compiled

FrameKind = Literal["delegation", "block", "branch", "iteration", "stage"]
BindingKind = Literal["let", "const", "assign", "loop", "index", "catch", "parameter", "item", "session", "input"]
UseKind = Literal["expression", "clause", "interpolation", "target", "word"]

TASK_BRIEF = "task_brief"
"""The input that every pattern may read without declaring it (LANGUAGE.md section 1)."""


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One place that gives a name a value. ``value`` is the bound expression, or what a loop variable walks over."""

    name: str
    span: Span
    kind: BindingKind
    node: n.Node
    value: n.Expr | None = None


@dataclass(slots=True, eq=False)
class Frame:
    """Where values are shared: the delegation, one block call, one parallel branch or iteration, one pipeline body."""

    kind: FrameKind
    node: n.Node | None
    parent: Frame | None = None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)

    def bind(self, binding: Binding) -> None:
        """Note that this frame gives a name a value."""
        self.bindings.setdefault(binding.name, []).append(binding)

    def outwards(self) -> Iterator[Frame]:
        """This frame and those around it, innermost first."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.parent

    def lookup(self, name: str) -> list[Binding]:
        """All bindings of a name in the innermost frame that binds it."""
        return next((f.bindings[name] for f in self.outwards() if name in f.bindings), [])


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """One place that reads a name. A ``word`` stands for itself where no such name is in scope: ``model: opus``."""

    name: n.Name
    kind: UseKind
    frame: Frame


@dataclass(frozen=True, slots=True)
class Publication:
    """A branch of a ``parallel:`` body that publishes a name at the join (LANGUAGE.md section 3, rule 2)."""

    parallel: n.Parallel
    name: str
    span: Span
    branch: int


@dataclass(slots=True, eq=False)
class Scopes:
    """What is known of the names of one spec.

    Attributes:
        made: The patterns of the names that a loop makes, such as ``research_{}``.
        words: The names that are plain words: nothing binds them, and they stand where a word may stand.
        start: Names in scope at the start and the node that declares each (None for ``config`` and made names).
        inputs: Declared and undeclared inputs by name, in order.
        undeclared: The uses that made an input of a name that no section declares.
        root: The frame of the delegation.
        frames: The frame in which each node of the body is evaluated.
        all_frames: Every frame, in source order.
        uses: Every place that reads a name.
        published: What the branches of parallel blocks publish.
        visible: The names that resolve in each Template, Condition and Clause.
    """

    spec: n.Spec
    root: Frame
    start: dict[str, n.Node | None] = field(default_factory=dict)
    inputs: dict[str, n.Parameter] = field(default_factory=dict)
    undeclared: dict[str, Use] = field(default_factory=dict)
    frames: dict[n.Node, Frame] = field(default_factory=dict)
    all_frames: list[Frame] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    published: list[Publication] = field(default_factory=list)
    made: set[str] = field(default_factory=set)
    words: frozenset[n.Name] = frozenset()
    visible: dict[n.Node, frozenset[str]] = field(default_factory=dict)
    _known: dict[Frame, frozenset[str]] = field(default_factory=dict)

    def known_in(self, frame: Frame) -> frozenset[str]:
        """The names in scope at the start, and those bound in a frame or around it."""
        if frame not in self._known:
            outer = self.known_in(frame.parent) if frame.parent else frozenset(self.start)
            self._known[frame] = outer | frame.bindings.keys()
        return self._known[frame]

    def may_be_made(self, name: str) -> bool:
        """Whether a loop may make the name of letters and values."""
        return any(_family(pattern).fullmatch(name) for pattern in self.made)

    def bound_anywhere(self, name: str) -> Binding | None:
        """The first binding of a name in any frame."""
        return next((f.bindings[name][0] for f in self.all_frames if name in f.bindings), None)


def scopes(spec: n.Spec) -> Scopes:
    """Collect frames, bindings and uses of a spec's body; its components are specs of their own."""
    root = Frame("delegation", spec.body)
    found = Scopes(spec, root, all_frames=[root])
    _declare(found)
    if spec.body is not None:
        _Walker(found).run(spec.body)
        _find_undeclared(found, found.uses)
    elif spec.javascript is not None:
        from prose_runtime.check.javascript import state_reads  # only composites have a script

        reads = state_reads(spec.source, spec.javascript)
        uses = [Use(n.Name(span=read.span, id=name), "expression", root) for name, read in reads.items()]
        _find_undeclared(found, uses, {name for name, read in reads.items() if read.defaulted})
    _settle(found)
    found.words = frozenset(
        use.name for use in found.uses if use.kind == "word" and use.name.id not in found.known_in(use.frame)
    )
    return found


def _declare(found: Scopes) -> None:
    spec = found.spec
    found.inputs.update(declared_inputs(spec))
    groups: tuple[Mapping[str, n.Node] | dict[str, Any], ...] = (
        {slot.name: slot for slot in spec.slots},
        {item.name: item for item in spec.config},
        found.inputs,
        {component.name: component for component in spec.components},
        {instance.name: instance for instance in spec.instances if instance.name},
        definitions(spec.body),
    )
    found.start["config"] = None
    for group in groups:
        for name, node in group.items():
            found.start.setdefault(name, node)


def declared_inputs(spec: n.Spec) -> dict[str, n.Parameter]:
    """The rows of Parameters, Requires or Inputs that name neither a slot nor a config item, by name."""
    taken = {slot.name for slot in spec.slots} | {item.name for item in spec.config}
    inputs = {p.name: p for p in spec.parameters if p.name not in taken}
    for node in n.nodes_of(spec.body, n.Input):
        row = n.Parameter(
            span=node.span,
            name=node.name.id,
            name_span=node.name.span,
            optional="(optional)" in node.text.lower(),
            description=node.text,
        )
        inputs.setdefault(row.name, row)
    return inputs


def definitions(body: n.Block | None) -> dict[str, n.Node]:
    """Blocks, agents and aliases by name: they are collected before execution, wherever they stand."""
    found: dict[str, n.Node] = {}
    for node in n.nodes_of(body, n.BlockDef, n.Agent, n.Use):
        name = node.alias if isinstance(node, n.Use) else node.name
        found.setdefault(name.id, node)
    return found


_BACKTICKED = re.compile(r"`([A-Za-z_][\w-]*)`")


def required_names(slot: n.Slot) -> dict[str, n.Requirement]:
    """The identifiers in a slot's ``requires``, by name."""
    found: dict[str, n.Requirement] = {}
    for item in slot.requires:
        for name in [item.name] if item.name else _BACKTICKED.findall(item.text):
            found.setdefault(name, item)
    return found


def _find_undeclared(found: Scopes, uses: Iterable[Use], defaulted: Collection[str] = ()) -> None:
    candidates: dict[str, list[n.Requirement]] = {TASK_BRIEF: []}
    for slot in found.spec.slots:
        for name, item in required_names(slot).items():
            candidates.setdefault(name, []).append(item)
    for use in uses:
        name = use.name.id
        if use.kind == "target" or name in found.start or name not in candidates or found.bound_anywhere(name):
            continue
        items = candidates[name]
        optional = name in defaulted or (bool(items) and all(item.optional for item in items))
        row = n.Parameter(span=use.name.span, name=name, name_span=use.name.span, optional=optional)
        found.inputs[name] = found.start[name] = row
        found.undeclared[name] = use


def _settle(found: Scopes) -> None:
    _name_made(found)
    for node, frame in found.frames.items():
        if isinstance(node, n.Template | n.Condition | n.Clause):
            found.visible[node] = found.known_in(frame)


def _name_made(found: Scopes) -> None:
    """A name such as ``research_ai`` that ``research_{}`` can have made is in scope when nothing else binds it."""
    if not found.made:
        return
    read = {use.name.id for use in found.uses if use.kind != "target"}
    for name in sorted(read - found.start.keys()):
        if found.may_be_made(name) and not found.bound_anywhere(name):
            found.start[name] = None


@lru_cache(maxsize=64)
def _family(pattern: str) -> re.Pattern[str]:
    return re.compile(".+".join(map(re.escape, pattern.split("{}"))))


class _Walker:
    """One pass over a body that notes frames, bindings and uses."""

    def __init__(self, found: Scopes):
        self.found = found
        self.handlers: dict[type[n.Node], Callable[[Any, Frame, UseKind], None]] = {
            n.Name: self.name,
            n.Bind: self.bind,
            n.Parallel: self.parallel,
            n.Repeat: self.repeat,
            n.ForEach: self.for_each,
            n.Loop: self.loop,
            n.Catch: self.catch,
            n.Stage: self.stage,
            n.BlockDef: self.block,
            n.Agent: self.agent,
            n.Use: self.nothing,
            n.Input: self.input,
            n.Output: self.output,
            n.Session: self.session,
            n.DoBlock: self.do_block,
            n.Call: self.call,
            n.Argument: self.argument,
            n.ListExpr: self.list_lines,
            n.Clause: self.clause,
            n.Template: self.template,
            n.Predicate: self.predicate,
            n.Invalid: self.invalid,
        }

    def run(self, body: n.Block) -> None:
        """Walk the whole body."""
        self.visit(body, self.found.root, "expression")

    def visit(self, node: n.Node | None, frame: Frame, kind: UseKind = "expression") -> None:
        """Note a node's frame and go on below it."""
        if node is None:
            return
        self.found.frames[node] = frame
        handler = self.handlers.get(type(node))
        if handler:
            handler(node, frame, kind)
            return
        for child in node.children():
            self.visit(child, frame, kind)

    def inner(self, kind: FrameKind, node: n.Node, parent: Frame) -> Frame:
        """A new frame inside another."""
        frame = Frame(kind, node, parent)
        self.found.all_frames.append(frame)
        return frame

    def note(self, frame: Frame, name: n.Name | None, kind: BindingKind, node: n.Node, value: Any = None) -> None:
        """Bind a name in a frame."""
        if name is not None:
            frame.bind(Binding(name.id, name.span, kind, node, value))

    def nothing(self, node: n.Node, frame: Frame, kind: UseKind) -> None:
        """A definition that neither reads nor binds here."""

    def name(self, node: n.Name, frame: Frame, kind: UseKind) -> None:
        self.found.uses.append(Use(node, kind, frame))

    def bind(self, node: n.Bind, frame: Frame, kind: UseKind) -> None:
        self.visit(node.value, frame)
        self.targets_of(node, frame)

    def targets_of(self, node: n.Bind, frame: Frame) -> None:
        """What stands left of the ``=``."""
        target, kind = node.target, node.keyword or "assign"
        if isinstance(target, n.Name):
            self.note(frame, target, kind, node, node.value)
        elif isinstance(target, n.Destructure):
            for name in target.names:
                self.note(frame, name, kind, node)
        elif isinstance(target, n.MadeName):
            self.found.made.add(target.pattern)
            self.visit(target, frame)
        else:
            self.visit(target, frame)

    def parallel(self, node: n.Parallel, frame: Frame, kind: UseKind) -> None:
        self.visit(node.options, frame)
        self.found.frames[node.body] = frame
        for number, statement in enumerate(node.body.statements):
            branch = self.inner("branch", statement, frame)
            published = list(published_names(statement))
            for name in published:
                self.found.published.append(Publication(node, name.id, name.span, number))
            if isinstance(statement, n.Bind) and published:
                self.found.frames[statement] = branch
                self.visit(statement.value, branch)
                self.targets_of(statement, frame)
            else:
                self.visit(statement, branch)

    def repeat(self, node: n.Repeat, frame: Frame, kind: UseKind) -> None:
        self.visit(node.count, frame)
        self.visit(node.parallel, frame)
        inside = self.inner("iteration", node, frame) if node.parallel else frame
        self.note(inside, node.var, "loop", node)
        self.visit(node.body, inside)

    def for_each(self, node: n.ForEach, frame: Frame, kind: UseKind) -> None:
        self.visit(node.iterable, frame)
        self.visit(node.maximum, frame)
        self.visit(node.parallel, frame)
        inside = self.inner("iteration", node, frame) if node.parallel else frame
        self.note(inside, node.var, "loop", node, node.iterable)
        self.note(inside, node.index, "index", node)
        self.visit(node.body, inside)

    def loop(self, node: n.Loop, frame: Frame, kind: UseKind) -> None:
        self.note(frame, node.var, "loop", node)
        self.visit(node.maximum, frame)
        self.visit(node.condition, frame)
        self.visit(node.body, frame)

    def catch(self, node: n.Catch, frame: Frame, kind: UseKind) -> None:
        self.note(frame, node.var, "catch", node)
        self.visit(node.body, frame)

    def stage(self, node: n.Stage, frame: Frame, kind: UseKind) -> None:
        inside = self.inner("stage", node, frame)
        for name in node.names:
            self.note(inside, name, "item", node)
        if node.kind != "reduce":
            inside.bind(Binding("item", node.span, "item", node))
        self.visit(node.body, inside)

    def block(self, node: n.BlockDef, frame: Frame, kind: UseKind) -> None:
        inside = self.inner("block", node, self.found.root)
        for name in node.params:
            self.note(inside, name, "parameter", node)
        self.visit(node.body, inside)

    def agent(self, node: n.Agent, frame: Frame, kind: UseKind) -> None:
        for argument in node.args:
            self.visit(argument, self.found.root)

    def input(self, node: n.Input, frame: Frame, kind: UseKind) -> None:
        self.note(frame, node.name, "input", node)

    def output(self, node: n.Output, frame: Frame, kind: UseKind) -> None:
        self.visit(node.value, frame)
        if not (isinstance(node.value, n.Name) and node.value.span == node.name.span):  # `output x` binds nothing
            self.note(frame, node.name, "assign", node, node.value)

    def session(self, node: n.Session, frame: Frame, kind: UseKind) -> None:
        self.note(frame, node.name, "session", node)
        self.visit(node.prompt, frame)
        for argument in node.args:
            self.visit(argument, frame)

    def do_block(self, node: n.DoBlock, frame: Frame, kind: UseKind) -> None:
        for argument in node.args:
            self.visit(argument, frame)

    def call(self, node: n.Call, frame: Frame, kind: UseKind) -> None:
        self.visit(node.target, frame, "target" if isinstance(node.target, n.Name) else "expression")
        for argument in node.args:
            self.visit(argument, frame)
        self.visit(node.spread, frame)

    def argument(self, node: n.Argument, frame: Frame, kind: UseKind) -> None:
        word = isinstance(node.value, n.Name) and node.name in ("model", "persist")
        self.visit(node.value, frame, "word" if word else "expression")

    def list_lines(self, node: n.ListExpr, frame: Frame, kind: UseKind) -> None:
        """The bare words of a list in YAML's form, ``- tides``, stand for themselves where no such name is."""
        dashes = self.found.spec.source.text.startswith("-", node.span.start)
        for item in node.items:
            self.visit(item, frame, "word" if dashes and isinstance(item, n.Name) else kind)

    def clause(self, node: n.Clause, frame: Frame, kind: UseKind) -> None:
        self.visit(node.expr, frame, "clause")

    def template(self, node: n.Template, frame: Frame, kind: UseKind) -> None:
        for part in node.parts:
            if isinstance(part, n.Interpolation):
                self.found.frames[part] = frame
                self.visit(part.value, frame, "interpolation")

    def predicate(self, node: n.Predicate, frame: Frame, kind: UseKind) -> None:
        self.visit(node.subject, frame, kind)
        if node.op != "has":
            self.visit(node.operand, frame, kind)

    def invalid(self, node: n.Invalid, frame: Frame, kind: UseKind) -> None:
        """What an unreadable statement seems to bind counts as bound: one fault shall not bring forth others."""
        for match in compiled(_SEEMS_BOUND).finditer(node.text):
            for name in _IDENTIFIER.findall(match["names"] or match["assigned"] or match["var"] or ""):
                frame.bind(Binding(name, node.span, "assign", node))


_IDENTIFIER = re.compile(r"[A-Za-z_](?:[\w-]*\w)?")
_SEEMS_BOUND = (
    r"(?m)^[ \t]*(?:let|const)\b(?P<names>[^=\n]*)"
    r"|^[ \t]*(?P<assigned>[A-Za-z_][\w-]*)[ \t]*=(?!=)"
    r"|\b(?:as|for(?:[ \t]+each)?)[ \t]+(?P<var>[\w-]+)"
)


def published_names(statement: n.Node) -> Iterator[n.Name]:
    """The names that a branch publishes: those of a ``let`` or an assignment."""
    if isinstance(statement, n.Bind):
        if isinstance(statement.target, n.Name):
            yield statement.target
        elif isinstance(statement.target, n.Destructure):
            yield from statement.target.names
    elif isinstance(statement, n.Output):
        yield statement.name
