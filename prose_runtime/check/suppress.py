"""Comments that silence a diagnostic (DESIGN.md section 5).

``<!-- prose: ignore CODE reason -->`` alone on a line covers the next line, or the whole fence that opens there;
behind text it covers its own line. Inside a program, frontmatter or YAML it is spelt ``# prose: ignore CODE reason``;
a line there goes on as long as a string that is opened on it. ``ignore-file`` covers the whole file from anywhere.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from prose_runtime.diagnostics import Diagnostic, Edit, Fix, did_you_mean
from prose_runtime.nodes import Fence, Section, Spec
from prose_runtime.records import dataclass
from prose_runtime.syntax.frontmatter import frontmatter_span
from prose_runtime.syntax.names import EXECUTABLE_SECTIONS, LOOSE_LABELS
from prose_runtime.syntax.strings import SINGLE, TRIPLE
from prose_runtime.text import Source, Span

CODE = "unused-suppression"

ON_DEMAND = frozenset({"call-bound"})
"""Codes that are reported only when somebody asks: comments that silence them may find nothing to silence."""

_HINT = re.compile(r"prose:\s*ignore")
_WORDS = re.compile(r"[^\S\n]*prose:\s*ignore(?P<file>-file)?(?![\w-])(?P<rest>.*)", re.DOTALL)
_SIGN = re.compile(r"(?:#|//)(?=\s*prose:)")
_CODES = re.compile(r"\s*(?P<code>[^\s,]+)")
_MORE = re.compile(r",\s*(?P<code>[^\s,]+)")

_HTML = re.compile(r"(?<!`)<!--(?P<comment>.*?)-->", re.DOTALL)
_PROGRAM = re.compile(rf"{TRIPLE.pattern}|{SINGLE.pattern}|(?<![^\W_])#(?P<comment>[^\n]*)", re.DOTALL)
_YAML = re.compile(
    r"""(?<=[\s\[{,:])(?:"(?:[^"\\]|\\.)*"|'[^']*')|(?<!\S)#(?P<comment>[^\n]*)""",
    re.DOTALL,
)
_JAVASCRIPT = re.compile(
    r"""`(?:[^`\\]|\\.)*`|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|/\*.*?\*/|//(?P<comment>[^\n]*)""", re.DOTALL
)
"""What can stand in each kind of text: strings, which hide what looks like a comment, and comments."""


@dataclass(slots=True)
class Suppression:
    """One code of one comment, and the lines that it covers (one-based, both ends included)."""

    code: str
    span: Span
    comment: Span
    first: int
    last: int
    whole: bool = False
    used: bool = False

    def covers(self, diagnostic: Diagnostic) -> bool:
        """Whether it silences a diagnostic."""
        return diagnostic.code == self.code and (self.whole or self.first <= diagnostic.start.line <= self.last)


def suppress(
    spec: Spec, diagnostics: Sequence[Diagnostic], known: frozenset[str], firm: frozenset[Diagnostic] = frozenset()
) -> list[Diagnostic]:
    """The diagnostics that no comment silences, and a warning for each comment that silences none.

    ``known`` holds all codes; ``firm`` the diagnostics that cannot be silenced, because the file has no meaning
    as long as they stand.
    """
    if not _HINT.search(spec.source.text):
        return list(diagnostics)
    comments = list(suppressions(spec, known))
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
    fix: Fix | None = Fix("Remove the comment", (Edit(_with_blanks(source, found.comment), ""),))
    here = "in this file" if found.whole else "here"
    message, help_ = f"nothing to ignore: `{found.code}` is not reported {here}", "remove the comment"
    if needed:
        fix, help_ = Fix("Remove the code", (Edit(_with_comma(source, found.span), ""),)), "remove the code"
    if not found.code:
        message, help_ = "this comment names no code, so it ignores nothing", "write `prose: ignore CODE reason`"
    elif found.code not in known:
        message, close = f"there is no code `{found.code}`", did_you_mean(found.code, known)
        if close:
            meant = close.split("`")[1]
            help_, fix = close, Fix(f"Write `{meant}`", (Edit(found.span, meant),), safe=False)
    elif any(found.covers(diagnostic) for diagnostic in firm):
        message = f"`{found.code}` cannot be ignored: without a repair the line has no meaning"
        help_, fix = "repair the line", None
    return Diagnostic(CODE, "warning", message, source, found.span, help_, fix=fix)


def _with_comma(source: Source, span: Span) -> Span:
    """A code, the comma that stands between it and its neighbour, and the blanks there."""
    if behind := re.compile(r"\s*,\s*").match(source.text, span.end):
        return Span(span.start, behind.end())
    before = source.text[: span.start].rstrip()
    return Span(len(before) - 1, span.end)


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


def suppressions(spec: Spec, known: frozenset[str]) -> Iterator[Suppression]:
    """All suppressions of a file, a comment with several codes giving several."""
    comments = _Comments(spec)
    for span, body in comments.found:
        if words := _WORDS.match(comments.text, body.start, body.end):
            first, last = comments.covered(span)
            for code in _codes(words, known):
                place = code or span
                yield Suppression(
                    comments.text[place.start : place.end] if code else "",
                    place,
                    span,
                    first,
                    last,
                    bool(words["file"]),
                )


def _codes(words: re.Match[str], known: frozenset[str]) -> Iterator[Span | None]:
    """The places of the codes of a comment, None when it has none; behind ``, `` stands a code or a reason."""
    code = _CODES.match(words.string, words.start("rest"), words.end("rest"))
    if code is None:
        yield None
    while code is not None:
        yield Span(*code.span("code"))
        code = _MORE.match(words.string, code.end(), words.end("rest"))
        if code and code.start("code") > code.start() + 1 and code["code"] not in known:
            return


