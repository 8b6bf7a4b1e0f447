"""The layout of a program: logical lines with their indented children, without regard to what the lines say.

A logical line goes on over line breaks inside brackets, triple-quoted strings and ``**marked**`` text, before a line
that starts with ``and`` or ``or``, behind an operator, and inside a condition whose colon has not come yet.
"""

from __future__ import annotations

import re
from dataclasses import field

from prose_runtime.diagnostics import Collector
from prose_runtime.records import dataclass
from prose_runtime.syntax.strings import NAME, SINGLE, TRIPLE
from prose_runtime.text import Source, Span, compiled

MAX_DEPTH = 250
"""How deeply blocks and brackets may nest: more than anybody writes, and few enough to walk with recursion."""

TAB = 4

STARTS = (
    rf"(?:(?:let|const)\s+[A-Za-z_{{]"
    rf"|(?:return|throw|emit|record|append|add|call|session|do|use|import|agent|block|input|output|if|elif|for|repeat"
    rf"|loop|parallel|choice|option|sleep)[ \t]+[\"A-Za-z0-9_({{\[*]"
    rf"|(?:try|finally|else|catch|loop|parallel|do)(?:[ \t]+as[ \t]+{NAME})?[ \t]*:"
    rf"|(?:break|continue|return|throw)[ \t]*(?:\#|$)"
    rf"|{NAME}(?:\.{NAME})*[ \t]*=(?!=))"
)
"""What only the beginning of a statement looks like: reading goes on there when a bracket or string never closes."""

_STATEMENT = re.compile(STARTS, re.MULTILINE)
_STATEMENT_LINE = rf"(?m)^([ \t]*){STARTS}"
_INDENT = re.compile(r"[ \t]*")
_POINT = re.compile(r'"""|"|#|\*\*\*?|[()\[\]{}]|\n')
_HEAD = r"(?:if|elif|else|for|repeat|loop|parallel|choice|option|try|catch|block|agent)(?![\w-])"
_CONDITION = re.compile(
    rf"(?:(?:(?:let|const)[ \t]+)?{NAME}[ \t]*=[ \t]*|return[ \t]+)?"
    r"(?:if|elif|else[ \t]+if|loop[ \t]+(?:until|while)|choice)[ \t*](?![ \t]*=)"
)
_JOINS = re.compile(r"(?:and|or)(?![\w-])")
_ENDS_OPEN = re.compile(r"(?:[ \t](?:and|or|not|in|-|->)|[+/%<>]|(?<!\*)\*|[=!<>]=)\Z")
_OPENER = rf"[ \t]*(?:(?:let|const)[ \t]+.*=|return|emit|throw|{NAME}(?:\.{NAME})*[ \t]*[:=])[ \t]*\Z"
_PAIRS = {"(": ")", "[": "]", "{": "}"}


@dataclass(slots=True, eq=False)
class Line:
    """A logical line from its first character to its last, comment and blanks left out.

    ``broken``: it holds a string or bracket that never closes, which has been reported. ``stage``: it starts with
    ``|`` or ``->`` and so goes on with the value of a line above.
    """

    start: int
    end: int
    indent: int
    broken: bool = False
    stage: bool = False
    children: list[Line] = field(default_factory=list)

    @property
    def span(self) -> Span:
        """Where the line stands, its children left out."""
        return Span(self.start, self.end)


def read(source: Source, span: Span, out: Collector) -> list[Line]:
    """The top-level lines of a span with all that is indented below them. Faults of layout are reported to ``out``."""
    return _Tree(out).of(_Scanner(source, span, out).lines())


