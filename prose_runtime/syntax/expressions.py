"""Parse trees of expressions into nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from prose_runtime.diagnostics import Collector, Edit, Fix
from prose_runtime.nodes import (
    Argument,
    Ask,
    Binary,
    Call,
    Condition,
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
    ObjectExpr,
    Predicate,
    Session,
    Template,
    Unary,
)
from prose_runtime.records import dataclass
from prose_runtime.syntax import properties, strings
from prose_runtime.text import Source, Span

if TYPE_CHECKING:
    from prose_runtime.syntax.grammar import Tree
    from prose_runtime.syntax.lexer import Token

FUNCTIONS = frozenset("len min max sum range join split lower upper trim short round keys values json group".split())
"""The small functions of LANGUAGE.md section 3."""

_BACKOFF = ("none", "linear", "exponential")
_PREDICATES = {
    "has": "has",
    "have": "has",
    "contains": "contains",
    "contain": "contains",
    "meets": "meets",
    "meet": "meets",
    "exceeds": "exceeds",
    "exceed": "exceeds",
}
CALLS = frozenset(("call", "session", "session_agent", "session_named", "resume", "do_call", "ask", "gate"))
"""Rules of the grammar whose construct takes inputs from the lines below."""


@dataclass(frozen=True, slots=True)
class Pair:
    """``name: value`` before it is known whether it is an input, an option or an entry of an object."""

    span: Span
    key: str
    key_span: Span
    value: Expr | None

    def argument(self, value: Expr | None = None) -> Argument:
        """The pair as an input of a call."""
        given = value or self.value
        assert given is not None
        if self.key == "backoff" and isinstance(given, Name) and given.id in _BACKOFF:
            given = as_word(given)
        span = Span(self.span.start, max(self.span.end, given.span.end))
        return Argument(span=span, name=self.key, name_span=self.key_span, value=given)

    def entry(self, value: Expr | None = None) -> Entry:
        """The pair as an entry of an object."""
        given = value or self.value
        assert given is not None
        return Entry(span=Span(self.span.start, max(self.span.end, given.span.end)), key=self.key, value=given)


def as_word(name: Name) -> Template:
    """A bare word that is a text, as in ``backoff: linear``."""
    return Template(span=name.span, parts=(name.id,))


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs that stand on the line of a call."""

    args: tuple[Argument, ...] = ()
    spread: Expr | None = None


def span_of(tree: Tree[Any] | Token) -> Span:
    """Where a part of a parse tree stands."""
    return Span(tree.start, tree.end)


class _Methods(dict[str, str]):
    """The method that builds a rule of the grammar."""

    def __missing__(self, rule: str) -> str:
        return self.setdefault(rule, f"_on_{rule.rstrip('_')}")


_METHODS = _Methods()


