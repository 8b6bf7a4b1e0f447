"""The tables of the grammar: what the parser may take in which state, as Lark makes them of ``prosescript.lark``.

They stand beside the grammar in ``prosescript.json``, so that a start need neither import Lark nor build them, which
takes a second. ``python -m prose_runtime.lsp.reference`` writes them anew; tables that belong to another text of the
grammar are made in memory instead.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zlib import crc32

from prose_runtime.records import dataclass
from prose_runtime.resources import resource

STARTS = ("statement", "entry", "expr", "clause")
"""What a text can be read as."""

END = "$END"
"""The terminal behind the last one of a text."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """A kind of token: the pattern that it matches, and the ASCII characters that it can begin with."""

    name: str
    pattern: str
    first: str


@dataclass(frozen=True, slots=True)
class Rule:
    """What to do when the parts of a rule are complete.

    Attributes:
        origin: The symbol that the parts become.
        size: How many parts there are.
        data: The kind of the tree that is made; empty when the parts are only handed on.
        kept: The parts that become children, in order: the place, whether its own children take its place, and how
            many empty children stand before it.
        empty: How many empty children stand at the end.
        through: Whether a single child stands for itself, without a tree around it.
    """

    origin: str
    size: int
    data: str
    kept: tuple[tuple[int, bool, int], ...]
    empty: int
    through: bool


@dataclass(frozen=True, slots=True)
class Tables:
    """Everything that reading a line takes.

    Attributes:
        terminals: The kinds of tokens, those first that are tried first.
        blank: What separates tokens and means nothing.
        rules: The rules, by number.
        starts: The state in which reading begins, by what is to be read.
        ends: The state in which it is complete.
        states: For each state what follows on a symbol: the next state, or a rule that is complete as ``-1 - rule``.
    """

    terminals: tuple[Terminal, ...]
    blank: str
    rules: tuple[Rule, ...]
    starts: dict[str, int]
    ends: dict[str, int]
    states: list[dict[str, int]]


def load() -> Tables:
    """The tables of the grammar: those beside it when they are its own, else made now."""
    grammar = _grammar()
    try:
        kept = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        kept = {}
    if not isinstance(kept, dict) or kept.get("grammar") != crc32(grammar.encode()):
        kept = json.loads(rendered())
    return Tables(
        tuple(Terminal(*terminal) for terminal in kept["terminals"]),
        kept["blank"],
        tuple(Rule(*rule) for rule in kept["rules"]),
        kept["starts"],
        kept["ends"],
        kept["states"],
    )


def rendered() -> str:
    """The text of the file with the tables, made of the grammar as it is."""
    from lark import Lark

    grammar = _grammar()
    lark = Lark(grammar, parser="lalr", start=list(STARTS), maybe_placeholders=True)
    # Lark keeps its tables to itself, so this is the one place that looks for them.
    table: Any = lark.parser.parser._parse_table
    rules = {rule: number for number, rule in enumerate(lark.rules)}
    numbers = _numbers(table)
    states = [_row(table.states[state], numbers, rules) for state in numbers]
    parts: dict[str, list[Any]] = {
        "grammar": [crc32(grammar.encode())],
        "terminals": [_terminal(terminal) for terminal in _tried_in_order(lark.terminals, set(lark.ignore_tokens))],
        "blank": ["|".join(t.pattern.to_regexp() for t in lark.terminals if t.name in lark.ignore_tokens)],
        "rules": [_rule(rule) for rule in rules],
        "starts": [{start: numbers[table.start_states[start]] for start in STARTS}],
        "ends": [{start: numbers[table.end_states[start]] for start in STARTS}],
        "states": states,
    }
    single = ("grammar", "blank", "starts", "ends")
    return "{\n" + ",\n".join(f'"{key}": {_lines(of, key in single)}' for key, of in parts.items()) + "\n}\n"


def write() -> None:
    """Write the tables beside the grammar."""
    _file().write_text(rendered(), encoding="utf-8")


def _grammar() -> str:
    return (resource("grammar") / "prosescript.lark").read_text(encoding="utf-8")


def _file() -> Path:
    return resource("grammar") / "prosescript.json"


def _lines(items: list[Any], single: bool) -> str:
    """One item a line, so that a change of the grammar is a small change of the file."""
    spelt = [json.dumps(item, separators=(",", ":")) for item in items]
    return spelt[0] if single else "[\n" + ",\n".join(spelt) + "\n]"


def _numbers(table: Any) -> dict[Any, int]:
    """A number for each state, in an order that the same grammar always gives."""
    found = {state: None for _, state in sorted(table.start_states.items())}
    waiting = list(found)
    for state in waiting:
        for _, (_, follows) in sorted(table.states[state].items()):
            if isinstance(follows, int) and follows not in found:
                found[follows] = None
                waiting.append(follows)
    return {state: number for number, state in enumerate(found)}


def _row(row: dict[str, Any], numbers: dict[Any, int], rules: dict[Any, int]) -> dict[str, int]:
    def follows(target: Any) -> int:
        return numbers[target] if isinstance(target, int) else -1 - rules[target]

    return {symbol: follows(target) for symbol, (_, target) in sorted(row.items())}


def _tried_in_order(terminals: Any, ignored: set[str]) -> list[Any]:
    known = [terminal for terminal in terminals if terminal.name not in ignored]
    return sorted(known, key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value)))


def _terminal(terminal: Any) -> tuple[str, str, str]:
    from prose_runtime.syntax.beginnings import beginnings

    pattern = terminal.pattern.to_regexp()
    return terminal.name, pattern, "".join(sorted(beginnings(pattern)))


def _rule(rule: Any) -> tuple[str, int, str, list[tuple[int, bool, int]], int, bool]:
    """How a rule's parts become a tree, by Lark's conventions for names and for brackets that may be empty."""
    options, origin = rule.options, rule.origin.name
    gaps = [0] * (len(rule.expansion) + 1)
    at = 0
    for empty in options.empty_indices or ():
        gaps[at] += empty
        at += not empty
    kept: list[tuple[int, bool, int]] = []
    before = 0
    for place, symbol in enumerate(rule.expansion):
        before += gaps[place]
        if not (symbol.is_term and symbol.filter_out):
            kept.append((place, not symbol.is_term and symbol.name.startswith("_"), before))
            before = 0
    data = "" if origin.startswith("_") else str(rule.alias or origin)
    return origin, len(rule.expansion), data, kept, before + gaps[-1], options.expand1 and not rule.alias
