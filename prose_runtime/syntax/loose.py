"""Lines that no rule of the grammar reads and that mean something all the same: plain data, and effects in words."""

from __future__ import annotations

import re
from typing import Literal

from prose_runtime.diagnostics import near
from prose_runtime.nodes import Bind, Effect, Expr, Name, Output, Return, Template
from prose_runtime.syntax.expressions import Pair
from prose_runtime.syntax.messages import STATEMENTS, WORDS
from prose_runtime.syntax.statements import Item
from prose_runtime.text import Source, Span, compiled

_KEY = re.compile(r"(?P<quote>[\"']?)(?P<key>[A-Za-z_][\w.-]*)(?P=quote)\s*:(?=\s|$)\s*")
HEADS = frozenset("session resume parallel loop try do".split())
"""Words before a colon that begin a statement, and are no keys where either may stand."""

_EFFECT = r"(?s)(?P<word>[a-z][\w-]*)[ \t]+(?=[\w\"'{(\[])(?P<text>\S.*)\Z"
_ASSIGNS = re.compile(r"[^\"]*\s=\s")
_SENTENCE_ENDS = (".", "!", "?", ",", ";", ":")
_MOST_WORDS = 16
_LONGEST = 2000
_SHORTEST = 3


def key_of(text: str, span: Span) -> str | None:
    """The key of a line ``key: value``, if it is one."""
    match = _KEY.match(text, span.start, span.end)
    return match["key"] if match else None


def data(source: Source, span: Span) -> Pair | Item | Expr:
    """A line of plain data, with what stands below it, as text: ``key: anything``, ``- anything`` or anything."""
    text = source.text
    if match := _KEY.match(text, span.start, span.end):
        value = as_text(source, Span(match.end(), span.end))
        return Pair(span, match["key"], Span(match.start("key"), match.end("key")), value)
    if text.startswith("- ", span.start):
        return Item(span, as_text(source, Span(span.start + 2, span.end)))
    return as_text(source, span)


def as_text(source: Source, span: Span) -> Template:
    """The characters of a span as a text; quotes around all of them are left out."""
    said = source.read(span).strip()
    if len(said) > 1 and said[0] == said[-1] and said[0] in "\"'" and said[0] not in said[1:-1]:
        said = said[1:-1]
    return Template(span=span, parts=(said,) if said else ())


def effect(text: str, span: Span) -> Effect | None:
    """A line such as ``escalate topic to the owner``, unless it is a slip that is known or a sentence."""
    if span.end - span.start > _LONGEST:
        return None
    match = compiled(_EFFECT).match(text, span.start, span.end)
    if match is None or _ASSIGNS.match(match["text"]) or match["text"].endswith(_SENTENCE_ENDS):
        return None
    if _meant(match["word"]):
        return None
    said = match["text"] if "\n" not in match["text"] else " ".join(match["text"].split())
    line = f"{match['word']} {said}"
    if said.count(" ") >= _MOST_WORDS or any(re.match(slip.pattern, line) for slip in STATEMENTS):
        return None
    return Effect(span=span, name=match["word"], name_span=Span(*match.span("word")), text=said)


_HOLDS = (
    r"(?:(?P<keyword>let|const)[ \t]+)?(?P<name>[A-Za-z_](?:[\w-]*\w)?)[ \t]*=(?!=)[ \t]*"
    r"|(?P<leave>return)[ \t]+"
    r"|output[ \t]+(?P<output>[A-Za-z_](?:[\w-]*\w)?)[ \t]*=(?!=)[ \t]*"
)


def effect_as_value(text: str, span: Span) -> Effect | Bind | Return | Output | None:
    """``let x = escalate topic to the owner`` and the like: an effect whose answer is used. Plain effects, too.

    A word that the file gives a value somewhere is no effect's: an operator is missing behind it.
    """
    held = compiled(_HOLDS).match(text, span.start, span.end)
    if held is None:
        return effect(text, span)
    found = effect(text, Span(held.end(), span.end))
    if found is None or len(found.name) < _SHORTEST or found.text.startswith(("if ", "else ")):
        return None
    if re.search(rf"(?<![\w-]){re.escape(found.name)}(?![\w-])\s*(?:=(?!=)|:|`|\()", text):
        return None
    if held["leave"]:
        return Return(span=span, value=found)
    group = "output" if held["output"] else "name"
    name = Name(span=Span(*held.span(group)), id=held[group])
    if held["output"]:
        return Output(span=span, name=name, value=found)
    keyword: Literal["let", "const"] | None = (
        "let" if held["keyword"] == "let" else "const" if held["keyword"] else None
    )
    return Bind(span=span, keyword=keyword, target=name, value=found)


def _meant(word: str) -> bool:
    """Whether a word is one that begins a statement, or a misspelt one."""
    words = WORDS.split("|")
    return any(close[0] == word[0] for close in near(word, words, 3, 0.8))