class _Scanner:
    """Finds where logical lines begin and end."""

    MOST_REWINDS = 50
    """How often reading starts again behind a bracket that never closes; it bounds the time on hostile text."""

    def __init__(self, source: Source, span: Span, out: Collector):
        self.text = source.text
        self.span = span
        self.end = min(span.end, len(self.text))
        self.out = out
        self.rewinds = 0

    def lines(self) -> list[Line]:
        """All logical lines, flat."""
        found: list[Line] = []
        position = self.span.start
        while position < self.end:
            first = self.first_character(position)
            if first >= self.end or self.text[first] in "\n#":
                position = self.next_line(first)
                continue
            self.refuse_tab(position, first)
            line = Line(first, first, width(self.text[position:first]))
            line.stage = self.text[first] == "|" or self.text.startswith("->", first)
            position = _LogicalLine(self, line).read()
            found.append(line)
        return found

    def first_character(self, position: int) -> int:
        """The offset behind the blanks that stand at a position."""
        match = _INDENT.match(self.text, position, self.end)
        return match.end() if match else position

    def line_end(self, position: int) -> int:
        """The offset of the newline at or behind a position, or the end of all."""
        at = self.text.find("\n", position, self.end)
        return at if at >= 0 else self.end

    def next_line(self, position: int) -> int:
        """The offset of the first character of the next physical line."""
        return min(self.end, self.line_end(position) + 1)

    def refuse_tab(self, start: int, first: int) -> None:
        """Report a tab among the blanks that begin a line."""
        at = self.text.find("\t", start, first)
        if at >= 0:
            self.out.error(
                "tab-indentation",
                Span(at, first),
                "a tab stands in the indentation of this line",
                "indent with blanks only, two for each level",
            )


