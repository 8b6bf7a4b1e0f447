"""Slotted dataclasses whose methods are written when they are first used.

The standard decorator writes and compiles up to six methods for each class, which for all classes together is a
quarter of the time of a short command, and few of them are ever called. ``dataclass`` here means the same and is used
the same, for classes with ``slots=True``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, fields
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

__all__ = ["dataclass", "init_of", "refuse_to_delete", "refuse_to_set", "set_state", "state_of", "write_later"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(kind=None, /, *, slots, frozen=False, eq=True):
        """As ``dataclasses.dataclass`` with these arguments."""
        if kind is None:
            return partial(dataclass, slots=slots, frozen=frozen, eq=eq)
        kind.__doc__ = kind.__doc__ or kind.__name__  # otherwise a signature is worked out for it
        own = vars(kind)
        methods = {"__init__": init_of} | ({"__repr__": lambda _: _repr} if "__repr__" not in own else {})
        if eq:
            methods |= {"__eq__": _eq_of} | ({"__hash__": _hash_of} if frozen else {})
        made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(kind)
        for name, write in methods.items():
            write_later(made, name, write)
        if eq and not frozen:
            made.__hash__ = None
        if frozen:
            made.__setattr__, made.__delattr__ = refuse_to_set, refuse_to_delete
            made.__getstate__, made.__setstate__ = state_of, set_state
        return made


def write_later(kind: type, name: str, write: Callable[[type], Any]) -> None:
    """Give a class a method that ``write`` makes of the class at its first call."""

    def first(self: Any, *given: Any, **named: Any) -> Any:
        method = write(kind)
        setattr(kind, name, method)
        return method(self, *given, **named)

    setattr(kind, name, first)


def init_of(kind: Any) -> Any:
    """An ``__init__`` that takes the fields and fills the slots."""
    known: dict[str, Any] = {"missing": MISSING}
    frozen = kind.__setattr__ is refuse_to_set
    given: list[str] = []
    named: list[str] = []
    lines = []
    for each in fields(kind):
        name = each.name
        known |= {f"set_{name}": getattr(kind, name).__set__, f"default_{name}": each.default}
        value = name if each.init else f"default_{name}"
        if each.default_factory is not MISSING:
            known[f"make_{name}"] = each.default_factory
            value = f"make_{name}() if {name} is missing else {name}" if each.init else f"make_{name}()"
        required = each.default is MISSING and each.default_factory is MISSING
        if each.init:
            (named if each.kw_only else given).append(name if required else f"{name}=default_{name}")
        if each.init or not required:
            lines.append(f"set_{name}(self, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(kind, "__post_init__"):
        lines.append("self.__post_init__()")
    return _function("__init__", [*given, *(["*", *named] if named else [])], lines, known)


def _eq_of(kind: type) -> Any:
    names = [each.name for each in fields(kind) if each.compare]
    same = " and ".join(f"self.{name} == other.{name}" for name in names)
    lines = [f"return ({same or 'True'}) if other.__class__ is self.__class__ else NotImplemented"]
    return _function("__eq__", ["other"], lines, {})


def _hash_of(kind: type) -> Any:
    hashed = [each.name for each in fields(kind) if (each.compare if each.hash is None else each.hash)]
    return _function("__hash__", [], [f"return hash(({''.join(f'self.{name}, ' for name in hashed)}))"], {})


def _function(name: str, given: list[str], lines: list[str], known: dict[str, Any]) -> Any:
    body = "\n".join(f"    {line}" for line in lines or ["pass"])
    exec(f"def {name}({', '.join(['self', *given])}):\n{body}", known)
    return known[name]


def _repr(self: Any) -> str:
    shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({shown})"


def refuse_to_set(self: object, name: str, value: object) -> NoReturn:
    """The ``__setattr__`` of what is frozen."""
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def refuse_to_delete(self: object, name: str) -> NoReturn:
    """The ``__delattr__`` of what is frozen."""
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def state_of(self: Any) -> list[Any]:
    """The ``__getstate__`` of what is frozen."""
    return [getattr(self, each.name) for each in fields(self)]


def set_state(self: Any, state: list[Any]) -> None:
    """The ``__setstate__`` of what is frozen."""
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
