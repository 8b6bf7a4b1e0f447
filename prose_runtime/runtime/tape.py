"""A cassette in a run: it answers what was asked before, and takes up what is asked now."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from prose_runtime.errors import RecordError
from prose_runtime.journal import Answer
from prose_runtime.journal.cassette import Cassette, Entry, check_writable, read_cassette
from prose_runtime.services.api import Request


class NotOnTape(RecordError):
    """A run that is to be answered by a cassette asks for what is not on it."""

    kind = "cassette"


@dataclass(frozen=True, slots=True)
class TapeWords:
    """What the command line says of cassettes.

    Attributes:
        replay, record: The files to answer from, and to write.
        missing: Whether what is not on the first is an error or is asked.
        strict: Whether an answer to another request than is asked now is an error; else it is used, with a warning.
    """

    replay: Path | None = None
    record: Path | None = None
    missing: Literal["fail", "ask"] = "fail"
    strict: bool = False


@dataclass(slots=True)
class Tape:
    """The cassettes of a run. ``words`` are as given; ``known`` is what there is to answer from.

    ``taken`` is what the run has used, which becomes the cassette that is recorded.
    """

    words: TapeWords
    known: dict[str, Entry] = field(default_factory=dict)
    taken: dict[str, Entry] = field(default_factory=dict)

    @classmethod
    def load(cls, words: TapeWords) -> Tape:
        """The tape that words mean. Raises UsageError when a file is no cassette, or cannot be written."""
        if words.record is not None:
            check_writable(words.record)
        return cls(words, dict(read_cassette(words.replay).entries) if words.replay else {})

    def find(self, step: str, digest: str) -> tuple[Answer | None, bool]:
        """The answer for a step, and whether it is one to this request.

        Raises:
            NotOnTape: There is none, or with ``strict`` it is one to another request.
        """
        entry = self.known.get(step)
        if entry is None:
            if self.words.replay is not None and self.words.missing == "fail":
                raise NotOnTape(
                    f"the cassette {self.words.replay} has no answer for step {step}",
                    help="fill it with `--replay-missing ask --record FILE`, or record it anew",
                    step=step,
                )
            return None, True
        fits = entry.answer.digest in ("", digest)
        if not fits and self.words.strict:
            raise NotOnTape(
                f"the cassette {self.words.replay} answers another request at step {step}: what is asked has changed",
                help="record it anew with `--record`, or leave out `--strict`",
                step=step,
            )
        return entry.answer, fits

    def happened(self, step: str) -> Answer | None:
        """What happened at a step that is no request, if it is known."""
        entry = self.known.get(step)
        return entry.answer if entry is not None and entry.answer.kind == "event" else None

    def take(self, answer: Answer, request: Request | None = None) -> None:
        """Note an answer that the run uses."""
        asked: dict[str, Any] = {}
        if request is not None:
            named = {"target": request.target or request.purpose, "inputs": dict(request.inputs)}
            asked = {**named, **({} if request.prompt is None else {"prompt": request.prompt})}
        self.taken[answer.step] = Entry(answer, asked)

    def write(self, spec: str, given: dict[str, Any], result: Any) -> None:
        """Write what the run has used, where a file is to be recorded. Raises UsageError."""
        if self.words.record is not None:
            Cassette(spec, given, self.taken, result).write(self.words.record)
