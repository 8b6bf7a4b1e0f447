"""A required input that a call does not pass.

What it does
    Reports a call that leaves out an input which the slot's `requires`, or the called component, block or spec, needs,
    or passes null for one (to a block it may). Items that say "optional" or "if", and those that name an optional input
    or config item, may be left out.

Why
    When the program runs, this call breaks the contract and the run ends (exit 3): the breach can be foreseen.

Example
    ```prose
    call reader          # requires: draft, quality-bar
      draft: draft
    ```

Use instead
    ```prose
    call reader
      draft: draft
      quality-bar: quality-bar
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.arguments import Signature, may_spread, passed, signature
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.tables import Target
from prose_runtime.check.types import types_of
from prose_runtime.diagnostics import did_you_mean


def find(facts: Facts) -> Iterator[Finding]:
    """Calls that leave out what the target needs."""
    for call in facts.all(n.Call, n.DoBlock):
        target = facts.targets.get(call)
        takes = signature(target, facts) if target else None
        if target is None or takes is None or getattr(call, "spread", None) is not None:
            continue
        given = passed(call.args, takes)
        yield from _nothing(given, takes, target, facts)
        unknown = [argument for name, argument in given.items() if name not in takes.names]
        if any(may_spread(argument, takes) for argument in unknown):
            continue
        span = call.target.span if isinstance(call, n.Call) else call.block.span
        names = [argument.name for argument in unknown if argument.name]
        for name in takes.needed:
            if name not in given and did_you_mean(name, names) is None:  # a misspelt one is reported as unknown
                message = f"`{target.name}` requires `{name}`, and this call does not pass it"
                yield Finding(span, message, f"pass it: `{name}: ...`")


def _nothing(given: dict[str, n.Argument], takes: Signature, target: Target, facts: Facts) -> Iterator[Finding]:
    """What a slot or spec needs and is given as null. A block may be given it."""
    types = facts.shared(types_of)
    for name in takes.needed if target.kind != "block" else ():
        if name in given and types.is_null(given[name].value):
            message = f"this is null, and {target.name} requires {name}"
            yield Finding(given[name].value.span, message, "pass a value")


RULE = Rule("missing-input", "warning", find, __doc__)
