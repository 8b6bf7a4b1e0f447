"""What could be written next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from prose_runtime import nodes as n
from prose_runtime.check.arguments import MODIFIERS
from prose_runtime.check.references import References, Refers
from prose_runtime.check.rules.unknown_backoff import BACKOFFS
from prose_runtime.check.tables import Target
from prose_runtime.lsp.context import Place, call_going_on, place_at
from prose_runtime.lsp.desk import View
from prose_runtime.lsp.targets import inputs_of
from prose_runtime.lsp.words import FUNCTION_HELP, HELP, MODIFIER_HELP, SECTION_HELP, words
from prose_runtime.syntax.config_values import read_type
from prose_runtime.syntax.names import KINDS
from prose_runtime.syntax.statements import FAILURES, MODES
from prose_runtime.text import Span

ProposalKind = Literal[
    "slot", "config", "input", "component", "instance", "block", "agent", "alias", "variable", "spec", "field",
    "keyword", "function", "section", "value",
]  # fmt: skip

_MEMBER = re.compile(r"(?P<name>[A-Za-z_][\w-]*)\.\Z")
_IN_BRACE = re.compile(r"\{(?:[A-Za-z_][\w-]*\.)?\Z")
_COMPARED = re.compile(r"(?:config\.)?\b(?P<name>[A-Za-z_][\w-]*)[ \t]*(?:[!=]=|is|is not)[ \t]*\"\Z")
_CHOICES = (
    (re.compile(r"\bbackoff:[ \t]*\"\Z"), BACKOFFS),
    (re.compile(r"\bon-fail:[ \t]*\"\Z"), FAILURES),
    (re.compile(r"\bparallel[ \t]*\([ \t]*\"\Z"), MODES),
)
_STATEMENT = re.compile(r"[ \t]*\Z")
_SECTIONS = {
    "pattern": ("slots", "config", "parameters", "returns", "invariants", "shape", "delegation"),
    "composite": ("slots", "config", "parameters", "returns", "invariants", "shape", "delegation loop"),
    "test": ("fixtures", "expects", "expects not"),
    "responsibility": ("goal", "requires", "maintains", "continuity", "execution"),
    "gateway": ("goal", "requires", "maintains", "continuity", "execution"),
}
_FUNCTION_SECTIONS = ("parameters", "returns", "errors", "strategies", "shape", "patterns", "runtime", "execution")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A word that fits. ``insert`` is what is written when that is more than the label; ``span`` what it replaces."""

    label: str
    kind: ProposalKind
    span: Span
    about: str = ""
    insert: str = ""


def completion(view: View, offset: int) -> list[Proposal]:
    """The words that fit at an offset, the most likely first, each label once."""
    place = place_at(view, offset)
    parts = {
        "frontmatter": _frontmatter,
        "heading": _headings,
        "patterns": _patterns,
        "program": _program,
        "text": _text,
    }
    found: dict[str, Proposal] = {}
    for proposal in parts[place.part](place):
        found.setdefault(proposal.label, proposal)
    return list(found.values())


def _frontmatter(place: Place) -> Iterator[Proposal]:
    key = place.left.partition(":")[0].strip()
    if ":" not in place.left:
        for word in ("name", "kind", "version", "description", "subject"):
            yield Proposal(word, "keyword", place.word, insert=f"{word}: ")
    elif key == "kind":
        yield from (Proposal(kind, "value", place.word) for kind in KINDS)
    elif key == "subject":
        yield from _specs(place)


def _headings(place: Place) -> Iterator[Proposal]:
    """The sections that this kind of spec has and this one lacks."""
    there = {section.key for section in place.spec.sections}
    for key in _SECTIONS.get(place.spec.kind, _FUNCTION_SECTIONS):
        if key not in there:
            title = f"### {key.title()}"
            yield Proposal(title, "section", place.line, SECTION_HELP[key])


def _patterns(place: Place) -> Iterator[Proposal]:
    key = place.left.rpartition(":")[0].strip(" -")
    if ":" not in place.left and "[" not in place.left:
        yield from (Proposal(word, "keyword", place.word, insert=f"{word}: ") for word in _INSTANCE)
    elif key.endswith("pattern"):
        yield from _specs(place)
    else:
        yield from _of_start(place, n.Spec, n.Instance)
        yield from _specs(place)


_INSTANCE = ("name", "pattern", "with", "config")


def _text(place: Place) -> Iterator[Proposal]:
    """Names between backticks, in any section."""
    if place.left.count("`") % 2:
        yield from _of_start(place, n.Slot, n.ConfigItem, n.Parameter)


def _program(place: Place) -> Iterator[Proposal]:
    quoted = _in_string(place)
    if quoted and not _IN_BRACE.search(place.left):
        yield from _texts(place)
        return
    member = _MEMBER.search(place.left)
    if member:
        yield from _members(place, member["name"])
    elif quoted:
        yield from _names(place)
    elif not re.search(r"(?:^|\s)#", place.left):
        yield from _code(place)


def _texts(place: Place) -> Iterator[Proposal]:
    """The texts of which one has to stand here: of an enumeration, of an option, or the name of a spec."""
    for pattern, values in _CHOICES:
        if pattern.search(place.left):
            yield from (Proposal(value, "value", place.word) for value in values)
    if re.search(r"\b(?:use|from)[ \t]+\"\Z", place.left):
        yield from _specs(place)
    compared = _COMPARED.search(place.left)
    declared = place.scopes.start.get(compared["name"]) if compared else None
    if isinstance(declared, n.ConfigItem | n.Parameter):
        yield from (Proposal(str(value), "value", place.word) for value in read_type(declared.type).options)


