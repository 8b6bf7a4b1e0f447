"""The calls of a composite: whom ``use`` means, what it is asked, and what the program gets back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from prose_runtime.diagnostics import did_you_mean
from prose_runtime.jsontext import parse_json
from prose_runtime.nodes import Node, Parameter, Slot
from prose_runtime.runtime.asking import Asking, ask_role
from prose_runtime.runtime.core import Activation, Bracket
from prose_runtime.runtime.delegate import run_unit
from prose_runtime.runtime.functions import described
from prose_runtime.runtime.jobs import function_job, function_model, slot_job
from prose_runtime.runtime.unit import Callee, FunctionCallee, ServiceCallee, Unit, UnitCallee
from prose_runtime.services.api import Request
from prose_runtime.values import ServiceRef, Value, clean_text, to_json, to_text

_SLOT = "&slot"
"""The only field of what stands for a slot where the sandbox has to tell it from others of the same text."""

_BRIEFS = ("prompt", "brief", "task_brief")
"""Inputs that a brief fills when the callee is a spec that declares one of them."""


class Misuse(Exception):
    """``rlm`` was called wrongly: the program's own fault, which it can catch."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of ``rlm``. ``at`` names its place and so its step; ``state`` is the option ``compositeState``."""

    id: int
    at: str
    brief: str | None
    context: Any
    use: Any
    model: str | None
    state: Any
    node: Node


def asked_of(row: Mapping[str, Any], node: Node) -> Asked:
    """The call that the sandbox tells of; ``node`` is where it stands."""
    model = row["model"]
    return Asked(
        id=row["id"],
        at=row["at"],
        brief=None if row["brief"] is None else clean_text(row["brief"]),
        context=row["context"],
        use=row["use"],
        model=None if model is None else to_text(model),
        state=row["state"],
        node=node,
    )


class Role(NamedTuple):
    """Who answers a call, under which name it is reported, and the slot whose job it is."""

    callee: Callee
    name: str
    slot: Slot | None = None


