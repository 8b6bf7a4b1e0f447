"""Programs as text: the canonical spelling of a tree, which is read as the same tree again.

It prints any tree that the parser makes without an error. What a tree does not hold cannot be printed: comments and
the author's line breaks. Files are therefore laid out by ``format_code``, in the same style.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from prose_runtime.nodes import (
    Agent,
    Append,
    Argument,
    Ask,
    Bind,
    Block,
    BlockDef,
    Break,
    Call,
    Choice,
    Condition,
    Constant,
    Continue,
    Destructure,
    Do,
    DoBlock,
    Effect,
    Emit,
    Entry,
    Expr,
    ExprStatement,
    ForEach,
    If,
    Input,
    Interpolation,
    Invalid,
    ListExpr,
    Loop,
    Name,
    Node,
    ObjectExpr,
    Output,
    Parallel,
    ParallelOptions,
    Pipeline,
    Repeat,
    Return,
    Session,
    Sleep,
    Stage,
    Template,
    Throw,
    Try,
    Use,
)
from prose_runtime.syntax.format_conditions import spelling
from prose_runtime.syntax.format_expressions import (
    LOOSEST,
    OR,
    POSTFIX,
    STEP,
    Callee,
    ExpressionPrinter,
    is_name,
    key,
    number,
)
from prose_runtime.syntax.format_strings import plain_literal
from prose_runtime.syntax.outer import hits
from prose_runtime.syntax.strings import NAME
from prose_runtime.text import Span

_CONSTRUCTS = (If, Choice, Repeat, ForEach, Loop, Parallel, Do, Try)
_DEFINITIONS = (BlockDef, Agent)
_PLAIN_CRITERIA = re.compile(r"(?!(?:and|or|if|in|is|has|contains|meets)\b)[A-Za-z](?:[\w ,.'-]*[\w'])?")
_TO = re.compile(r"to(?![\w-])")
_IN = r"(?<![\w-])in(?![\w-])"
_DIGITS = re.compile(r"\d+(?:\.\d+)?")


def print_block(block: Block, indent: int = 0) -> str:
    """The statements of a block, indented by a number of blanks; the text ends with a newline unless it is empty."""
    printer = _Printer()
    printer.block(block, indent, spaced=True)
    return "".join(line + "\n" for line in printer.lines)


def print_expression(expr: Expr) -> str:
    """An expression, a call with its inputs in parentheses; only a construct or pipeline in it takes more lines."""
    if not any(isinstance(node, (*_CONSTRUCTS, Pipeline)) for node in expr.walk()):
        return ExpressionPrinter().text(expr)
    printer = _Printer()
    printer.value("", expr, 0)
    return "\n".join(printer.lines)


class _Printer:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, indent: int, text: str) -> None:
        """Add a line. What stands behind a newline in it has its indentation already."""
        self.lines += f"{' ' * indent}{text}".split("\n")

    def block(self, block: Block, indent: int, *, spaced: bool = False) -> None:
        wide = False
        for number_, statement in enumerate(block.statements):
            before = _is_wide(statement)
            if spaced and number_ and (wide or before):
                self.lines.append("")
            wide = before
            self.statement(statement, indent)

    def statement(self, node: Node, indent: int) -> None:
        form: Callable[[Node, int], None] = getattr(self, f"_{type(node).__name__.lower()}")
        form(node, indent)

    # statements

    def _bind(self, node: Bind, indent: int) -> None:
        if isinstance(node.value, Ask) and node.value.gate and isinstance(node.target, Name):
            self._gate(node.target, node.value, indent)
            return
        word = f"{node.keyword} " if node.keyword else ""
        owner, below = _owner([node.target, node.value]) if any(_calls(node.target)) else (None, 0)
        target = _target(node, ExpressionPrinter(indent, owner, below))
        self.value(f"{word}{target} = ", node.value, indent)
        if owner is not None and owner not in set(_calls(node.value)):
            self.inputs(owner, below, indent)

    def _gate(self, name: Name, gate: Ask, indent: int) -> None:
        prompt = f" {ExpressionPrinter(indent).text(gate.prompt)}" if gate.prompt else ""
        self.add(indent, f"gate {name.id}:{prompt}")
        self.arguments(gate.args, indent + STEP)

    def _exprstatement(self, node: ExprStatement, indent: int) -> None:
        if isinstance(node.value, Effect):
            self.add(indent, f"{node.value.name} {node.value.text}")
            self.arguments(node.value.args, indent + STEP)
        else:
            self.value("", node.value, indent)

    def _emit(self, node: Emit, indent: int) -> None:
        self.value("emit ", node.value, indent)

    def _return(self, node: Return, indent: int) -> None:
        self._optional("return", node.value, indent)

    def _throw(self, node: Throw, indent: int) -> None:
        self._optional("throw", node.value, indent)

    def _optional(self, word: str, value: Expr | None, indent: int) -> None:
        if value is None:
            self.add(indent, word)
        else:
            self.value(f"{word} ", value, indent)

    def _break(self, node: Break, indent: int) -> None:
        self.add(indent, "break")

    def _continue(self, node: Continue, indent: int) -> None:
        self.add(indent, "continue")

    def _append(self, node: Append, indent: int) -> None:
        parts = [part for part in (node.value, node.target, node.note) if part is not None]
        owner, below = _owner(parts)
        printer = ExpressionPrinter(indent, owner, below)
        value, target = printer.text(node.value, OR), printer.text(node.target, POSTFIX)
        if node.word == "record":
            # The first `in` outside of brackets has to be that of `record`.
            value, target = _bracketed_in(value), _bracketed_in(target)
        elif _TO.match(value) or (node.word == "append" and any(hits(value, Span(0, len(value)), " - "))):
            value = f"({value})"
        text = f"{node.word} {value} {'in' if node.word == 'record' else 'to'} {target}"
        if node.note is not None:
            text += f" with note {printer.text(node.note)}"
        self.add(indent, text)
        self.inputs(owner, below, indent)

    def _sleep(self, node: Sleep, indent: int) -> None:
        value = node.seconds
        if isinstance(value, Constant) and type(value.value) in (int, float):
            text = number(value.value)
            unit = "s" if _DIGITS.fullmatch(text) and not text.endswith(".0") else ""
            self.add(indent, f"sleep {text}{unit}")
        else:
            self.inline("sleep ", value, indent)

    def _use(self, node: Use, indent: int) -> None:
        reference, name = plain_literal(node.reference), node.alias.id
        if is_name(name):
            self.add(indent, f"use {reference} as {name}")
        else:
            self.add(indent, f"import {plain_literal(name)} from {reference}")

    def _agent(self, node: Agent, indent: int) -> None:
        self.add(indent, f"agent {node.name.id}:")
        self.arguments(node.args, indent + STEP)

    def _blockdef(self, node: BlockDef, indent: int) -> None:
        params = f"({_names(node.params)})" if node.params else ""
        self.add(indent, f"block {node.name.id}{params}:")
        self.block(node.body, indent + STEP)

    def _input(self, node: Input, indent: int) -> None:
        self.add(indent, f"input {node.name.id}" + (f": {plain_literal(node.text)}" if node.text else ""))

    def _output(self, node: Output, indent: int) -> None:
        self.value(f"output {node.name.id} = ", node.value, indent)

    def _invalid(self, node: Invalid, indent: int) -> None:
        self.add(indent, node.text)

    # values

    def value(self, head: str, value: Expr, indent: int) -> None:
        """A value behind what begins its line, with the lines below that belong to it."""
        if isinstance(value, _CONSTRUCTS):
            form: Callable[[str, Expr, int], None] = getattr(self, f"_{type(value).__name__.lower()}")
            form(head, value, indent)
        elif isinstance(value, Pipeline):
            self._pipeline(head, value, indent)
        else:
            self.inline(head, value, indent)

    def inline(self, head: str, value: Expr, indent: int) -> None:
        owner, below = _owner([value], value)
        self.add(indent, head + ExpressionPrinter(indent, owner, below).text(value))
        self.inputs(owner, below, indent)

    def inputs(self, owner: Callee | None, below: int, indent: int) -> None:
        if owner is not None:
            self.arguments(owner.args[below:], indent + STEP)

    def arguments(self, args: Sequence[Argument], indent: int) -> None:
        for arg in args:
            self.pair(arg.name or "", arg.value, indent)

    def pair(self, name: str, value: Expr, indent: int) -> None:
        if isinstance(value, ListExpr | ObjectExpr) and _needs_lines(value):
            self.add(indent, f"{key(name)}:")
            self.data(value, indent + STEP)
        else:
            self.value(f"{key(name)}: ", value, indent)

    def data(self, value: ListExpr | ObjectExpr, indent: int) -> None:
        if isinstance(value, ObjectExpr):
            for entry in value.entries:
                self.pair(entry.key, entry.value, indent)
        else:
            for item in value.items:
                self.value("- ", item, indent)

    def _pipeline(self, head: str, value: Pipeline, indent: int) -> None:
        source = value.source
        if isinstance(source, Pipeline):
            self.add(indent, head.rstrip())
            self.value("", source, indent + STEP)
            self.stages(value.stages, indent)
        elif _stages_beside(value):
            # A stage that is indented below these would belong to the last line of the body, or to the last input.
            self.value(head, source, indent)
            self.stages(value.stages, indent)
        elif len(value.stages) == 1 and not any(map(_ends_in_stages, value.stages[0].body.statements)):
            self.stage(f"{head}{ExpressionPrinter(indent).text(source)} ", value.stages[0], indent)
        else:
            self.inline(head, source, indent)
            self.stages(value.stages, indent + STEP)

    def stages(self, stages: Sequence[Stage], indent: int) -> None:
        for stage in stages:
            self.stage("", stage, indent)

    def stage(self, head: str, stage: Stage, indent: int) -> None:
        names = f"({_names(stage.names)})" if stage.names else ""
        self.add(indent, f"{head}| {stage.kind}{names}:")
        self.block(stage.body, indent + STEP)

    # constructs

    def _if(self, head: str, node: If, indent: int) -> None:
        word = f"{head}if"
        for branch in node.branches:
            self.add(indent, f"{word} {spelling(branch.condition)}:")
            self.block(branch.body, indent + STEP)
            word = "elif"
        self._part("else", node.orelse, indent)

    def _part(self, head: str, body: Block | None, indent: int) -> None:
        if body is not None:
            self.add(indent, f"{head}:")
            self.block(body, indent + STEP)

    def _choice(self, head: str, node: Choice, indent: int) -> None:
        self.add(indent, f"{head}choice {_criteria(node.criteria, indent)}:")
        for option in node.options:
            self._part(f"option {plain_literal(option.label)}", option.body, indent + STEP)

    def _repeat(self, head: str, node: Repeat, indent: int) -> None:
        options = _options(node.parallel, indent)
        count = _head(node.count, options, indent)
        word = "parallel repeat" if node.parallel else "repeat"
        self._part(f"{head}{word} {count}{_counter(node.var)}{options}", node.body, indent)

    def _foreach(self, head: str, node: ForEach, indent: int) -> None:
        options = _options(node.parallel, indent) + _maximum(node.maximum, indent)
        iterable = _head(node.iterable, options, indent)
        word = "parallel for" if node.parallel else "for" if node.maximum is None else "loop for"
        names = _names([node.var, node.index] if node.index else [node.var])
        self._part(f"{head}{word} {names} in {iterable}{options}", node.body, indent)

    def _loop(self, head: str, node: Loop, indent: int) -> None:
        condition = f" {node.kind} {spelling(node.condition)}" if node.condition else ""
        maximum = _maximum(node.maximum, indent)
        self._part(f"{head}loop{condition}{maximum}{_counter(node.var)}", node.body, indent)

    def _parallel(self, head: str, node: Parallel, indent: int) -> None:
        self._part(f"{head}parallel{_options(node.options, indent)}", node.body, indent)

    def _do(self, head: str, node: Do, indent: int) -> None:
        self._part(f"{head}do", node.body, indent)

    def _try(self, head: str, node: Try, indent: int) -> None:
        self._part(f"{head}try", node.body, indent)
        if node.catch:
            self._part(f"catch{_counter(node.catch.var)}", node.catch.body, indent)
        self._part("finally", node.final, indent)


# the heads of constructs


def _target(node: Bind, printer: ExpressionPrinter) -> str:
    target = node.target
    if isinstance(target, Destructure):
        return f"{{ {_names(target.names)} }}"
    text = target.id if isinstance(target, Name) else printer.text(target, POSTFIX)
    # Behind `let` every word is a name, and nothing but a name or a brace may follow it.
    return re.sub(rf"\A\(({NAME})\)", r"\1", text) if node.keyword else text


def _bracketed_in(text: str) -> str:
    return f"({text})" if any(hits(text, Span(0, len(text)), _IN)) else text


def _names(names: Sequence[Name]) -> str:
    return ", ".join(name.id for name in names)


def _criteria(criteria: Template, indent: int) -> str:
    bare = "".join(part.raw if isinstance(part, Interpolation) else part for part in criteria.parts)
    plain = not criteria.triple and _PLAIN_CRITERIA.fullmatch(re.sub(r"\{[\w.-]+\}", "x", bare))
    written = all(isinstance(part, Interpolation) or "{" not in part for part in criteria.parts)
    return bare if plain and written and bare[0].isalpha() else ExpressionPrinter(indent).text(criteria)


def _head(expr: Expr, options: str, indent: int) -> str:
    """The value in a head; a call there must not take the options that follow for its inputs."""
    return ExpressionPrinter(indent).text(expr, POSTFIX if options and any(_calls(expr)) else LOOSEST)


def _counter(var: Name | None) -> str:
    return f" as {var.id}" if var else ""


def _maximum(maximum: Expr | None, indent: int) -> str:
    return f" (max: {ExpressionPrinter(indent).text(maximum)})" if maximum is not None else ""


def _options(options: ParallelOptions | None, indent: int) -> str:
    if options is None:
        return ""
    parts = [f'"{options.mode}"'] if options.mode != "all" else []
    if options.count is not None:
        parts.append(f"count: {ExpressionPrinter(indent).text(options.count)}")
    if options.on_fail != "fail-fast":
        parts.append(f'on-fail: "{options.on_fail}"')
    return f" ({', '.join(parts)})" if parts else ""


# what needs lines of its own


def _is_wide(statement: Node) -> bool:
    """Whether a statement has a body, so that blank lines set it off."""
    value = statement.value if isinstance(statement, ExprStatement | Bind | Return | Output) else None
    return isinstance(statement, _DEFINITIONS) or isinstance(value, (*_CONSTRUCTS, Pipeline))


def _stages_beside(value: Pipeline) -> bool:
    """Whether the stages stand at the indentation of the line itself, because other lines stand below it."""
    source = value.source
    return isinstance(source, (*_CONSTRUCTS, Pipeline)) or _owner([source], source)[0] is not None


def _ends_in_stages(statement: Node) -> bool:
    """Whether a statement's stages would be taken for those of a line above that has a stage itself."""
    value = getattr(statement, "value", None)
    return isinstance(value, Pipeline) and _stages_beside(value)


