"""ProseScript into nodes (LANGUAGE.md section 3).

Three steps, none of which recurses, so that deep nesting cannot exhaust the stack: the layout gives lines with their
children (``layout``); each line's head is parsed by the grammar, parents first, because the head decides how the
lines below are read (``grammar``); the nodes are built, children first and later siblings first, so that each line
finds its body, its inputs and its ``else`` ready (``statements``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from prose_runtime.diagnostics import Collector, Edit, Fix
from prose_runtime.nodes import (
    Argument,
    Bind,
    Block,
    Effect,
    Expr,
    ExprStatement,
    Invalid,
    ListExpr,
    Name,
    Node,
    ObjectExpr,
    Output,
    Return,
)
from prose_runtime.records import dataclass
from prose_runtime.syntax import conditions, grammar, layout, loose, messages, properties, splitting, typography
from prose_runtime.syntax.expressions import CALLS, Pair
from prose_runtime.syntax.layout import Line
from prose_runtime.syntax.outer import trimmed
from prose_runtime.syntax.statements import Item, Part, StatementBuilder
from prose_runtime.text import Source, Span

if TYPE_CHECKING:
    from prose_runtime.syntax.grammar import Tree

Role = Literal["statement", "entry"]

MAX_TREE = 300
"""How deeply an expression may nest: more than anybody writes, and few enough to walk with recursion."""

_BODIES = frozenset(
    "if_block choice repeat for_ loop parallel parallel_repeat parallel_for try_ do_block elif else_ catch finally_ "
    "option stage block bare_loop".split()
)
_PART_KINDS = {
    "elif": "if",
    "else": "if",
    "catch": "try",
    "finally": "try",
    "option": "choice",
}
_FLOWS = {
    "stage": ("stage", "write the list before it: `xs | map:`"),
    "onward": ("`->`", "write the value before it: `A -> B`"),
}
_FIRST_WORD = re.compile(r"[|A-Za-z_]+")


def parse_block(source: Source, span: Span, out: Collector) -> Block:
    """The statements of a program: what stands in a fence, or a whole ``.prose`` file.

    It never raises. A statement that cannot be read is an ``Invalid`` node with an error in ``out``, and reading goes
    on behind it. All spans are offsets of the file.
    """
    source = typography.plain(source, span, out)
    return _Program(source, out).block(layout.read(source, span, out), span)


def parse_expression(source: Source, span: Span, out: Collector) -> Expr | None:
    """One expression; None, with an error in ``out``, when the span holds none."""
    inner = trimmed(source.text, span)
    found = conditions.expression(source, inner, out) if inner.end > inner.start else grammar.Failure(span.start)
    if isinstance(found, Expr):
        return found
    _report(source, inner, found.position, "expr", out)
    return None


def _report(source: Source, span: Span, position: int, role: str, out: Collector) -> None:
    found = messages.explain(source.text, span, position, role)
    out.error("syntax", found.span, found.message, found.help)


@dataclass(slots=True, eq=False)
class _Job:
    """A line on its way to a node.

    ``kind`` is the grammar's rule for it, or ``invalid``; ``owner`` the call that takes the lines below as inputs;
    ``result`` what was built: statements, a part of the construct above, an input or an item. ``data``: it belongs to
    a property that has no meaning here, so that its words are text.
    """

    line: Line
    role: Role
    siblings: list[_Job]
    index: int
    kind: str = "invalid"
    tree: Tree[Any] | None = None
    owner: Tree[Any] | None = None
    children: list[_Job] = field(default_factory=list)
    result: Any = None
    taken: bool = False
    word: str = ""
    data: bool = False


class _Program:
    """Parses and builds all lines of a block."""

    def __init__(self, source: Source, out: Collector):
        self.source = source
        self.text = source.text
        self.out = out
        self.queue: list[_Job] = []

    def block(self, lines: list[Line], span: Span) -> Block:
        top = self._jobs(lines, "statement")
        self.queue = list(top)
        for job in self.queue:
            self._parse(job)
            self.queue.extend(job.children)
        for job in reversed(self.queue):
            _Build(self, job).run()
        statements = self.statements(top)
        start = min([*(s.span.start for s in statements), span.end])
        end = max([start, *(s.span.end for s in statements)])
        return Block(span=Span(start, end) if statements else Span(span.start, span.start), statements=statements)

    def _jobs(self, lines: list[Line], role: Role) -> list[_Job]:
        siblings: list[_Job] = []
        for line in lines:
            siblings.append(_Job(line, role, siblings, len(siblings)))
        return siblings

    # parents first: what each line is

    def _parse(self, job: _Job) -> None:
        line = job.line
        word = _FIRST_WORD.match(self.text, line.start, line.end)
        job.word = word.group() if word else ""
        if line.broken:
            job.children = self._jobs(line.children, "statement") if _holds_statements(self.text, line) else []
            return
        splitting.split(self.source, line, self.out, entry=job.role == "entry", data=job.data)
        found = self._head(job)
        if isinstance(found, grammar.Failure):
            if self._loose(job):
                return
            _report(self.source, line.span, found.position, job.role, self.out)
            job.children = self._jobs(line.children, "statement") if _holds_statements(self.text, line) else []
            return
        if _nests_too_deeply(found):
            self.out.error("too-deep", line.span, f"this nests deeper than {MAX_TREE} levels", "name the inner parts")
            return
        job.tree, job.kind = found, found.data.rstrip("_")
        self._open(job, found)

    def _loose(self, job: _Job) -> bool:
        """Whether a line that the grammar does not know is plain data, or an effect told in words."""
        line = job.line
        if job.role == "entry" and (job.data or loose.key_of(self.text, line.span) == "model"):
            job.result, job.kind = loose.data(self.source, Span(line.start, _tail(line))), "data"
            return True
        opens = self.text[line.end - 1] == ":" and line.children and self._is_data(line.children[0])
        words = trimmed(self.text, Span(line.start, line.end - 1)) if opens else line.span
        job.result = loose.effect_as_value(self.text, words) if job.role == "statement" else None
        if job.result is None:
            return False
        job.kind = "effect"
        job.children = self._jobs(line.children, "entry")
        return True

    def _head(self, job: _Job) -> Tree[Any] | grammar.Failure:
        line = job.line
        if job.role == "statement" and self.text.startswith("- ", line.start):
            return grammar.Failure(line.start)
        found = grammar.parse(self.source, line.span, job.role)
        if isinstance(found, grammar.Failure) and self.text[line.end - 1] == ":":
            shorter = trimmed(self.text, Span(line.start, line.end - 1))
            again = grammar.parse(self.source, shorter, job.role) if shorter.end > shorter.start else found
            if not isinstance(again, grammar.Failure) and _last_call(again) is not None:
                colon = Span(line.end - 1, line.end)
                fix = Fix("Remove the colon", (Edit(colon, ""),))
                self.out.warning("stray-colon", colon, "no colon stands behind a call", "leave it out", fix=fix)
                return again
        return found

    def _open(self, job: _Job, tree: Tree[Any]) -> None:
        """Decide how the lines below are read."""
        lines = job.line.children
        first_stage = next((i for i, line in enumerate(lines) if line.stage), len(lines))
        bodies = [part for part in tree.parts if part.data in _BODIES]
        job.owner = None if bodies else _last_call(tree)
        role: Role = "statement"
        if job.owner is not None or job.kind == "agent" or _waits_for_entries(tree):
            role = "entry"
        if _waits_for_value(tree) and lines and self._is_data(lines[0]):
            role = "entry"
        below = lines[:first_stage]
        if below and not (bodies or role == "entry" or _waits_for_value(tree)):
            self.out.error(
                "indentation",
                self.source.first_line(below[0].span),
                "this line is indented, but the line above it opens no block",
                "indent it like the line above",
            )
            if job.role == "entry":
                self._join(job, below)
                below = []
        job.children = self._jobs(below, role)
        known = properties.known_to(job.owner.data if job.owner is not None else job.kind)
        for child in job.children:
            key = loose.key_of(self.text, child.line.span)
            child.data = job.data or (known is not None and key is not None and key not in known)
        arrow: Line | None = None
        for line in lines[first_stage:]:
            if arrow is not None and not line.stage:
                arrow.children.append(line)  # what stands behind an arrow belongs to what it leads to
                continue
            arrow = line if self.text.startswith("->", line.start) else None
            # Behind the stages of an input stand further inputs.
            after: Role = "statement" if line.stage else role
            job.children.append(_Job(line, after, job.children, len(job.children)))

    def _is_data(self, line: Line) -> bool:
        """Whether the lines below ``let x =`` are the items of a list or the entries of an object."""
        key = loose.key_of(self.text, line.span)
        return self.text.startswith("- ", line.start) or (key is not None and key not in loose.HEADS)

    def _join(self, job: _Job, lines: list[Line]) -> None:
        """Read lines that are indented too deeply as if they stood beside their parent."""
        for line in lines:
            stray = _Job(line, job.role, job.siblings, len(job.siblings))
            job.siblings.append(stray)
            self.queue.append(stray)

    # children first: what each line means

    def statements(self, jobs: list[_Job]) -> tuple[Node, ...]:
        """The statements of a block; a part that no construct has taken is an error."""
        found: list[Node] = []
        excused = False
        for job in jobs:
            if job.taken:
                continue
            if isinstance(job.result, Part):
                if not excused:
                    self.orphan(job)
                found.append(Invalid(span=job.line.span, text=self.source.slice(job.line.span)))
                found.extend(job.result.block.statements)
                continue
            excused = job.kind == "invalid" and job.word in ("if", "elif", "else", "try", "catch", "choice", "let")
            found.extend(job.result or ())
        return tuple(found)

    def orphan(self, job: _Job) -> None:
        """Report a part without the construct that it belongs to."""
        word = _CLAUSE.match(self.source.text, job.line.start, job.line.end)
        span = Span(*word.span()) if word else job.line.span
        if job.kind in _FLOWS:
            what, help_ = _FLOWS[job.kind]
            self.out.error("orphan-clause", span, f"this {what} belongs to no value", help_)
            return
        name = "else if" if job.kind == "elif" and job.word == "else" else job.kind
        owner = _PART_KINDS[job.kind]
        where = "below a `choice` line" if owner == "choice" else f"right behind the `{owner}`, indented like it"
        self.out.error("orphan-clause", span, f"this `{name}` belongs to no `{owner}`", f"it stands {where}")


_CLAUSE = re.compile(r"else\s+if\b|\w+|->|\|")
"""How a part of a construct begins."""


class _Build:
    """One line with the lines below and behind it, as ``statements.Surroundings``."""

    def __init__(self, program: _Program, job: _Job):
        self.program = program
        self.source = program.source
        self.out = program.out
        self.job = job

    def run(self) -> None:
        """Build the job's result."""
        job = self.job
        if job.kind == "data":
            return
        if job.kind == "effect":
            job.result = (self._with_effect(),)
            return
        if job.tree is None:
            span = job.line.span
            job.result = (Invalid(span=span, text=self.source.slice(span)), *self.program.statements(job.children))
            return
        builder = StatementBuilder(self.source, self.out, self)
        self._give_inputs(builder)
        built = builder.build(job.tree)
        if isinstance(built, Node) and job.role == "statement":
            left = self.program.statements([c for c in job.children if not c.taken]) if not self._used else ()
            job.result = (built, *left)
        elif isinstance(built, Pair):
            job.result = self._completed(built, builder)
        else:
            job.result = built
        for stage in job.children:
            if stage.kind in _FLOWS and not stage.taken:
                self.program.orphan(stage)
                stage.taken = True

    @property
    def _used(self) -> bool:
        """Whether the lines below belong to the line: as its body, its inputs or its value."""
        tree = self.job.tree
        assert tree is not None
        bodies = any(part.data in _BODIES for part in tree.parts)
        return bodies or self.job.owner is not None or self.job.kind == "agent" or _waits_for_value(tree)

    def _with_effect(self) -> Node:
        """The statement of an effect, which has the inputs that stand below it."""
        held: Effect | Bind | Return | Output = self.job.result
        effect = held if isinstance(held, Effect) else held.value
        assert isinstance(effect, Effect)
        args = tuple(self._arguments())
        end = max([effect.span.end, *(arg.span.end for arg in args)])
        effect = replace(effect, span=Span(effect.span.start, end), args=args)
        if isinstance(held, Effect):
            return ExprStatement(span=effect.span, value=effect)
        return replace(held, span=Span(held.span.start, end), value=effect)

    # inputs and other entries

    def _give_inputs(self, builder: StatementBuilder) -> None:
        job = self.job
        if job.owner is None and job.kind != "agent":
            return
        builder.owner = job.owner
        builder.below = tuple(self._arguments())
        if builder.below and job.owner is not None and job.tree is not None:
            _reach(job.tree, job.owner, max(arg.span.end for arg in builder.below))

    def _arguments(self) -> list[Argument]:
        found: list[Argument] = []
        for child in self._below():
            result = child.result
            if isinstance(result, Pair):
                found.append(result.argument())
            elif isinstance(result, Name):
                self._shorthand(result)
                found.append(Argument(span=result.span, name=result.id, name_span=result.span, value=result))
            elif child.tree is not None or child.kind == "data":
                self.out.error(
                    "input-form",
                    self.source.first_line(child.line.span),
                    "this is no input",
                    "write the inputs of a call as `name: value`",
                )
        return found

    def _shorthand(self, name: Name) -> None:
        self.out.warning(
            "input-shorthand",
            name.span,
            f"the input `{name.id}` stands without a value and is read as `{name.id}: {name.id}`",
            f"write `{name.id}: {name.id}`",
            fix=Fix("Write the input out", (Edit(name.span, f"{name.id}: {name.id}"),)),
        )

    def _below(self) -> list[_Job]:
        return [child for child in self.job.children if child.kind not in _FLOWS]

    def _completed(self, pair: Pair, builder: StatementBuilder) -> Pair:
        """An input with all of its value, which may stand on the lines below it, or go on there."""
        if pair.value is not None:
            return replace(pair, value=builder.whole(pair.value))
        value = self._data(f"`{pair.key}`", pair.key_span)
        return Pair(Span(pair.span.start, value.span.end), pair.key, pair.key_span, value)

    def _data(self, what: str, place: Span) -> Expr:
        """The lines below as one value: a list of items, an object of pairs, or a value that stands alone."""
        results = [child.result for child in self._below() if child.tree is not None or child.kind == "data"]
        span = Span(self.job.line.end, self.job.line.end)
        if results:
            spans = [result.span for result in results]
            span = Span(spans[0].start, max(s.end for s in spans))
        if results and all(isinstance(result, Item) for result in results):
            return ListExpr(span=span, items=tuple(result.value for result in results))
        if results and all(isinstance(result, Pair) for result in results):
            return ObjectExpr(span=span, entries=tuple(result.entry() for result in results))
        if len(results) == 1 and isinstance(results[0], Expr):
            return results[0]
        if results and self.job.data:
            return loose.as_text(self.source, span)
        if results:
            self.out.error(
                "input-form",
                span,
                f"the lines below {what} are neither one value, nor all `- item`, nor all `name: value`",
                "write a list, an object or one value",
            )
        elif len(self._below()) == 0:
            self.out.error("missing-value", place, f"{what} has no value", "write it behind the colon, or below")
        return ListExpr(span=span, items=())

    # statements.Surroundings

    @property
    def end(self) -> int:
        """Where the line itself ends, without what stands below it."""
        return self.job.line.end

    @property
    def has_below(self) -> bool:
        """Whether anything stands below the line."""
        return bool(self._below())

    def body(self, head: Span, word: str) -> Block:
        """The statements below the line."""
        below = self._below()
        statements = self.program.statements(below)
        if not below and self.source.text[head.end - 1 : head.end] == ":":
            self.out.error(
                "missing-body", head, f"this `{word}` has no body", "indent the statements of its body below it"
            )
        if not statements:
            return Block(span=Span(head.end, head.end), statements=())
        end = max(statement.span.end for statement in statements)
        return Block(span=Span(statements[0].span.start, end), statements=statements)

    def value_below(self) -> Expr | None:
        """The value that stands below a line which ends where it should begin."""
        if any(child.role == "entry" for child in self._below()):
            return self._data("this name", self.job.line.span)
        statements = self.program.statements(self._below())
        if len(statements) == 1 and isinstance(statements[0], ExprStatement):
            return statements[0].value
        return None

    def options(self) -> list[Part]:
        """The options below a choice."""
        found: list[Part] = []
        below = self._below()
        for child in below:
            if isinstance(child.result, Part) and child.kind == "option":
                found.append(child.result)
                child.taken = True
            elif child.tree is not None:
                self.out.error(
                    "choice-body",
                    self.source.first_line(child.line.span),
                    "only options stand below a `choice`",
                    'write `option "label":`',
                )
        if not below:
            self.out.error(
                "missing-body", self.job.line.span, "this `choice` has no options", 'write `option "label":` below it'
            )
        return found

    def clauses(self, *kinds: str) -> list[Part]:
        """The parts of these kinds that follow directly; they are taken."""
        found: list[Part] = []
        for other in self._behind():
            part = other.result
            if not isinstance(part, Part) or part.kind not in kinds:
                break
            other.taken = True
            found.append(part)
            if part.kind in ("else", "finally"):
                break
        return found

    def stages(self) -> tuple[Part, ...]:
        """The lines below or behind the line that go on with its value; they are taken."""
        found: list[Part] = []
        below = [child for child in self.job.children if child.kind in _FLOWS and not child.taken]
        for other in chain(below, self._behind()):
            part = other.result
            if not isinstance(part, Part) or part.kind not in _FLOWS:
                break
            if part.kind == "onward" and self.job.role == "entry" and other.siblings is self.job.siblings:
                break  # an arrow behind the properties of a session goes on with the session
            other.taken = True
            found.append(part)
        return tuple(found)

    def _behind(self) -> Iterator[_Job]:
        """The lines behind this one in its block that nothing has taken."""
        siblings = self.job.siblings
        for index in range(self.job.index + 1, len(siblings)):
            if not siblings[index].taken:
                yield siblings[index]


