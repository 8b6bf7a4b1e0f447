"""An input whose name has no value on one of the paths to its call.

What it does
    Reports a name that a call passes, and that some path to the call has not bound: it is bound further down in the
    same loop, so that the first pass has none, or only in one branch of an `if`, a `choice` or a `try`. A program that
    asks somewhere whether the name is there, or gives a default with `or`, knows of it and is left alone.

Why
    On that path the name is null: nothing is passed, and nobody is told.

Example
    ```prose
    repeat 3:
      let draft = call writer
        review: review
      let review = call critic
        draft: draft
    ```

Use instead
    ```prose
    let review = null
    repeat 3:
      let draft = call writer
        review: review
      review = call critic
        draft: draft
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.assigned import Assigned
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.rules.used_before_bound import ASKING, unreached
from prose_runtime.diagnostics import Secondary


def find(facts: Facts) -> Iterator[Finding]:
    """Names among the inputs of calls that are not bound on every path."""
    open_ = facts.shared(Assigned).open
    if not open_:
        return
    never = {use.name for use, _ in facts.shared(unreached)}
    asked = set(_asked(facts))
    for node in facts.all(n.Call, n.Session, n.DoBlock):
        for argument in node.args:
            name = argument.value
            if isinstance(name, n.Name) and name in open_ and name not in never and name.id not in asked:
                yield _finding(name, facts)


def _asked(facts: Facts) -> Iterator[str]:
    """The names that the program itself does not take for granted."""
    for node in facts.all(n.Predicate, n.Clause, n.Binary):
        subject = node.expr if isinstance(node, n.Clause) else None
        if isinstance(node, n.Predicate) and node.op in ASKING:
            subject = node.subject
        elif isinstance(node, n.Binary) and node.op == "or":
            subject = node.left
        if isinstance(subject, n.Unary) and subject.op == "not":
            subject = subject.operand
        if isinstance(subject, n.Name):
            yield subject.id


def _finding(name: n.Name, facts: Facts) -> Finding:
    bindings = facts.scopes.frames[name].lookup(name.id)
    later = all(binding.span.start > name.span.start for binding in bindings)
    when = "in the first pass of this loop" if later else "on every path to here"
    where = Secondary(bindings[0].span, "bound here")
    return Finding(
        name.span,
        f"`{name.id}` has no value {when}",
        f"say what it is before: `let {name.id} = null` when nothing is meant",
        (where,),
    )


RULE = Rule("maybe-unbound", "warning", find, __doc__)