def silencing(spec: Spec, diagnostic: Diagnostic) -> Fix | None:
    """A fix that adds a comment which silences a diagnostic of a file; None where no comment can stand."""
    comments = _Comments(spec)
    line = diagnostic.start.line
    known = frozenset({diagnostic.code})
    for found in suppressions(spec, known):
        if found.first <= line <= found.last and found.code and not found.whole:
            return _ignoring(diagnostic.code, found.span.end, f",{diagnostic.code}")
    place = comments.source.line_span(line)
    if comments.text[place.start : place.end].lstrip().startswith(("#", "```", "~~~")) and not comments.inside(place):
        return _ignoring(diagnostic.code, place.start, f"<!-- prose: ignore {diagnostic.code} -->\n")
    around = next((tokens for span, tokens in _texts(spec) if span.covers(place) and place.end > place.start), _HTML)
    if around is None or (around is _HTML and comments.text.startswith("---", place.start)):
        return None
    last = max((behind for first, behind in comments.strings if first <= line <= behind), default=line)
    sign = {_HTML: " <!-- prose: ignore {} -->", _JAVASCRIPT: " // prose: ignore {}"}.get(around, " # prose: ignore {}")
    return _ignoring(diagnostic.code, comments.source.line_span(last).end, sign.format(diagnostic.code))


def _ignoring(code: str, at: int, text: str) -> Fix:
    return Fix(f"Ignore `{code}` here", (Edit(Span(at, at), text),), safe=False)


class _Comments:
    """Where the comments of a file stand, and which lines they cover."""

    def __init__(self, spec: Spec):
        self.source = spec.source
        self.text = spec.source.text
        self.fences: list[tuple[int, int]] = []
        self.strings: list[tuple[int, int]] = []
        self._known: dict[int, int] = {}
        self.found: list[tuple[Span, Span]] = []
        """The span of each comment, and of what stands between its signs."""
        self.taken: list[Span] = []
        for span, tokens in _texts(spec):
            self.taken.append(span)
            self._read(tokens, span)
        self.taken.sort()
        self._read_html()
        self._lines = {self._line(span.start) for span, body in self.found if _WORDS.match(self.text, *body)}
        for fence in _fences(spec):
            self.fences.append((self._line(fence.span.start), self._line(max(fence.span.start, fence.span.end - 1))))

    def _line(self, offset: int) -> int:
        return self.source.place(offset).line

    def _read(self, tokens: re.Pattern[str] | None, span: Span) -> None:
        for token in tokens.finditer(self.text, span.start, span.end) if tokens else ():
            if token["comment"] is not None:
                end = token.start() + len(token[0].rstrip())
                # Behind a remark the comment begins at a sign of its own.
                sign = _SIGN.search(self.text, token.start(), end)
                self.found += [(Span(sign.start(), end), Span(sign.end(), end))] if sign else []
            elif "\n" in token[0]:
                self.strings.append((self._line(token.start()), self._line(token.end() - 1)))

    def _read_html(self) -> None:
        for comment in _HTML.finditer(self.text):
            before = bisect_right(self.taken, (comment.start(), len(self.text))) - 1
            if before < 0 or self.taken[before].end <= comment.start():
                self.found.append((Span(*comment.span()), Span(*comment.span("comment"))))

    def inside(self, place: Span) -> bool:
        """Whether a place is in a fence, or in another text that is no Markdown."""
        return any(span.covers(place) for span in self.taken)

    def _next(self, line: int) -> int:
        """The line at or below one that holds something else than a comment."""
        passed = []
        while line not in self._known and line < len(self.source.line_starts) and self._passes(line):
            passed.append(line)
            line += 1
        line = self._known.get(line, line)
        self._known.update(dict.fromkeys(passed, line))
        return line

    def _passes(self, line: int) -> bool:
        return line in self._lines or not self.text[slice(*self.source.line_span(line))].strip()

    def covered(self, comment: Span) -> tuple[int, int]:
        """The lines that a comment covers."""
        number, last = self._line(comment.start), self._line(comment.end - 1)
        start, end = self.source.line_starts[number - 1], self.source.line_span(last).end
        if self.text[start : comment.start].strip() or end > comment.end:
            return min([first for first, behind in self.strings if behind == number], default=number), last
        line = self._next(last + 1)
        opened = [behind for first, behind in (*self.fences, *self.strings) if first == line]
        return line, max(opened, default=line)


def _texts(spec: Spec) -> Iterator[tuple[Span, re.Pattern[str] | None]]:
    """The parts of a file that are no Markdown, and how their comments are found; None where there are none."""
    if spec.source.path.endswith(".prose"):
        yield Span(0, len(spec.source.text)), _PROGRAM
        return
    if head := frontmatter_span(spec.source):
        yield head, _YAML
    for section in _sections(spec):
        for fence in section.fences:
            yield fence.content, _tokens(spec, section, fence)


def _tokens(spec: Spec, section: Section, fence: Fence) -> re.Pattern[str] | None:
    if spec.javascript is not None and fence.span == spec.javascript.span:
        return _JAVASCRIPT
    if section.key == "patterns":
        return _YAML
    return _PROGRAM if section.key in EXECUTABLE_SECTIONS or fence.label in LOOSE_LABELS else None


def _sections(spec: Spec) -> Iterable[Section]:
    return (section for owner in (spec, *spec.components) for section in owner.sections)


def _fences(spec: Spec) -> Iterator[Fence]:
    return (fence for section in _sections(spec) for fence in section.fences)
