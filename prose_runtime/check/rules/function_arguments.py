"""A small function with too many or too few arguments.

What it does
    Reports a call of a function such as `len` or `join` with a number of arguments that it does not take.

Why
    It ends the run when it is reached.

Example
    ```prose
    emit len(drafts, notes)
    ```

Use instead
    ```prose
    emit len(drafts) + len(notes)
    ```
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.text import Span

_ANY = 1_000

_TAKES: Mapping[str, tuple[int, int, str]] = {
    **dict.fromkeys(("len", "lower", "upper", "trim", "keys", "values", "json"), (1, 1, "{}(x)")),
    **dict.fromkeys(("max", "min", "sum"), (1, _ANY, "{0}(xs), or {0}(a, b)")),
    "range": (1, 3, "range(n), range(a, b), or range(a, b, step)"),
    "round": (1, 2, "round(x), or round(x, digits)"),
    "join": (1, 2, 'join(xs, ", ")'),
    "split": (1, 2, 'split(text, ",")'),
    "short": (2, 2, "short(text, characters)"),
}
"""The fewest and the most arguments of each function, and how it is written."""


def find(facts: Facts) -> Iterator[Finding]:
    """Calls that no function takes."""
    for call in facts.all(n.FunctionCall):
        least, most, example = _TAKES.get(call.name, (0, _ANY, ""))
        help_ = f"write {example.format(call.name)}"
        given = len(call.args)
        if given < least:
            message = f"`{call.name}` takes {_number(least, most)}, and {given or 'none'} {_is(given)} given"
            yield Finding(call.name_span, message, help_)
        elif given > most:
            span = Span(call.args[most].span.start, call.args[-1].span.end)
            yield Finding(span, f"{call.name} takes {_number(least, most)}, and {given} are given", help_)


def _number(least: int, most: int) -> str:
    if most == _ANY:
        return "at least one argument"
    numbers = str(least) if least == most else f"{least} or {most}" if most - least == 1 else f"{least} to {most}"
    return f"{numbers} argument{'s' if most > 1 else ''}"


def _is(given: int) -> str:
    return "is" if given <= 1 else "are"


RULE = Rule("function-arguments", "error", find, __doc__)
