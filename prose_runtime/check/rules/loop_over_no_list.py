"""A loop over something that is no list.

What it does
    Reports `for`, and a pipeline, over a value that is certainly a number, a text, an object or a boolean.

Why
    Only a list has elements. The run would end here.

Example
    ```prose
    for i in rounds:
    ```

Use instead
    ```prose
    repeat rounds as i:
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.types import types_of

_HELP = {
    "number": "to do something so many times, write `repeat {0} as i:`",
    "text": 'cut it up first: `split({0}, ",")`, or type it as a list: `string[]`',
    "object": "loop over `keys({0})` or `values({0})`",
}


def find(facts: Facts) -> Iterator[Finding]:
    """Iterated values of another type."""
    types = facts.shared(types_of)
    for node in facts.all(n.ForEach, n.Pipeline):
        over = node.iterable if isinstance(node, n.ForEach) else node.source
        kind = types.of(over)
        if kind is not None and kind != "list":
            text = facts.text(facts.first_line(over.span))
            article = "an" if kind == "object" else "a"
            help_ = _HELP.get(kind, "loop over a list").format(text)
            yield Finding(facts.first_line(over.span), f"a list is needed here, and this is {article} {kind}", help_)


RULE = Rule("loop-over-no-list", "warning", find, __doc__)
