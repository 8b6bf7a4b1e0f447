"""What every ``call``, ``do``, ``session`` and pattern instance leads to (LANGUAGE.md section 3, rule 9)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from prose_runtime import nodes as n
from prose_runtime.check.project import Project
from prose_runtime.check.references import References, Refers
from prose_runtime.check.scope import Frame, Scopes
from prose_runtime.check.tables import Target
from prose_runtime.errors import UnreadableFile
from prose_runtime.nodes import Spec
from prose_runtime.records import dataclass
from prose_runtime.text import Span

Reason = Literal["missing", "ambiguous", "unreadable", "list", "value", "block", "foreign"]
Wanted = Literal["target", "block", "agent", "reference", "pattern", "effect"]

FOREIGN = re.compile(r"@|[A-Za-z][A-Za-z0-9+.-]+:")
"""How a reference begins that leads outside: ``github:x/y``, ``npm:x``, ``https://...``, ``@who/what``."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A name that should lead somewhere and does not.

    Attributes:
        wanted: What the place asks for: a call target, a block, an agent, a ``use`` reference, a pattern, a service
            that handles an effect.
        reason: Nothing of that name; several files of that name; a file that cannot be read; a list slot called
            as a whole; a plain value; something else than the block that ``do`` asks for; a name that stands for
            something outside of the project.
        known: Names that would have led somewhere.
        detail: The files that share the name, why one cannot be read, or what the name is instead.
    """

    name: str
    span: Span
    wanted: Wanted
    reason: Reason = "missing"
    known: frozenset[str] = frozenset()
    detail: str = ""


@dataclass(slots=True, eq=False)
class Resolution:
    """Targets by node, patterns by instance, what is unresolved, and the specs that all of it leads to."""

    targets: dict[n.Node, Target] = field(default_factory=dict)
    patterns: dict[n.Instance, Spec] = field(default_factory=dict)
    unresolved: list[Unresolved] = field(default_factory=list)
    leads: list[Spec] = field(default_factory=list)


def resolve(scopes: Scopes, project: Project, enclosing: Spec | None = None) -> Resolution:
    """Resolve all targets of a spec. ``enclosing`` is the file's spec when this one is an inline component of it."""
    resolver = _Resolver(scopes, project, enclosing)
    resolver.run()
    return resolver.found


