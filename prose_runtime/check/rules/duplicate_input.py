"""One input of a call twice.

What it does
    Reports an input that a call, a session, a `do` or an agent is given twice, by name or by position.

Why
    Only one of the two values arrives, and nobody is told which.

Example
    ```prose
    call writer
      topic: question
      topic: draft
    ```

Use instead
    ```prose
    call writer
      topic: question
      draft: draft
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.arguments import signature
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import Secondary
from prose_runtime.text import Span


def find(facts: Facts) -> Iterator[Finding]:
    """Arguments whose name was given before."""
    for node in facts.all(n.Call, n.Session, n.DoBlock, n.Ask, n.Effect, n.Agent):
        what = "input" if isinstance(node, n.Call | n.DoBlock) else "property"
        first: dict[str, Span] = {}
        for name, span in _named(node, facts):
            if name in first:
                where = Secondary(first[name], "first given here")
                help_ = f"keep one of them: each {what} has one value"
                shown = f"`{name}`" if facts.text(span) == name else name
                yield Finding(span, f"the {what} {shown} is given twice", help_, (where,))
            first.setdefault(name, span)


def _named(node: n.Node, facts: Facts) -> Iterator[tuple[str, Span]]:
    """What each argument is called; a positional one fills the next input, and is met again by its name only."""
    target = facts.targets.get(node)
    takes = signature(target, facts) if target else None
    free = iter(dict.fromkeys(takes.names) if takes else ())
    arguments: tuple[n.Argument, ...] = getattr(node, "args", ())
    for argument in arguments:
        name = argument.name if argument.name is not None else next(free, None)
        if name is not None and not _from_arrow(argument):
            yield name, argument.name_span or argument.span


def _from_arrow(argument: n.Argument) -> bool:
    """Whether this is the context that the left of an arrow gives, which joins the one that is written."""
    span = argument.name_span
    return argument.name == "context" and span is not None and span.start == span.end


RULE = Rule("duplicate-input", "error", find, __doc__)
