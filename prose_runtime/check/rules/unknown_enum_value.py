"""A comparison with a word that an enumerated value never is.

What it does
    Reports comparisons of a config item or input of a type such as `fast | careful` with a word that is none of them,
    also in English when it is close to one (`mode is fastt`).

Why
    The comparison is always false.

Example
    ```prose
    if mode == "quick":
    ```

Use instead
    ```prose
    if mode == "fast":
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.conditions import wording
from prose_runtime.check.mentions import known
from prose_runtime.check.rule import Facts, Finding, Rule, meant
from prose_runtime.syntax.config_values import read_type
from prose_runtime.text import Span


def find(facts: Facts) -> Iterator[Finding]:
    """Words outside of an enumeration."""
    enums = _enums(facts)
    for node in facts.all(n.Binary, n.Predicate, n.Clause) if enums else ():
        for name, word, span in _compared(node, enums, facts):
            if word not in enums[name]:
                options = ", ".join(f"`{option}`" for option in enums[name])
                help_, fix = meant(span, word, enums[name], f"it is one of {options}")
                if isinstance(node, n.Clause) and fix is None:
                    continue  # plain English, for the judge
                yield Finding(span, f"`{word}` is no value of {name}", help_, fix=fix)


def _enums(facts: Facts) -> dict[str, list[str]]:
    """The options of config items and inputs that nothing else sets."""
    found = {}
    items: list[n.ConfigItem | n.Parameter] = [*facts.spec.config, *facts.scopes.inputs.values()]
    for item in items:
        kind = read_type(item.type) if item.type else None
        if kind and kind.kind == "enum" and not facts.scopes.bound_anywhere(item.name):
            found[item.name] = [str(option) for option in kind.options]
    return found


def _compared(node: n.Node, enums: dict[str, list[str]], facts: Facts) -> Iterator[tuple[str, str, Span]]:
    """Each comparison of an enumerated name with a word: the name, the word, where it stands."""
    if isinstance(node, n.Clause):
        claim = None if known(node, facts) else wording(node.text, enums)
        if claim is not None and not claim.path and not claim.says:
            span = facts.word(node.span, claim.word)
            yield claim.subject, claim.word, span
        return
    pairs: list[tuple[n.Expr | None, n.Expr | None]] = []
    if isinstance(node, n.Binary) and node.op in ("==", "!="):
        pairs = [(node.left, node.right), (node.right, node.left)]
    elif isinstance(node, n.Binary) and node.op == "in" and isinstance(node.right, n.ListExpr):
        pairs = [(node.left, entry) for entry in node.right.items]
    elif isinstance(node, n.Predicate) and node.op == "is":
        pairs = [(node.subject, node.operand)]
    for subject, other in pairs:
        name, word = _name(subject), _word(other)
        if name in enums and word is not None and other is not None:
            yield name, word, Span(other.span.start + 1, other.span.end - 1)


def _name(node: n.Expr | None) -> str:
    if isinstance(node, n.Field) and isinstance(node.object, n.Name) and node.object.id == "config":
        return node.name
    return node.id if isinstance(node, n.Name) else ""


def _word(node: n.Expr | None) -> str | None:
    if not isinstance(node, n.Template) or node.triple or not all(isinstance(part, str) for part in node.parts):
        return None
    return "".join(part for part in node.parts if isinstance(part, str)) or None


RULE = Rule("unknown-enum-value", "warning", find, __doc__)
