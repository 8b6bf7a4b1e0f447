"""What a rule is: a code, a severity, a function over the facts of a spec, and a page that explains it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeVar

from prose_runtime import nodes as n
from prose_runtime.check.project import Project
from prose_runtime.check.resolve import Resolution
from prose_runtime.check.scope import Scopes
from prose_runtime.check.tables import Target
from prose_runtime.check.uses import Use
from prose_runtime.diagnostics import Edit, Fix, Secondary, Severity, did_you_mean
from prose_runtime.nodes import Spec
from prose_runtime.records import dataclass
from prose_runtime.text import Span

_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Finding:
    """One place at which a rule is broken; the rule adds its code and severity."""

    span: Span
    message: str
    help: str | None = None
    secondary: tuple[Secondary, ...] = ()
    fix: Fix | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What rules may ask about a spec.

    ``enclosing`` is the file's spec when this one is an inline component of it; ``uses`` what is done with the value of
    each call and session.
    """

    spec: Spec
    project: Project
    scopes: Scopes
    resolution: Resolution
    collected: frozenset[n.Node]
    enclosing: Spec | None = None
    uses: Mapping[n.Node, Use] = field(default_factory=dict)
    _made: dict[Callable[..., Any], Any] = field(default_factory=dict)

    @property
    def targets(self) -> Mapping[n.Node, Target]:
        """What each call leads to."""
        return self.resolution.targets

    def inputs_of(self, spec: Spec) -> Mapping[str, n.Parameter]:
        """Declared and undeclared inputs of any spec."""
        return self.project.scopes(spec).inputs

    def all(self, *types: type[Any]) -> Sequence[Any]:
        """All nodes of the body of these exact types, in source order."""
        return n.nodes_of(self.spec.body, *types)

    def around(self, node: n.Node) -> Iterator[n.Node]:
        """What a node of the body stands in, from the innermost to the body itself."""
        assert self.spec.body is not None
        return n.around(node, self.spec.body)

    def shared(self, make: Callable[[Facts], _Made]) -> _Made:
        """What several rules need to know of a spec, made once: the same for the same function or class."""
        if make not in self._made:
            self._made[make] = make(self)
        made: _Made = self._made[make]
        return made

    def text(self, span: Span) -> str:
        """The file's characters of a span."""
        return self.spec.source.slice(span)

    def line(self, span: Span) -> int:
        """The one-based line on which a span starts."""
        return self.spec.source.place(span.start).line

    def first_line(self, span: Span) -> Span:
        """The part of a span on its first line, without trailing blanks."""
        return self.spec.source.first_line(span)

    def word(self, span: Span, word: str) -> Span:
        """Where a word stands in a span, by itself if it can; the span's first line when it is not there."""
        text = self.spec.source.text
        alone = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])").search(text, span.start, span.end)
        at = alone.start() if alone else text.find(word, span.start, span.end)
        return Span(at, at + len(word)) if at >= 0 else self.first_line(span)


def meant(span: Span, word: str, known: Iterable[str], otherwise: str | None = None) -> tuple[str | None, Fix | None]:
    """Help that names the closest known word, else ``otherwise``; with it a fix that only a person should apply."""
    help_ = did_you_mean(word, known)
    if help_ is None or span.end - span.start != len(word):
        return help_ or otherwise, None
    close = help_.split("`")[1]
    return help_, Fix(f"Write `{close}`", (Edit(span, close),), safe=False)


Find = Callable[[Facts], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule. ``find`` is None for faults that the parser or the checker itself reports; ``page`` explains it."""

    code: str
    severity: Severity
    find: Find | None
    page: str | None

    @property
    def title(self) -> str:
        """The first line of the page."""
        return (self.page or self.code).strip().partition("\n")[0].rstrip(".")
