"""A `{name}` in a string that looks meant and names nothing.

What it does
    Reports a brace text in a string whose name is unknown but close to a known one.

Why
    Braces around an unknown name are plain text. A misspelt name would reach the model with its braces.

Example
    ```prose
    emit "about {topik}"
    ```

Use instead
    ```prose
    emit "about {topic}"
    ```
    Braces that are meant literally are written `\\{topik\\}` or `{{topik}}`.
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule, meant
from prose_runtime.diagnostics import near


def find(facts: Facts) -> Iterator[Finding]:
    """Interpolations of unknown names that are close to known ones."""
    for use in facts.scopes.uses:
        name, known = use.name.id, facts.scopes.known_in(use.frame)
        if use.kind != "interpolation" or name in known or facts.scopes.bound_anywhere(name):
            continue
        close = near(name, sorted(known), 1, 0.75)
        if close:
            message = f"`{name}` in this text names nothing and stays as written"
            help_, fix = meant(use.name.span, name, close)
            yield Finding(use.name.span, message, help_, fix=fix)


RULE = Rule("unresolved-interpolation", "warning", find, __doc__)
