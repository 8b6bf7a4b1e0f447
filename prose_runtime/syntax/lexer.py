"""Words and signs of one ProseScript line, read in the light of what the parser can take next.

A terminal of the grammar is tried only where the parser's state accepts it, so that a keyword is one where it can stand
and a name elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from prose_runtime.syntax.tables import Tables

Matcher = Callable[[str, int, int], "re.Match[str] | None"]

_CAN_END_AN_ENTRY = frozenset(
    "NAME WORD CONSTANT NUMBER STRING SINGLE_QUOTED DISCRETION STATE _RPAR _RSQB _RBRACE".split()
)
_OPEN = frozenset(("_LPAR", "_LSQB", "_INDEX", "_LBRACE"))
_CLOSE = frozenset(("_RPAR", "_RSQB", "_RBRACE"))


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
    """The terminals of the grammar, compiled when they are first tried."""

    def __init__(self, tables: Tables):
        self.tables = tables
        self.blank: Matcher = re.compile(f"(?:{tables.blank})+").match
        self._compiled: dict[str, Matcher] = {}
        self._patterns = {terminal.name: terminal.pattern for terminal in tables.terminals}
        self._tried: dict[tuple[int, str], list[tuple[str, Matcher]]] = {}

    def matcher(self, name: str) -> Matcher:
        """What finds a terminal at an offset."""
        if name not in self._compiled:
            self._compiled[name] = re.compile(self._patterns[name]).match
        return self._compiled[name]

    def tried(self, state: int, first: str) -> list[tuple[str, Matcher]]:
        """The terminals that a state accepts and that can begin with a character, in the order of trying."""
        found = self._tried.get((state, first))
        if found is None:
            row: Mapping[str, int] = self.tables.states[state]
            found = [
                (terminal.name, self.matcher(terminal.name))
                for terminal in self.tables.terminals
                if terminal.name in row and terminal.name != "_NL" and terminal.first in ("", first)
            ]
            self._tried[state, first] = found
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
        if kind in _OPEN:
            self.depth += 1
        elif kind in _CLOSE:
            self.depth -= 1
        elif kind == "_RECORD":
            self.record = True
        elif kind == "_COMMA_ARG" and self.depth:
            token.type = "_COMMA"
        return token

    def _break(self) -> Token | None:
        match = self.terminals.matcher("_NL")(self.text, self.position, self.end)
        return _token("_NL", match) if match else None

    def _read(self, state: int) -> Token | None:
        blank = self.terminals.blank(self.text, self.position, self.end)
        position = blank.end() if blank else self.position
        if position >= self.end:
            return None
        if self.record and not self.depth:
            match = self.terminals.matcher("IN")(self.text, position, self.end)
            if match:
                return _token("_RECORD_IN", match)
        for name, matcher in self.terminals.tried(state, self.text[position]):
            match = matcher(self.text, position, self.end)
            if match:
                return _token(name, match)
        raise NoToken(position)


def _token(kind: str, match: re.Match[str]) -> Token:
    return Token(kind, match.group(), match.start(), match.end())