class _LogicalLine:
    """Reads on from the first character of a line to where the line ends."""

    def __init__(self, scanner: _Scanner, line: Line):
        self.scan = scanner
        self.text = scanner.text
        self.out = scanner.out
        self.line = line
        self.open: list[int] = []
        self.comment = -1
        self.content = -1

    def read(self) -> int:
        """Set the line's end; the offset at which the next physical line starts."""
        position = self.line.start
        while True:
            point = _POINT.search(self.text, position, self.scan.end)
            if point is None:
                return self._end_of_text()
            mark, at = point.group(), point.start()
            if mark == "\n":
                if not self._goes_on(at):
                    return self._close(at)
                position = self._into_next(at)
                continue
            after = self._pass(mark, at)
            if after < 0:
                return -after
            position = after

    def _pass(self, mark: str, at: int) -> int:
        """Go past what begins here: the offset behind it, or minus the offset at which reading starts again."""
        if mark == '"""':
            return self._triple(at)
        if mark == '"':
            return self._string(at)
        if mark == "#":
            return self._hash(at)
        if mark[0] == "*":
            return self._marked(mark, at)
        self._bracket(mark, at)
        return at + 1

    def _close(self, end: int) -> int:
        """The line ends at this newline, or at the comment before it."""
        stop = self.comment if self.comment >= 0 else end
        self.line.end = max(self.line.start, stop - _trailing(self.text, self.line.start, stop))
        return min(self.scan.end, end + 1)

    def _into_next(self, newline: int) -> int:
        """The start of the next line that holds more than a comment."""
        self.comment = -1
        first = self._next_content(newline)
        start = self.text.rfind("\n", newline, first) + 1
        if first < self.scan.end:
            self.scan.refuse_tab(start, first)
        return start

    def _break(self, code: str, span: Span, message: str, help_: str) -> None:
        if not self.line.broken:
            self.out.error(code, span, message, help_)
        self.line.broken = True

    def _end_of_text(self) -> int:
        if not self.open:
            return self._close(self.scan.end)
        opening = self.open[0]
        self._unclosed_bracket()
        if self.scan.rewinds >= self.scan.MOST_REWINDS:
            return self._close(self.scan.end)
        self.scan.rewinds += 1
        self.comment = -1
        return self._close(self.scan.line_end(opening))

    # strings and comments

    def _triple(self, at: int) -> int:
        match = TRIPLE.match(self.text, at, self.scan.end)
        if match and not self._opens_another(at, match.end() - 3):
            return match.end()
        self._break(
            "unclosed-string",
            Span(at, at + 3),
            'this `"""` string is never closed',
            'close it with `"""` on a line of its own',
        )
        restart = self._restart(at, match.end() - 3 if match else self.scan.end)
        self._close(self.scan.line_end(at))
        return -restart

    def _opens_another(self, at: int, closing: int) -> bool:
        """Whether what would close this string is rather the opening of the next one, because one is left over."""
        line_start = self.text.rfind("\n", at, closing) + 1
        if not line_start or not compiled(_OPENER).match(self.text[line_start:closing]):
            return False
        return self.text.count('"""', at, self.scan.end) % 2 == 1

    def _restart(self, at: int, limit: int) -> int:
        """Where reading starts again behind an opening that never closes."""
        for match in compiled(_STATEMENT_LINE).finditer(self.text, self.scan.next_line(at), limit):
            if width(match.group(1)) <= self.line.indent:
                return match.start()
        return self.text.rfind("\n", at, limit) + 1 if limit < self.scan.end else self.scan.end

    def _string(self, at: int) -> int:
        match = SINGLE.match(self.text, at, self.scan.end)
        if match:
            return match.end()
        end = self.scan.line_end(at)
        stop = end - _trailing(self.text, at, end)
        self._break(
            "unclosed-string",
            Span(at, max(stop, at + 1)),
            "this string is not closed on its line",
            'end it with `"`, or use `"""` for text of several lines',
        )
        return end if end < self.scan.end or self.open else -self._close(end)

    def _hash(self, at: int) -> int:
        if at > self.line.start and self.text[at - 1].isalnum():
            return at + 1
        self.comment = at
        return self.scan.line_end(at)

    def _marked(self, mark: str, at: int) -> int:
        """``**text**`` hides what is in it; elsewhere, as in ``**/*.md``, the stars are signs."""
        after = at + len(mark)
        before_ok = at == self.line.start or self.text[at - 1] in " \t(=:\n"
        if not before_ok or self.text[after : after + 1] in (" ", "\t", "", "/"):
            return after
        closing = self.text.find(mark, after, self.scan.end)
        if closing >= 0 and self._within(at, closing):
            return closing + len(mark)
        end = self.scan.line_end(at)
        self._break("unclosed-mark", Span(at, after), f"this `{mark}` is never closed", f"close the text with `{mark}`")
        return end if end < self.scan.end else -self._close(end)

    def _within(self, at: int, closing: int) -> bool:
        return not any(
            width(match.group(1)) <= self.line.indent
            for match in compiled(_STATEMENT_LINE).finditer(self.text, self.scan.next_line(at), closing)
        )

    # brackets

    def _bracket(self, sign: str, at: int) -> None:
        if sign in _PAIRS:
            self.open.append(at)
            if len(self.open) == MAX_DEPTH + 1:
                self._break(
                    "too-deep",
                    Span(at, at + 1),
                    f"brackets nest deeper than {MAX_DEPTH} levels",
                    "name the inner parts",
                )
        elif self.open:
            opening = self.open.pop()
            if _PAIRS[self.text[opening]] != sign:
                self._break(
                    "unclosed-bracket",
                    Span(opening, opening + 1),
                    f"this `{self.text[opening]}` is closed by `{sign}`",
                    f"close it with `{_PAIRS[self.text[opening]]}`",
                )

    def _unclosed_bracket(self) -> None:
        opening = self.open[-1]
        sign = self.text[opening]
        self._break(
            "unclosed-bracket",
            Span(opening, opening + 1),
            f"this `{sign}` is never closed",
            f"close it with `{_PAIRS[sign]}`",
        )

    # does the line go on?

    def _goes_on(self, newline: int) -> bool:
        stop = self.comment if self.comment >= 0 else newline
        stop -= _trailing(self.text, self.line.start, stop)
        first = self._next_content(newline)
        if self.open:
            if not self._statement_follows(first, stop):
                return True
            self._unclosed_bracket()
            return False
        if first >= self.scan.end or self.line.broken:
            return False
        deeper = self._indent_of(first) - self.line.indent
        if _JOINS.match(self.text, first, self.scan.end):
            return deeper >= 0
        if deeper <= 0:
            return False
        return bool(_ENDS_OPEN.search(self.text, max(self.line.start, stop - 4), stop)) or self._condition_goes_on(
            first, stop
        )

    def _next_content(self, newline: int) -> int:
        """The first character of the next line that holds more than a comment; a run of blank lines is read once."""
        if newline >= self.content:
            self.content = self._find_content(newline)
        return self.content

    def _find_content(self, newline: int) -> int:
        position = newline + 1
        while position < self.scan.end:
            first = self.scan.first_character(position)
            if first < self.scan.end and self.text[first] not in "\n#":
                return first
            position = self.scan.next_line(first)
        return self.scan.end

    def _indent_of(self, first: int) -> int:
        return width(self.text[self.text.rfind("\n", 0, first) + 1 : first])

    def _statement_follows(self, first: int, stop: int) -> bool:
        """Whether the open bracket must be a slip, since a statement begins or a block was opened."""
        if first >= self.scan.end:
            return False
        if self.text[stop - 1] == ":" and compiled(_HEAD).match(self.text, self.line.start):
            return True
        return self._indent_of(first) <= self.line.indent and bool(_STATEMENT.match(self.text, first, self.scan.end))

    def _condition_goes_on(self, first: int, stop: int) -> bool:
        """Whether this is a condition without its colon, which comes on one of the next lines."""
        if self.text[stop - 1] == ":" or not _CONDITION.match(self.text, self.line.start, stop):
            return False
        if " then " in self.text[self.line.start : stop]:
            return False
        for _ in range(8):
            if first >= self.scan.end or self._indent_of(first) <= self.line.indent:
                return False
            if _STATEMENT.match(self.text, first, self.scan.end):
                return False
            end = self.scan.line_end(first)
            if self.text[first:end].partition(" #")[0].rstrip().endswith(":"):
                return True
            first = self._next_content(end)
        return False


