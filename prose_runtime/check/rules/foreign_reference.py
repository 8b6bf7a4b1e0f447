"""A reference to something outside of the project.

What it does
    Reports a `use` or `import` of something that is no file of the project: `github:`, `npm:` and other addresses,
    `@owner/name`, or a folder.

Why
    Nothing is fetched: a spec runs only what its user has put into the project. The name can be listed among the
    skills or tools of an agent, but it cannot be called.

Example
    ```prose
    import "web-search" from "github:someone/skills"
    ```

Use instead
    ```prose
    use "./skills/web-search.prose.md" as web-search
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule


def find(facts: Facts) -> Iterator[Finding]:
    """References that lead outside of the project, or to a folder."""
    for missing in facts.resolution.unresolved:
        if missing.wanted == "reference" and missing.reason == "foreign":
            message = f"`{missing.name}` is no spec of this project, so `{missing.detail}` cannot be called"
            yield Finding(missing.span, message, "put a copy of it into the project and name its path")


RULE = Rule("foreign-reference", "warning", find, __doc__)
