"""Words and signs of one ProseScript line, read in the light of what the parser can take next.

A terminal of the grammar is tried only where the parser's state accepts it, so that a keyword is one where it can stand
and a name elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from prose_runtime.records import dataclass
from prose_runtime.syntax.tables import Tables

Matcher = Callable[[str, int, int], "re.Match[str] | None"]

_CAN_END_AN_ENTRY = frozenset(
    "NAME WORD CONSTANT NUMBER STRING SINGLE_QUOTED DISCRETION STATE _RPAR _RSQB _RBRACE".split()
)
_OPEN = frozenset(("_LPAR", "_LSQB", "_INDEX", "_LBRACE"))
_CLOSE = frozenset(("_RPAR", "_RSQB", "_RBRACE"))
_NOTED = _OPEN | _CLOSE | {"_RECORD", "_COMMA_ARG"}
_BLANK = " \t\n#"


@dataclass(slots=True, eq=False)
class Token:
    """A word or sign: the terminal that it is, its text, and where it stands in the file."""

    type: str
    text: str
    start: int
    end: int

    def __str__(self) -> str:
        return self.text


class NoToken(Exception):
    """Nothing that the parser can take begins at the offset ``position``."""

    def __init__(self, position: int):
        super().__init__(position)
        self.position = position


class Terminals:
    """The terminals of the grammar, compiled when they are first tried.

    ``ways`` is what reading with them has found out, see ``grammar``; ``known`` what ``tried`` gave, by state and
    character.
    """

    def __init__(self, tables: Tables):
        self.tables = tables
        self.blank: Matcher = re.compile(f"(?:{tables.blank})+").match
        self.ways: dict[tuple[int, int, str], int] = {}
        self._compiled: dict[str, Matcher] = {}
        self._patterns = {terminal.name: terminal.pattern for terminal in tables.terminals}
        self.known: list[dict[str, list[tuple[str, Matcher]]]] = [{} for _ in tables.states]

    def matcher(self, name: str) -> Matcher:
        """What finds a terminal at an offset."""
        if name not in self._compiled:
            self._compiled[name] = re.compile(self._patterns[name]).match
        return self._compiled[name]

    def tried(self, state: int, first: str) -> list[tuple[str, Matcher]]:
        """The terminals that a state accepts and that can begin with a character, in the order of trying."""
        row: Mapping[str, int] = self.tables.states[state]
        found = self.known[state][first] = [
            (terminal.name, self.matcher(terminal.name))
            for terminal in self.tables.terminals
            if terminal.name in row and terminal.name != "_NL" and (first in terminal.first or not first.isascii())
        ]
        return found


class Lexer:
    """The tokens of a part of a file's text, one after the other.

    Two things it knows that the grammar cannot say: a line break separates entries only inside brackets and behind
    a finished entry, and the ``in`` of ``record E in xs`` is no operator.
    """

    def __init__(self, terminals: Terminals, text: str, start: int, end: int):
        self.terminals = terminals
        self.text = text
        self.position = start
        self.end = end
        self.depth = 0
        self.record = False
        self.previous = ""

    def next(self, state: int) -> Token | None:
        """The next token that a state of the parser can take; None at the end.

        Raises:
            NoToken: The parser can take nothing of what stands there.
        """
        token = self._break() if self.depth and self.previous in _CAN_END_AN_ENTRY else None
        token = token or self._read(state)
        if token is None:
            return None
        self.position = token.end
        kind = self.previous = token.type
        if kind in _NOTED:
            self._note(token)
        return token

    def _note(self, token: Token) -> None:
        """Follow brackets, and what depends on them."""
        if token.type in _OPEN:
            self.depth += 1
        elif token.type in _CLOSE:
            self.depth -= 1
        elif token.type == "_RECORD":
            self.record = True
        elif self.depth:
            token.type = "_COMMA"

    def _break(self) -> Token | None:
        match = self.terminals.matcher("_NL")(self.text, self.position, self.end)
        return Token("_NL", match.group(), self.position, match.end()) if match else None

    def _read(self, state: int) -> Token | None:
        text, position, end = self.text, self.position, self.end
        if position < end and text[position] in _BLANK:
            blank = self.terminals.blank(text, position, end)
            position = blank.end() if blank else position
        if position >= end:
            return None
        if self.record and not self.depth:
            match = self.terminals.matcher("IN")(text, position, end)
            if match:
                return Token("_RECORD_IN", match.group(), position, match.end())
        known = self.terminals.known[state].get(text[position])
        for name, matcher in self.terminals.tried(state, text[position]) if known is None else known:
            match = matcher(text, position, end)
            if match:
                return Token(name, match.group(), position, match.end())
        raise NoToken(position)
