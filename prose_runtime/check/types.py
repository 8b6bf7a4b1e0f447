"""The type that an expression surely has, as the text of the program shows it: nothing is said where it is open.

What comes from a service can be anything, so this speaks of literals, config, typed inputs, counters and what is
computed from them (LANGUAGE.md section 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts
from prose_runtime.check.scope import Binding, Frame, Scopes
from prose_runtime.check.settled import changed_names, frames_read, is_given, only_value
from prose_runtime.syntax.config_values import ValueType, read_type
from prose_runtime.values import number

Type = Literal["text", "number", "boolean", "list", "object", "null"]

_DEEPEST = 30
_UNKNOWN: frozenset[Type] | None = None
_DECLARED: dict[str, Type] = {
    "string": "text",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "object": "object",
    "array": "list",
}
_FUNCTIONS: dict[str, Type] = {
    **dict.fromkeys(("join", "lower", "upper", "trim", "short", "json"), "text"),
    **dict.fromkeys(("range", "split", "keys", "values"), "list"),
    **dict.fromkeys(("len", "sum", "round"), "number"),
}
_ELEMENTS: dict[str, Type] = {"range": "number", "split": "text", "keys": "text"}
_NULL: frozenset[Type] = frozenset({"null"})
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">=", "in"})


class Types:
    """Follows values through the names of one spec."""

    def __init__(self, scopes: Scopes):
        self.scopes = scopes
        self.seen: set[tuple[str, Frame]] = set()

    def of(self, expr: n.Expr) -> Type | None:
        """The only type that an expression can have beside null, or None."""
        frame = self.scopes.frames.get(expr)
        self.seen.clear()
        found = self.types(expr, frame) if frame is not None else None
        sure = (found or frozenset()) - {"null"}
        return next(iter(sure)) if len(sure) == 1 else None

    def is_null(self, expr: n.Expr) -> bool:
        """Whether an expression can be nothing but null."""
        frame = self.scopes.frames.get(expr)
        self.seen.clear()
        return frame is not None and self.types(expr, frame) == _NULL

    def types(self, expr: n.Expr, frame: Frame, depth: int = 0) -> frozenset[Type] | None:
        """All types that an expression can have, or None when they cannot be known."""
        visit = _VISITS.get(type(expr))
        return visit(self, expr, frame, depth + 1) if visit is not None and depth < _DEEPEST else _UNKNOWN

    def union(self, exprs: Iterable[n.Expr], frame: Frame, depth: int) -> frozenset[Type] | None:
        """The types of several expressions together."""
        found: frozenset[Type] = frozenset()
        for expr in exprs:
            types = self.types(expr, frame, depth)
            if types is None:
                return _UNKNOWN
            found |= types
        return found

    def name(self, expr: n.Name, frame: Frame, depth: int) -> frozenset[Type] | None:
        """All that is ever bound to the name, and what it has at the start."""
        name, found = expr.id, frozenset[Type]()
        if self.scopes.may_be_made(name):
            return _UNKNOWN
        if (name, frame) in self.seen:
            return found  # it was counted already, or this leads back to where we are: it adds nothing
        self.seen.add((name, frame))
        if name in self.scopes.start:
            declared = _declared(self.scopes.start[name])
            if declared is None:
                return _UNKNOWN
            found |= declared
        for around in frames_read(self.scopes, frame):
            for binding in around.bindings.get(name, ()):
                types = self._binding(binding, around, depth)
                if types is None:
                    return _UNKNOWN
                found |= types
        return found if name in self.scopes.start or self.scopes.bound_anywhere(name) else _UNKNOWN

    def _binding(self, binding: Binding, frame: Frame, depth: int) -> frozenset[Type] | None:
        if binding.kind == "index" or (binding.kind == "loop" and isinstance(binding.node, n.Repeat | n.Loop)):
            return frozenset({"number"})
        if binding.kind in ("let", "const", "assign") and binding.value is not None:
            return self.types(binding.value, frame, depth)
        if binding.kind == "loop" and binding.value is not None:
            return self.elements(binding.value, frame, depth)
        return _UNKNOWN

    def elements(self, expr: n.Expr, frame: Frame, depth: int) -> frozenset[Type] | None:
        """The types of the elements of a list that is written in place, or given and never changed."""
        if isinstance(expr, n.ListExpr):
            return self.union(expr.items, frame, depth)
        if isinstance(expr, n.FunctionCall):
            found = _ELEMENTS.get(expr.name)
            return frozenset({found}) if found else _UNKNOWN
        if not isinstance(expr, n.Name) or expr.id in changed_names(self.scopes.spec.body):
            return _UNKNOWN
        if is_given(self.scopes, expr):
            return _declared_elements(self.scopes.start[expr.id])
        value = only_value(self.scopes, expr)
        return self.elements(value, frame, depth + 1) if value is not None and depth < _DEEPEST else _UNKNOWN

    def template(self, expr: n.Template, frame: Frame, depth: int) -> frozenset[Type] | None:
        """A text; one that spells a number may stand for it."""
        plain = all(isinstance(part, str) for part in expr.parts)
        spells = plain and number("".join(part for part in expr.parts if isinstance(part, str))) is not None
        return _UNKNOWN if spells or not plain else frozenset({"text"})

    def constant(self, expr: n.Constant, frame: Frame, depth: int) -> frozenset[Type] | None:
        """``null``, a boolean or a number."""
        if expr.value is None:
            return frozenset({"null"})
        return frozenset({"boolean" if isinstance(expr.value, bool) else "number"})

    def field(self, expr: n.Field, frame: Frame, depth: int) -> frozenset[Type] | None:
        """``x.length`` is a number, ``config.x`` what the config item is."""
        if expr.name == "length":
            return frozenset({"number", "null"})
        if isinstance(expr.object, n.Name) and expr.object.id == "config":
            item = next((item for item in self.scopes.spec.config if item.name == expr.name), None)
            return _declared(item) if item else _UNKNOWN
        return _UNKNOWN

    def index(self, expr: n.Index, frame: Frame, depth: int) -> frozenset[Type] | None:
        """``xs[0]``: an element, or nothing."""
        found = self.elements(expr.object, frame, depth)
        return _UNKNOWN if found is None else found | _NULL

    def binary(self, expr: n.Binary, frame: Frame, depth: int) -> frozenset[Type] | None:
        """Arithmetic, comparisons, ``and`` and ``or``."""
        if expr.op in _COMPARISONS:
            return frozenset({"boolean"})
        if expr.op in ("-", "*", "/", "%"):
            return frozenset({"number"})
        both = self.union((expr.left, expr.right), frame, depth)
        if expr.op in ("and", "or"):
            return both
        if both is not None and len(both) == 1 and both <= {"number", "text", "list"}:
            return both
        return _UNKNOWN

    def unary(self, expr: n.Unary, frame: Frame, depth: int) -> frozenset[Type] | None:
        """``-x`` and ``not x``."""
        return frozenset({"number" if expr.op == "-" else "boolean"})

    def conditional(self, expr: n.Conditional, frame: Frame, depth: int) -> frozenset[Type] | None:
        """``x if C else y``."""
        return self.union((expr.then, expr.orelse), frame, depth)

    def function(self, expr: n.FunctionCall, frame: Frame, depth: int) -> frozenset[Type] | None:
        """``len(xs)``."""
        found = _FUNCTIONS.get(expr.name)
        return frozenset({found}) if found else _UNKNOWN

    def pipeline(self, expr: n.Pipeline, frame: Frame, depth: int) -> frozenset[Type] | None:
        """A list, unless it is reduced."""
        return _UNKNOWN if expr.stages and expr.stages[-1].kind == "reduce" else frozenset({"list"})

    def parallel(self, expr: n.Parallel, frame: Frame, depth: int) -> frozenset[Type] | None:
        """A list, unless one branch wins."""
        return _UNKNOWN if expr.options.mode == "first" else frozenset({"list"})

    def loop(self, expr: n.Repeat | n.ForEach | n.Loop, frame: Frame, depth: int) -> frozenset[Type] | None:
        """A loop's value is a list, unless one iteration wins."""
        options = None if isinstance(expr, n.Loop) else expr.parallel
        return _UNKNOWN if options is not None and options.mode == "first" else frozenset({"list"})


