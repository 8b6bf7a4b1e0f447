"""A TextMate grammar of ProseScript, made of the words of the language's own grammar.

``python -m prose_runtime.lsp.textmate`` prints what ``examples/editors/vscode/syntaxes`` holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from prose_runtime.lsp.words import FUNCTION_HELP, words

Rule = dict[str, Any]

SCOPE = "source.prosescript"

_NAME = r"[A-Za-z_](?:[\w-]*\w)?"
_BEFORE, _AFTER = r"(?<![\w.-])", r"(?![\w-])"
_UNLESS_NAME = r"(?!\s*(?:=(?!=)|\.(?=[A-Za-z_])))"
_UNLESS_VALUE = r"(?!\s*(?:[,)\]}]|[=!]=|[<>+*/%](?=\s)|(?:is|has|have|does|and|or|in)(?![\w-])))"
_ALONE = frozenset(
    {"return", "throw", "break", "continue", "else", "finally", "catch", "try", "do", "parallel", "loop"}
)
"""Words that can end a line; the others are names there."""
_BINDING = ("let", "const")
_STAGES = ("map", "pmap", "filter", "reduce")


def grammar() -> Rule:
    """The grammar as TextMate, VS Code and others read it."""
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "ProseScript",
        "scopeName": SCOPE,
        "patterns": [{"include": f"#{name}"} for name in _repository()],
        "repository": _repository(),
    }


def _repository() -> dict[str, Rule]:
    """Rules by name, in the order in which they are tried."""
    return {
        "comments": _match("comment.line.number-sign", r"(?:^|(?<=\s))#.*$"),
        "texts": _text('"""', "string.quoted.triple"),
        "strings": _text('"', "string.quoted.double"),
        "criteria": {
            "name": _scope("string.unquoted.criterion"),
            "begin": r"\*\*\*?(?=[^*\s])",
            "end": r"\*\*\*?",
            "patterns": [_interpolation()],
        },
        "definitions": _pairs(("agent", "block"), "keyword.control", "entity.name.function"),
        "bindings": _pairs(_BINDING, "storage.type", "variable.other.definition"),
        "calls": _pairs(("call", "do"), "keyword.control", "entity.name.function.call"),
        "agents": _captures(rf"{_BEFORE}(session|resume)(?=\s*:|\s*\"|\s+{_NAME}\s*:)", {1: "keyword.control"}),
        "stages": _captures(rf"\|\s*({_any(_STAGES)}){_AFTER}", {1: "keyword.control"}),
        "keys": _captures(rf"(?<![\w.{{-])({_NAME})\s*:(?=\s+\S)", {1: "variable.parameter"}),
        "constants": _words("constant.language", words()["constant"]),
        "numbers": _match(
            "constant.numeric", r"(?<![\w.-])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?:\s*(?:ms|s|sec|min|m|h)(?![\w-]))?"
        ),
        "functions": _match("support.function", rf"{_BEFORE}(?:{_any(FUNCTION_HELP)})(?=\()"),
        "statements": _keywords("keyword.control", words()["statement"]),
        "constructs": _keywords("keyword.control", words()["construct"]),
        "operators": _words("keyword.operator.word", words()["operator"]),
        "connectives": _keywords("keyword.other", words()["connective"]),
        "signs": _match("keyword.operator", r"==|!=|<=|>=|[<>=+*/%|]|(?<=\s)-(?=\s)"),
    }


def _scope(name: str) -> str:
    return f"{name}.prosescript"


def _match(name: str, pattern: str) -> Rule:
    return {"name": _scope(name), "match": pattern}


def _captures(pattern: str, names: dict[int, str]) -> Rule:
    return {"match": pattern, "captures": {str(at): {"name": _scope(name)} for at, name in names.items()}}


def _pairs(first: Iterable[str], word: str, name: str) -> Rule:
    """One of some words with the name behind it."""
    return _captures(rf"{_BEFORE}({_any(first)})\s+({_NAME})", {1: word, 2: name})


def _words(name: str, spelt: Iterable[str]) -> Rule:
    """Words, where they are no names that are assigned to or read from."""
    return _match(name, rf"{_BEFORE}(?:{_any(spelt)}){_AFTER}{_UNLESS_NAME}")


def _keywords(name: str, spelt: Iterable[str]) -> Rule:
    """Words that lead something on, where they are no names that stand as values."""
    alone = _any(_ALONE.intersection(spelt)) or "(?!)"
    leading = _any(set(spelt) - _ALONE)
    pattern = rf"(?:(?:{leading}){_AFTER}(?!\s*(?:#.*)?$)|(?:{alone}){_AFTER})"
    return _match(name, _BEFORE + pattern + _UNLESS_NAME + _UNLESS_VALUE)


def _any(spelt: Iterable[str]) -> str:
    """Alternatives, the longest first; blanks in a word may be more than one."""
    return "|".join(word.replace(" ", r"\s+") for word in sorted(spelt, key=lambda word: (-len(word), word)))


def _interpolation() -> Rule:
    return _match("variable.other.interpolated", rf"\{{{_NAME}(?:\.{_NAME})*\}}")


def _text(quotes: str, name: str) -> Rule:
    """A string with its escapes and interpolations."""
    inside = [
        _match("constant.character.escape", r'\\[\\"nt{}]|\{\{|\}\}'),
        _interpolation(),
    ]
    end = quotes if len(quotes) > 1 else f"{quotes}|$"
    return {"name": _scope(name), "begin": quotes, "end": end, "patterns": inside}


def dumps() -> str:
    """The grammar as the text of its file."""
    return json.dumps(grammar(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(dumps(), end="")
