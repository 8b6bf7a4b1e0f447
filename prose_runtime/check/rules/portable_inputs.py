"""Inputs on the line of their call.

What it does
    Reports inputs in parentheses, behind `with`, or as `name: value` on the line of a `call`, and calls without
    that word.

Why
    Only inputs on lines of their own, indented below the call, are portable.

Example
    ```prose
    let draft = call writer topic: topic, tone: "plain"
    ```

Use instead
    ```prose
    let draft = call writer
      topic: topic
      tone: "plain"
    ```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.portable import ends_its_line, indentation
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import Edit, Fix
from prose_runtime.text import Span

_BELOW = re.compile(r":?[ \t]*(?:\n|#)")
"""How the line of a call ends whose inputs stand below it; a colon there is a fault of its own."""


def find(facts: Facts) -> Iterator[Finding]:
    """Calls whose inputs start on their own line."""
    for call in facts.all(n.Call):
        inputs = Span(call.target.span.end, call.span.end)
        text = facts.spec.source.text[inputs.start : inputs.end]
        first = text.lstrip(" \t")
        bare = not _says_call(call, facts)
        if bare and call not in facts.targets and not _is_known(call, facts):
            continue  # it is reported as a function that does not exist
        if not (call.args or call.spread or bare) or _BELOW.match(first):
            continue
        span = facts.first_line(Span(inputs.end - len(first), inputs.end))
        help_ = "write each on a line of its own below the call: `name: value`"
        yield Finding(span, "inputs on the line of their call are not portable", help_, fix=_fix(call, facts))


def _is_known(call: n.Call, facts: Facts) -> bool:
    return isinstance(call.target, n.Name) and call.target.id in facts.scopes.start


def _says_call(call: n.Call, facts: Facts) -> bool:
    start = call.target.span.start
    return facts.spec.source.text[max(0, start - 80) : start].rstrip(" \t").endswith("call")


def _fix(call: n.Call, facts: Facts) -> Fix | None:
    """The inputs as lines, where each has a name and the call ends its line."""
    source = facts.spec.source
    whole = facts.text(call.span)
    if call.spread or "\n" in whole or "#" in whole or not ends_its_line(source, call.span):
        return None
    if not whole.startswith("call") or any(argument.name is None for argument in call.args) or _nested(call, facts):
        return None
    blanks = "\n" + indentation(source, call.span) + "  "
    lines = "".join(f"{blanks}{argument.name}: {facts.text(argument.value.span)}" for argument in call.args)
    return Fix("Write the inputs below", (Edit(Span(call.target.span.end, call.span.end), lines),))


def _nested(call: n.Call, facts: Facts) -> bool:
    """Whether it stands in another expression that could not go on behind the lines."""
    line = facts.spec.source.line_span(facts.line(call.span))
    before = facts.spec.source.text[line.start : call.span.start]
    return any(sign in before for sign in "([{") or " in " in facts.text(Span(call.span.end, line.end))


RULE = Rule("portable-inputs", "warning", find, __doc__)
