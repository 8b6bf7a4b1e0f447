"""Everything that can end a run, by the moment at which it happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prose_runtime.diagnostics import Diagnostic
    from prose_runtime.text import Where


class ProseError(Exception):
    """Base of all errors of this package: a sentence for a person, a kind for a program, an exit code.

    ``help`` says what to write or do instead; ``where`` and ``step`` are filled in as the error travels outwards.
    """

    exit_code = 1
    kind = "error"

    def __init__(self, message: str, *, help: str | None = None, where: Where | None = None, step: str | None = None):  # noqa: A002
        super().__init__(message)
        self.message = message
        self.help = help
        self.where = where
        self.step = step

    def as_json(self) -> dict[str, Any]:
        """The ``error`` object of the JSON output (DESIGN.md section 4)."""
        where = self.where
        return {
            "kind": self.kind,
            "message": self.message,
            "file": where.file if where else None,
            "line": where.line if where else None,
            "column": where.column if where else None,
            "step": self.step,
        }


class UsageError(ProseError):
    """The command line, the inputs, the bindings or prose.yml are wrong: nothing was run."""

    exit_code = 2
    kind = "usage"


class UnreadableFile(UsageError):
    """A file cannot be read as text."""

    def __init__(self, path: str, reason: str):
        super().__init__(f"cannot read {path}: {reason}")
        self.path = path
        self.reason = reason

    def __reduce__(self) -> tuple[type[UnreadableFile], tuple[str, str]]:
        return type(self), (self.path, self.reason)


class CheckFailed(ProseError):
    """A spec has errors; ``diagnostics`` holds all of them, warnings included."""

    kind = "check"

    def __init__(self, diagnostics: Sequence[Diagnostic]):
        self.diagnostics = list(diagnostics)
        errors = [d for d in self.diagnostics if d.severity == "error"]
        super().__init__(str(errors[0].message) if errors else "the spec has errors")
        if errors:
            self.where = errors[0].where


class RunFailed(ProseError):
    """A run ended without a result. ``kind`` tells why: ``thrown``, ``judge``, ``value``, or a service error's kind."""

    kind = "failed"

    def __init__(self, message: str, *, kind: str | None = None, **more: Any):
        super().__init__(message, **more)
        if kind is not None:
            self.kind = kind


class ServiceError(RunFailed):
    """A service did not answer a call.

    Kinds: ``overloaded``, ``rate_limit``, ``unavailable``, ``timeout``, ``format`` (these are worth another try),
    ``auth``, ``refused``, ``length``, ``exhausted``, ``failed``, or one that the spec declares under Errors.
    ``retry_after`` is in seconds; ``usage`` is what the failed tries cost (``values.Usage``), if that is known.
    ``handled``: the program went on in spite of it, so that a resumed run has to meet it again.
    """

    RETRYABLE = frozenset({"overloaded", "rate_limit", "unavailable", "timeout", "format"})

    def __init__(
        self,
        message: str,
        *,
        kind: str = "failed",
        service: str | None = None,
        retry_after: float | None = None,
        **more: Any,
    ):
        super().__init__(message, kind=kind, **more)
        self.service = service
        self.retry_after = retry_after
        self.usage: Any = None
        self.handled = False

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed when asked again (LANGUAGE.md section 3, rule 7)."""
        return self.kind in self.RETRYABLE


class ContractError(RunFailed):
    """A contract, a demanded shape or an invariant does not hold (exit 3). ``kind``: contract, shape or invariant."""

    exit_code = 3
    kind = "contract"


class LimitExceeded(RunFailed):
    """A limit was reached; nothing in a spec can catch it.

    ``limit`` is its name in prose.yml, ``value`` what was reached, ``bound`` what was allowed.
    """

    exit_code = 4
    kind = "limit"

    def __init__(self, message: str, *, limit: str, value: float, bound: float, **more: Any):
        super().__init__(message, **more)
        self.limit = limit
        self.value = value
        self.bound = bound


class EngineError(RunFailed):
    """The engine for many machines cannot be reached, or cannot take what a run needs."""

    kind = "engine"


class Paused(ProseError):
    """The run waits for a person's answer and can be resumed.

    ``waiting`` holds the questions that are open, each a JSON object with ``step``, ``target``, ``line``, ``question``
    and ``schema`` (null when text is due), and ``said`` where a part of the answer was given already: values by field,
    and the person's own words under ``""``.
    """

    exit_code = 5
    kind = "paused"

    def __init__(self, message: str, *, waiting: Sequence[dict[str, Any]] = (), **more: Any):
        super().__init__(message, **more)
        self.waiting = list(waiting)

    @classmethod
    def together(cls, pauses: Sequence[Paused]) -> Paused:
        """One pause for those of several branches; ``pauses`` is not empty."""
        if len(pauses) == 1:
            return pauses[0]
        first = pauses[0]
        message = f"waiting for {len(pauses)} answers: " + "; ".join(pause.message for pause in pauses)
        waiting = [question for pause in pauses for question in pause.waiting]
        return cls(message, waiting=waiting, help=first.help, where=first.where, step=first.step)


class Cancelled(ProseError):
    """The person stopped the run; what was answered so far is in the record."""

    exit_code = 130
    kind = "cancelled"


class RecordError(ProseError):
    """The record of runs cannot be read or written."""

    exit_code = 1
    kind = "record"
