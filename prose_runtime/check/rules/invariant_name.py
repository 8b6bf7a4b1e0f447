"""A name in an invariant that nothing has.

What it does
    Reports a name in backticks under Invariants that is close to a name of the spec, and is none itself.

Why
    The sentence claims nothing about the spec as it is, and no check can hold it against the program.

Example
    ```markdown
    - `authr` is called at most 3 times.
    ```

Use instead
    ```markdown
    - `author` is called at most 3 times.
    ```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import did_you_mean
from prose_runtime.text import Span


def find(facts: Facts) -> Iterator[Finding]:
    """Names in invariants that are close to one of the spec's, and that nothing has."""
    if not facts.spec.invariants:
        return
    from prose_runtime.check.invariants import verdicts, vocabulary

    for verdict in verdicts(facts):
        for name in verdict.unknown:
            words = vocabulary(facts)
            close = did_you_mean(name, {*words.roles, *words.values})
            if close and not _elsewhere(name, verdict.invariant.span, facts):
                at = facts.spec.source.text.find(f"`{name}`", verdict.invariant.span.start) + 1
                yield Finding(Span(at, at + len(name)), f"nothing here is called `{name}`", close)


def _elsewhere(name: str, span: Span, facts: Facts) -> bool:
    """Whether the spec spells the word outside of the sentence: it is a field or a word of its own then."""
    found = re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-])", facts.spec.source.text)
    return any(not span.start <= match.start() < span.end for match in found)


RULE = Rule("invariant-name", "warning", find, __doc__)
