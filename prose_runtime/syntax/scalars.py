"""YAML of the plainest form, read without a YAML library, which takes longer to load than such a file to read."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from prose_runtime.text import Source, Span

_NULL = re.compile(r"~|null|Null|NULL|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_MOST_DIGITS = 300

_LINE = re.compile(
    r"(?P<key>[A-Za-z_][\w-]*):"
    r"(?: +(?P<value>\w(?:[!-9;-~\u00a1-\u1fff\u2010-\u2027]| +(?![ #\n]|\Z)|:(?=[^\s]))*))?"
    r" *(?:\n|\Z)|(?:#[ -~]*| *)\n"
)
"""A key with at most one unquoted text behind it, a comment, or nothing."""


class Entry(NamedTuple):
    """A value of a mapping: where its key stands, what it is, and its text and place when it is no list or mapping.

    The place of a text is without its quotes.
    """

    key: Span
    value: Any
    text: str | None
    place: Span


def plain(text: str) -> Any:
    """What an unquoted scalar means: null, a boolean, a number, or the text itself (YAML 1.2, core schema)."""
    if _NULL.fullmatch(text):
        return None
    if _BOOL.fullmatch(text):
        return text.lower() == "true"
    if len(text) <= _MOST_DIGITS and _NUMBER.fullmatch(text):
        value = int(text) if text.lstrip("+-").isdigit() else float(text)
        return value if math.isfinite(value) else text
    return text


def plain_mapping(source: Source, span: Span) -> Mapping[str, Entry] | None:
    """The entries of a mapping whose lines are all of the plainest form, by key; None when one is not."""
    found: dict[str, Entry] = {}
    at = span.start
    while at < span.end:
        line = _LINE.match(source.text, at, span.end)
        if line is None or line["key"] in found:
            return None
        at = line.end()
        if line["key"] is not None:
            text = line["value"] or ""
            place = Span(*line.span("value")) if text else Span(line.end("key") + 1, line.end("key") + 1)
            found[line["key"]] = Entry(Span(*line.span("key")), plain(text), text, place)
    return found