def _needs_lines(value: Expr) -> bool:
    """Whether a value cannot stand on one line: it is a construct or pipeline, or holds one."""
    if isinstance(value, (*_CONSTRUCTS, Pipeline)) or _is_divided(value):
        return True
    held: Sequence[Expr | Entry] = ()
    if isinstance(value, ListExpr):
        held = value.items
    elif isinstance(value, ObjectExpr):
        held = [entry.value for entry in value.entries]
    elif isinstance(value, Call | Session | DoBlock | Ask):
        held = [arg.value for arg in value.args]
    return any(_needs_lines(part) for part in held if isinstance(part, Expr))


def _is_divided(value: Node) -> bool:
    """Whether a call has inputs besides those of ``with``: they can only stand below it."""
    return isinstance(value, Call) and value.spread is not None and bool(value.args)


def _calls(node: Node) -> Iterator[Callee]:
    """The calls in what stands on a line, in order; those in the text of conditions are none."""
    if isinstance(node, Call | Session | DoBlock | Ask):
        yield node
    for child in node.children():
        if not isinstance(child, Condition | Block):
            yield from _calls(child)


def _owner(parts: Sequence[Node], whole: Node | None = None) -> tuple[Callee | None, int]:
    """The call of a line whose inputs stand below it, and the first of these.

    That is the call that begins last: the parser gives it the lines below. It takes them when it is all that the line
    is about, ``whole``, or when an input cannot stand on the line.
    """
    calls = [call for part in parts for call in _calls(part)]
    forced = [
        call
        for call in calls
        if _is_divided(call) or any(_needs_lines(arg.value) for arg in call.args[_first_below(call) :])
    ]
    owner = forced[0] if forced else whole
    if not isinstance(owner, Call | Session | DoBlock | Ask):
        return None, 0
    below = _first_below(owner)
    beside = [part for part in owner.children() if part not in owner.args[below:] and part is not owner]
    if below == len(owner.args) or any(any(_calls(part)) for part in beside):
        return None, 0
    return owner, below


def _first_below(call: Callee) -> int:
    """The index of the first of the named inputs that end a call."""
    index = len(call.args)
    while index and call.args[index - 1].name is not None:
        index -= 1
    return index
