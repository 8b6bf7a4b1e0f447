"""What a service is: something that answers a request. Models, people, commands and tests all are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from prose_runtime.values import NO_USAGE, Usage

if TYPE_CHECKING:
    from prose_runtime.services.pacing import Pace

TextListener = Callable[[str], None]
RetryListener = Callable[[int, float, str], None]


class Turn:
    """What a person has said to a request so far: values by field, and their own words under ``""``.

    ``keep`` is called with all of it when something was added; it may raise RecordError.
    """

    def __init__(self, parts: Mapping[str, Any] | None = None, keep: Callable[[dict[str, Any]], None] | None = None):
        self.parts = dict(parts or {})
        self._keep = keep

    async def part(self, name: str, ask: Callable[[], Awaitable[Any]]) -> Any:
        """One part, asked for unless it was said already. It raises what ``ask`` and ``keep`` raise."""
        if name not in self.parts:
            self.parts[name] = await ask()
            if self._keep is not None:
                self._keep(self.parts)
        return self.parts[name]


@dataclass(frozen=True)
class Request:
    """Everything that a service is told; it sees nothing else (LANGUAGE.md section 4).

    Attributes:
        job: The role's task in the author's words: Shape, ``ensures``, a function's own text.
        inputs: JSON values by input name, in the order of the call.
        prompt: The call's own text, or None.
        schema: The JSON Schema that the answer has to fill, or None when text is due.
        purpose: ``call``, or ``judge``/``choice`` for a condition; services may treat these alike.
        options: The labels of a ``choice``.
        instructions, persona, language, background: Additions of the binding.
        model: The model that the call asks for instead of the binding's own, or None.
        note: What the person who watches the run wants this call to know, or None.
        rejected: An earlier answer that did not fit, with ``fault`` saying why: the one repair.
        target: Whose call it is: slot, component, agent or ``session``; empty for a judge. Never shown to a model.
        line: Where in the spec's file the call or condition stands, from 1. Never shown to a model.
        retries: How often a busy provider may be asked again for this call; None: as often as its settings say.
        seconds: How long each service that may answer has for it; None is any time.
        pace: What all calls to the service share; tries after the first go by it.
        briefing: What a person who takes a role in hand is told before the first turn: the role, its rules, what it may
            see; None for everybody else, and never shown to a model.
        turn: What the person who is asked has said already; None for a service that is no person.
        on_text, on_retry: Called with pieces of the answer as they arrive, and with (attempt, seconds, reason).
    """

    job: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    prompt: str | None = None
    schema: Mapping[str, Any] | None = None
    purpose: Literal["call", "judge", "choice"] = "call"
    options: tuple[str, ...] = ()
    instructions: str | None = None
    persona: str | None = None
    language: str | None = None
    background: str | None = None
    model: str | None = None
    note: str | None = None
    rejected: str | None = None
    fault: str | None = None
    target: str = ""
    line: int | None = None
    retries: int | None = field(default=None, compare=False)
    seconds: float | None = field(default=None, compare=False)
    pace: Pace | None = field(default=None, compare=False, repr=False)
    briefing: str | None = field(default=None, compare=False)
    turn: Turn | None = field(default=None, compare=False, repr=False)
    on_text: TextListener | None = field(default=None, compare=False, repr=False)
    on_retry: RetryListener | None = field(default=None, compare=False, repr=False)

    @property
    def who(self) -> str:
        """Who is asked, for people: the target, else ``judge`` for a condition; empty when nobody is named."""
        return self.target or ("" if self.purpose == "call" else "judge")

    @property
    def label(self) -> str:
        """Where the call stands, for people: ``target (line 12)``."""
        return " ".join(part for part in (self.who, f"(line {self.line})" if self.line else "") if part)

    @property
    def voice(self) -> str | None:
        """The persona as a role is told of it: it concerns voice and style, never the position."""
        if not self.persona:
            return None
        return f"Voice and style: {self.persona}\nThis shapes how you write, never what you hold or decide."

    def with_(self, **changes: Any) -> Request:
        """A copy with some fields changed. Raises TypeError for a field that is none."""
        if not changes.keys() <= self.__dict__.keys():
            raise TypeError(f"a request has no {', '.join(sorted(changes.keys() - self.__dict__.keys()))}")
        copy = object.__new__(Request)
        copy.__dict__.update(self.__dict__, **changes)  # several a call: dataclasses.replace takes ten times as long
        return copy

    def content(self) -> dict[str, Any]:
        """The part that decides the answer, as JSON: what the record's digest is taken of.

        A note counts where there is one, so that requests without keep the digest that they had before notes.
        """
        noted = {} if self.note is None else {"note": self.note}
        return noted | {
            "job": self.job, "inputs": dict(self.inputs), "prompt": self.prompt, "purpose": self.purpose,
            "schema": None if self.schema is None else dict(self.schema), "options": list(self.options),
            "instructions": self.instructions, "persona": self.persona, "language": self.language,
            "background": self.background, "model": self.model, "rejected": self.rejected, "fault": self.fault,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reply:
    """A service's answer: text, or a JSON value when the request had a schema or the service is structured.

    ``recorded`` is set by the runtime when the answer came from the record of the run.
    """

    value: Any
    usage: Usage = NO_USAGE
    model: str | None = None
    recorded: bool = False


@runtime_checkable
class Service(Protocol):
    """Anything that can be awaited with a request. ``name`` is the binding's name.

    Raises ``ServiceError`` when there is no answer. A plain async function is a service too: ``registry.adapt``.
    """

    name: str

    async def __call__(self, request: Request) -> Reply:
        """Answer the request."""
        ...


AsyncFunction = Callable[[Request], Awaitable[Any]]
