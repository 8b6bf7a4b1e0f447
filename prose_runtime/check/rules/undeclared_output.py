"""A returned field that Returns does not declare.

What it does
    Reports a field of a returned object that is none of the outputs under Returns. It is quiet where Returns also
    promises something in prose, where the object is the value of the only output, and where a declared output is
    missing altogether, which `return-missing` reports.

Why
    Callers go by Returns: nobody reads the field, or its name is misspelt and the output is missing on this path.

Example
    ```prose
    if rounds == 0:
      return { txt: draft, rounds }    # Returns: `text`, `rounds`
    return { text: draft, rounds }
    ```

Use instead
    ```prose
    if rounds == 0:
      return { text: draft, rounds }
    return { text: draft, rounds }
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule, meant
from prose_runtime.check.rules.return_missing import delivered, ending_returns


def find(facts: Facts) -> Iterator[Finding]:
    """Fields of returned objects that are no outputs."""
    returns, body = facts.spec.returns, facts.spec.body
    if returns is None or body is None or not returns.outputs or returns.promises or facts.all(n.Invalid):
        return
    outputs = [output.name for output in returns.outputs]
    given = delivered(body, facts)
    if given is None or any(output.name not in given for output in returns.outputs if not output.optional):
        return
    for end in ending_returns(facts):
        entries = end.value.entries if isinstance(end.value, n.ObjectExpr) else ()
        bare = len(outputs) == 1 and all(entry.key not in outputs for entry in entries)
        for entry in entries if not bare else ():
            if entry.key not in outputs:
                span = facts.word(entry.span, entry.key)
                help_, fix = meant(span, entry.key, outputs, "declare it under Returns, or leave it out")
                yield Finding(span, f"Returns declares no output `{entry.key}`", help_, fix=fix)


RULE = Rule("undeclared-output", "warning", find, __doc__)
