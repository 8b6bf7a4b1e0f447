"""Words and signs of one ProseScript line, read in the light of what the parser can take next.

Lark's own contextual lexer compiles one large pattern for each parser state, which costs half a second at the first
parse. This one compiles each terminal of the grammar once and tries those that the state accepts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from lark import Token
from lark.common import LexerConf
from lark.lexer import Lexer, LexerState


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a file's text. Lark's own ``TextSlice`` counts the lines before it, which nobody needs here."""

    text: str
    start: int
    end: int


_Match = Callable[[str, int, int], "re.Match[str] | None"]

_CAN_END_AN_ENTRY = frozenset(
    "NAME WORD CONSTANT NUMBER STRING SINGLE_QUOTED DISCRETION STATE _RPAR _RSQB _RBRACE".split()
)
_OPEN = frozenset(("_LPAR", "_LSQB", "_INDEX", "_LBRACE"))
_CLOSE = frozenset(("_RPAR", "_RSQB", "_RBRACE"))


class NoToken(Exception):
    """Nothing that the parser can take begins at the offset ``position``."""

    def __init__(self, position: int):
        super().__init__(position)
        self.position = position


class LineLexer(Lexer):
    """Tokens of a slice, with file-absolute positions.

    Two things it knows that the grammar cannot say: a line break separates entries only inside brackets and behind
    a finished entry, and the ``in`` of ``record E in xs`` is no operator.
    """

    __future_interface__ = 2

    def __init__(self, conf: LexerConf):
        ordered = sorted(conf.terminals, key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value)))
        self._matchers: dict[str, _Match] = {t.name: re.compile(t.pattern.to_regexp()).match for t in ordered}
        blank = "|".join(conf.terminals_by_name[name].pattern.to_regexp() for name in conf.ignore)
        self._skip: _Match = re.compile(f"(?:{blank})+").match
        self._by_state: dict[int, list[tuple[str, _Match]]] = {}

    def lex(self, lexer_state: LexerState, parser_state: Any) -> Iterator[Token]:
        """Yield token after token; each depends on the state that the parser has reached by then.

        Raises:
            NoToken: The parser can take nothing of what stands there.
        """
        piece = cast(Piece, lexer_state.text)
        position, depth, record, previous = piece.start, 0, False, ""
        while True:
            position, found = (
                self._break(piece, position) if depth and previous in _CAN_END_AN_ENTRY else (position, None)
            )
            token = found or self._next(piece, position, parser_state, record and not depth)
            if token is None:
                return
            previous, position = token.type, token.end_pos or piece.end
            depth += (previous in _OPEN) - (previous in _CLOSE)
            record = record or previous == "_RECORD"
            if previous == "_COMMA_ARG" and depth:
                token.type = "_COMMA"
            yield token

    def _break(self, piece: Piece, position: int) -> tuple[int, Token | None]:
        match = self._matchers["_NL"](piece.text, position, piece.end)
        return (match.end(), _token("_NL", match)) if match else (position, None)

    def _next(self, piece: Piece, position: int, parser_state: Any, record: bool) -> Token | None:
        skipped = self._skip(piece.text, position, piece.end)
        if skipped:
            position = skipped.end()
        if position >= piece.end:
            return None
        accepted = self._accepted(parser_state)
        if record and (match := self._matchers["IN"](piece.text, position, piece.end)):
            return _token("_RECORD_IN", match)
        for name, matcher in accepted:
            match = matcher(piece.text, position, piece.end)
            if match:
                return _token(name, match)
        raise NoToken(position)

    def _accepted(self, parser_state: Any) -> list[tuple[str, _Match]]:
        state = parser_state.position
        known = self._by_state.get(state)
        if known is None:
            actions = parser_state.parse_conf.parse_table.states[state]
            known = [(name, matcher) for name, matcher in self._matchers.items() if name in actions and name != "_NL"]
            self._by_state[state] = known
        return known


def _token(kind: str, match: re.Match[str]) -> Token:
    return Token(kind, match.group(), start_pos=match.start(), end_pos=match.end())
