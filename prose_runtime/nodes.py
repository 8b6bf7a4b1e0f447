"""The program as a tree: frozen nodes with exact spans. Each docstring shows the concrete syntax.

Nodes compare by identity, so that side tables can be keyed by them; ``dump`` gives a form to compare by content.
Nothing derived is stored here: scopes, targets and shapes live in the tables of ``check``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from prose_runtime.text import Source, Span


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Node:
    """Anything that stands somewhere in a file."""

    span: Span

    def children(self) -> Iterator[Node]:
        """The nodes directly below, in source order."""
        for name in self.__dataclass_fields__:
            yield from _nodes_in(getattr(self, name))

    def walk(self) -> Iterator[Node]:
        """This node and all below it, in source order."""
        yield self
        for child in self.children():
            yield from child.walk()


def _nodes_in(value: Any) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple) and not isinstance(value, Span):
        for entry in value:
            yield from _nodes_in(entry)


def dump(node: Any) -> Any:
    """A tree as plain lists and dicts without spans, to compare or print."""
    if isinstance(node, Node):
        values = {f.name: getattr(node, f.name) for f in fields(node) if f.name != "source"}
        shown = {name: dump(value) for name, value in values.items() if not isinstance(value, Span)}
        return {"node": type(node).__name__, **{k: v for k, v in shown.items() if v not in (None, [], False)}}
    if isinstance(node, tuple | list) and not isinstance(node, Span):
        return [dump(entry) for entry in node]
    if isinstance(node, Mapping):
        return {str(k): dump(v) for k, v in node.items()}
    return node


# expressions


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Expr(Node):
    """Anything with a value."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Constant(Expr):
    """``null``, ``true``, ``12``, ``0.5``: a constant other than a string."""

    value: Any


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Template(Expr):
    """``"text {name} text"`` or its triple-quoted form: text and interpolations in order.

    ``parts`` holds decoded text (str) and ``Interpolation`` nodes. A string without braces has one text part, or
    none when it is empty.
    """

    parts: tuple[str | Interpolation, ...]
    triple: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Interpolation(Node):
    """``{a.b}`` in a string. ``value`` is a Name, Field or Index; ``raw`` the text to keep when it names nothing."""

    value: Expr
    raw: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Name(Expr):
    """``topic`` or ``quality-bar``."""

    id: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Field(Expr):
    """``a.b``."""

    object: Expr
    name: str
    name_span: Span


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Index(Expr):
    """``a[i]``."""

    object: Expr
    index: Expr


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ListExpr(Expr):
    """``[a, b]``, or ``- a`` lines."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Entry(Node):
    """``key: value`` of an object; the shorthand ``{ a }`` has the Name ``a`` as value."""

    key: str
    value: Expr


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ObjectExpr(Expr):
    """``{ a: 1, b }`` with commas or newlines between the entries."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Unary(Expr):
    """``not a`` or ``-a``; ``op`` is ``not`` or ``-``."""

    op: Literal["not", "-"]
    operand: Expr


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Binary(Expr):
    """``a + b``, ``a < b``, ``a and b``. ``op`` is one of + - * / % == != < <= > >= and or in."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Conditional(Expr):
    """``x if C else y`` or ``if C then x else y``."""

    condition: Condition
    then: Expr
    orelse: Expr


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Predicate(Expr):
    """English with an exact meaning (LANGUAGE.md, Conditions, rung 1).

    ``op``: present (``is present``, ``is set``), absent (``is absent``), null, empty, true, false, is, has,
    contains, meets (>=, also ``is at least``), exceeds (>), at_most (<=). ``is not present`` has ``negated``.
    The operand of ``has`` is a Name or Literal whose spelling counts, not its value.
    """

    subject: Expr
    op: str
    operand: Expr | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FunctionCall(Expr):
    """``len(xs)``, ``join(xs, ", ")``."""

    name: str
    name_span: Span
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Group(Expr):
    """``group(xs by field)``."""

    source: Expr
    field: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Discretion(Expr):
    """``**question**`` as a value: the default service answers."""

    text: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Argument(Node):
    """``name: E`` of a call, or a positional ``E`` (name None)."""

    name: str | None
    name_span: Span | None
    value: Expr


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Call(Expr):
    """``call target`` with its inputs in any of their forms. Modifiers (model, retry, prompt ...) stand among them.

    ``with`` an expression that is no object literal (``call x with inputs``) is kept in ``spread``.
    """

    target: Expr
    args: tuple[Argument, ...] = ()
    spread: Expr | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Session(Expr):
    """``session "text"``, ``session: agent``, ``session name: agent``, ``resume: agent`` with properties below."""

    prompt: Expr | None = None
    agent: Name | None = None
    name: Name | None = None
    resume: bool = False
    args: tuple[Argument, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DoBlock(Expr):
    """``do name(args)`` or ``do name`` with an indented block of arguments: call of a block."""

    block: Name
    args: tuple[Argument, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Pipeline(Expr):
    """``xs | map: ...``."""

    source: Expr
    stages: tuple[Stage, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Stage(Node):
    """One ``| map:`` with its body. ``names`` are the parameters of ``reduce(acc, x)``."""

    kind: Literal["map", "pmap", "filter", "reduce"]
    body: Block
    names: tuple[Name, ...] = ()


# conditions


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Condition(Node):
    """What stands between ``if`` and the colon. ``text`` is its one-line spelling, without marks.

    ``marked``: it was written ``**text**`` or ``***text***``.
    """

    text: str
    test: Test
    marked: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Test(Node):
    """A part of a condition."""

    text: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Clause(Test):
    """A part without a top-level ``and``/``or``. ``expr`` is set when it parses as an expression or predicate;

    whether its names exist is for the resolver to say.
    """

    expr: Expr | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Junction(Test):
    """Parts joined by ``and`` (op "and") or ``or`` (op "or")."""

    op: Literal["and", "or"]
    parts: tuple[Test, ...]


# statements


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Block(Node):
    """Statements of one indentation."""

    statements: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Destructure(Node):
    """``{ a, b }`` on the left of ``=``."""

    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Bind(Node):
    """``let x = E``, ``const x = E``, ``x = E``, ``x.f = E``, ``let { a, b } = E``. ``keyword`` is None without one."""

    keyword: Literal["let", "const"] | None
    target: Name | Field | Index | Destructure
    value: Expr


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Append(Node):
    """``record E in xs``, ``append E to xs``, ``append xs E``, ``add E to xs [with note E]``.

    ``word`` is the spelling's keyword.
    """

    word: Literal["record", "append", "add"]
    value: Expr
    target: Expr
    note: Expr | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Emit(Node):
    """``emit E``."""

    value: Expr


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Return(Node):
    """``return [E]``."""

    value: Expr | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Throw(Node):
    """``throw [E]``."""

    value: Expr | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Break(Node):
    """``break``."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Continue(Node):
    """``continue``."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sleep(Node):
    """``sleep 2s``; ``seconds`` is an expression in seconds."""

    seconds: Expr


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ExprStatement(Node):
    """``E`` alone on a line: a call, a loop, a name."""

    value: Expr


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Branch(Node):
    """``if C:`` or ``elif C:`` with its body."""

    condition: Condition
    body: Block


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class If(Expr):
    """``if C: ... elif C: ... else: ...``."""

    branches: tuple[Branch, ...]
    orelse: Block | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Option(Node):
    """``option "label":``."""

    label: str
    body: Block


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Choice(Expr):
    """``choice CRITERIA:`` with options. ``criteria`` is a Template, so that ``{name}`` in it interpolates."""

    criteria: Template
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ParallelOptions(Node):
    """``("any", count: 2, on-fail: "continue")``; as written, defaults left out."""

    mode: Literal["all", "first", "any"] = "all"
    count: Expr | None = None
    on_fail: Literal["fail-fast", "continue", "ignore"] = "fail-fast"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Repeat(Expr):
    """``repeat N as i:`` or, with ``parallel`` set, ``parallel repeat N as i:``."""

    count: Expr
    body: Block
    var: Name | None = None
    parallel: ParallelOptions | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ForEach(Expr):
    """``for x, i in xs:``, ``for each x in xs:``, ``loop for each x in xs (max: N):``, ``parallel for ...``."""

    var: Name
    iterable: Expr
    body: Block
    index: Name | None = None
    maximum: Expr | None = None
    parallel: ParallelOptions | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Loop(Expr):
    """``loop until C (max: N) as i:``, ``loop while C:``, ``loop:``."""

    body: Block
    kind: Literal["until", "while"] | None = None
    condition: Condition | None = None
    maximum: Expr | None = None
    var: Name | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Parallel(Expr):
    """``parallel ("first"):``; each statement of the body is a branch."""

    body: Block
    options: ParallelOptions


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Do(Expr):
    """``do:`` with a body in the same frame."""

    body: Block


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Catch(Node):
    """``catch as e:``."""

    body: Block
    var: Name | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Try(Expr):
    """``try: ... catch as e: ... finally: ...``."""

    body: Block
    catch: Catch | None = None
    final: Block | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Use(Node):
    """``use "ref" as name`` or the older ``import``."""

    reference: str
    alias: Name


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Agent(Node):
    """``agent name:`` with properties."""

    name: Name
    args: tuple[Argument, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BlockDef(Node):
    """``block name(params):``."""

    name: Name
    params: tuple[Name, ...]
    body: Block


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Input(Node):
    """``input topic: "text"``."""

    name: Name
    text: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Output(Node):
    """``output n = E``: publishes at top level, returns in a block."""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Invalid(Node):
    """A statement that could not be read; a diagnostic says why. Checkers pass over it."""

    text: str


# the spec's sections


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Section(Node):
    """A ``###`` section as it stands: ``key`` is its lower-case title, ``body`` the span below the heading."""

    key: str
    title: str
    title_span: Span
    body: Span
    bullets: tuple[Bullet, ...] = ()
    fences: tuple[Fence, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Bullet(Node):
    """A list item: its own text with wrapped lines folded into one, nested bullets, and further lines as ``rows``.

    Lines below are rows when the text ends with a colon, or when a blank line or a nested bullet stands before them.
    """

    text: str
    text_span: Span
    bullets: tuple[Bullet, ...] = ()
    rows: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Row(Node):
    """A line below a bullet that is no bullet itself."""

    text: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Fence(Node):
    """A fenced block: ``label`` is the first word behind the opening fence, ``content`` the lines between."""

    label: str
    content: Span


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Requirement(Node):
    """An item of a slot's ``requires``. ``name`` is set for a single identifier or backticked name."""

    text: str
    name: str | None
    optional: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Promise(Node):
    """A sentence of ``ensures`` or Returns. ``names`` are the fields that it declares, if it is a list of such."""

    text: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Slot(Node):
    """A role that the pattern leaves open."""

    name: str
    name_span: Span
    description: str = ""
    primary: bool = False
    is_list: bool = False
    requires: tuple[Requirement, ...] = ()
    ensures: tuple[Promise, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Parameter(Node):
    """A row of Parameters, Requires or Inputs."""

    name: str
    name_span: Span
    type: str | None = None
    optional: bool = False
    default: Any = None
    has_default: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OutputDecl(Node):
    """A bullet of Returns that starts with a name."""

    name: str
    name_span: Span
    type: str | None = None
    optional: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Returns(Node):
    """Returns, Ensures or Maintains: declared outputs and promises in prose."""

    outputs: tuple[OutputDecl, ...] = ()
    promises: tuple[Promise, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Invariant(Node):
    """One sentence that always holds."""

    text: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Delegate(Node):
    """``slot: job`` of Shape. ``job`` ends before the first `` — ``."""

    slot: str
    job: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shape(Node):
    """Who does what: ``own`` is ``self``."""

    own: str = ""
    delegates: tuple[Delegate, ...] = ()
    prohibited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Instance(Node):
    """A pattern instance: the pattern's name, what fills its slots and its config.

    ``bindings`` maps a slot to a name, an Instance or a list of these; spans are of the YAML entry.
    """

    name: str | None
    pattern: str
    bindings: Mapping[str, Any]
    config: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Spec(Node):
    """A spec file, or an inline component of one (kind ``function``, no body of its own or an Execution).

    ``body`` is the program of Delegation or Execution; ``javascript`` the fence of a composite's Delegation Loop.
    ``sections`` holds every section as it stands, so that those without a node of their own can be read as data;
    ``preamble`` is the text between the title, or a component's heading, and the first section.
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

    def section(self, *keys: str) -> Section | None:
        """The first section with one of these lower-case titles."""
        return next((s for s in self.sections if s.key in keys), None)

    def text_of(self, *keys: str) -> str:
        """The text below a section's heading, or nothing."""
        section = self.section(*keys)
        return self.source.slice(section.body).strip() if section else ""
