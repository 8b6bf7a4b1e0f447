"""A diagnostic is data: what is wrong, where, why, and what to write instead. Renderers live in ``report``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from typing import Literal

from prose_runtime.records import dataclass
from prose_runtime.text import Place, Source, Span, Where

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Secondary:
    """Another place that belongs to a diagnostic, such as the first of two duplicates."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace a span by a text."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that remove the fault. ``safe`` ones keep the meaning and are applied by ``--fix``."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool = True


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One fault. ``code`` is stable and explained by ``prose explain``; ``message`` is one sentence without a dot."""

    code: str
    severity: Severity
    message: str
    source: Source
    span: Span
    help: str | None = None
    secondary: tuple[Secondary, ...] = ()
    fix: Fix | None = None

    @property
    def start(self) -> Place:
        """Line and column of the first wrong character."""
        return self.source.place(self.span.start)

    @property
    def end(self) -> Place:
        """Line and column behind the last wrong character."""
        return self.source.place(max(self.span.start, self.span.end))

    @property
    def where(self) -> Where:
        """File, line and column, as errors carry them."""
        return self.source.where(self.span)


@dataclass(slots=True)
class Collector:
    """The one funnel for diagnostics of a file; it keeps each fault once and hands them out in order of place."""

    source: Source
    items: list[Diagnostic] = field(default_factory=list)
    _known: set[tuple[str, Span, str]] = field(default_factory=set, repr=False)

    def error(
        self,
        code: str,
        span: Span,
        message: str,
        help: str | None = None,  # noqa: A002
        *,
        secondary: Iterable[Secondary] = (),
        fix: Fix | None = None,
    ) -> None:
        """Report what makes the file wrong."""
        self.add(Diagnostic(code, "error", message, self.source, span, help, tuple(secondary), fix))

    def warning(
        self,
        code: str,
        span: Span,
        message: str,
        help: str | None = None,  # noqa: A002
        *,
        secondary: Iterable[Secondary] = (),
        fix: Fix | None = None,
    ) -> None:
        """Report what is read in a sensible way, or is likely a mistake."""
        self.add(Diagnostic(code, "warning", message, self.source, span, help, tuple(secondary), fix))

    def add(self, diagnostic: Diagnostic) -> None:
        """Keep a diagnostic, without blanks at the ends of its span, unless the same one is known for this place."""
        if (tidy := self.source.trimmed(diagnostic.span)) != diagnostic.span:
            diagnostic = replace(diagnostic, span=tidy)
        same = (diagnostic.code, diagnostic.span, diagnostic.message)
        if same not in self._known:
            self._known.add(same)
            self.items.append(diagnostic)

    @property
    def ordered(self) -> list[Diagnostic]:
        """All diagnostics by place, then code."""
        return sorted(self.items, key=lambda d: (d.span, d.code))

    @property
    def failed(self) -> bool:
        """Whether there is at least one error."""
        return any(d.severity == "error" for d in self.items)


def near(word: str, known: Iterable[str], most: int = 3, least: float = 0.6) -> list[str]:
    """The known words most like a word, the nearest first: at most so many, and alike to at least that share."""
    from difflib import get_close_matches  # files without faults do not need it

    return get_close_matches(word, list(known), most, least)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A help sentence that names the closest known word, or nothing when none is close."""
    close = near(word, sorted(set(known)), most=1)
    return f"did you mean `{close[0]}`?" if close else None
