"""One line of ProseScript into a parse tree, by the grammar in ``grammar/prosescript.lark``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from prose_runtime.resources import resource
from prose_runtime.text import Source, Span

if TYPE_CHECKING:
    from lark import Lark, Tree

Start = Literal["statement", "entry", "expr", "clause"]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a text is no such line: the offset at which reading stopped. It is the end of the text when more was due."""

    position: int


@cache
def _lark() -> Lark:
    """Build the parser once; lark is imported only when something is to be parsed."""
    from lark import Lark

    from prose_runtime.syntax.lexer import LineLexer

    return Lark(
        (resource("grammar") / "prosescript.lark").read_text(encoding="utf-8"),
        parser="lalr",
        lexer=LineLexer,
        start=["statement", "entry", "expr", "clause"],
        propagate_positions=True,
        maybe_placeholders=True,
        cache=_cache_file() or False,
    )


def _cache_file() -> str | None:
    """Where the built tables are kept between runs; they save a quarter of a second at the start of each.

    Lark stores them as a pickle and rebuilds them when they are stale or damaged. A pickle can run code, so the file
    is used only in a folder that belongs to this user and that nobody else can write to.
    """
    from platformdirs import user_cache_path

    folder = user_cache_path("prose-runtime", appauthor=False)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError:
        return None
    own = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o022)
    return str(folder / "grammar.lark.cache") if own and os.access(folder, os.W_OK) else None


def parse(source: Source, span: Span, start: Start) -> Tree[Any] | Failure:
    """Read a span as one statement, entry, expression or clause. All positions are offsets of the file."""
    from lark.exceptions import UnexpectedInput, UnexpectedToken

    from prose_runtime.syntax.lexer import NoToken, Piece

    parser = _lark()
    try:
        return parser.parse(Piece(source.text, span.start, span.end), start=start)
    except NoToken as stopped:
        return Failure(stopped.position)
    except UnexpectedToken as stopped:
        return Failure(span.end if stopped.token.type == "$END" else stopped.token.start_pos or 0)
    except UnexpectedInput:
        return Failure(span.end)
