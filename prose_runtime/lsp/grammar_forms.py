"""The rules of the grammar file as a person writes them, such as ``repeat E [options]:``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from prose_runtime.resources import resource

_RULE = re.compile(r"^\??(?P<name>[a-z_]+)\s*: (?P<body>.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_TERMINAL = re.compile(r"^(?P<name>[A-Z_]+)(?:\.\d+)?: (?:/(?P<pattern>.+)/s?|\"(?P<sign>.+)\")\s*$", re.MULTILINE)
_WORD = re.compile(r"\(\?:(?P<any>[a-z]+(?:\|[a-z]+)+)\)|(?P<one>[a-z]+(?:\\s\+[a-z]+)*)|\\(?P<sign>[^\w\s])")
_TOKEN = re.compile(r"[A-Za-z_]+|[\[\]()|]")

_SIMPLER = (
    # A colon may be absent in the grammar only so that its absence can be reported.
    ("[END_COLON]", "END_COLON"),
    ("(_COLON | END_COLON)", "END_COLON"),
    ("(_COLON expr | END_COLON)", "END_COLON [expr]"),
    ("(STRING | SINGLE_QUOTED)", "STRING"),
    ("part*", "[options]"),
    ("_COMMA?", ""),
    ("[TIMES] ", ""),
    ("(_ARROW expr)*", ""),
)
"""What the grammar has to spell out, and what that comes to for a reader."""

_FILLED = re.compile(r"(_LPAR|_LSQB|_LBRACE) \[(.*?)\] (_RPAR|_RSQB|_RBRACE)")
_MORE = re.compile(r"\((?:_sep|_COMMA|_COMMA_ARG) \w+\)\*")

_SHOWN: Mapping[str, str] = {
    **dict.fromkeys(("value", "expr", "chain", "construct", "or_expr", "and_expr", "not_expr", "comparison"), "E"),
    **dict.fromkeys(("sum", "product", "unary", "primary"), "E"),
    **dict.fromkeys(("postfix", "target"), "place"),
    **dict.fromkeys(("NAME", "ARGNAME", "WORD", "key"), "name"),
    **dict.fromkeys(("COND_BLOCK", "COND_LOOP", "COND_ELSE", "COND_THEN"), "C"),
    **dict.fromkeys(("argname_pair", "word_pair"), "name: E"),
    "STRING": '"text"',
    "NUMBER": "12",
    "MADE_NAME": "name_{name}",
    "DURATION": "2s",
    "DISCRETION": "**text**",
    "FUNCTION": "function",
    "names": "name, ...",
    "params": "name, ...",
    "note": "with note E",
    "member": "name: E",
    "argument": "[name:] E",
    "_PIPE": "E |",
    "COMPARE": "==|!=|<|<=|>|>=",
    "END_COLON": ":",
    "ASSIGN": "=",
    "_ARROW": "->",
    "BARE_WHILE": "while",
    "BARE_UNTIL": "until",
    "_DASH": "-",
    "_INDEX": "[",
    "_RECORD_IN": "in",
    "MORE": "...",
}
"""How names of the grammar are shown; words and signs are shown as the terminals spell them."""

_TIGHT_BEHIND = ("(", "[", "{", "|", ".")
_TIGHT_BEFORE = (")", "]", "}", "|", ",", ":", ".")


@cache
def rules() -> Mapping[str, tuple[str, ...]]:
    """The alternatives of each rule."""
    text = (resource("grammar") / "prosescript.lark").read_text(encoding="utf-8")
    shown = {match["name"]: match["sign"] or _spelt(match["pattern"]) for match in _TERMINAL.finditer(text)}
    shown.update(_SHOWN)
    return {match["name"]: tuple(_alternatives(match["body"], shown)) for match in _RULE.finditer(text)}


def _spelt(pattern: str) -> str:
    """The words at the start of a terminal's pattern."""
    match = _WORD.match(pattern)
    if match is None:
        return pattern
    return match["any"] or match["sign"] or match["one"].replace("\\s+", " ")


def _alternatives(body: str, shown: Mapping[str, str]) -> list[str]:
    for written, simpler in _SIMPLER:
        body = body.replace(written, simpler)
    body = _FILLED.sub(r"\1 \2 \3", _MORE.sub("_COMMA MORE", body))
    body = re.sub(r"->\s*\w+\s*$", "", body, flags=re.MULTILINE)
    found: list[list[str]] = [[]]
    depth = 0
    for token in _TOKEN.findall(body):
        depth += (token in "[(") - (token in "])")
        if token == "|" and not depth:
            found.append([])
        elif token not in "()":
            found[-1].append(token if token in "[]|" else shown.get(token, token))
    return list(dict.fromkeys(map(_line, found)))


def _line(parts: list[str]) -> str:
    """The parts of one alternative with blanks where a person writes them."""
    text, before = "", "("
    for part in parts:
        joined = before in _TIGHT_BEHIND or part in _TIGHT_BEFORE or (part, before) == ("|", "]")
        text += part if joined else f" {part}"
        before = part
    return re.sub(r"(?<=\w) (?=\[\()|(?<=function) (?=\()|(?<=group) (?=\()|(?<=place) (?=\[E)", "", text)
