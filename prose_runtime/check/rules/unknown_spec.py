"""A reference to a spec that is not there.

What it does
    Reports a `use` whose file, and a pattern instance whose pattern, is neither in the folder nor in the project nor
    in the library, or is not the only one of its name.

Why
    Only files of the project and the library can be used: a spec can reach nothing that its user did not put there.

Example
    ```prose
    use "dialectics" as debate
    ```

Use instead
    ```prose
    use "dialectic" as debate
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule, meant


def find(facts: Facts) -> Iterator[Finding]:
    """References and patterns that lead nowhere."""
    for missing in facts.resolution.unresolved:
        if missing.wanted not in ("reference", "pattern") or missing.reason == "foreign":
            continue
        what = "pattern" if missing.wanted == "pattern" else "spec"
        if missing.reason == "ambiguous":
            message = f"`{missing.name}` can mean several specs: {missing.detail}"
            yield Finding(missing.span, message, "give the path of one of them")
        elif missing.reason == "unreadable":
            yield Finding(missing.span, f"`{missing.name}` cannot be used: {missing.detail}")
        else:
            message = f"there is no {what} `{missing.name}` in this folder, the project or the library"
            help_, fix = meant(missing.span, missing.name, missing.known)
            yield Finding(missing.span, message, help_, fix=fix)


RULE = Rule("unknown-spec", "error", find, __doc__)
