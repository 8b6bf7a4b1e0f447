"""A test whose subject cannot be found.

What it does
    Reports a test without a `subject`, or with one that is neither beside the test nor in the project nor in the
    library, is not the only one of its name, or is a test itself.

Why
    There is nothing to run.

Example
    ```yaml
    kind: test
    subject: summery
    ```

Use instead
    ```yaml
    kind: test
    subject: summary
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.subjects import TEST_KIND, find_subject


def find(facts: Facts) -> Iterator[Finding]:
    """The subject of a test, when it leads nowhere."""
    if facts.spec.kind != TEST_KIND or facts.enclosing is not None:
        return
    subject = find_subject(facts.spec, facts.project)
    if subject.spec is None:
        yield Finding(subject.span, subject.problem, subject.help)


RULE = Rule("test-subject", "error", find, __doc__)
