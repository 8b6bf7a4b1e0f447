"""A fixture whose value is not of the declared type.

What it does
    Reports a fixture of a test whose value does not fit the type of the input or config item that it gives.

Why
    The test could not be run.

Example
    ```markdown
    - `rounds`: many        (the subject's config: `rounds` (integer, default: 2))
    ```

Use instead
    ```markdown
    - `rounds`: 3
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.subjects import TEST_KIND, find_subject
from prose_runtime.syntax.config_values import BadValue
from prose_runtime.syntax.fixture_values import value_of


def find(facts: Facts) -> Iterator[Finding]:
    """Fixtures of the wrong type."""
    if facts.spec.kind != TEST_KIND or not facts.spec.fixtures:
        return
    subject = find_subject(facts.spec, facts.project).spec
    if subject is None:
        return
    types = {name: row.type for name, row in facts.inputs_of(subject).items()}
    types |= {item.name: item.type for item in subject.config}
    slots = {slot.name for slot in subject.slots}
    for fixture in facts.spec.fixtures:
        if fixture.name in types and fixture.name not in slots:
            try:
                value_of(fixture, types[fixture.name])
            except BadValue as fault:
                help_ = f"its type is {types[fixture.name]}" if types[fixture.name] else None
                yield Finding(fixture.name_span, str(fault), help_)


RULE = Rule("fixture-type", "error", find, __doc__)
