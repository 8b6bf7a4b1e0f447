"""A fixture for something that the subject does not have.

What it does
    Reports a fixture of a test whose name is no input, config item or slot of the subject; `default` and `judge` stand
    for the services of these names.

Why
    Nothing would receive the value: the name is misspelt, or the subject has changed.

Example
    ```markdown
    - `txt`: "the tide comes in"        (the subject's input is `text`)
    ```

Use instead
    ```markdown
    - `text`: "the tide comes in"                             an input or config item: a value
    - `writer`: scribe                                        a slot: a service of prose.yml, or a provider
    - `writer`: ["first", "second"]                           a slot: scripted replies, one a call
    - `writer`: "always this"                                 a slot: one reply to every call
    - `default`: replies: [{error: "busy", kind: overloaded}, "then this"]
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule, meant
from prose_runtime.check.subjects import TEST_KIND, find_subject

_SERVICES = ("default", "judge")


def find(facts: Facts) -> Iterator[Finding]:
    """Fixtures whose names mean nothing to the subject."""
    if facts.spec.kind != TEST_KIND or not facts.spec.fixtures:
        return
    subject = find_subject(facts.spec, facts.project).spec
    if subject is None:
        return
    known = [slot.name for slot in subject.slots] + [item.name for item in subject.config]
    known += list(facts.inputs_of(subject))
    for fixture in facts.spec.fixtures:
        if fixture.name not in (*known, *_SERVICES):
            listed = f"it has {', '.join(f'`{name}`' for name in known)}" if known else "it takes none"
            message = f"`{fixture.name}` is no input, config item or slot of {subject.name}"
            help_, fix = meant(fixture.name_span, fixture.name, known, listed)
            yield Finding(fixture.name_span, message, help_, fix=fix)


RULE = Rule("unknown-fixture", "error", find, __doc__)
