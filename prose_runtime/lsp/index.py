"""Every name of a file with each place at which it stands: what references, definitions and renaming go by."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from prose_runtime import nodes as n
from prose_runtime.check.mentions import names_read
from prose_runtime.check.scope import Binding, Frame, Scopes, required_names
from prose_runtime.diagnostics import Collector
from prose_runtime.lsp.desk import View
from prose_runtime.syntax.parameters import read_inputs
from prose_runtime.text import Source, Span

SymbolKind = Literal[
    "slot", "config", "input", "component", "instance", "block", "agent", "alias", "variable", "output"
]

_WORD = re.compile(r"[A-Za-z_](?:[\w-]*\w)?")
_FILLER = re.compile(r"(?:[:,-][ \t]+|\[[ \t]*)(?P<name>[A-Za-z_][\w-]*)(?=[ \t]*(?:[,}\]#]|$))", re.M)


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """One thing that has a name.

    Attributes:
        spec: The spec, or inline component, that the name belongs to.
        node: What declares it; None for an implicit name such as ``item``.
        span: The name where it is declared; of an input that no section declares, the slot's ``requires`` or its use.
        frame: Where a variable's value lives; None for names in scope at the start.
    """

    name: str
    kind: SymbolKind
    spec: n.Spec
    node: n.Node | None
    span: Span
    frame: Frame | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Occurrence:
    """A place at which a symbol is named. ``prefix`` is what a renamed shorthand ``{ a }`` needs before the name."""

    span: Span
    symbol: Symbol
    declares: bool = False
    prefix: str = ""


@dataclass(eq=False)
class Index:
    """The names of a file. Build it with ``index_of``. ``fixed`` says of a symbol why it cannot have another name."""

    source: Source
    occurrences: list[Occurrence] = field(default_factory=list)
    fixed: dict[Symbol, str] = field(default_factory=dict)

    def at(self, offset: int) -> Occurrence | None:
        """The name that an offset lies in, or stands right behind."""
        at = bisect_right(self.occurrences, offset, key=lambda o: o.span.start) - 1
        found = self.occurrences[at] if at >= 0 else None
        return found if found and found.span.end >= offset else None

    def of(self, symbol: Symbol) -> list[Occurrence]:
        """All places of a symbol, in order."""
        return [occurrence for occurrence in self.occurrences if occurrence.symbol is symbol]


def index_of(view: View) -> Index:
    """The index of an open file, its inline components included."""
    found: dict[Span, Occurrence] = {}
    components = {
        component.name: Symbol(component.name, "component", view.spec, component, component.name_span)
        for component in view.spec.components
    }
    fixed: dict[Symbol, str] = {}
    for spec in view.specs:
        _Indexer(view, spec, components, found, fixed).run()
    return Index(view.source, sorted(found.values(), key=lambda o: o.span), fixed)


class _Indexer:
    """Notes the names of one spec; the first that claims a place has it."""

    def __init__(
        self,
        view: View,
        spec: n.Spec,
        components: dict[str, Symbol],
        found: dict[Span, Occurrence],
        fixed: dict[Symbol, str],
    ):
        self.spec = spec
        self.fixed = fixed
        self.source = view.source
        self.scopes: Scopes = view.scopes_of(spec)
        self.found = found
        self.start: dict[str, Symbol] = dict(components)
        self.variables: dict[tuple[Frame, str], Symbol] = {}
        self.shorthands = _shorthands(spec)

    def run(self) -> None:
        for name, node in self.scopes.start.items():
            if node is not None and name not in self.start:
                self.start[name] = self.declared(name, node)
        self.declarations()
        self.rows()
        self.prose()
        self.program()

    # what there is

    def declared(self, name: str, node: n.Node) -> Symbol:
        """The symbol of a name that is in scope at the start."""
        span = getattr(node, "name_span", node.span)
        if isinstance(node, n.Instance):
            span = self.word(name, node.span) or span
        elif isinstance(node, n.BlockDef | n.Agent):
            span = node.name.span
        elif isinstance(node, n.Use):
            span = node.alias.span
        undeclared = name in self.scopes.undeclared
        symbol = Symbol(name, _kind(node), self.spec, node, (undeclared and self.requirement(name)) or span)
        if undeclared:
            self.fixed[symbol] = f"no section declares `{name}`: declare it under Parameters first"
        elif self.spec.javascript is not None:
            self.fixed[symbol] = f"JavaScript names `{name}` in ways that only a run can tell"
        return symbol

    def requirement(self, name: str) -> Span | None:
        """Where a slot's ``requires`` first names an input that nothing else declares."""
        items = [items[name] for slot in self.spec.slots if name in (items := required_names(slot))]
        return self.word(name, items[0].span) if items else None

    def variable(self, name: str, frame: Frame) -> Symbol | None:
        """The symbol that a name means in a frame; names that a frame takes over from the one around it are one."""
        home = home_of(name, frame, self.scopes)
        if home is None:
            return self.start.get(name)
        key = (home, name)
        if key not in self.variables:
            first = home.bindings[name][0]
            self.variables[key] = Symbol(name, "variable", self.spec, first.node, first.span, home)
        return self.variables[key]

    # where it stands

    def note(self, span: Span | None, symbol: Symbol | None, *, declares: bool = False) -> None:
        if span is None or symbol is None or self.source.text[span.start : span.end] != symbol.name:
            return
        prefix = f"{symbol.name}: " if span in self.shorthands else ""
        known = self.found.get(span)
        if known is None or (declares and not known.declares):
            self.found[span] = Occurrence(span, symbol, declares, prefix)

    def word(self, name: str, span: Span) -> Span | None:
        """The first place of a whole word in a span."""
        pattern = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
        match = pattern.search(self.source.text, span.start, span.end)
        return Span(*match.span()) if match else None

    def declarations(self) -> None:
        for symbol in self.start.values():
            if symbol.spec is self.spec:
                self.note(symbol.span, symbol, declares=symbol.name not in self.scopes.undeclared)
        for output in self.spec.returns.outputs if self.spec.returns else ():
            symbol = Symbol(output.name, "output", self.spec, output, output.name_span)
            self.fixed[symbol] = f"callers read `{output.name}` by this name"
            self.note(output.name_span, symbol, declares=True)

    def rows(self) -> None:
        """Rows of Parameters that type a slot or a config item."""
        sections = [s for s in self.spec.sections if s.key in ("parameters", "requires", "inputs")]
        for row in read_inputs(self.source, sections, Collector(self.source), prose=True):
            self.note(row.name.span, self.start.get(row.name.text))
        for delegate in self.spec.shape.delegates if self.spec.shape else ():
            self.note(self.word(delegate.slot, delegate.span), self.start.get(delegate.slot))
        for section in self.spec.sections:
            if section.key == "patterns":
                self.fillers(section)

    def fillers(self, section: n.Section) -> None:
        """Components and instances of this file that fill the slots of an instance: the values of its YAML."""
        text = self.source.text[section.body.start : section.body.end]
        for match in _FILLER.finditer(text):
            symbol = self.start.get(match["name"])
            if symbol and symbol.kind in ("component", "instance"):
                start, end = match.span("name")
                self.note(Span(section.body.start + start, section.body.start + end), symbol)

    def prose(self) -> None:
        """Invariants name slots, config and inputs: in backticks, or as a word that only a name is spelt like."""
        for invariant in self.spec.invariants:
            text = self.source.text[invariant.span.start : invariant.span.end]
            for match in _WORD.finditer(text):
                symbol = self.start.get(match[0])
                ticked = text[: match.start()].endswith("`") and text[match.end() :].startswith("`")
                if symbol and (ticked or symbol.kind == "slot" or not match[0].isalpha()):
                    start = invariant.span.start
                    self.note(Span(start + match.start(), start + match.end()), symbol)

    # the program

    def program(self) -> None:
        for frame in self.scopes.all_frames:
            for bindings in frame.bindings.values():
                for binding in bindings:
                    self.binding(binding, frame)
        for use in self.scopes.uses:
            self.note(use.name.span, self.variable(use.name.id, use.frame))
        for node, frame in self.scopes.frames.items():
            self.node(node, frame)

    def binding(self, binding: Binding, frame: Frame) -> None:
        symbol = self.variable(binding.name, frame)
        if symbol is None:
            return
        self.note(binding.span, symbol, declares=symbol.span == binding.span)
        if fixed := _fixed(binding):
            self.fixed.setdefault(symbol, fixed)

    def node(self, node: n.Node, frame: Frame) -> None:
        if isinstance(node, n.Field) and isinstance(node.object, n.Name) and node.object.id == "config":
            symbol = self.start.get(node.name)
            self.note(node.name_span, symbol if symbol and symbol.kind == "config" else None)
        elif isinstance(node, n.DoBlock):
            self.note(node.block.span, self.start.get(node.block.id))
        elif isinstance(node, n.Session) and node.agent is not None:
            self.note(node.agent.span, self.start.get(node.agent.id))
        elif isinstance(node, n.Clause | n.Discretion):
            self.english(node, frame)

    def english(self, node: n.Clause | n.Discretion, frame: Frame) -> None:
        """In a text for a judge every word that is a name in scope means its value (LANGUAGE.md, Conditions)."""
        visible = self.scopes.known_in(frame)
        if isinstance(node, n.Clause) and node.expr is not None and names_read(node.expr) <= visible:
            return
        for match in _WORD.finditer(self.source.text, node.span.start, node.span.end):
            if match[0] in visible:
                self.note(Span(*match.span()), self.variable(match[0], frame))


