"""A judge asked for what a field tells.

What it does
    Reports a condition in English that only a judge can decide, when it names the result of one call and a word that
    is a declared field of it.

Why
    The field is exact and free. The judge is one more call, and may see it differently.

Example
    ```prose
    let review = call critic          # ensures: accepted, notes
    if review shows that the text was accepted:
      return review.notes
    ```

Use instead
    ```prose
    let review = call critic
    if review accepted:
      return review.notes
    ```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.conditions import criterion, stem, wording
from prose_runtime.check.mentions import known
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.scope import Binding
from prose_runtime.check.shapes import declared

_WORD = re.compile(r"[A-Za-z_][\w-]*")
_LONGEST = 9
"""Words of a condition up to which a field that it names is surely what it asks for."""

_DEGREES = frozenset("more less better worse enough too very well how why what which than".split())


def find(facts: Facts) -> Iterator[Finding]:
    """English conditions with one call's result and one of its fields."""
    for clause in facts.all(n.Clause):
        visible = facts.scopes.visible.get(clause, frozenset())
        if known(clause, facts) or criterion(clause.text, visible) or wording(clause.text, visible):
            continue
        words = _WORD.findall(clause.text)
        named = [word for word in dict.fromkeys(words) if word in visible]
        if len(named) != 1 or len(words) > _LONGEST or _DEGREES.intersection(map(str.lower, words)):
            continue
        field = _field(named[0], words, clause, facts)
        if field is not None:
            message = f"`{named[0]}` has the field {field}, and this asks a judge"
            yield Finding(clause.span, message, f"write `{named[0]} {field}`, or `{named[0]}.{field}`")


def _field(name: str, words: list[str], clause: n.Clause, facts: Facts) -> str | None:
    """The only declared field of a result that the words mention."""
    frame = facts.scopes.frames[clause]
    fields = [_declared(binding, facts) for binding in frame.lookup(name)]
    if not fields or any(found != fields[0] for found in fields):
        return None
    stems = {stem(word) for word in words if word != name}
    told = [field for field in fields[0] if stem(field) in stems]
    return told[0] if len(told) == 1 else None


def _declared(binding: Binding, facts: Facts) -> list[str]:
    target = facts.targets.get(binding.value) if binding.value else None
    return list(declared(target)) if target else []


RULE = Rule("judge-for-field", "warning", find, __doc__)
