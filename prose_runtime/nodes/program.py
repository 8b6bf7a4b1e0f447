"""The nodes of ProseScript: expressions, conditions, statements. Each docstring shows the concrete syntax."""

from __future__ import annotations

from typing import Any, Literal

from prose_runtime.nodes.base import Node, node
from prose_runtime.text import Span


@node
class Expr(Node):
    """Anything with a value."""


@node
class Constant(Expr):
    """``null``, ``true``, ``12``, ``0.5``: a constant other than a string."""

    value: Any


@node
class Template(Expr):
    """``"text {name} text"`` or its triple-quoted form: text and interpolations in order.

    ``parts`` holds decoded text (str) and ``Interpolation`` nodes. A string without braces has one text part, or
    none when it is empty.
    """

    parts: tuple[str | Interpolation, ...]
    triple: bool = False


@node
class Interpolation(Node):
    """``{a.b}`` in a string. ``value`` is a Name or Field; ``raw`` the text to keep when it names nothing."""

    value: Expr
    raw: str


@node
class Name(Expr):
    """``topic`` or ``quality-bar``."""

    id: str


@node
class Field(Expr):
    """``a.b``."""

    object: Expr
    name: str
    name_span: Span


@node
class Index(Expr):
    """``a[i]``."""

    object: Expr
    index: Expr


@node
class ListExpr(Expr):
    """``[a, b]``, or ``- a`` lines."""

    items: tuple[Expr, ...]


@node
class Entry(Node):
    """``key: value`` of an object; the shorthand ``{ a }`` has the Name ``a`` as value."""

    key: str
    value: Expr


@node
class ObjectExpr(Expr):
    """``{ a: 1, b }`` with commas or newlines between the entries."""

    entries: tuple[Entry, ...]


@node
class Unary(Expr):
    """``not a`` or ``-a``; ``op`` is ``not`` or ``-``."""

    op: Literal["not", "-"]
    operand: Expr


@node
class Binary(Expr):
    """``a + b``, ``a < b``, ``a and b``. ``op`` is one of + - * / % == != < <= > >= and or in."""

    op: str
    left: Expr
    right: Expr


@node
class Conditional(Expr):
    """``x if C else y`` or ``if C then x else y``."""

    condition: Condition
    then: Expr
    orelse: Expr


@node
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


@node
class FunctionCall(Expr):
    """``len(xs)``, ``join(xs, ", ")``."""

    name: str
    name_span: Span
    args: tuple[Expr, ...]


@node
class Group(Expr):
    """``group(xs by field)``."""

    source: Expr
    field: str


@node
class Discretion(Expr):
    """``**question**`` as a value: the default service answers."""

    text: str


@node
class MadeName(Expr):
    """``research_{trend}``: a name that is made of letters and values, by which a loop keeps its results apart.

    ``parts`` holds text (str) and ``Interpolation`` nodes; the first part is text.
    """

    parts: tuple[str | Interpolation, ...]

    @property
    def pattern(self) -> str:
        """The name with empty braces for its values: what two spellings of the same family have in common."""
        return "".join(part if isinstance(part, str) else "{}" for part in self.parts)


@node
class Argument(Node):
    """``name: E`` of a call, or a positional ``E`` (name None)."""

    name: str | None
    name_span: Span | None
    value: Expr


@node
class Call(Expr):
    """``call target`` with its inputs in any of their forms. Modifiers (model, retry, prompt ...) stand among them.

    ``with`` an expression that is no object literal (``call x with inputs``) is kept in ``spread``.
    """

    target: Expr
    args: tuple[Argument, ...] = ()
    spread: Expr | None = None


@node
class Session(Expr):
    """``session "text"``, ``session: agent``, ``session name: agent``, ``resume: agent`` with properties below."""

    prompt: Expr | None = None
    agent: Name | None = None
    name: Name | None = None
    resume: bool = False
    args: tuple[Argument, ...] = ()


@node
class DoBlock(Expr):
    """``do name(args)`` or ``do name`` with an indented block of arguments: call of a block."""

    block: Name
    args: tuple[Argument, ...] = ()


@node
class Ask(Expr):
    """``ask "text"``: a person answers. ``gate name: "text"`` is a ``let name`` of an Ask with ``gate`` set.

    ``args`` are properties from the lines below: ``prompt``, ``context``, ``options``.
    """

    prompt: Expr | None = None
    gate: bool = False
    args: tuple[Argument, ...] = ()


@node
class Effect(Expr):
    """``escalate topic to the owner``: an act outside of the program, told in words.

    ``name`` is its first word, that of the service which handles it; ``text`` all that stands behind it on the line.
    """

    name: str
    name_span: Span
    text: str
    args: tuple[Argument, ...] = ()


@node
class Pipeline(Expr):
    """``xs | map: ...``."""

    source: Expr
    stages: tuple[Stage, ...]


@node
class Stage(Node):
    """One ``| map:`` with its body. ``names`` are the parameters of ``reduce(acc, x)``."""

    kind: Literal["map", "pmap", "filter", "reduce"]
    body: Block
    names: tuple[Name, ...] = ()


