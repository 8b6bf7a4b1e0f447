"""A field or element of something that has none.

What it does
    Reports `x.field` and `x[i]` where `x` is certainly a number, a boolean or null, `x.field` and `x["a"]` where it is
    a list, and an index that is no whole number of a list, or no text of an object.

Why
    The result is always null, and an assignment to such a place ends the run.

Example
    ```prose
    let drafts = [one, two]
    emit drafts.text
    ```

Use instead
    ```prose
    emit drafts[0].text
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.types import Type, Types, types_of

_NULL = "so this is always null"
_NOWHERE = "so the run ends at this assignment"


def find(facts: Facts) -> Iterator[Finding]:
    """Members of values that have none, or none of that kind."""
    types = facts.shared(types_of)
    assigned = {bind.target for bind in facts.all(n.Bind)}
    for node in facts.all(n.Field, n.Index):
        kind = types.of(node.object)
        so = _NOWHERE if node in assigned else _NULL
        if kind is None and types.is_null(node.object):
            yield Finding(node.span, f"null has no fields or elements, {so}")
        elif isinstance(node, n.Index):
            yield from _index(node, kind, types, so)
        elif _lacks(node, kind, node in assigned):
            help_ = "take one of its elements first: `[0]`, or a loop" if kind == "list" else None
            yield Finding(node.name_span, f"a {kind} has no field `{node.name}`, {so}", help_)


def _lacks(node: n.Field, kind: Type | None, assigned: bool) -> bool:
    """Whether a value of a type never has the field. A text that is read from may be JSON of an object."""
    if assigned and kind in ("text", "list"):
        return True
    return node.name != "length" and kind in ("number", "boolean", "list")


def _index(node: n.Index, kind: Type | None, types: Types, so: str) -> Iterator[Finding]:
    if kind in ("number", "boolean") or (kind == "text" and so == _NOWHERE):
        yield Finding(node.span, f"a {kind} has no elements, {so}")
        return
    index = "text" if isinstance(node.index, n.Template) else types.of(node.index)
    if kind == "list" and index not in (None, "number"):
        help_ = "the index of a list is a number, from 0 on; to ask each element, write a loop"
        yield Finding(node.index.span, f"a list has no element by {_article(index)}, {so}", help_)
    elif kind == "object" and index not in (None, "text"):
        help_ = "the index of an object is the name of a field, in quotes"
        yield Finding(node.index.span, f"an object has no field by {_article(index)}, {so}", help_)


def _article(kind: str | None) -> str:
    return f"an {kind}" if kind == "object" else f"a {kind}"


RULE = Rule("member-of-plain-value", "warning", find, __doc__)
