"""Values as people read them: an outline of their fields and items."""

from __future__ import annotations

import json
from typing import Any

_INDENT = "  "


def outline(value: Any) -> list[str]:
    """The lines of a JSON value; text as it is."""
    if isinstance(value, dict) and value:
        return _joined([_entry(f"{key}:", item) for key, item in value.items()])
    if isinstance(value, list) and value:
        return _joined([_entry("-", item) for item in value])
    return value.strip("\n").splitlines() or [""] if isinstance(value, str) else [json.dumps(value, ensure_ascii=False)]


def _entry(head: str, value: Any) -> list[str]:
    body = outline(value)
    if len(body) == 1 and (len(body[0]) < 80 or head == "-") and not (isinstance(value, dict | list) and value):
        return [f"{head} {body[0]}".rstrip()]
    if head == "-":
        return [f"- {body[0]}", *(_INDENT + line if line else "" for line in body[1:])]
    return [head, *(_INDENT + line if line else "" for line in body)]


def _joined(entries: list[list[str]]) -> list[str]:
    """The entries one below the other, apart from each other where one takes several lines."""
    loose = any(len(entry) > 1 for entry in entries)
    lines: list[str] = []
    for entry in entries:
        lines += [*([""] if loose and lines else []), *entry]
    return lines