class _Resolver:
    def __init__(self, scopes: Scopes, project: Project, enclosing: Spec | None):
        self.scopes = scopes
        self.spec = scopes.spec
        self.project = project
        self.beside = Path(self.spec.source.path)
        self.found = Resolution()
        self.slots = {slot.name: slot for slot in self.spec.slots}
        components = self.spec.components if enclosing is None else enclosing.components
        self.components = {component.name: component for component in components}
        self.instances = {instance.name: instance for instance in self.spec.instances if instance.name}
        self.aliases: dict[str, Spec | None] = {}
        self.foreign: dict[str, str] = {}
        self.references = References(scopes)

    def run(self) -> None:
        for component in self.spec.components:
            self.lead(component)
        for instance in self.spec.instances:
            self.pattern(instance)
        handlers: dict[type[n.Node], Any] = {n.Call: self.call, n.DoBlock: self.do_block, n.Session: self.session}
        handlers[n.Effect] = self.effect
        for node in list(self.scopes.frames):
            if isinstance(node, n.Use):
                self.use(node)
        for node, frame in list(self.scopes.frames.items()):
            handler = handlers.get(type(node))
            if handler:
                handler(node, frame)

    def lead(self, spec: Spec) -> None:
        if spec not in self.found.leads:
            self.found.leads.append(spec)

    def missing(self, unresolved: Unresolved) -> None:
        self.found.unresolved.append(unresolved)

    # files

    def file(self, name: str, span: Span, wanted: Wanted, known: frozenset[str] = frozenset()) -> Spec | None:
        """The spec of that name in folder, project or library; what stands in the way is noted."""
        paths = self.project.candidates(name, self.beside)
        if len(paths) > 1:
            self.missing(Unresolved(name, span, wanted, "ambiguous", known, ", ".join(map(self.shown, paths))))
        elif not paths:
            near = self.project.names_near(self.beside)
            self.missing(Unresolved(name, span, wanted, "missing", known | near))
        else:
            return self.read(paths[0], name, span, wanted)
        return None

    def read(self, path: Path, name: str, span: Span, wanted: Wanted) -> Spec | None:
        try:
            spec = self.project.load(path).spec
        except UnreadableFile as error:
            self.missing(Unresolved(name, span, wanted, "unreadable", detail=error.message))
            return None
        self.lead(spec)
        return spec

    def shown(self, path: Path) -> str:
        root = self.project.root
        return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)

    def use(self, node: n.Use) -> None:
        span = self.text_span(node.span, node.reference)
        if FOREIGN.match(node.reference) or self.project.holds_folder(node.reference, self.beside):
            self.foreign[node.alias.id] = node.reference
            self.missing(Unresolved(node.reference, span, "reference", "foreign", detail=node.alias.id))
            return
        self.aliases[node.alias.id] = self.file(node.reference, span, "reference")

    def pattern(self, instance: n.Instance) -> None:
        span = self.text_span(instance.span, instance.pattern)
        spec = self.file(instance.pattern, span, "pattern")
        if spec is not None:
            self.found.patterns[instance] = spec
        for nested in nested_instances(instance.bindings):
            self.pattern(nested)

    def text_span(self, span: Span, text: str) -> Span:
        """Where a text stands in a span; the span itself when it is spelt otherwise there."""
        at = self.spec.source.text.rfind(text, span.start, span.end) if text else -1
        return Span(at, at + len(text)) if at >= 0 else span

    # calls

    def call(self, node: n.Call, frame: Frame) -> None:
        target = node.target
        found = self.named(target, frame) if isinstance(target, n.Name) else self.reference(target, frame)
        if found is not None:
            self.found.targets[node] = found

    def named(self, name: n.Name, frame: Frame) -> Target | None:
        """A name as a target, in the order of rule 9."""
        bindings = frame.lookup(name.id)
        if name.id in self.slots and not bindings:
            return self.slot(name)
        if self.references.of_bindings(bindings, frame) is Refers.YES:
            return Target("reference", name.id, slot=self.references.common_slot(bindings, frame))
        if name.id in self.foreign and not bindings:
            self.outside(name)
            return None
        if isinstance(self.scopes.start.get(name.id), n.Agent) and not bindings:
            self.missing(Unresolved(name.id, name.span, "target", "value"))
            return None
        return self.local(name.id) or self.elsewhere(name, frame)

    def outside(self, name: n.Name) -> None:
        """A name for something outside of the project is called."""
        self.missing(Unresolved(name.id, name.span, "target", "foreign", detail=self.foreign[name.id]))

    def slot(self, name: n.Name) -> Target | None:
        slot = self.slots[name.id]
        if slot.is_list:
            self.missing(Unresolved(name.id, name.span, "target", "list"))
            return None
        return Target("slot", name.id, slot=slot)

    def local(self, name: str) -> Target | None:
        """A component, instance, block or alias of this file."""
        if name in self.components:
            self.lead(self.components[name])
            return Target("component", name, spec=self.components[name])
        if name in self.instances:
            instance = self.instances[name]
            return Target("instance", name, spec=self.found.patterns.get(instance), instance=instance)
        if isinstance(self.scopes.start.get(name), n.BlockDef):
            return Target("block", name)
        if name in self.aliases:
            return Target("alias", name, spec=self.aliases[name])
        return None

    def elsewhere(self, name: n.Name, frame: Frame) -> Target | None:
        """A spec of that name; failing that, a name or input that may hold a reference when the program runs."""
        bindings = frame.lookup(name.id)
        if not self.project.candidates(name.id, self.beside):
            if self.references.of_name(name.id, frame) is not Refers.NO:
                return Target("reference", name.id, slot=self.references.common_slot(bindings, frame))
            if bindings or name.id in self.scopes.start:
                self.missing(Unresolved(name.id, name.span, "target", "value", self.callable_names(frame)))
                return None
        spec = self.file(name.id, name.span, "target", self.callable_names(frame))
        return Target("spec", name.id, spec=spec) if spec else None

    def callable_names(self, frame: Frame) -> frozenset[str]:
        """Everything that ``call`` could name here."""
        blocks = {name for name, node in self.scopes.start.items() if isinstance(node, n.BlockDef)}
        bound = {name for outer in frame.outwards() for name in outer.bindings}
        held = {name for name in bound if self.references.of_name(name, frame) is Refers.YES}
        return frozenset({*self.slots, *self.components, *self.instances, *blocks, *self.aliases, *held})

    def reference(self, target: n.Expr, frame: Frame) -> Target:
        """A field or index: what it holds is known at run time, its list slot often before."""
        spelling = self.spec.source.slice(target.span).strip()
        return Target("reference", spelling, slot=self.references.slot_behind(target, frame))

    # blocks and sessions

    def do_block(self, node: n.DoBlock, frame: Frame) -> None:
        name = node.block
        if isinstance(self.scopes.start.get(name.id), n.BlockDef):
            self.found.targets[node] = Target("block", name.id)
            return
        other = "slot" if name.id in self.slots else getattr(self.local(name.id), "kind", "")
        blocks = frozenset(k for k, v in self.scopes.start.items() if isinstance(v, n.BlockDef))
        self.missing(Unresolved(name.id, name.span, "block", "block" if other else "missing", blocks, other))

    def session(self, node: n.Session, frame: Frame) -> None:
        if node.agent is None or isinstance(self.scopes.start.get(node.agent.id), n.Agent):
            return
        name = node.agent
        if name.id in self.foreign:
            self.outside(name)
            return
        target = self.slot(name) if name.id in self.slots else self.local(name.id)
        if target is not None:
            self.found.targets[node] = target
        elif name.id not in self.slots:
            agents = frozenset(k for k, v in self.scopes.start.items() if isinstance(v, n.Agent))
            self.missing(Unresolved(name.id, name.span, "agent", known=agents | self.components.keys()))

    def effect(self, node: n.Effect, frame: Frame) -> None:
        services = self.project.configured(self.beside)
        if node.name in services:
            self.found.targets[node] = Target("service", node.name)
        else:
            known = services | self.callable_names(frame)
            self.missing(Unresolved(node.name, node.name_span, "effect", known=known))


def nested_instances(binding: Any) -> Iterator[n.Instance]:
    """The instances inside an instance's bindings."""
    if isinstance(binding, n.Instance):
        yield binding
    elif isinstance(binding, Mapping):
        for value in binding.values():
            yield from nested_instances(value)
    elif isinstance(binding, list | tuple):
        for value in binding:
            yield from nested_instances(value)
