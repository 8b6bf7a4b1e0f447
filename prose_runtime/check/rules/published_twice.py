"""Two parallel branches that publish one name.

What it does
    Reports a name that more than one branch of a `parallel:` block binds as a whole statement, and a name that is made
    in a parallel loop of nothing that differs from branch to branch.

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
from prose_runtime.check.scope import Frame, Publication
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
    for bind in facts.all(n.Bind):
        if isinstance(bind.target, n.MadeName) and _made_alike(bind.target, facts.scopes.frames[bind]):
            message = f"every branch makes the same name `{facts.text(bind.target.span)}`"
            yield Finding(bind.target.span, message, "let the name differ: `name_{x}` with the loop's variable `x`")


def _made_alike(target: n.MadeName, frame: Frame) -> bool:
    """Whether a parallel loop makes a name of values that all its branches share."""
    if frame.kind != "iteration":
        return False
    read = {node.id for node in target.walk() if isinstance(node, n.Name)}
    return not read & frame.bindings.keys()


RULE = Rule("published-twice", "error", find, __doc__)
