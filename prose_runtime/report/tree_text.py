"""``prose show SPEC --ast``: the tree of a spec as indented text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from prose_runtime.text import printable


def tree_text(tree: Any) -> str:
    """A tree as ``nodes.dump`` gives it: a node a line with its plain fields, what is below it indented."""
    return "\n".join(_lines(tree))


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        plain = {key: inside for key, inside in value.items() if key != "node" and not isinstance(inside, dict | list)}
        fields = " ".join(f"{key}={_spelt(inside)}" for key, inside in plain.items())
        yield printable(f"{value.get('node', '')} {fields}".strip() or "{}")
        for key, inside in value.items():
            if isinstance(inside, dict | list):
                yield from _below(printable(str(key)), inside)
    elif isinstance(value, list):
        for inside in value:
            first, *rest = _lines(inside)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield printable(_spelt(value))


def _below(key: str, value: Any) -> Iterator[str]:
    lines = list(_lines(value))
    if isinstance(value, dict) and "node" in value:
        yield f"  {key}: {lines[0]}"
        yield from (f"  {line}" for line in lines[1:])
    else:
        yield f"  {key}:"
        yield from (f"    {line}" for line in lines)


def _spelt(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
