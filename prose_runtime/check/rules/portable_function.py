"""A small function, which only this runtime has.

What it does
    Reports `len(xs)` and the other small functions outside of conditions.

Why
    The published grammar has no functions. A length is portable as `xs.length`; what else they compute, a role or the
    caller can tell.

Example
    ```prose
    let count = len(drafts)
    ```

Use instead
    ```prose
    let count = drafts.length
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.portable import outside_conditions
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import Edit, Fix
from prose_runtime.syntax.expressions import FUNCTIONS
from prose_runtime.text import Span

_HELP = {"json": 'a value in a string is written as JSON: `"{value}"`', "range": "count with `repeat N as i:`"}


def find(facts: Facts) -> Iterator[Finding]:
    """Calls of known functions."""
    for node in outside_conditions(facts.all(n.FunctionCall, n.Group), facts):
        if isinstance(node, n.Group):
            yield Finding(Span(node.span.start, node.span.start + 5), "`group` is not portable", _otherwise("group"))
        elif node.name in FUNCTIONS:
            yield Finding(node.name_span, f"`{node.name}` is not portable", *_instead(node, facts))


def _instead(node: n.FunctionCall, facts: Facts) -> tuple[str, tuple[()], Fix | None]:
    if node.name != "len" or len(node.args) != 1:
        return _otherwise(node.name), (), None
    argument = node.args[0]
    text = facts.text(argument.span)
    if not isinstance(argument, n.Name | n.Field | n.Index) or "\n" in text:
        return "bind the list to a name, and write `name.length`", (), None
    return f"write `{text}.length`", (), Fix(f"Write `{text}.length`", (Edit(node.span, f"{text}.length"),))


def _otherwise(name: str) -> str:
    return _HELP.get(name, "let a role do it, or the caller")


RULE = Rule("portable-function", "warning", find, __doc__)
