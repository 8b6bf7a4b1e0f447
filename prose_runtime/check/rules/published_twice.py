"""Two parallel branches that publish one name.

What it does
    Reports a name that more than one branch of a `parallel:` block binds as a whole statement.

Why
    Branches end in any order: which value the name has afterwards would be chance.

Example
    ```prose
    parallel:
      let view = call optimist
      let view = call pessimist
    ```

Use instead
    ```prose
    parallel:
      let bright = call optimist
      let dark = call pessimist
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.scope import Publication
from prose_runtime.diagnostics import Secondary


def find(facts: Facts) -> Iterator[Finding]:
    """Every publication of a name behind the first."""
    first: dict[tuple[n.Parallel, str], Publication] = {}
    for published in facts.scopes.published:
        known = first.setdefault((published.parallel, published.name), published)
        if known.branch != published.branch:
            message = f"two branches publish `{published.name}`"
            help_ = "give each branch a name of its own"
            yield Finding(published.span, message, help_, (Secondary(known.span, "the first one"),))


RULE = Rule("published-twice", "error", find, __doc__)
