"""Comments that silence a diagnostic (DESIGN.md section 5).

``<!-- prose: ignore CODE reason -->`` alone on a line covers the next line, or the whole fence that opens there;
behind text it covers its own line. Inside a fence it is spelt ``# prose: ignore CODE reason``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prose_runtime.diagnostics import Diagnostic, Edit, Fix, did_you_mean
from prose_runtime.nodes import Fence, Spec
from prose_runtime.records import dataclass
from prose_runtime.text import Source, Span

CODE = "unused-suppression"

ON_DEMAND = frozenset({"call-bound"})
"""Codes that are reported only when somebody asks: comments that silence them may find nothing to silence."""

_HINT = re.compile(r"prose:\s*ignore")
_COMMENT = re.compile(r"<!--\s*prose:\s*ignore\b(?P<html>.*?)-->|(?:#|//)\s*prose:\s*ignore\b(?P<code>.*)")


@dataclass(slots=True)
class Suppression:
    """One code of one comment, and the lines that it covers (one-based, both ends included)."""

    code: str
    span: Span
    comment: Span
    first: int
    last: int
    used: bool = False

    def covers(self, diagnostic: Diagnostic) -> bool:
        """Whether it silences a diagnostic."""
        return diagnostic.code == self.code and self.first <= diagnostic.start.line <= self.last


def suppress(
    spec: Spec, diagnostics: Sequence[Diagnostic], known: frozenset[str], firm: frozenset[Diagnostic] = frozenset()
) -> list[Diagnostic]:
    """The diagnostics that no comment silences, and a warning for each comment that silences none.

    ``known`` holds all codes; ``firm`` the diagnostics that cannot be silenced, because the file has no meaning
    as long as they stand.
    """
    if not _HINT.search(spec.source.text):
        return list(diagnostics)
    comments = list(suppressions(spec))
    kept = []
    for diagnostic in diagnostics:
        hits = [] if diagnostic in firm else [s for s in comments if s.covers(diagnostic)]
        for hit in hits:
            hit.used = True
        if not hits:
            kept.append(diagnostic)
    comments = [s for s in comments if s.used or s.code not in ON_DEMAND]
    needed = {s.comment for s in comments if s.used}
    kept += [_unused(spec.source, s, known, firm, s.comment in needed) for s in comments if not s.used]
    return kept


def _unused(
    source: Source, found: Suppression, known: frozenset[str], firm: frozenset[Diagnostic], needed: bool
) -> Diagnostic:
    """``needed``: another code of the same comment silences something, so that the comment has to stay."""
    message, help_ = f"nothing to ignore: `{found.code}` is not reported here", "remove the comment"
    if not found.code:
        message, help_ = "this comment names no code, so it ignores nothing", "write `prose: ignore CODE reason`"
    elif found.code not in known:
        message, help_ = f"there is no code `{found.code}`", did_you_mean(found.code, known) or help_
    elif any(found.covers(diagnostic) for diagnostic in firm):
        message, help_ = (
            f"`{found.code}` cannot be ignored: without a repair the line has no meaning",
            "repair the line",
        )
    if any(found.covers(diagnostic) for diagnostic in firm):
        fix = None
    elif needed:
        fix = Fix("Remove the code", (Edit(_with_comma(source, found.span), ""),))
    else:
        fix = Fix("Remove the comment", (Edit(_with_blanks(source, found.comment), ""),))
    return Diagnostic(CODE, "warning", message, source, found.span, help_, fix=fix)


def _with_comma(source: Source, span: Span) -> Span:
    """A code and the comma that stands between it and its neighbour."""
    if source.text.startswith(",", span.end):
        return Span(span.start, span.end + 1)
    return Span(span.start - 1, span.end)


def _with_blanks(source: Source, span: Span) -> Span:
    """A comment and the blanks before it; its whole line where it stands alone."""
    text = source.text
    line = source.place(span.start).line
    start = span.start
    while start > source.offset(line) and text[start - 1] in " \t":
        start -= 1
    end = text.find("\n", span.end)
    end = len(text) if end < 0 else end
    if start == source.offset(line) and not text[span.end : end].strip():
        return Span(start, min(end + 1, len(text)))
    return Span(start, span.end)


def suppressions(spec: Spec) -> Iterator[Suppression]:
    """All suppressions of a file, a comment with several codes giving several."""
    source = spec.source
    lines = source.text.split("\n")
    fences = _fences(spec)
    for number, text in enumerate(lines, 1):
        match = _COMMENT.search(text) if "prose:" in text else None
        if match is None or (match["html"] is None) != _inside(number, fences):
            continue
        alone = match.end() == len(text.rstrip()) and not text[: match.start()].strip()
        first, last = _covered(number, lines, fences) if alone else (number, number)
        yield from _codes(source, number, match, first, last)


def _codes(source: Source, number: int, match: re.Match[str], first: int, last: int) -> Iterator[Suppression]:
    group = "html" if match["html"] is not None else "code"
    start = source.offset(number)
    comment = Span(start + match.start(), start + match.start() + len(match[0].rstrip()))
    word = re.match(r"\s*([^\s]+)", match[group])
    if word is None:
        yield Suppression("", comment, comment, first, last)
        return
    at = start + match.start(group) + word.start(1)
    for code in re.finditer(r"[^,]+", word[1]):
        yield Suppression(code[0], Span(at + code.start(), at + code.end()), comment, first, last)


def _covered(number: int, lines: list[str], fences: list[tuple[int, int]]) -> tuple[int, int]:
    """The lines that a comment alone on its line covers."""
    line = number + 1
    while line < len(lines) and (not lines[line - 1].strip() or _COMMENT.search(lines[line - 1])):
        line += 1
    for first, last in fences:
        if first == line:
            return first, last
    return line, line


def _inside(number: int, fences: list[tuple[int, int]]) -> bool:
    return any(first < number < last for first, last in fences)


def _fences(spec: Spec) -> list[tuple[int, int]]:
    """Opening and closing line of each fence, as the parser understood them."""
    place = spec.source.place
    fences = [node for node in spec.walk() if isinstance(node, Fence)]
    return [(place(fence.span.start).line, place(max(fence.span.start, fence.span.end - 1)).line) for fence in fences]
