"""A field of a result that its target does not declare.

What it does
    Reports `x.field` where `x` is the result of a slot whose `ensures` lists its fields, or of a spec whose Returns
    declares its outputs, and `field` is none of them.

Why
    Whoever fills the slot works to what is declared. A field beyond it may be asked for, but nobody promises it.

Example
    ```prose
    let review = call critic        # ensures: accepted, notes
    emit review.score
    ```

Use instead
    ```prose
    emit review.notes
    ```
    or `- ensures: accepted, notes, score`.
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule, meant
from prose_runtime.check.shapes import declared
from prose_runtime.check.tables import Target
from prose_runtime.check.uses import ASKED
from prose_runtime.text import Span


def find(facts: Facts) -> Iterator[Finding]:
    """Reads of fields beyond the declared ones."""
    for call, use in facts.uses.items():
        target = facts.targets.get(call)
        fields = _fields(target) if target else {}
        for name, part in use.fields.items() if fields else ():
            if name in fields or part.level == ASKED or target is None:
                continue
            for reader in sorted(part.readers, key=lambda node: node.span):
                span = _span(reader)
                listed = f"it declares {', '.join(f'`{known}`' for known in fields)}"
                help_, fix = meant(span, name, fields, listed)
                yield Finding(span, f"`{name}` is no field that {_named(target)} declares", help_, fix=fix)


def _fields(target: Target) -> dict[str, bool]:
    """The declared fields of what a call gives; nothing where more may be promised in prose."""
    spec = target.spec
    if spec is not None and (spec.kind == "composite" or (spec.returns and spec.returns.promises)):
        return {}
    fields = declared(target)
    if not fields and spec is not None and spec.kind == "function" and spec.returns:
        return {output.name: True for output in spec.returns.outputs}
    return fields


def _named(target: Target) -> str:
    return target.slot.name if target.slot else target.name


def _span(reader: n.Node) -> Span:
    if isinstance(reader, n.Field):
        return reader.name_span
    return Span(reader.index.span.start + 1, reader.index.span.end - 1) if isinstance(reader, n.Index) else reader.span


RULE = Rule("undeclared-field", "warning", find, __doc__)