class ExpressionBuilder:
    """Builds nodes from the leaves upwards, without recursion, by one method for each rule of the grammar.

    ``condition`` reads the text of a condition inside an expression.
    """

    def __init__(self, source: Source, out: Collector, condition: Callable[[Span], Condition]):
        self.source = source
        self.out = out
        self.condition = condition
        self.owner: Tree[Any] | None = None
        self.below: tuple[Argument, ...] = ()

    def build(self, tree: Tree[Any]) -> Any:
        """What a parse tree means. A call that is ``owner`` gets the inputs ``below`` besides its own."""
        built: dict[int, Any] = {}
        for part in tree.parts:
            kids = [built.get(id(kid), kid) for kid in part.children]
            built[id(part)] = getattr(self, _METHODS[part.data])(part, kids)
        return built[id(tree)]

    # values

    def _on_name(self, tree: Tree[Any], kids: list[Any]) -> Name:
        return self.name(kids[0])

    def name(self, token: Token) -> Name:
        """A word as a name."""
        return Name(span=span_of(token), id=str(token))

    def _on_made_name(self, tree: Tree[Any], kids: list[Any]) -> MadeName:
        return strings.made_name(self.source, span_of(kids[0]))

    def _on_constant(self, tree: Tree[Any], kids: list[Any]) -> Constant:
        return Constant(span=span_of(tree), value={"null": None, "true": True, "false": False}[str(kids[0])])

    def _on_number(self, tree: Tree[Any], kids: list[Any]) -> Constant:
        return Constant(span=span_of(tree), value=self.number(str(kids[0]), span_of(tree)))

    def number(self, text: str, span: Span) -> int | float:
        """A number as written; reported and zero when it has no JSON form."""
        value = float(text)
        if value in (float("inf"), float("-inf")):
            self.out.error("number-too-large", span, "this number is too large", "write it as a string")
            return 0
        return value if any(sign in text for sign in ".eE") else int(text)

    def _on_string(self, tree: Tree[Any], kids: list[Any]) -> Template:
        span = span_of(tree)
        if kids[0].type == "SINGLE_QUOTED":
            edits = tuple(Edit(Span(at, at + 1), '"') for at in (span.start, span.end - 1))
            fix = Fix("Use double quotes", edits) if '"' not in kids[0].text else None
            self.out.warning("single-quotes", span, "strings stand in double quotes", "write `\"` for `'`", fix=fix)
        return strings.template(self.source, span, self.out)

    def _on_discretion(self, tree: Tree[Any], kids: list[Any]) -> Discretion:
        return Discretion(span=span_of(tree), text=" ".join(str(kids[0]).strip("*").split()))

    def _on_list(self, tree: Tree[Any], kids: list[Any]) -> ListExpr:
        return ListExpr(span=span_of(tree), items=tuple(kid for kid in kids if kid is not None))

    def _on_object(self, tree: Tree[Any], kids: list[Any]) -> ObjectExpr:
        entries = tuple(kid.entry() if isinstance(kid, Pair) else kid for kid in kids if kid is not None)
        return ObjectExpr(span=span_of(tree), entries=entries)

    def _on_shorthand(self, tree: Tree[Any], kids: list[Any]) -> Entry:
        return Entry(span=span_of(tree), key=str(kids[0]), value=self.name(kids[0]))

    def _on_key(self, tree: Tree[Any], kids: list[Any]) -> Token:
        token: Token = kids[0]
        return token

    def _on_pair(self, tree: Tree[Any], kids: list[Any]) -> Pair:
        token, value = kids[0], kids[-1] if isinstance(kids[-1], Expr) else None
        key = strings.plain(self.source, span_of(token), self.out) if token.type == "STRING" else str(token)
        return Pair(span_of(tree), key, span_of(token), value)

    def _on_function(self, tree: Tree[Any], kids: list[Any]) -> FunctionCall | Call:
        """A small function; any other name is that of something to call, as in the oldest dialect."""
        token, *given = kids
        args = tuple(arg.argument() if isinstance(arg, Pair) else arg for arg in given if arg is not None)
        if str(token) in FUNCTIONS and not any(arg.name is not None for arg in args):
            values = tuple(arg.value for arg in args)
            return FunctionCall(span=span_of(tree), name=str(token), name_span=span_of(token), args=values)
        return Call(span=span_of(tree), target=self.name(token), args=args)

    def _on_group(self, tree: Tree[Any], kids: list[Any]) -> Group:
        return Group(span=span_of(tree), source=kids[0], field=str(kids[1]))

    def _on_field(self, tree: Tree[Any], kids: list[Any]) -> Field:
        return Field(span=span_of(tree), object=kids[0], name=str(kids[1]), name_span=span_of(kids[1]))

    def _on_index(self, tree: Tree[Any], kids: list[Any]) -> Index:
        return Index(span=span_of(tree), object=kids[0], index=kids[1])

    # operators

    def _on_prefix(self, tree: Tree[Any], kids: list[Any]) -> Unary:
        op: Literal["not", "-"] = "not" if kids[0].type == "NOT" else "-"
        return Unary(span=span_of(tree), op=op, operand=kids[1])

    def _on_binary(self, tree: Tree[Any], kids: list[Any]) -> Binary:
        return Binary(span=span_of(tree), op=str(kids[1]), left=kids[0], right=kids[2])

    def _on_slip(self, tree: Tree[Any], kids: list[Any]) -> Binary:
        place = span_of(kids[1])
        self.out.warning(
            "equals-sign",
            place,
            "`=` is read as `==` in a condition",
            "write `==` to compare",
            fix=Fix("Write `==`", (Edit(place, "=="),)),
        )
        return Binary(span=span_of(tree), op="==", left=kids[0], right=kids[2])

    def _on_state(self, tree: Tree[Any], kids: list[Any]) -> Predicate:
        word = str(kids[3])
        op = "present" if word == "set" else word
        return Predicate(span=span_of(tree), subject=kids[0], op=op, negated=kids[2] is not None)

    def _on_predicate(self, tree: Tree[Any], kids: list[Any]) -> Predicate:
        return Predicate(span=span_of(tree), subject=kids[0], op="is", operand=kids[3], negated=kids[2] is not None)

    def _on_plain_predicate(self, tree: Tree[Any], kids: list[Any]) -> Predicate:
        return Predicate(span=span_of(tree), subject=kids[0], op=_PREDICATES[str(kids[1])], operand=kids[2])

    def _on_predicate_not(self, tree: Tree[Any], kids: list[Any]) -> Predicate:
        op = _PREDICATES[str(kids[2])]
        return Predicate(span=span_of(tree), subject=kids[0], op=op, operand=kids[3], negated=True)

    def _on_bound(self, tree: Tree[Any], kids: list[Any]) -> Predicate:
        op = "meets" if kids[3].type == "AT_LEAST" else "at_most"
        return Predicate(span=span_of(tree), subject=kids[0], op=op, operand=kids[4], negated=kids[2] is not None)

    def _on_ternary(self, tree: Tree[Any], kids: list[Any]) -> Conditional:
        then, condition, orelse = kids
        return Conditional(span=span_of(tree), condition=self.condition(span_of(condition)), then=then, orelse=orelse)

    def _on_if_then(self, tree: Tree[Any], kids: list[Any]) -> Conditional:
        condition, then, orelse = kids
        return Conditional(span=span_of(tree), condition=self.condition(span_of(condition)), then=then, orelse=orelse)

    def _on_question(self, tree: Tree[Any], kids: list[Any]) -> Conditional:
        test, then, orelse = kids
        self.out.warning(
            "question-mark",
            span_of(tree),
            "`C ? a : b` is read as `a if C else b`",
            "write `a if C else b`",
        )
        return Conditional(span=span_of(tree), condition=self.condition(test.span), then=then, orelse=orelse)

    # calls

    def _on_positional(self, tree: Tree[Any], kids: list[Any]) -> Argument:
        return Argument(span=span_of(tree), name=None, name_span=None, value=kids[0])

    def _on_inputs(self, tree: Tree[Any], kids: list[Any]) -> Inputs:
        if kids and getattr(kids[0], "type", None) == "WITH":
            if not isinstance(kids[1], Pair):
                return self._with(kids[1])
            kids = kids[1:]
        return Inputs(tuple(kid.argument() if isinstance(kid, Pair) else kid for kid in kids if kid is not None))

    def _with(self, value: Expr | None) -> Inputs:
        if not isinstance(value, ObjectExpr):
            return Inputs(spread=value)
        return Inputs(tuple(self._as_argument(entry) for entry in value.entries))

    def _as_argument(self, entry: Entry) -> Argument:
        start = entry.span.start
        quoted = self.source.text[start] == '"'
        end = self.source.text.find('"', start + 1) + 1 if quoted else start + len(entry.key)
        return Pair(entry.span, entry.key, Span(start, end), entry.value).argument()

    def _args(self, tree: Tree[Any], inputs: Inputs | None) -> tuple[Argument, ...]:
        own = inputs.args if inputs else ()
        return own + self.below if tree is self.owner else own

    def _on_call(self, tree: Tree[Any], kids: list[Any]) -> Call:
        target, inputs = kids
        spread = inputs.spread if inputs else None
        return Call(span=span_of(tree), target=target, args=self._args(tree, inputs), spread=spread)

    def _on_arrow(self, tree: Tree[Any], kids: list[Any]) -> Expr:
        """``A -> B``."""
        return self.onward(kids[0], kids[1])

    def onward(self, left: Expr, right: Expr) -> Expr:
        """B of ``A -> B``, with the value of A as its context, or as its first input when it is a call."""
        start = Span(left.span.start, left.span.start)
        span = Span(left.span.start, max(left.span.end, right.span.end))
        if isinstance(right, Session | Ask):
            passed = Argument(span=left.span, name="context", name_span=start, value=left)
            return replace(right, span=span, args=(passed, *right.args))
        if isinstance(right, DoBlock) or (isinstance(right, Call) and right.spread is None):
            passed = Argument(span=left.span, name=None, name_span=None, value=left)
            return replace(right, span=span, args=(passed, *right.args))
        self.out.error(
            "arrow-target",
            right.span,
            "nothing behind `->` takes a value",
            "write a session, a call or a `do` behind it",
        )
        return left

    def _on_session(self, tree: Tree[Any], kids: list[Any]) -> Session:
        return self._session(tree, kids[1], prompt=self._text(kids[0]))

    def _on_session_agent(self, tree: Tree[Any], kids: list[Any]) -> Session:
        session = self._session(tree, kids[2], agent=self.name(kids[0]))
        if kids[1] is None:
            return session
        text = self._text(kids[1])
        name = Span(text.span.start, text.span.start)
        prompt = Argument(span=text.span, name="prompt", name_span=name, value=text)
        return replace(session, args=(prompt, *session.args))

    def _on_session_named(self, tree: Tree[Any], kids: list[Any]) -> Session:
        return self._session(tree, kids[2], name=self.name(kids[0]), agent=self.name(kids[1]))

    def _on_resume(self, tree: Tree[Any], kids: list[Any]) -> Session:
        return self._session(tree, kids[1], agent=self.name(kids[0]), resume=True)

    def _session(self, tree: Tree[Any], inputs: Inputs | None, **more: Any) -> Session:
        return Session(span=span_of(tree), args=self._properties(tree, inputs, properties.SESSION), **more)

    def _on_ask(self, tree: Tree[Any], kids: list[Any]) -> Ask:
        args = self._properties(tree, kids[1], properties.ASK)
        return Ask(span=span_of(tree), prompt=self._text(kids[0]), args=args)

    def _text(self, token: Token) -> Template:
        return strings.template(self.source, span_of(token), self.out)

    def _on_do_call(self, tree: Tree[Any], kids: list[Any]) -> DoBlock:
        return DoBlock(span=span_of(tree), block=self.name(kids[0]), args=self._args(tree, self._plain(kids[1])))

    def _properties(self, tree: Tree[Any], inputs: Inputs | None, known: frozenset[str]) -> tuple[Argument, ...]:
        return properties.read(self._args(tree, self._plain(inputs)), known, self.source)

    def _plain(self, inputs: Inputs | None) -> Inputs | None:
        if inputs and inputs.spread:
            self.out.error(
                "spread-inputs",
                inputs.spread.span,
                "only `call` takes all its inputs from one value",
                "write the inputs out: `name: value`",
            )
        return inputs
