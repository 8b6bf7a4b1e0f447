"""JSON inside running text: models wrap it in sentences and code fences (LANGUAGE.md section 4, Demanded shape)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any


def objects_in(text: str) -> list[Any]:
    """All JSON objects and lists in a text, in order; those inside another one are part of it.

    Braces inside strings, code fences and broken JSON around a good piece do no harm. The time is linear in the
    length of the text, whatever it holds.
    """
    found = []
    for start, end in _spans(text):
        value = _decode(text[start:end])
        if value is not None:
            found.append(value)
    return found


def read_json(text: str, fits: Callable[[Any], bool] = lambda value: True) -> Any | None:
    """The last JSON object or list inside a text that fits, or None when there is none."""
    return next((value for value in reversed(objects_in(text)) if fits(value)), None)


def parse_json(text: str) -> Any:
    """The value that a text is as a whole. Raises ``ValueError`` when it is no strict JSON or nested too deeply."""
    try:
        return json.loads(text, strict=False, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _decode(text: str) -> Any | None:
    try:
        return parse_json(text)
    except ValueError:
        return None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{digits} is out of range")
    return value


_STRING = r'"(?>(?>[^"\\]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"'
_SCALAR = rf"(?>{_STRING}|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)"
_WS = r"[ \t\r\n]*+"
_KEY = rf"{_STRING}{_WS}:{_WS}"
_OPEN = re.compile(rf'\[(?={_WS}["\[{{\]\-\dtfn])|{{(?={_WS}["}}])', re.ASCII)
_AFTER = re.compile(rf"{_WS}([,\]}}])")
# By opening bracket: all the scalars before the last comma, as one match, and what may stand behind them.
_RUN = {
    "[": re.compile(rf"((?>(?>{_WS}{_SCALAR}{_WS},)*)){_WS}", re.ASCII),
    "{": re.compile(rf"((?>(?>{_WS}{_KEY}{_SCALAR}{_WS},)*)){_WS}", re.ASCII),
}
_REST = {
    "[": re.compile(rf"(?P<last>{_SCALAR}{_WS}\])|(?P<open>[{{\[])|(?P<empty>\])", re.ASCII),
    "{": re.compile(rf"(?P<last>{_KEY}{_SCALAR}{_WS}\}})|{_KEY}(?P<open>[{{\[])|(?P<empty>\}})", re.ASCII),
}
_CLOSER = {"[": "]", "{": "}"}


def _spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each outermost well-formed object or list.

    Whether a bracket opens something well-formed depends on its place only, so ``ends`` remembers each answer
    (None: it does not) and no stretch of text is read more than twice: once inside, once outside of a string.
    """
    ends: dict[int, int | None] = {}
    spans = []
    behind = 0
    for match in _OPEN.finditer(text):
        start = match.start()
        if start < behind:
            continue
        if start not in ends:
            _scan(text, start, ends)
        end = ends[start]
        if end is not None:
            spans.append((start, end))
            behind = end
    return spans


def _scan(text: str, start: int, ends: dict[int, int | None]) -> None:
    """Find out where the container at ``start``, and each one inside it, ends."""
    stack = [start]
    at: int | None = start + 1
    while stack and at is not None:
        opened = at == stack[-1] + 1
        inner, at = _step(text, at, text[stack[-1]], opened)
        if inner is not None and inner not in ends:
            stack.append(inner)
            at = inner + 1
            continue
        if inner is not None:
            at = _behind(text, ends[inner], stack, ends)
        elif at is not None:
            ends[stack.pop()] = at
            at = _behind(text, at, stack, ends)
    ends.update(dict.fromkeys(stack))


def _step(text: str, at: int, bracket: str, opened: bool) -> tuple[int | None, int | None]:
    """The place of the next container inside, or of the end behind this one's own bracket; neither when it breaks."""
    run = _RUN[bracket].match(text, at)
    rest = _REST[bracket].match(text, run.end()) if run else None
    if run is None or rest is None:
        return None, None
    if rest["open"]:
        return rest.start("open"), None
    if rest["empty"] and (run[1] or not opened):
        return None, None
    return None, rest.end()


def _behind(text: str, at: int | None, stack: list[int], ends: dict[int, int | None]) -> int | None:
    """Where reading goes on behind an inner container: behind its comma; brackets that close there are noted."""
    while stack and at is not None:
        after = _AFTER.match(text, at)
        if after is None:
            return None
        if after[1] == ",":
            return after.end()
        if after[1] != _CLOSER[text[stack[-1]]]:
            return None
        at = ends[stack.pop()] = after.end()
    return at
