"""A test that expects nothing.

What it does
    Reports a test with no bullet under `Expects` and `Expects Not`.

Why
    It would pass whatever its subject answers.

Example
    ```markdown
    ### Fixtures

    - `text`: "the tide comes in twice a day"
    ```

Use instead
    ```markdown
    ### Fixtures

    - `text`: "the tide comes in twice a day"

    ### Expects

    - `summary`: contains `twice`
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.subjects import TEST_KIND


def find(facts: Facts) -> Iterator[Finding]:
    """Tests without an expectation."""
    spec = facts.spec
    if spec.kind != TEST_KIND or spec.expectations or facts.enclosing is not None:
        return
    section = spec.section("expects", "expects not")
    help_ = "write what the result is to be, one sentence a bullet: - `summary`: contains `twice`"
    yield Finding(section.title_span if section else spec.name_span, "this test expects nothing", help_)


RULE = Rule("test-expects-nothing", "error", find, __doc__)
