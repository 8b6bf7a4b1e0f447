"""An expectation that cannot be decided because it is written wrongly.

What it does
    Reports an expectation of a test whose regular expression is none.

Why
    It could neither hold nor fail.

Example
    ```markdown
    - `summary`: matches /twice (a|per day/
    ```

Use instead
    ```markdown
    - `summary`: matches /twice (a|per) day/
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """Expectations that no claim can be read of."""
    if not facts.spec.expectations:
        return
    from prose_runtime.syntax.claims import BadClaim, Operand, read_claim  # only tests have them

    for expectation in facts.spec.expectations:
        block = None if expectation.block is None else Operand(expectation.block, expectation.block)
        try:
            read_claim(expectation.claim, block)
        except BadClaim as error:
            help_ = "write a regular expression as Python knows it, between two slashes: /tw[io]ce/"
            yield Finding(facts.word(expectation.claim_span, error.part), str(error), help_)


RULE = Rule("bad-expectation", "error", find, __doc__)