@node
class Condition(Node):
    """What stands between ``if`` and the colon. ``text`` is its one-line spelling, without marks.

    ``marked``: it was written ``**text**`` or ``***text***``.
    """

    text: str
    test: Test
    marked: bool = False


@node
class Test(Node):
    """A part of a condition."""

    text: str


@node
class Clause(Test):
    """A part without a top-level ``and``/``or``. ``expr`` is set when it parses as an expression or predicate;

    whether its names exist is for the resolver to say.
    """

    expr: Expr | None = None


@node
class Junction(Test):
    """Parts joined by ``and`` (op "and") or ``or`` (op "or")."""

    op: Literal["and", "or"]
    parts: tuple[Test, ...]


@node
class Block(Node):
    """Statements of one indentation."""

    statements: tuple[Node, ...]


@node
class Destructure(Node):
    """``{ a, b }`` on the left of ``=``."""

    names: tuple[Name, ...]


@node
class Bind(Node):
    """``let x = E``, ``const x = E``, ``x = E``, ``x.f = E``, ``let { a, b } = E``. ``keyword`` is None without one."""

    keyword: Literal["let", "const"] | None
    target: Name | MadeName | Field | Index | Destructure
    value: Expr


@node
class Append(Node):
    """``record E in xs``, ``append E to xs``, ``append xs E``, ``add E to xs [with note E]``.

    ``word`` is the spelling's keyword.
    """

    word: Literal["record", "append", "add"]
    value: Expr
    target: Expr
    note: Expr | None = None


@node
class Emit(Node):
    """``emit E``."""

    value: Expr


@node
class Return(Node):
    """``return [E]``."""

    value: Expr | None = None


@node
class Throw(Node):
    """``throw [E]``."""

    value: Expr | None = None


@node
class Break(Node):
    """``break``."""


@node
class Continue(Node):
    """``continue``."""


@node
class Sleep(Node):
    """``sleep 2s``; ``seconds`` is an expression in seconds."""

    seconds: Expr


@node
class ExprStatement(Node):
    """``E`` alone on a line: a call, a loop, a name."""

    value: Expr


@node
class Branch(Node):
    """``if C:`` or ``elif C:`` with its body."""

    condition: Condition
    body: Block


@node
class If(Expr):
    """``if C: ... elif C: ... else: ...``."""

    branches: tuple[Branch, ...]
    orelse: Block | None = None


@node
class Option(Node):
    """``option "label":``."""

    label: str
    body: Block


@node
class Choice(Expr):
    """``choice CRITERIA:`` with options. ``criteria`` is a Template, so that ``{name}`` in it interpolates."""

    criteria: Template
    options: tuple[Option, ...]


@node
class ParallelOptions(Node):
    """``("any", count: 2, on-fail: "continue")``; as written, defaults left out."""

    mode: Literal["all", "first", "any"] = "all"
    count: Expr | None = None
    on_fail: Literal["fail-fast", "continue", "ignore"] = "fail-fast"


@node
class Repeat(Expr):
    """``repeat N as i:`` or, with ``parallel`` set, ``parallel repeat N as i:``."""

    count: Expr
    body: Block
    var: Name | None = None
    parallel: ParallelOptions | None = None


@node
class ForEach(Expr):
    """``for x, i in xs:``, ``for each x in xs:``, ``loop for each x in xs (max: N):``, ``parallel for ...``."""

    var: Name
    iterable: Expr
    body: Block
    index: Name | None = None
    maximum: Expr | None = None
    parallel: ParallelOptions | None = None


@node
class Loop(Expr):
    """``loop until C (max: N) as i:``, ``loop while C:``, ``loop:``."""

    body: Block
    kind: Literal["until", "while"] | None = None
    condition: Condition | None = None
    maximum: Expr | None = None
    var: Name | None = None


@node
class Parallel(Expr):
    """``parallel ("first"):``; each statement of the body is a branch."""

    body: Block
    options: ParallelOptions


@node
class Do(Expr):
    """``do:`` with a body in the same frame."""

    body: Block


@node
class Catch(Node):
    """``catch as e:``."""

    body: Block
    var: Name | None = None


@node
class Try(Expr):
    """``try: ... catch as e: ... finally: ...``."""

    body: Block
    catch: Catch | None = None
    final: Block | None = None


@node
class Use(Node):
    """``use "ref" as name`` or the older ``import``."""

    reference: str
    alias: Name


@node
class Agent(Node):
    """``agent name:`` with properties."""

    name: Name
    args: tuple[Argument, ...]


@node
class BlockDef(Node):
    """``block name(params):``."""

    name: Name
    params: tuple[Name, ...]
    body: Block


@node
class Input(Node):
    """``input topic: "text"``."""

    name: Name
    text: str


@node
class Output(Node):
    """``output n = E``: publishes at top level, returns in a block."""

    name: Name
    value: Expr


@node
class Invalid(Node):
    """A statement that could not be read; a diagnostic says why. Checkers pass over it."""

    text: str
