"""A name that nothing reads.

What it does
    Reports a `let` or `const` whose name stands nowhere else: in no expression, text, condition, invariant or output. A
    name that begins with `_` says that it is meant so. It is quiet where the value is what a body gives, and where a
    judge may be shown it.

Why
    Either the wrong name is read further down, or the line can go. A call is made without a name as well.

Example
    ```prose
    let digest = call clerk
      text: draft
    call judge
      text: draft
    ```

Use instead
    ```prose
    let digest = call clerk
      text: draft
    call judge
      text: digest
    ```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.mentions import asks_judge, mentions, wrong_names
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.rules.return_missing import ending_returns
from prose_runtime.check.scope import Binding
from prose_runtime.diagnostics import near

_ANSWERS = (n.Call, n.Session, n.Ask, n.Effect, n.Discretion)


def find(facts: Facts) -> Iterator[Finding]:
    """Names that are bound, and mentioned nowhere."""
    used = mentions(facts)
    unread = [] if used is None else [found for name, found in _bound(facts).items() if name not in used]
    if not unread:
        return
    spoken = _spoken(facts)
    for bindings in unread:
        name = bindings[0].name
        if name[0] == "_" or name in spoken or near(name, wrong_names(facts)):
            continue
        if not any(_is_given(binding, facts) for binding in bindings):
            help_ = "read it, or leave the name out; a `_` before it says that it is meant so"
            first = next(binding for binding in bindings if _is_let(binding, facts))
            yield Finding(first.span, f"nothing reads `{name}`", help_)


def _bound(facts: Facts) -> dict[str, list[Binding]]:
    """The bindings of each name that ``let`` or ``const`` introduces."""
    found: dict[str, list[Binding]] = {}
    for frame in facts.scopes.all_frames:
        for name, bindings in frame.bindings.items():
            if name not in facts.scopes.start and any(_is_let(binding, facts) for binding in bindings):
                found.setdefault(name, []).extend(bindings)
    return found


def _is_let(binding: Binding, facts: Facts) -> bool:
    """Whether a binding is spelt with ``let`` or ``const``, of a name alone: a gate and an object's fields are not."""
    plain = binding.kind in ("let", "const") and binding.value is not None
    return plain and facts.text(binding.node.span).startswith(("let", "const"))


def _spoken(facts: Facts) -> set[str]:
    """The words by which names are meant elsewhere: in invariants, for a choice, as outputs that no return delivers."""
    spec, body = facts.spec, facts.spec.body
    texts = [invariant.text for invariant in spec.invariants]
    texts += [facts.text(choice.criteria.span) for choice in facts.all(n.Choice)]
    found = {word for text in texts for word in re.findall(r"[A-Za-z_][\w-]*", text)}
    if spec.returns is not None and body is not None and not ending_returns(facts):
        found |= {output.name for output in spec.returns.outputs}
    return found


def _is_given(binding: Binding, facts: Facts) -> bool:
    """Whether the value is what a body gives, or one that a judge may be shown."""
    if isinstance(binding.value, _ANSWERS) and asks_judge(facts):
        return True
    branches = {node.body for node in facts.all(n.Parallel) if node not in facts.collected}
    blocks = (block for block in facts.all(n.Block) if block not in branches)
    return any(binding.node in block.statements[-1:] for block in blocks) or _is_branch(binding.node, facts)


def _is_branch(node: n.Node, facts: Facts) -> bool:
    """Whether a statement is a branch of a ``parallel:`` whose values are used."""
    return any(node in each.body.statements for each in facts.all(n.Parallel) if each in facts.collected)


RULE = Rule("unused-name", "warning", find, __doc__)
