"""A section under its older name.

What it does
    Reports Requires and Inputs in a pattern or function, which are called Parameters today, and Ensures and Maintains,
    which are called Returns. Composites and responsibilities keep these names.

Why
    Both are read. New readers look for the new names.

Example
    ```markdown
    ### Requires
    ```

Use instead
    ```markdown
    ### Parameters
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import Edit, Fix

_TODAY = {"requires": "Parameters", "inputs": "Parameters", "ensures": "Returns", "maintains": "Returns"}


def find(facts: Facts) -> Iterator[Finding]:
    """Older titles in patterns and functions of today."""
    spec = facts.spec
    if spec.kind not in ("pattern", "function") or spec.frontmatter.get("kind", spec.kind) != spec.kind:
        return
    for section in spec.sections:
        today = _TODAY.get(section.key)
        if today is None:
            continue
        others = [s for s in spec.sections if s is not section and _TODAY.get(s.key, s.title.title()) == today]
        fix = None if others else Fix(f"Call it {today}", (Edit(section.title_span, today),))
        title = facts.text(section.title_span)
        yield Finding(section.title_span, f"`{title}` is called {today} today", f"write ### {today}", fix=fix)


RULE = Rule("portable-section", "warning", find, __doc__)
