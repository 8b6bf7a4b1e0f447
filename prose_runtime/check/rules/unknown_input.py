"""An input passed that the called side does not know.

What it does
    Reports an argument whose name is not among the inputs and config of the called component, block or spec, and one
    without a name when as many as it takes, or none, stand before it: that of `A -> do B` is the value of A. For a
    slot, whose `requires` says what it needs and not all that it may get, it is reported when the call leaves out
    something that is required, or when the name is close to one that is left out.

Why
    The called side gets it, if at all, without a word of what it is for; usually the name is misspelt and the input
    that was meant is missing.

Example
    ```prose
    call writer          # requires: topic
      subject: topic
    ```

Use instead
    ```prose
    call writer
      topic: topic
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.arguments import MODIFIERS, Signature, may_spread, passed, signature
from prose_runtime.check.rule import Facts, Finding, Rule, meant
from prose_runtime.check.tables import Target
from prose_runtime.diagnostics import near


def find(facts: Facts) -> Iterator[Finding]:
    """Named arguments outside the target's signature."""
    for call in facts.all(n.Call, n.DoBlock):
        target = facts.targets.get(call)
        takes = signature(target, facts) if target else None
        if target is not None and takes is not None and takes.closed:
            left = [name for name in takes.names if name not in passed(call.args, takes)]
            for argument in call.args:
                yield from _argument(argument, target, takes, left)
            yield from _surplus(call, target, takes)


def _argument(argument: n.Argument, target: Target, takes: Signature, left: list[str]) -> Iterator[Finding]:
    """``left`` are the known inputs that the call does not pass."""
    name = argument.name
    if name is None or name in takes.names or name in takes.extra or name in MODIFIERS:
        return
    span = argument.name_span or argument.span
    close, fix = meant(span, name, left if target.slot is not None else takes.names)
    if close is None:
        close, fix = meant(span, name, near(name, MODIFIERS, 1, 0.8))
    harmless = may_spread(argument, takes) or (target.slot is not None and not set(left) & set(takes.needed))
    if close is None and harmless:
        return
    known = ", ".join(f"`{known}`" for known in takes.names)
    help_ = close or (f"it takes {known}" if known else "it takes no inputs")
    yield Finding(span, f"`{name}` is no input of `{target.name}`", help_, fix=fix)


def _surplus(call: n.Call | n.DoBlock, target: Target, takes: Signature) -> Iterator[Finding]:
    """Arguments without a name that come after the last input. A role gets them under names made for them."""
    if target.slot is not None:
        return
    many = len(takes.names)
    known = ", ".join(f"`{name}`" for name in takes.names) or "no inputs"
    for argument in [argument for argument in call.args if argument.name is None][many:]:
        if not may_spread(argument, takes):
            yield Finding(argument.span, "no input is left for this value", f"`{target.name}` takes {known}")


RULE = Rule("unknown-input", "warning", find, __doc__)
