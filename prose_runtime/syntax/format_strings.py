"""Literals of ProseScript: text with its escapes, so that reading it again gives the same parts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prose_runtime.nodes import Interpolation, Template
from prose_runtime.syntax.strings import NAME

_PATH = rf"{NAME}(?:\.{NAME})*"
_BRACE = re.compile(rf"(?<!\$)\{{(?P<path>{_PATH})\}}|\{{(?=\{{)")
_OPEN_NAME = re.compile(r"\\.|(?P<open>\{)(?=(?:[A-Za-z_][\w-]*)?\Z)", re.DOTALL)
_DOUBLE = re.compile(r"\{(?=\{)")
_QUOTES = re.compile(r'"{3,}')
_BLANKS = re.compile(r"[ ]*")


def literal(template: Template, indent: int) -> str:
    """A string literal that stands on a line indented by ``indent`` blanks."""
    if not template.triple:
        return f'"{_text(template.parts, quotes=True)}"'
    block = _text(template.parts, newline="\n")
    if _fits_block(block):
        return _block(block, indent)
    return f'"""{_text(template.parts, quotes=True)}"""'


def plain_literal(text: str) -> str:
    """The literal of a text in which ``{name}`` has no meaning, such as a label or a key."""
    return f'"{_DOUBLE.sub(_escape_brace, _escaped(text, quotes=True))}"'


def _block(text: str, indent: int) -> str:
    margin = " " * indent
    lines = [margin + line if line else "" for line in text.split("\n")]
    return "\n".join(['"""', *lines, margin + '"""'])


def _fits_block(text: str) -> bool:
    """Whether a text keeps its own indentation when that of the block around it is taken away."""
    widths = [len(_BLANKS.match(line)[0]) for line in text.split("\n") if line.strip(" ")]  # type: ignore[index]
    return bool(widths) and min(widths) == 0


def _text(parts: Sequence[str | Interpolation], *, quotes: bool = False, newline: str = "\\n") -> str:
    found = []
    for part, behind in zip(parts, (*parts[1:], ""), strict=False):
        if isinstance(part, Interpolation):
            found.append(part.raw)
            continue
        text = _BRACE.sub(_escape_braces, _escaped(part, quotes=quotes, newline=newline))
        if isinstance(behind, Interpolation):
            text = _OPEN_NAME.sub(_escape_open, text)
        found.append(text)
    return "".join(found)


def _escaped(text: str, *, quotes: bool, newline: str = "\\n") -> str:
    text = text.replace("\\", "\\\\").replace("\n", newline).replace("\t", "\\t")
    return text.replace('"', '\\"') if quotes else _QUOTES.sub(_escape_quotes, text)


def _escape_quotes(match: re.Match[str]) -> str:
    return '\\"' * len(match[0])


def _escape_brace(_: re.Match[str]) -> str:
    return "\\{"


def _escape_open(match: re.Match[str]) -> str:
    return "\\{" if match["open"] else match[0]


def _escape_braces(match: re.Match[str]) -> str:
    path = match["path"]
    return f"\\{{{path}\\}}" if path else "\\{"
