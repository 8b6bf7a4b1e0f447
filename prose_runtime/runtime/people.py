"""Who takes part in a run besides services, and what all roles are told: joined slots, personas, language, background.

Slots are named by a path: ``pro``, ``panel.critic`` for a slot of the pattern that fills ``panel``, ``stages.2`` for
the second member of a list slot; ``_`` and ``-`` mean the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from prose_runtime.diagnostics import did_you_mean
from prose_runtime.errors import UsageError
from prose_runtime.nodes import Slot
from prose_runtime.runtime.briefing import briefing
from prose_runtime.runtime.program import Program
from prose_runtime.runtime.unit import Callee, FunctionCallee, ServiceCallee, UnitCallee
from prose_runtime.runtime.wiring import LocalWiring
from prose_runtime.services.bindings import spoken
from prose_runtime.values import ServiceRef, Value


@dataclass(frozen=True, slots=True)
class People:
    """What ``--join``, ``--persona``, ``--language``, ``--run-context`` and ``--telegram`` say.

    Attributes:
        join: Paths of slots that a person takes over.
        personas: By a slot's path, whose voice and style the role takes on.
        language: The language of all roles.
        context: Background for all roles; it is summed up once, before the first call.
        telegram: Where those who join are: the word of a binding such as ``telegram:12345``, or None for the terminal.
    """

    join: tuple[str, ...] = ()
    personas: Mapping[str, str] = field(default_factory=dict)
    language: str | None = None
    context: str | None = None
    telegram: str | None = None

    @classmethod
    def from_json(cls, kept: Mapping[str, Any] | None) -> People:
        """What ``as_json`` gave; None is nobody."""
        given = dict(kept or {})
        return cls(**{**given, "join": tuple(given.get("join", ()))})

    def as_json(self) -> dict[str, Any]:
        """What the record of a run keeps of it."""
        return {
            "join": list(self.join),
            "personas": dict(self.personas),
            "language": self.language,
            "context": self.context,
            "telegram": self.telegram,
        }


def seated(
    people: People, program: Program, slots: Mapping[str, Value], bound: Mapping[str, Any], wiring: LocalWiring
) -> dict[str, Value]:
    """The slots of a run with people and personas in them. ``bound``: the slots that the command line binds.

    Raises:
        UsageError: A path names no slot, a joined slot is bound, or a persona is given to a whole pattern.
    """
    filled = dict(slots)
    for path in people.join:
        _refuse_bound(path, bound)
        word = people.telegram or "human"
        filled = _Place(path, _joined(path, word, wiring)).changed(path, program, filled)
    for path, name in people.personas.items():
        filled = _Place(path, _with_voice(path, name)).changed(path, program, filled)
    return _briefed(program, filled, wiring)


def _briefed(program: Program, slots: Mapping[str, Value], wiring: LocalWiring) -> dict[str, Value]:
    """The slots where who is far away is briefed, however they came to be bound: they see nothing else of the run."""

    def one(slot: Slot, ref: Value) -> Value:
        callee = ref.target if isinstance(ref, ServiceRef) else None
        if isinstance(callee, UnitCallee):
            return _with_target(ref, replace(callee, slots=_briefed(callee.program, callee.slots, wiring)))
        if not isinstance(callee, ServiceCallee) or "briefing" in callee.additions:
            return ref
        wanted = getattr(callee.service, "wants_briefing", False)
        return _with_target(ref, _told(callee, program, slot, wiring)) if wanted else ref

    return {
        slot.name: [one(slot, ref) for ref in value] if isinstance(value, list) else one(slot, value)
        for slot in program.spec.slots
        if (value := slots.get(slot.name)) is not None
    }


def _with_target(ref: Any, target: Callee) -> ServiceRef:
    return ServiceRef(ref.name, ref.slot, target)


def _told(callee: ServiceCallee, program: Program, slot: Slot, wiring: LocalWiring) -> ServiceCallee:
    told = {"briefing": briefing(program.spec, slot, wiring.project)}
    return replace(callee, additions={**callee.additions, **told})


def _refuse_bound(path: str, bound: Mapping[str, Any]) -> None:
    for name, word in bound.items():
        if plain(name) == plain(path):
            raise UsageError(
                f"`{name}` is bound to {word} and joined by a person", help=f"leave out `--{plain(name)}` or `--join`"
            )


def plain(name: str) -> str:
    """A name as it is compared."""
    return name.replace("_", "-")


Change = Callable[[Program, Slot, ServiceRef], ServiceRef]


@dataclass(frozen=True, slots=True)
class _Place:
    """The slots that a path means, and what becomes of them."""

    path: str
    change: Change

    def changed(self, rest: str, program: Program, slots: Mapping[str, Value]) -> dict[str, Value]:
        """The slots of a program with the change; ``rest`` is what of the path lies in it."""
        name, _, inner = rest.partition(".")
        slot = _slot(self.path, name, program)
        value = slots[slot.name]
        if not isinstance(value, list):
            return {**slots, slot.name: self._one(inner, program, slot, value)}
        number, _, below = inner.partition(".")
        if not number.isdigit():
            return {**slots, slot.name: [self._one(inner, program, slot, ref) for ref in value]}
        members = list(value)
        if not 1 <= int(number) <= len(members):
            names = ", ".join(f"`{slot.name}.{i}`" for i in range(1, len(members) + 1))
            raise UsageError(f"`{self.path}`: the slot `{slot.name}` has {len(members)} members", help=f"write {names}")
        members[int(number) - 1] = self._one(below, program, slot, members[int(number) - 1])
        return {**slots, slot.name: members}

    def _one(self, inner: str, program: Program, slot: Slot, ref: Any) -> ServiceRef:
        if not inner:
            return self.change(program, slot, ref)
        callee = ref.target
        if not isinstance(callee, UnitCallee):
            message = f"`{self.path}`: the slot `{slot.name}` is filled with {ref.name}, which has no slots"
            raise UsageError(message, help=f"write `{slot.name}`")
        slots = self.changed(inner, callee.program, callee.slots)
        return ServiceRef(ref.name, ref.slot, replace(callee, slots=slots))


def _slot(path: str, name: str, program: Program) -> Slot:
    names = [slot.name for slot in program.spec.slots]
    found = next((slot for slot in program.spec.slots if plain(slot.name) == plain(name)), None)
    if found is None:
        whole = f"`{path}`: " if path != name else ""
        listed = f"its slots: {', '.join(names)}" if names else "it has no slots"
        raise UsageError(f"{whole}{program.spec.name} has no slot `{name}`", help=did_you_mean(name, names) or listed)
    return found


def _joined(path: str, word: str, wiring: LocalWiring) -> Change:
    def change(program: Program, slot: Slot, _: ServiceRef) -> ServiceRef:
        callee = wiring.participant(word, path)
        return ServiceRef(spoken(callee.name), slot.name, _told(callee, program, slot, wiring))

    return change


def _with_voice(path: str, name: str) -> Change:
    """A role with a persona is printed as both: ``Holmes (claude)``."""

    def change(_: Program, __: Slot, ref: ServiceRef) -> ServiceRef:
        return ServiceRef(f"{name} ({ref.name})", ref.slot, _voiced(path, ref.target, name))

    return change


def _voiced(path: str, callee: Callee, persona: str) -> Callee:
    if isinstance(callee, ServiceCallee):
        return replace(callee, additions={**callee.additions, "persona": persona})
    if isinstance(callee, FunctionCallee):
        return replace(callee, model=replace(callee.model, additions={**callee.model.additions, "persona": persona}))
    names = [f"`{path}.{slot.name}`" for slot in callee.program.spec.slots]
    raise UsageError(
        f"`{path}` is filled with {callee.name}, which is no single role",
        help=f"give the persona to {' or '.join(names)}" if names else None,
    )