class Calls:
    """Makes the calls of one composite."""

    def __init__(self, unit: Unit, act: Activation):
        self.unit = unit
        self.act = act
        self._texts: dict[str, tuple[str, int]] = {}

    def state(self, names: Mapping[str, Value]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The state's fields, and apart from them its slots, for ``Sandbox.open``.

        A slot is its binding's name. When an earlier slot has the same binding, it is a text object of its own: it
        reads and prints alike, but ``rlm`` knows which slot is meant. What is null is left out, so that defaults in a
        destructuring hold.
        """
        slots: dict[str, Any] = {}
        for name in self.unit.program.slots:
            bound = self.unit.slots[name]
            texts = [self._text(ref, name, i) for i, ref in enumerate(bound if isinstance(bound, list) else [bound])]
            slots[name] = texts if isinstance(bound, list) else texts[0]
        values = {
            name: to_json(value)
            for name, value in names.items()
            if name not in slots and value is not None and value is not self.unit.config
        }
        return values, slots

    def _text(self, ref: ServiceRef, slot: str, index: int) -> dict[str, Any]:
        known, _ = self._texts.setdefault(ref.name, (slot, index))
        return {"text": ref.name} if known == slot else {"text": ref.name, "slot": [slot, index]}

    async def ask(self, asked: Asked) -> Value:
        """Make a call.

        Raises:
            ProseError: It failed.
            Misuse: It names nobody, or gives something that cannot be given.
        """
        with Bracket(self.act, asked.node, "call", f"rlm[{asked.at}]") as inner:
            role = self._role(asked.use)
            inputs = _inputs(asked.context)
            if isinstance(role.callee, UnitCallee):
                given = {**self._given_state(asked.state, role.callee), **inputs}
                given = _with_brief(role.callee, given, asked.brief)
                return to_json(await run_unit(role.callee, given, self.unit.run, inner.path, self.unit.depth + 1))
            return _read(to_json(await ask_role(self._asking(asked, role, role.callee, inputs), inner)))

    def _asking(
        self, asked: Asked, role: Role, callee: ServiceCallee | FunctionCallee, inputs: dict[str, Any]
    ) -> Asking:
        jobs = [slot_job(self.unit.program.spec, role.slot)] if role.slot else []
        model, spec = asked.model, None
        if isinstance(callee, FunctionCallee):
            spec = callee.program.spec
            jobs.insert(0, function_job(spec))
            model = model or function_model(spec)
            callee = callee.model
        request = Request(
            job="\n".join(job for job in jobs if job),
            inputs=inputs,
            prompt=asked.brief,
            model=self.unit.run.wiring.model(model) if model else None,
        )
        return Asking(node=asked.node, target=role.name, callee=callee, request=request, slot=role.slot, spec=spec)

    # whom a word means

    def _role(self, use: Any) -> Role:
        """Nobody is the default service; else a slot, by its binding's name or its own, or a configured service."""
        if use is None:
            return Role(self.unit.run.wiring.default(), "session")
        bound = self._bound(use)
        if bound is not None:
            slot, ref = bound
            return Role(ref.target, slot.name, slot)
        if not isinstance(use, str):
            raise Misuse(f"rlm: `use` takes a slot's value or the name of a service, not {described(use)}")
        callee = self.unit.run.wiring.configured(use)
        if callee is None:
            known = list(dict.fromkeys([*self.unit.program.slots, *self._texts, *self.unit.run.wiring.services()]))
            close = did_you_mean(use, known)
            raise Misuse(
                f"rlm: `use` names `{use}`, which is neither a slot nor a service of prose.yml; "
                f"{close + '; ' if close else ''}known: {', '.join(known) or 'none'}"
            )
        return Role(callee, use)

    def _bound(self, use: Any) -> tuple[Slot, ServiceRef] | None:
        """The slot that a word of the program means, and what is bound there."""
        name, index = None, 0
        if isinstance(use, dict) and set(use) == {_SLOT}:
            name, index = self._marked(use[_SLOT])
        elif isinstance(use, str) and use in self._texts:
            name, index = self._texts[use]
        elif isinstance(use, str) and isinstance(self.unit.slots.get(use), ServiceRef):
            name = use
        if name is None:
            return None
        refs = self.unit.slots[name]
        return self.unit.program.slots[name], refs[index] if isinstance(refs, list) else refs

    def _marked(self, mark: Any) -> tuple[str | None, int]:
        """The slot that the sandbox marked; a program may write anything there."""
        marked = [(name, i) for name, bound in self.unit.slots.items() for i in range(_size(bound))]
        return next(((name, i) for name, i in marked if mark == [name, i]), (None, 0))

    def _given_state(self, state: Any, callee: UnitCallee) -> dict[str, Value]:
        """The state that a composite or pattern is called with: its slots as references, all else as it is."""
        if state is None:
            return {}
        if not isinstance(state, dict):
            raise Misuse("rlm: `compositeState` takes an object")
        given: dict[str, Value] = {}
        for name, value in state.items():
            slot = callee.program.slots.get(name)
            given[clean_text(name)] = to_json(self._plain(value)) if slot is None else self._references(value, slot)
        return given

    def _references(self, value: Any, slot: Slot) -> Value:
        refs = [self._reference(one, slot) for one in (value if isinstance(value, list) else [value])]
        return refs if slot.is_list else refs[0] if refs else None

    def _reference(self, use: Any, slot: Slot) -> ServiceRef:
        bound = self._bound(use)
        role = self._role(use)
        return ServiceRef(bound[1].name if bound else role.callee.name, slot.name, role.callee)

    def _plain(self, value: Any) -> Any:
        """A value with the names of bindings for slots."""
        if isinstance(value, dict):
            bound = self._bound(value)
            return bound[1].name if bound else {name: self._plain(entry) for name, entry in value.items()}
        return [self._plain(entry) for entry in value] if isinstance(value, list) else value


def _size(bound: Value) -> int:
    return len(bound) if isinstance(bound, list) else 1


def _inputs(context: Any) -> dict[str, Any]:
    """The inputs of a call: the fields of its context, or one that is named so."""
    if context is None:
        return {}
    fields = context if isinstance(context, dict) else {"context": context}
    return {clean_text(name): to_json(value) for name, value in fields.items()}


def _with_brief(callee: UnitCallee, given: dict[str, Value], brief: str | None) -> dict[str, Value]:
    """A spec gets the brief as the input that is called so, else as its first text input that has no value yet."""
    if brief is None:
        return given
    declared = callee.program.analysis.inputs
    name = next(
        (name for name in (*_BRIEFS, *_open(declared.values())) if name in declared and name not in given), None
    )
    return given if name is None else {**given, name: brief}


def _open(parameters: Iterable[Parameter]) -> list[str]:
    """Required inputs that may be text, in order."""
    return [p.name for p in parameters if not (p.optional or p.has_default) and p.type in (None, "string")]


def _read(reply: Any) -> Any:
    """A reply as the program gets it: text that is one JSON object is that object."""
    if not isinstance(reply, str) or not reply.strip().startswith("{"):
        return reply
    try:
        return parse_json(reply.strip())
    except ValueError:
        return reply
