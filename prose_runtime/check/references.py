"""Which expressions can hold a service reference, and of which slot, as far as that is known before a run."""

from __future__ import annotations

from enum import IntEnum

from prose_runtime import nodes as n
from prose_runtime.check.scope import Binding, Frame, Scopes


class Refers(IntEnum):
    """Whether a value is a service reference (or a list or object that holds some)."""

    NO = 0
    MAYBE = 1
    YES = 2


class References:
    """Follows slots through variables, loop variables, lists and indexes."""

    def __init__(self, scopes: Scopes):
        self.scopes = scopes
        self.slots = {slot.name: slot for slot in scopes.spec.slots}

    def of_name(self, name: str, frame: Frame) -> Refers:
        """Whether a name holds a reference."""
        return self._name(name, frame, set())

    def of_bindings(self, bindings: list[Binding], frame: Frame) -> Refers:
        """Whether one of these bindings gives a reference."""
        return self._bindings(bindings, frame, set())

    def common_slot(self, bindings: list[Binding], frame: Frame) -> n.Slot | None:
        """The slot that all bindings with a reference lead to, if it is one and the same."""
        return self._common(bindings, frame, set())

    def slot_behind(self, value: n.Expr, frame: Frame) -> n.Slot | None:
        """The slot whose references an expression gives: one of them, or a list of them."""
        return self._slot(value, frame, set())

    # whether

    def _name(self, name: str, frame: Frame, seen: set[Binding]) -> Refers:
        bindings = frame.lookup(name)
        if bindings:
            return self._bindings(bindings, frame, seen)
        if name in self.slots:
            return Refers.YES
        return Refers.MAYBE if isinstance(self.scopes.start.get(name), n.Parameter) else Refers.NO

    def _bindings(self, bindings: list[Binding], frame: Frame, seen: set[Binding]) -> Refers:
        fresh = [binding for binding in bindings if binding not in seen]
        seen.update(fresh)
        return max((self._binding(binding, frame, seen) for binding in fresh), default=Refers.NO)

    def _binding(self, binding: Binding, frame: Frame, seen: set[Binding]) -> Refers:
        if binding.kind in ("parameter", "item"):
            return Refers.YES
        if binding.value is not None:
            return self._value(binding.value, frame, seen)
        if isinstance(binding.node, n.Bind):
            return self._value(binding.node.value, frame, seen)
        return Refers.NO

    def _value(self, value: n.Expr, frame: Frame, seen: set[Binding]) -> Refers:
        if isinstance(value, n.Name):
            return self._name(value.id, frame, seen)
        if isinstance(value, _CONTROL):
            return Refers.MAYBE
        return max((self._value(part, frame, seen) for part in _parts(value)), default=Refers.NO)

    # which

    def _common(self, bindings: list[Binding], frame: Frame, seen: set[Binding]) -> n.Slot | None:
        fresh = [b for b in bindings if b not in seen and self._binding(b, frame, set()) is not Refers.NO]
        seen.update(fresh)
        return _only([self._slot(b.value, frame, seen) if b.value else None for b in fresh])

    def _slot(self, value: n.Expr, frame: Frame, seen: set[Binding]) -> n.Slot | None:
        if isinstance(value, n.Name):
            bindings = frame.lookup(value.id)
            return self._common(bindings, frame, seen) if bindings else self.slots.get(value.id)
        if isinstance(value, n.Field):
            return None
        return _only([self._slot(part, frame, seen) for part in _parts(value)])


_CONTROL = (n.Repeat, n.ForEach, n.Loop, n.Parallel, n.Do, n.If, n.Choice, n.Try, n.Pipeline)


def _parts(value: n.Expr) -> tuple[n.Expr, ...]:
    """The expressions whose value, or a part of it, becomes the value of this one unchanged."""
    if isinstance(value, n.Index | n.Field):
        return (value.object,)
    if isinstance(value, n.ListExpr):
        return value.items
    if isinstance(value, n.ObjectExpr):
        return tuple(entry.value for entry in value.entries)
    if isinstance(value, n.Conditional):
        return (value.then, value.orelse)
    if isinstance(value, n.Binary) and value.op in ("and", "or"):
        return (value.left, value.right)
    return ()


def _only(slots: list[n.Slot | None]) -> n.Slot | None:
    return slots[0] if slots and all(slot is slots[0] for slot in slots) else None