def _code(place: Place) -> Iterator[Proposal]:
    left = place.left
    if re.search(r"\bcall[ \t]+\Z", left):
        yield from _targets(place)
    elif re.search(r"\bdo[ \t]+\Z", left):
        yield from _of_start(place, n.BlockDef)
    elif re.search(r"\b(?:session|resume)[ \t]*:[ \t]*\Z", left):
        yield from _of_start(place, n.Agent)
        yield from _of_start(place, n.Slot, n.Spec)
    else:
        yield from _arguments(place)
        yield from _names(place)
        yield from _keywords(place)


def _arguments(place: Place) -> Iterator[Proposal]:
    going_on = call_going_on(place)
    if going_on is None:
        return
    for taken in inputs_of(place.view, place.spec, going_on.target):
        if taken.name not in going_on.given:
            yield Proposal(taken.name, "input", place.word, taken.about, f"{taken.name}: ")
    for word in sorted(MODIFIERS - going_on.given):
        yield Proposal(word, "keyword", place.word, MODIFIER_HELP[word], f"{word}: ")


def _keywords(place: Place) -> Iterator[Proposal]:
    groups = words()
    begins = _STATEMENT.fullmatch(place.left)
    names = [*groups["statement"], *groups["construct"]] if begins else [*groups["construct"], *groups["connective"]]
    if not begins:
        names += [*groups["operator"], *groups["constant"]]
        yield from (Proposal(word, "function", place.word, told) for word, told in FUNCTION_HELP.items())
    yield from (Proposal(word, "keyword", place.word, HELP[word]) for word in names)


def _targets(place: Place) -> Iterator[Proposal]:
    """What can be called here."""
    spec, scopes, frame = place.spec, place.scopes, place.frame
    yield from (_declared(place, slot.name, slot) for slot in spec.slots if not slot.is_list)
    yield from (_declared(place, component.name, component) for component in place.view.spec.components)
    references = References(scopes)
    for outer in frame.outwards():
        for name in outer.bindings:
            if references.of_name(name, frame) is Refers.YES:
                yield Proposal(name, "variable", place.word, "holds a service")
    yield from _of_start(place, n.Instance, n.BlockDef, n.Use)
    yield from _specs(place)


def _specs(place: Place) -> Iterator[Proposal]:
    """Specs of the same folder and the library."""
    for name in sorted(place.view.project.names_near(Path(place.view.source.path)) - {place.view.spec.name}):
        yield Proposal(name, "spec", place.word)


def _names(place: Place) -> Iterator[Proposal]:
    """All names that can be seen here, the nearest first."""
    scopes = place.scopes
    for frame in place.frame.outwards():
        for name in frame.bindings:
            yield Proposal(name, "variable", place.word)
    for name, node in scopes.start.items():
        if name == "config":
            yield Proposal("config", "keyword", place.word, "the config as one object")
        elif node is not None:
            yield _declared(place, name, node)


def _of_start(place: Place, *types: type[n.Node]) -> Iterator[Proposal]:
    for name, node in place.scopes.start.items():
        if isinstance(node, types):
            yield _declared(place, name, node)


def _declared(place: Place, name: str, node: n.Node) -> Proposal:
    kinds: tuple[tuple[type[n.Node], ProposalKind], ...] = (
        (n.Slot, "slot"),
        (n.ConfigItem, "config"),
        (n.Spec, "component"),
        (n.Instance, "instance"),
        (n.BlockDef, "block"),
        (n.Agent, "agent"),
        (n.Use, "alias"),
    )
    kind: ProposalKind = next((kind for cls, kind in kinds if isinstance(node, cls)), "input")
    return Proposal(name, kind, place.word, getattr(node, "description", ""))


def _members(place: Place, name: str) -> Iterator[Proposal]:
    """What stands behind a dot: config items, fields that a call's result has, and ``length``."""
    if name == "config":
        yield from _of_start(place, n.ConfigItem)
        return
    for field in _fields(place, name):
        yield Proposal(field, "field", place.word)
    yield Proposal("length", "field", place.word, "how many elements, or characters")


def _fields(place: Place, name: str) -> Iterator[str]:
    analysis = place.view.analysis_of(place.spec)
    for binding in place.frame.lookup(name):
        value = binding.node.value if isinstance(binding.node, n.Bind) else None
        if value is None:
            continue
        target = analysis.targets.get(value)
        yield from _delivered(target) if target else ()
        demand = analysis.demands.get(value)
        yield from demand.fields if demand else ()
        if isinstance(value, n.ObjectExpr):
            yield from (entry.key for entry in value.entries)


def _delivered(target: Target) -> Iterator[str]:
    for promise in target.slot.ensures if target.slot else ():
        yield from promise.names
    returns = target.spec.returns if target.spec else None
    yield from (output.name for output in returns.outputs) if returns else ()


def _in_string(place: Place) -> bool:
    """Whether a place is in a string: by the quotes of its line, or inside one that goes over several lines."""
    for node in place.scopes.frames:
        if isinstance(node, n.Template) and node.triple and node.span.start < place.offset < node.span.end:
            return True
    return len(re.findall(r'(?<!\\)"', place.left.replace('"""', ""))) % 2 == 1