def _tail(line: Line) -> int:
    """Where the last line below a line ends."""
    while line.children:
        line = line.children[-1]
    return line.end


def _holds_statements(text: str, line: Line) -> bool:
    """Whether the lines below a line that cannot be read are statements of their own, rather than inputs."""
    if not line.children:
        return False
    return text[line.end - 1] == ":" or layout.starts_statement(text, line.children[0].start)


def _nests_too_deeply(tree: Tree[Any]) -> bool:
    if len(tree.parts) <= MAX_TREE:
        return False
    depths: dict[int, int] = {}
    for part in tree.parts:
        depths[id(part)] = 1 + max((depths[id(kid)] for kid in part.children if hasattr(kid, "data")), default=0)
    return depths[id(tree)] > MAX_TREE


def _last_call(tree: Tree[Any]) -> Tree[Any] | None:
    """The call of a line that begins last: the one that takes the inputs below it."""
    calls = [part for part in tree.parts if part.data in CALLS]
    return max(calls, key=lambda part: part.start, default=None)


def _waits_for_entries(tree: Tree[Any]) -> bool:
    return bool(tree.data in ("pair", "item") and not hasattr(tree.children[-1], "data"))


def _waits_for_value(tree: Tree[Any]) -> bool:
    return tree.data in ("bind", "assign") and tree.children[-1] is None


def _reach(tree: Tree[Any], owner: Tree[Any], end: int) -> None:
    """Let a call and all that encloses it end behind its inputs."""
    for part in tree.parts:
        if part is owner or any(kid.end == end for kid in part.children if hasattr(kid, "data")):
            part.end = end