class _Tree:
    """Puts flat lines under the lines that they are indented below."""

    def __init__(self, out: Collector):
        self.out = out

    def of(self, lines: list[Line]) -> list[Line]:
        """The lines of the outermost block, with their children."""
        top: list[Line] = []
        stack: list[tuple[int, list[Line]]] = [(lines[0].indent if lines else 0, top)]
        for line in lines:
            self._place(line, stack)
        return top

    def _place(self, line: Line, stack: list[tuple[int, list[Line]]]) -> None:
        left: tuple[int, list[Line]] | None = None
        while len(stack) > 1 and line.indent < stack[-1][0]:
            left = stack.pop()
        indent, block = stack[-1]
        if line.indent > indent:
            if left is not None and not self._goes_on_with_item(block[-1], line):
                stack.append(left)
                self._between(line)
            elif len(stack) > MAX_DEPTH:
                self.out.error(
                    "too-deep", line.span, f"blocks nest deeper than {MAX_DEPTH} levels", "move a part to a `block`"
                )
            else:
                stack.append((line.indent, block[-1].children))
        elif line.indent < indent:
            self._indentation(line, "this line is indented less than the first line of its program")
        stack[-1][1].append(line)

    def _goes_on_with_item(self, item: Line, line: Line) -> bool:
        """Whether a line stands right below the first key of ``- key:``, behind deeper lines that belong to the key."""
        return self.out.source.text.startswith("- ", item.start) and line.indent == item.indent + 2

    def _between(self, line: Line) -> None:
        if not line.stage:
            self._indentation(line, "the indentation of this line fits no block above it")

    def _indentation(self, line: Line, message: str) -> None:
        place = self.out.source.first_line(line.span)
        self.out.error("indentation", place, message, "indent it like the lines of the block that it belongs to")


def starts_statement(text: str, position: int) -> bool:
    """Whether what stands at a position looks like the beginning of a statement and nothing else."""
    return _STATEMENT.match(text, position) is not None


def width(indent: str) -> int:
    """How far blanks indent a line, in columns."""
    return len(indent.expandtabs(TAB))


def _trailing(text: str, start: int, end: int) -> int:
    """How many blanks stand at the end of a range."""
    position = end
    while position > start and text[position - 1] in " \t\n":
        position -= 1
    return end - position
