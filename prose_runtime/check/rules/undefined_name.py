"""A name that nothing defines.

What it does
    Reports a name in an expression that is no slot, config item, input, component or definition, and that no
    statement of the program binds.

Why
    Such a name never has a value. Most are slips of the pen; the run would go on with a hole in it.

Example
    ```prose
    let draft = call writer
      topic: topik
    ```

Use instead
    ```prose
    let draft = call writer
      topic: topic
    ```
    An input that callers shall pass is declared under Parameters. Plain English in a condition is no expression,
    so its words need no definition.
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule, meant
from prose_runtime.check.scope import Use
from prose_runtime.diagnostics import Edit, Fix, did_you_mean

_ELSEWHERE = {"None": "null", "nil": "null", "undefined": "null", "True": "true", "False": "false"}


def find(facts: Facts) -> Iterator[Finding]:
    """Uses in expressions that no frame binds."""
    for use in facts.scopes.uses:
        name = use.name.id
        if use.kind != "expression" or name in facts.scopes.known_in(use.frame):
            continue
        if facts.scopes.bound_anywhere(name) is None:
            help_, fix = _help(use, facts)
            yield Finding(use.name.span, f"`{name}` is not defined", help_, fix=fix)
    in_strings = {node.value for node in facts.all(n.Interpolation)}
    for node in facts.all(n.MadeName):
        if node.pattern not in facts.scopes.made and node not in in_strings:
            help_ = did_you_mean(node.pattern, facts.scopes.made) or "a loop makes such names by assigning to them"
            yield Finding(node.span, f"no name `{facts.text(node.span)}` is made", help_)


def _help(use: Use, facts: Facts) -> tuple[str | None, Fix | None]:
    name, known = use.name.id, facts.scopes.known_in(use.frame)
    if name in _ELSEWHERE:
        word = _ELSEWHERE[name]
        return f"write `{word}`", Fix(f"Write `{word}`", (Edit(use.name.span, word),))
    left, dash, right = name.partition("-")
    if dash and left in known and (right in known or right.isdigit()):
        fix = Fix("Subtract", (Edit(use.name.span, f"{left} - {right}"),), safe=False)
        return f"`{name}` is one name; a subtraction needs blanks: `{left} - {right}`", fix
    return meant(use.name.span, name, known, "bind it with `let`, or declare it under Parameters")


RULE = Rule("undefined-name", "error", find, __doc__)