def types_of(facts: Facts) -> Types:
    """The types of a spec's values, for ``Facts.shared``."""
    return Types(facts.scopes)


def _always(kind: Type) -> Callable[[Types, Any, Frame, int], frozenset[Type] | None]:
    return lambda types, expr, frame, depth: frozenset({kind})


_VISITS: dict[type[n.Node], Callable[[Types, Any, Frame, int], frozenset[Type] | None]] = {
    n.Name: Types.name,
    n.Template: Types.template,
    n.Constant: Types.constant,
    n.ListExpr: _always("list"),
    n.ObjectExpr: _always("object"),
    n.Field: Types.field,
    n.Index: Types.index,
    n.Binary: Types.binary,
    n.Unary: Types.unary,
    n.Predicate: _always("boolean"),
    n.Conditional: Types.conditional,
    n.FunctionCall: Types.function,
    n.Pipeline: Types.pipeline,
    n.Parallel: Types.parallel,
    n.Repeat: Types.loop,
    n.ForEach: Types.loop,
    n.Loop: Types.loop,
}


def _declared(node: Any) -> frozenset[Type] | None:
    """The types of a config item or input, or None for what has no basic type."""
    if not isinstance(node, n.ConfigItem | n.Parameter) or not node.type:
        return _UNKNOWN
    kinds = _kinds(read_type(node.type))
    return kinds and kinds | _NULL


def _declared_elements(node: Any) -> frozenset[Type] | None:
    """The types of the elements of a config item or input that is declared as ``T[]``."""
    read = read_type(node.type) if isinstance(node, n.ConfigItem | n.Parameter) else None
    return _kinds(read.item) if read is not None and read.item is not None else _UNKNOWN


def _kinds(read: ValueType) -> frozenset[Type] | None:
    if read.kind == "union":
        parts = [_kinds(part) if part.kind != "null" else _NULL for part in read.parts]
        known = [part for part in parts if part is not None]
        return frozenset[Type]().union(*known) if len(known) == len(parts) else _UNKNOWN
    words = read.kind == "enum" and all(isinstance(option, str) for option in read.options)
    kind = "text" if words else _DECLARED.get(read.kind)
    return frozenset({kind}) if kind else _UNKNOWN
