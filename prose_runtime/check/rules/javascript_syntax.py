"""A composite's JavaScript that does not compile.

What it does
    Compiles the program of a composite, without running it, in the engine that runs it.

Why
    The engine would refuse it at the start of every run.

Example
    ```javascript
    const [a, b] = await Promise.all([rlm("x"), rlm("y"));
    ```

Use instead
    ```javascript
    const [a, b] = await Promise.all([rlm("x"), rlm("y")]);
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """The first fault that the engine meets."""
    fence = facts.spec.javascript
    if fence is None:
        return
    from prose_runtime.check.javascript import syntax_fault  # only composites have a script

    fault = syntax_fault(facts.spec.source, fence)
    if fault is not None:
        yield Finding(fault.span, f"this JavaScript does not compile: {fault.message}")


RULE = Rule("javascript-syntax", "error", find, __doc__)
