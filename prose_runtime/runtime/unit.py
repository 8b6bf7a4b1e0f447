"""What runs: one program with its slots bound, inside a run that all its nested units share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from prose_runtime.events import Event
from prose_runtime.nodes import Instance, Spec
from prose_runtime.runtime.memory import Store
from prose_runtime.runtime.program import Program
from prose_runtime.services.api import Reply, Request, Service
from prose_runtime.values import ServiceRef, Value

ContractMode = Literal["structural", "judge", "off"]


class Host(Protocol):
    """All that the interpreter wants from outside (DESIGN.md section 7). Everything else in it is deterministic."""

    async def ask(self, step: str, service: Service, request: Request) -> Reply:
        """Answer a request, from the record or by asking.

        Raises:
            ServiceError: The service has no answer.
            LimitExceeded: The call would break a limit.
            Paused: A person's answer is needed and nobody is there.
        """
        ...

    async def sleep(self, step: str, seconds: float) -> None:
        """Wait at a step."""
        ...

    async def within(self, seconds: float | None, work: Awaitable[Any]) -> Any:
        """Wait for the whole run, as long as it may take.

        Raises:
            LimitExceeded: It took longer.
        """
        ...

    async def compute(self, doing: Future[Any], overdue: Callable[[], bool]) -> Any:
        """Wait for a computation on a thread of its own, which sees and changes nothing outside.

        Raises:
            TimeoutError: It is overdue, and cannot be stopped.
        """
        ...

    async def witness(self, step: str, happening: Callable[[], Awaitable[Any]]) -> Any:
        """What happened outside at a step, as JSON: from the record, or by waiting for it and recording it.

        It is for what is no answer of a service and yet decides how the program goes on, such as which of several
        replies came first.
        """
        ...

    def emit(self, event: Event) -> None:
        """Tell the listeners what happened."""
        ...


@dataclass(frozen=True, slots=True)
class ServiceCallee:
    """A service with what its binding adds to each request."""

    name: str
    service: Service
    additions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FunctionCallee:
    """A function spec that is one model call: its text is the job, ``model`` answers."""

    name: str
    program: Program
    model: ServiceCallee


@dataclass(frozen=True, slots=True)
class UnitCallee:
    """A spec with a program of its own and what fills its slots. ``bare``: it yields its ``result`` alone."""

    name: str
    program: Program
    slots: Mapping[str, Value]
    config: Mapping[str, Any]
    bare: bool = False


Callee = ServiceCallee | FunctionCallee | UnitCallee


class Wiring(Protocol):
    """Turns names into callees: services of prose.yml, specs, pattern instances."""

    def default(self) -> ServiceCallee:
        """The service that answers when nothing else is bound."""
        ...

    def judge(self) -> ServiceCallee:
        """The service that decides conditions."""
        ...

    def model(self, name: str) -> str:
        """The model that an alias of prose.yml stands for."""
        ...

    def skills(self, spec: Spec) -> str:
        """The text of the skills that a function declares."""
        ...

    def services(self) -> list[str]:
        """The names of the services and instances that prose.yml configures."""
        ...

    def person(self) -> Callee:
        """The callee for a question to a person: the service ``human`` of prose.yml, else the one at the terminal."""
        ...

    def memory(self, kept: str, agent: str) -> Store | None:
        """Where an agent's memory is kept beyond a run, as its ``persist`` says; None for that of a run."""
        ...

    def configured(self, name: str) -> Callee | None:
        """The callee for a service or instance of prose.yml, or None when there is none of that name."""
        ...

    def spec(self, program: Program, spec: Spec, name: str) -> Callee:
        """The callee for a component or another spec that a program names."""
        ...

    def instance(self, unit: Unit, instance: Instance, spec: Spec) -> Callee:
        """The callee for a pattern instance that stands in a spec."""
        ...


@dataclass(slots=True)
class Run:
    """What all units of a run share.

    ``additions`` are told to every role: ``language``, and ``background`` once the ``context`` is summed up.
    """

    host: Host
    wiring: Wiring
    contracts: ContractMode = "structural"
    context: str | None = None
    additions: dict[str, str] = field(default_factory=dict)

    def told(self, own: Mapping[str, str]) -> dict[str, str]:
        """What a role is told beside its call: what its binding adds and what the run adds, which has the last word."""
        if not own and not self.additions:
            return {}
        told = {**own, **self.additions}
        backgrounds = [given["background"] for given in (own, self.additions) if given.get("background")]
        return {**told, "background": "\n\n".join(backgrounds)} if backgrounds else told


@dataclass(slots=True)
class Unit:
    """One activation of a program. ``slots`` maps each slot to a ServiceRef, or a list of them.

    ``depth`` counts the units around it; ``outputs`` holds what the program published; ``callees`` what names of the
    spec were wired to so far; ``memories`` the store of each agent that remembers beyond the run, with the key of this
    activation.
    """

    run: Run
    program: Program
    slots: Mapping[str, ServiceRef | list[ServiceRef]]
    config: Mapping[str, Any]
    depth: int = 0
    outputs: dict[str, Value] = field(default_factory=dict)
    callees: dict[Any, Callee] = field(default_factory=dict)
    memories: dict[str, tuple[Store, str]] = field(default_factory=dict)
