"""Expressions as text, with no more parentheses than their reading needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from prose_runtime.nodes import (
    Argument,
    Ask,
    Binary,
    Call,
    Conditional,
    Constant,
    Discretion,
    DoBlock,
    Entry,
    Expr,
    Field,
    FunctionCall,
    Group,
    Index,
    ListExpr,
    MadeName,
    Name,
    Node,
    ObjectExpr,
    Predicate,
    Session,
    Template,
    Unary,
)
from prose_runtime.syntax.format_conditions import spelling
from prose_runtime.syntax.format_strings import literal, plain_literal
from prose_runtime.syntax.outer import hits
from prose_runtime.syntax.strings import NAME
from prose_runtime.text import Span

WIDTH = 100
"""Lists and objects longer than this many characters stand on lines of their own."""

STEP = 2
"""How many blanks each level of a block is indented."""

# How tightly the parts of an expression bind, as in the grammar: a looser part stands in parentheses.
LOOSEST, OR, AND, NOT, COMPARISON, SUM, PRODUCT, UNARY, PRIMARY, POSTFIX = range(10)

_LEVELS = {"or": OR, "and": AND, "+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "%": PRODUCT}
_WORDS = {"present": "present", "absent": "absent", "null": "null", "empty": "empty", "true": "true", "false": "false"}
_SIGNS = {"has": "has", "contains": "contains", "meets": "meets", "exceeds": "exceeds", "at_most": "is at most"}
_DENIED = {
    "has": "does not have",
    "contains": "does not contain",
    "meets": "does not meet",
    "exceeds": "does not exceed",
    "at_most": "is not at most",
}
_STATE = re.compile(r"(?:present|absent|set|null|empty|true|false)(?![\w-])")
_RESERVED = frozenset("and or not if then else elif in is null true false let const return".split())
KEYWORDS = _RESERVED | frozenset(
    "throw break continue emit record append add sleep use import agent block input output catch finally option choice "
    "repeat for loop parallel try call do session resume group ask gate".split()
)
"""Words that begin something: as the name of a value they stand in parentheses."""

_JOINING = re.compile(r"(?:as|at|by|contains|does|exceeds|has|meets|to|with)(?![\w-])")
_KEY = re.compile(NAME)
_LIKE_A_KEY = re.compile(rf"{NAME}\s*:")
_MODES = ("all", "first", "any")
_UNSAFE = re.compile(r"[()\[\]{}\"#*]")

_Part = TypeVar("_Part", bound=Node)

Callee = Call | Session | DoBlock | Ask
"""What takes inputs from the lines below it."""


class ExpressionPrinter:
    """Prints what stands on one line.

    ``indent`` is the line's indentation in blanks. ``owner`` is the call whose inputs stand on the lines below, and
    are left out here, from the one at ``below`` on.
    """

    def __init__(self, indent: int = 0, owner: Callee | None = None, below: int = 0):
        self.indent = indent
        self.owner = owner
        self.below = below

    def text(self, expr: Expr, level: int = LOOSEST) -> str:
        """The expression, in parentheses when it binds looser than ``level``."""
        form: Callable[[Expr], tuple[str, int]] = getattr(self, f"_{type(expr).__name__.lower()}")
        text, own = form(expr)
        return f"({text})" if own < level else text

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self.indent += STEP
        yield
        self.indent -= STEP

    # values

    def _constant(self, expr: Constant) -> tuple[str, int]:
        if expr.value is None or isinstance(expr.value, bool):
            return str(expr.value).lower() if expr.value is not None else "null", POSTFIX
        text = number(expr.value)
        return text, UNARY if text.startswith("-") else POSTFIX

    def _template(self, expr: Template) -> tuple[str, int]:
        return literal(expr, self.indent), POSTFIX

    def _name(self, expr: Name) -> tuple[str, int]:
        return (f"({expr.id})" if expr.id in KEYWORDS else expr.id), POSTFIX

    def _madename(self, expr: MadeName) -> tuple[str, int]:
        return "".join(part if isinstance(part, str) else part.raw for part in expr.parts), POSTFIX

    def _field(self, expr: Field) -> tuple[str, int]:
        holder = expr.object.id if isinstance(expr.object, Name) else self.text(expr.object, POSTFIX)
        return f"{holder}.{expr.name}", POSTFIX

    def _index(self, expr: Index) -> tuple[str, int]:
        holder = self.text(expr.object, POSTFIX)
        holder = f"({holder})" if holder.endswith("*") else holder
        return f"{holder}[{self.text(expr.index)}]", POSTFIX

    def _discretion(self, expr: Discretion) -> tuple[str, int]:
        stars = "***" if "**" in expr.text else "**"
        text = f"{stars}{expr.text}{stars}"
        # Only behind a blank or a parenthesis do marks hide what is in them from the layout.
        return (f"({text})" if _UNSAFE.search(expr.text) else text), POSTFIX

    def _listexpr(self, expr: ListExpr) -> tuple[str, int]:
        return self._bracketed("[", expr.items, self.text, "]"), POSTFIX

    def _objectexpr(self, expr: ObjectExpr) -> tuple[str, int]:
        # A single name in braces would be taken for the name itself in the head of a loop.
        short = len(expr.entries) > 1 and all(map(_is_shorthand, expr.entries))
        form = self._shorthand if short else self._entry
        return self._bracketed("{ ", expr.entries, form, " }"), POSTFIX

    def _shorthand(self, entry: Entry) -> str:
        return entry.key

    def _entry(self, entry: Entry) -> str:
        return f"{key(entry.key)}: {self.text(entry.value)}"

    def _bracketed(self, opening: str, items: Sequence[_Part], form: Callable[[_Part], str], closing: str) -> str:
        if not items:
            return opening.strip() + closing.strip()
        inline = opening + ", ".join(map(form, items)) + closing
        if "\n" not in inline and self.indent + len(inline) <= WIDTH:
            return inline
        with self._deeper():
            margin = "\n" + " " * self.indent
            lines = f",{margin}".join(map(form, items))
        return f"{opening.strip()}{margin}{lines}\n{' ' * self.indent}{closing.strip()}"

    def _functioncall(self, expr: FunctionCall) -> tuple[str, int]:
        args = [f"({arg})" if _LIKE_A_KEY.match(arg) else arg for arg in map(self.text, expr.args)]
        if expr.name == "group":
            args = [f"({arg})" if re.search(r"\sby\s", arg) else arg for arg in args]
        if args and _is_mode(expr.args[0]):
            args[0] = f"({args[0]})"
        text = f"{expr.name}({', '.join(args)})"
        return (f"({text})" if expr.name in KEYWORDS - {"group"} else text), POSTFIX

    def _group(self, expr: Group) -> tuple[str, int]:
        return f"group({self.text(expr.source)} by {expr.field})", POSTFIX

    # operators

    def _unary(self, expr: Unary) -> tuple[str, int]:
        if expr.op == "not":
            return f"not {self.text(expr.operand, NOT)}", NOT
        return f"-{self.text(expr.operand, UNARY)}", UNARY

    def _binary(self, expr: Binary) -> tuple[str, int]:
        level = _LEVELS.get(expr.op, COMPARISON)
        left = SUM if level == COMPARISON else level
        return f"{self.text(expr.left, left)} {expr.op} {self.text(expr.right, level + 1)}", level

    def _predicate(self, expr: Predicate) -> tuple[str, int]:
        subject = self.text(expr.subject, SUM)
        if expr.operand is None:
            return f"{subject} is {'not ' if expr.negated else ''}{_WORDS[expr.op]}", COMPARISON
        operand = self.text(expr.operand, PRIMARY if expr.op in ("is", "has", "contains") else SUM)
        if expr.op == "is":
            operand = f"({operand})" if _STATE.match(operand) else operand
            return f"{subject} is {'not ' if expr.negated else ''}{operand}", COMPARISON
        return f"{subject} {(_DENIED if expr.negated else _SIGNS)[expr.op]} {operand}", COMPARISON

    def _conditional(self, expr: Conditional) -> tuple[str, int]:
        condition = spelling(expr.condition)
        then, orelse = self.text(expr.then, OR), self.text(expr.orelse)
        if any(hits(condition, Span(0, len(condition)), r"\selse(?![\w-])")):
            return f"(if {condition} then {then} else {orelse})", POSTFIX
        return f"{then} if {condition} else {orelse}", LOOSEST

    # calls

    def _call(self, expr: Call) -> tuple[str, int]:
        text = f"call {self._target(expr.target)}"
        if expr.spread is not None:
            spread = self.text(expr.spread)
            other = _JOINING.match(spread) or _LIKE_A_KEY.match(spread)
            return f"{text} with {f'({spread})' if other else spread}", LOOSEST
        return text + self._inputs(expr), PRIMARY

    def _target(self, target: Expr) -> str:
        if isinstance(target, Field):
            return f"{self._target(target.object)}.{target.name}"
        if isinstance(target, Index):
            return f"{self._target(target.object)}[{self.text(target.index)}]"
        return target.id if isinstance(target, Name) else self.text(target, POSTFIX)

    def _session(self, expr: Session) -> tuple[str, int]:
        if expr.prompt is not None:
            inputs = self._inputs(expr)
            return f"session {self.text(expr.prompt)}{' ' * bool(inputs)}{inputs}", PRIMARY
        word = "resume" if expr.resume else f"session {expr.name.id}" if expr.name else "session"
        return f"{word}: {expr.agent.id if expr.agent else ''}{self._inputs(expr)}", PRIMARY

    def _ask(self, expr: Ask) -> tuple[str, int]:
        inputs = self._inputs(expr)
        prompt = self.text(expr.prompt) if expr.prompt else '""'
        return f"ask {prompt}{' ' * bool(inputs)}{inputs}", PRIMARY

    def _doblock(self, expr: DoBlock) -> tuple[str, int]:
        return f"do {expr.block.id}{self._inputs(expr)}", PRIMARY

    def _inputs(self, expr: Callee) -> str:
        args = expr.args[: self.below] if expr is self.owner else expr.args
        return f"({', '.join(map(self._argument, args))})" if args else ""

    def _argument(self, arg: Argument) -> str:
        text = self.text(arg.value)
        if arg.name is not None:
            return f"{key(arg.name)}: {text}"
        return f"({text})" if _LIKE_A_KEY.match(text) else text


def key(name: str) -> str:
    """The name of an input or entry as it stands before a colon. A line that begins with a joint goes on the last."""
    return name if _KEY.fullmatch(name) and name not in ("and", "or") else plain_literal(name)


def is_name(text: str) -> bool:
    """Whether a text can be the name of a value."""
    return _KEY.fullmatch(text) is not None and text not in _RESERVED


def number(value: float) -> str:
    """A number as JSON writes it."""
    return repr(value)


def _is_shorthand(entry: Entry) -> bool:
    return isinstance(entry.value, Name) and entry.value.id == entry.key


def _is_mode(expr: Expr) -> bool:
    return isinstance(expr, Template) and expr.parts in [(mode,) for mode in _MODES]
