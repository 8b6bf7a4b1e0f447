"""One line of ProseScript into a parse tree, by the grammar in ``grammar/prosescript.lark``.

Lark makes the tables (``tables``); what walks along them is here, because a line is a few words and Lark's own parser
spends most of its time on what nobody needs of such a line: numbers of lines and columns, and callbacks.
"""

from __future__ import annotations

from dataclasses import field
from functools import cache
from typing import Any, Generic, Literal, TypeVar

from prose_runtime.records import dataclass
from prose_runtime.syntax import tables
from prose_runtime.syntax.lexer import Lexer, NoToken, Terminals, Token
from prose_runtime.text import Source, Span

Start = Literal["statement", "entry", "expr", "clause"]
Leaf = TypeVar("Leaf")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a text is no such line: the offset at which reading stopped. It is the end of the text when more was due."""

    position: int


@dataclass(slots=True, eq=False)
class Tree(Generic[Leaf]):
    """A rule of the grammar with what was read for it: trees, tokens, and None for what may be left out and is.

    ``parts`` are all trees of a whole line, those inside others before them; only the tree of the line has them.
    """

    data: str
    children: list[Any]
    start: int
    end: int
    parts: list[Tree[Leaf]] = field(default_factory=list)


def parse(source: Source, span: Span, start: Start) -> Tree[Token] | Failure:
    """Read a span as one statement, entry, expression or clause. All positions are offsets of the file."""
    terminals = _terminals()
    lexer = Lexer(terminals, source.text, span.start, span.end)
    try:
        return _Reading(terminals, start).tree(lexer)
    except NoToken as stopped:
        return Failure(stopped.position)


@cache
def _terminals() -> Terminals:
    """The grammar, loaded when something is to be parsed."""
    return Terminals(tables.load())


class _Reading:
    """Walks along the tables: what was read lies on stacks until a rule is complete."""

    def __init__(self, terminals: Terminals, start: Start):
        of = terminals.tables
        self.states = of.states
        self.rules = of.rules
        self.ways = terminals.ways
        self.stack = [of.starts[start]]
        self.end_state = of.ends[start]
        self.values: list[Any] = []
        self.places: list[tuple[int, int]] = []
        self.parts: list[Tree[Token]] = []

    def tree(self, lexer: Lexer) -> Tree[Token] | Failure:
        """The tree of all that the lexer gives."""
        while (token := lexer.next(self.stack[-1])) is not None:
            state = self._complete(token.type)
            if state is None:
                return Failure(token.start)
            self.stack.append(state)
            self.values.append(token)
            self.places.append((token.start, token.end))
        self._complete(tables.END)
        if self.stack[-1] != self.end_state:
            return Failure(lexer.end)
        root = self.values[0]
        assert isinstance(root, Tree)
        root.parts = self.parts
        return root

    def _complete(self, symbol: str) -> int | None:
        """Complete rules until the symbol can be taken: the state behind it, or None when it cannot stand here."""
        states, stack = self.states, self.stack
        while True:
            follows = states[stack[-1]].get(symbol)
            if follows is None or follows >= 0:
                return follows
            rule = self.rules[-1 - follows]
            if rule.size > 1 or not rule.through:
                self._build(rule)
                del stack[-rule.size :]
                stack.append(states[stack[-1]][rule.origin])
            else:
                stack[-1] = self._through(stack[-2], stack[-1], symbol)

    def _through(self, below: int, state: int, symbol: str) -> int:
        """The state above ``below`` when all rules are complete that hand a single part through.

        An operand becomes a product, a sum, a comparison and so on up to an expression; such a way is walked once.
        """
        way = (below, state, symbol)
        found = self.ways.get(way)
        if found is None:
            found = state
            while (follows := self.states[found].get(symbol)) is not None and follows < 0:
                rule = self.rules[-1 - follows]
                if rule.size > 1 or not rule.through:
                    break
                found = self.states[below][rule.origin]
            self.ways[way] = found
        return found

    def _build(self, rule: tables.Rule) -> None:
        """Put the tree of a rule in the place of its parts."""
        size = rule.size
        given, places = self.values[-size:], self.places[-size:]
        del self.values[-size:], self.places[-size:]
        start, end = places[0][0], places[-1][1]
        children: list[Any] = []
        for place, inlined, empty in rule.kept:
            if empty:
                children += [None] * empty
            value = given[place]
            if not inlined:
                children.append(value)
            elif children:
                children += value
            else:  # what a repetition has gathered so far is carried on, not copied
                children = value
        if rule.empty:
            children += [None] * rule.empty
        self.places.append((start, end))
        if not rule.data:
            self.values.append(children)
        elif rule.through and len(children) == 1:
            self.values.append(children[0])
        else:
            tree: Tree[Token] = Tree(rule.data, children, start, end)
            self.parts.append(tree)
            self.values.append(tree)
