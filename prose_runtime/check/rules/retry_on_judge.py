"""A retry of a judge.

What it does
    Reports `retry` and `backoff` in the text of a condition or a `choice`.

Why
    The judge is asked once more by itself when its answer is no verdict, and then the run fails: an unclear judge
    never counts as yes. Settings in parentheses would only be read to it as a part of the question.

Example
    ```prose
    if **the draft is good** (retry: 2):
    ```

Use instead
    ```prose
    if **the draft is good**:
    ```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.text import Span

_SETTING = re.compile(r"\(\s*(?:[\w-]+\s*:[^(),]*,\s*)*(retry|backoff)\s*:")


def find(facts: Facts) -> Iterator[Finding]:
    """Settings of calls in questions to the judge."""
    for node in facts.all(n.Condition, n.Choice):
        span = node.criteria.span if isinstance(node, n.Choice) else node.span
        for match in _SETTING.finditer(facts.spec.source.text, span.start, span.end):
            message = f"`{match[1]}` does nothing for a judge"
            yield Finding(Span(match.start(1), match.end(1)), message, "leave it out; the judge is asked twice at most")


RULE = Rule("retry-on-judge", "warning", find, __doc__)
