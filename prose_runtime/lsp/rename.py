"""Where names are declared and used, and how they get other names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.diagnostics import Edit
from prose_runtime.lsp.desk import View
from prose_runtime.lsp.index import Index, Occurrence, Symbol, words_of
from prose_runtime.lsp.targets import Spot, argument_at, file_spot, inputs_of, load, referred_file, target_at
from prose_runtime.text import Span

_NAME = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?")
_RESERVED = frozenset("and or not if then else elif in is null true false let const return config".split())


class Refused(Exception):
    """A name cannot be changed; the sentence says why."""


def definition(view: View, index: Index, offset: int) -> Spot | None:
    """Where the thing named at an offset is declared: in this file, or in the one that a call leads to."""
    spec = view.spec_at(offset)
    found = index.at(offset)
    if found is not None:
        return _declaration(view, found.symbol)
    asked = argument_at(view, spec, offset)
    if asked is not None:
        target = view.analysis_of(spec).targets.get(asked.call)
        taken = inputs_of(view, spec, target) if target else []
        return next((one.spot for one in taken if one.name == asked.argument.name), None)
    called = target_at(view, spec, offset)
    other = called[1].spec if called else referred_file(view, offset)
    return file_spot(other) if other else None


def _declaration(view: View, symbol: Symbol) -> Spot:
    if isinstance(symbol.node, n.Use):
        other = load(view, symbol.node.reference)
        if other is not None:
            return file_spot(other)
    return Spot(view.source, symbol.span)


def renameable(index: Index, offset: int) -> Occurrence:
    """The name at an offset.

    Raises:
        Refused: There is none, or it is fixed.
    """
    found = index.at(offset)
    if found is None:
        raise Refused("there is no name of this file here")
    if found.symbol in index.fixed:
        raise Refused(index.fixed[found.symbol])
    if found.symbol.kind == "instance":
        raise Refused("a pattern instance gets another name where it is defined")
    return found


def rename(view: View, index: Index, offset: int, name: str) -> list[Edit]:
    """The edits that give the thing named at an offset another name everywhere in its file.

    Raises:
        Refused: There is no name, it is fixed, or the new one is none or means something already.
    """
    symbol = renameable(index, offset).symbol
    if not _NAME.fullmatch(name) or name in _RESERVED:
        raise Refused(f"`{name}` is no name: letters, digits, `_` and `-` between them, and no reserved word")
    if name == symbol.name:
        return []
    taken = next(_meanings(view, symbol, name), None)
    if taken:
        raise Refused(f"`{name}` {taken}")
    return [Edit(o.span, o.prefix + name) for o in index.of(symbol)]


def _meanings(view: View, symbol: Symbol, name: str) -> Iterator[str]:
    """What a name means already in the specs that a symbol can be seen in."""
    for spec in view.specs if symbol.kind == "component" else (symbol.spec,):
        scopes = view.scopes_of(spec)
        if name in scopes.start or scopes.bound_anywhere(name):
            yield "is a name here already"
        for node in scopes.frames:
            if isinstance(node, n.Clause | n.Discretion) and _has_word(view, node.span, name):
                yield "is a word of a condition, which would then mean its value"
            elif isinstance(node, n.Template) and _has_brace(view, node.span, name):
                yield "stands in braces in a string, which would then show its value"


def _has_word(view: View, span: Span, name: str) -> bool:
    return any(word == name for word, _ in words_of(view.source, span))


def _has_brace(view: View, span: Span, name: str) -> bool:
    text = view.source.text[span.start : span.end]
    return f"{{{name}}}" in text or f"{{{name}." in text
