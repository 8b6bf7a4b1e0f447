"""An expectation about an output that the subject does not declare.

What it does
    Reports a bullet of `Expects` or `Expects Not` that starts with a name in backticks which is no output under the
    subject's Returns. It is quiet about subjects that declare no outputs.

Why
    The expectation fails, or speaks of something that is an accident of the program.

Example
    ```markdown
    - `sumary`: contains `twice`
    ```

Use instead
    ```markdown
    - `summary`: contains `twice`
    ```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule, meant
from prose_runtime.check.subjects import TEST_KIND, find_subject
from prose_runtime.text import Span


def find(facts: Facts) -> Iterator[Finding]:
    """Expectations whose first name is none of the subject's outputs."""
    if facts.spec.kind != TEST_KIND:
        return
    subject = find_subject(facts.spec, facts.project).spec
    returns = subject.returns if subject else None
    if subject is None or returns is None or not returns.outputs:
        return
    outputs = [declared.name for declared in returns.outputs]
    for expectation in facts.spec.expectations:
        if expectation.path is None or expectation.path_span is None or not expectation.ticked:
            continue
        name = re.split(r"[.\[]", expectation.path)[0]
        if name not in (*outputs, "result"):
            span = Span(expectation.path_span.start, expectation.path_span.start + len(name))
            help_, fix = meant(span, name, outputs, f"it declares {', '.join(f'`{known}`' for known in outputs)}")
            yield Finding(span, f"{subject.name} declares no output `{name}`", help_, fix=fix)


RULE = Rule("unknown-output", "warning", find, __doc__)
