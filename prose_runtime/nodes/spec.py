"""The nodes of Contract Markdown: a spec and what its sections declare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from prose_runtime.nodes.base import Node, node
from prose_runtime.nodes.program import Block
from prose_runtime.text import Source, Span

PERSON = "human"
"""The service of the person at the terminal: it answers for the slots marked so, and the questions of a program."""


@node
class Section(Node):
    """A ``###`` section as it stands: ``key`` is its lower-case title, ``body`` the span below the heading."""

    key: str
    title: str
    title_span: Span
    body: Span
    bullets: tuple[Bullet, ...] = ()
    fences: tuple[Fence, ...] = ()


@node
class Bullet(Node):
    """A list item: its own text with wrapped lines folded into one, nested bullets, and further lines as ``rows``.

    Lines below are rows when the text ends with a colon, or when a blank line or a nested bullet stands before them.
    """

    text: str
    text_span: Span
    bullets: tuple[Bullet, ...] = ()
    rows: tuple[Row, ...] = ()


@node
class Row(Node):
    """A line below a bullet that is no bullet itself."""

    text: str


@node
class Fence(Node):
    """A fenced block: ``label`` is the first word behind the opening fence, ``content`` the lines between."""

    label: str
    content: Span


@node
class Requirement(Node):
    """An item of a slot's ``requires``. ``name`` is set for a single identifier or backticked name."""

    text: str
    name: str | None
    optional: bool = False


@node
class Promise(Node):
    """A sentence of ``ensures`` or Returns. ``names`` are the fields that it declares, if it is a list of such.

    ``types`` gives the spelling of a type that stands in parentheses behind a name, also behind an optional one.
    """

    text: str
    names: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)


@node
class Slot(Node):
    """A role that the pattern leaves open. A ``person`` answers for it when nothing is bound to it."""

    name: str
    name_span: Span
    description: str = ""
    primary: bool = False
    person: bool = False
    is_list: bool = False
    requires: tuple[Requirement, ...] = ()
    ensures: tuple[Promise, ...] = ()


@node
class ConfigItem(Node):
    """A config name. ``type`` is its spelling (``integer``, ``a | b``, ``string[]``) or None when none is given."""

    name: str
    name_span: Span
    type: str | None = None
    type_span: Span | None = None
    default: Any = None
    default_span: Span | None = None
    optional: bool = False
    description: str = ""


@node
class Parameter(Node):
    """A row of Parameters, Requires or Inputs."""

    name: str
    name_span: Span
    type: str | None = None
    optional: bool = False
    default: Any = None
    has_default: bool = False
    description: str = ""


@node
class OutputDecl(Node):
    """A bullet of Returns that starts with a name."""

    name: str
    name_span: Span
    type: str | None = None
    optional: bool = False
    description: str = ""


@node
class Returns(Node):
    """Returns, Ensures or Maintains: declared outputs and promises in prose."""

    outputs: tuple[OutputDecl, ...] = ()
    promises: tuple[Promise, ...] = ()


@node
class Invariant(Node):
    """One sentence that always holds."""

    text: str


@node
class Delegate(Node):
    """``slot: job`` of Shape. ``job`` ends before the first `` — ``."""

    slot: str
    job: str


@node
class Shape(Node):
    """Who does what: ``own`` is ``self``."""

    own: str = ""
    delegates: tuple[Delegate, ...] = ()
    prohibited: tuple[str, ...] = ()


@node
class Instance(Node):
    """A pattern instance: the pattern's name, what fills its slots and its config.

    ``bindings`` maps a slot to a name, an Instance or a list of these; spans are of the YAML entry.
    """

    name: str | None
    pattern: str
    bindings: Mapping[str, Any]
    config: Mapping[str, Any]


@node
class Fixture(Node):
    """``- `name`: value`` of a test. ``text`` stands behind the colon; what stands below is ``bullets`` or ``block``.

    ``label`` is the first word behind the fence around the block, None when it has no fence.
    """

    name: str
    name_span: Span
    text: str = ""
    block: str | None = None
    label: str | None = None
    bullets: tuple[Bullet, ...] = ()


@node
class Expectation(Node):
    """A sentence of Expects, or of Expects Not (``negated``): ``text`` is all of it, ``claim`` what it says of a value.

    ``path`` is the output that is meant (``a``, ``a.b[0]``), None for the whole result. A fenced ``block`` below is
    the operand of the claim; ``label`` is as in a Fixture. ``ticked``: the path stands in backticks.
    """

    text: str
    claim: str
    claim_span: Span
    path: str | None = None
    path_span: Span | None = None
    ticked: bool = False
    negated: bool = False
    block: str | None = None
    label: str | None = None


@node
class Spec(Node):
    """A spec file, or an inline component of one (kind ``function``, no body of its own or an Execution).

    ``body`` is the program of Delegation or Execution; ``javascript`` the fence of a composite's Delegation Loop.
    ``sections`` holds every section as it stands, so that those without a node of their own can be read as data;
    ``preamble`` is the text between the title, or a component's heading, and the first section. ``fixtures`` and
    ``expectations`` are those of a test.
    """

    source: Source
    name: str
    name_span: Span
    kind: str
    frontmatter: Mapping[str, Any]
    title: str | None = None
    preamble: str = ""
    sections: tuple[Section, ...] = ()
    slots: tuple[Slot, ...] = ()
    config: tuple[ConfigItem, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    returns: Returns | None = None
    invariants: tuple[Invariant, ...] = ()
    shape: Shape | None = None
    instances: tuple[Instance, ...] = ()
    components: tuple[Spec, ...] = ()
    body: Block | None = None
    javascript: Fence | None = None
    fixtures: tuple[Fixture, ...] = ()
    expectations: tuple[Expectation, ...] = ()

    def section(self, *keys: str) -> Section | None:
        """The first section with one of these lower-case titles."""
        return next((s for s in self.sections if s.key in keys), None)

    def text_of(self, *keys: str) -> str:
        """The text below a section's heading, or nothing."""
        section = self.section(*keys)
        return self.source.slice(section.body).strip() if section else ""