def home_of(name: str, frame: Frame, scopes: Scopes) -> Frame | None:
    """The frame in which a name's value lives as seen from another; None when it is one in scope at the start, or none.

    A frame starts from a copy of the names around it, so that a name bound inside and outside is the same name,
    unless the inner frame brings its own: a parameter, or the variable of its own loop.
    """
    home: Frame | None = None
    for outer in frame.outwards():
        if name in outer.bindings:
            home = outer
            if any(_brought(binding, outer) for binding in outer.bindings[name]):
                return home
    return None if name in scopes.start else home


def _brought(binding: Binding, frame: Frame) -> bool:
    if binding.kind in ("parameter", "item"):
        return True
    return binding.kind in ("loop", "index") and frame.kind == "iteration" and binding.node is frame.node


def _fixed(binding: Binding) -> str:
    if binding.kind == "item" and isinstance(binding.node, n.Stage) and not binding.node.names:
        return "pipelines call their element `item`"
    if isinstance(binding.node, n.Bind) and isinstance(binding.node.target, n.Destructure):
        return f"`{binding.name}` is taken out of a value: it is the name of a field"
    if isinstance(binding.node, n.Output):
        return f"callers read `{binding.name}` by this name"
    return ""


def _kind(node: n.Node) -> SymbolKind:
    kinds: tuple[tuple[type[n.Node], SymbolKind], ...] = (
        (n.Slot, "slot"),
        (n.ConfigItem, "config"),
        (n.Instance, "instance"),
        (n.BlockDef, "block"),
        (n.Agent, "agent"),
        (n.Use, "alias"),
        (n.Spec, "component"),
    )
    return next((kind for cls, kind in kinds if isinstance(node, cls)), "input")


def _shorthands(spec: n.Spec) -> frozenset[Span]:
    """The places of names that are key and value at once: ``{ a }``."""
    found = set()
    for node in spec.body.walk() if spec.body else ():
        if isinstance(node, n.Entry | n.Argument) and isinstance(node.value, n.Name):
            key = node.key if isinstance(node, n.Entry) else node.name
            if key == node.value.id and node.span == node.value.span:
                found.add(node.span)
    return frozenset(found)


def words_of(source: Source, span: Span) -> Iterator[tuple[str, Span]]:
    """The words of a span with their places."""
    for match in _WORD.finditer(source.text, span.start, span.end):
        yield match[0], Span(*match.span())
