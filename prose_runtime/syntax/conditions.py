"""Conditions: English between ``if`` and the colon, of which some parts have an exact meaning.

LANGUAGE.md section 3, Conditions. What is read here is the first rung only, and only its form: whether the names
exist is for the resolver to say.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from prose_runtime.diagnostics import Collector
from prose_runtime.nodes import Binary, Clause, Condition, Expr, Junction, Predicate, Test
from prose_runtime.syntax import grammar
from prose_runtime.syntax.expressions import ExpressionBuilder
from prose_runtime.syntax.outer import MARKED, hits, trimmed
from prose_runtime.syntax.strings import SINGLE, TRIPLE
from prose_runtime.text import Source, Span, compiled

MAX_DEPTH = 20
"""How deeply conditions may stand inside conditions before the rest is read as English."""

MAX_ALTERNATIVES = 50
"""How many constants one predicate may list before the next one is a clause of its own."""

_JOINT = r"(?<![\w-])(?:and|or)(?![\w-])"
_STRING = rf"(?P<string>{TRIPLE.pattern}|{SINGLE.pattern})"
_COMMENT = re.compile(rf"{_STRING}|(?P<comment>(?<![^\W_])\#[^\n]*)", re.DOTALL)
_PIECE = re.compile(rf"{_COMMENT.pattern}|(?P<mark>{MARKED})", re.DOTALL)
_BREAK = re.compile(rf"{_STRING}|\s+", re.DOTALL)
_WHOLE_MARK = re.compile(r"(\*\*\*|\*\*)((?:(?!\*\*).)*)\1", re.DOTALL)
_ALTERNATIVE = r'"(?>(?:[^"\\\n]|\\.)*)"|\d+(?:\.\d+)?|null|true|false|empty|absent|present|set'
_STATES = {"null": "null", "true": "true", "false": "false", "empty": "empty", "absent": "absent"} | dict.fromkeys(
    ("present", "set"), "present"
)


def read(source: Source, span: Span, out: Collector, depth: int = 0) -> Condition:
    """The condition that a span holds, without the keyword before it and the colon behind it."""
    return _Reader(source, out, depth).condition(span)


def expression(source: Source, span: Span, out: Collector, start: grammar.Start = "expr", depth: int = 0) -> Any:
    """The expression that a span holds, or the ``Failure`` that tells where it stops being one."""
    tree = grammar.parse(source, span, start)
    if isinstance(tree, grammar.Failure):
        return tree
    return ExpressionBuilder(source, out, partial(_nested, source, out, depth)).build(tree)


def _nested(source: Source, out: Collector, depth: int, span: Span) -> Condition:
    return read(source, span, out, depth + 1)


class _Reader:
    """Splits a condition at its joints and reads the parts."""

    def __init__(self, source: Source, out: Collector, depth: int):
        self.source = source
        self.text = source.text
        self.out = out
        self.depth = depth
        self.marked = False

    def condition(self, span: Span) -> Condition:
        span = trimmed(self.text, span)
        inner, whole = self._unmarked(span)
        self.marked = whole
        test = self._test(inner)
        marked = whole or any(found["mark"] for found in _PIECE.finditer(self.text, span.start, span.end))
        return Condition(span=span, text=self._spelling(inner), test=test, marked=marked)

    def _unmarked(self, span: Span) -> tuple[Span, bool]:
        match = _WHOLE_MARK.fullmatch(self.text, span.start, span.end)
        return (trimmed(self.text, Span(*match.span(2))), True) if match else (span, False)

    def _spelling(self, span: Span, marked: bool = False) -> str:
        """The text of a span on one line. Inside marks a ``#`` begins no comment."""
        text = self.source.read(span)
        return _spelt_inside(text) if marked or self.marked else _spelt(text)

    def _test(self, span: Span) -> Test:
        """``or`` of ``and`` of clauses."""
        parts, words = self._split(span)
        if len(parts) == 1:
            return self._clause(span)
        groups: list[list[Test]] = [[self._clause(parts[0])]]
        listed = 0
        for word, part in zip(words, parts[1:], strict=True):
            shared = self._alternative(groups[-1][-1], word, part) if listed < MAX_ALTERNATIVES else None
            listed = listed + 1 if shared else 0
            if shared:
                groups[-1][-1] = shared
            elif word == "and":
                groups[-1].append(self._clause(part))
            else:
                groups.append([self._clause(part)])
        return self._join("or", [self._join("and", group) for group in groups])

    def _join(self, op: Any, parts: list[Test]) -> Test:
        if len(parts) == 1:
            return parts[0]
        span = Span(parts[0].span.start, parts[-1].span.end)
        return Junction(span=span, text=self._spelling(span), op=op, parts=tuple(parts))

    def _split(self, span: Span) -> tuple[list[Span], list[str]]:
        parts: list[Span] = []
        words: list[str] = []
        start = span.start
        for match in hits(self.text, span, _JOINT):
            parts.append(trimmed(self.text, Span(start, match.start()), ","))
            words.append(match["hit"])
            start = match.end()
        parts.append(trimmed(self.text, Span(start, span.end), ","))
        return (parts, words) if all(part.end > part.start for part in parts) else ([span], [])

    def _clause(self, span: Span) -> Test:
        inner, marked = self._unmarked(span)
        # What the grammar would take for a comment is text inside marks.
        numbered = (marked or self.marked) and any(
            found["comment"] for found in _COMMENT.finditer(self.text, inner.start, inner.end)
        )
        expr = None if numbered else self._expression(inner)
        if expr is None and not marked and (bracketed := self._bracketed(inner)):
            return bracketed
        return Clause(span=span, text=self._spelling(inner, marked), expr=expr)

    def _bracketed(self, span: Span) -> Test | None:
        """``(a and b)`` in which a part is English."""
        text = self.text
        if self.depth >= MAX_DEPTH or text[span.start] != "(" or text[span.end - 1] != ")":
            return None
        inner = trimmed(text, Span(span.start + 1, span.end - 1))
        if any(hits(text, span, r"\S")):
            return None
        test = _Reader(self.source, self.out, self.depth + 1)._test(inner)
        if not isinstance(test, Junction):
            return None
        return Junction(span=span, text=test.text, op=test.op, parts=test.parts)

    def _expression(self, span: Span) -> Expr | None:
        if self.depth >= MAX_DEPTH:
            return None
        quiet = Collector(self.source)
        found = expression(self.source, span, quiet, "clause", self.depth)
        if not isinstance(found, Expr) or quiet.failed:
            return None
        for diagnostic in quiet.items:
            self.out.add(diagnostic)
        return found

    def _alternative(self, left: Test, word: str, part: Span) -> Clause | None:
        """``x is "a" or "b"``: a constant behind the joint is another operand of the predicate before it."""
        if not isinstance(left, Clause) or not compiled(_ALTERNATIVE).fullmatch(self.text, part.start, part.end):
            return None
        last = left.expr.right if isinstance(left.expr, Binary) and left.expr.op in ("and", "or") else left.expr
        subject = _subject(last)
        if subject is None:
            return None
        again = self._expression(subject.span)
        other = self._like(last, again, part)
        if other is None or left.expr is None:
            return None
        span = Span(left.span.start, part.end)
        op = "and" if _denies(last) else word
        joined = Binary(span=span, op=op, left=left.expr, right=other)
        return Clause(span=span, text=self._spelling(span), expr=joined)

    def _like(self, last: Expr | None, subject: Expr | None, part: Span) -> Expr | None:
        """The predicate or comparison ``last`` once more, with another operand."""
        if subject is None:
            return None
        span = Span(subject.span.start, part.end)
        if isinstance(last, Binary):
            operand = self._expression(part)
            return Binary(span=span, op=last.op, left=subject, right=operand) if operand else None
        if not isinstance(last, Predicate):
            return None
        word = self.text[part.start : part.end]
        if word in _STATES and last.op not in ("has", "contains"):
            return Predicate(span=span, subject=subject, op=_STATES[word], negated=last.negated)
        op = last.op if last.op in ("has", "contains") else "is"
        operand = self._expression(part)
        return Predicate(span=span, subject=subject, op=op, operand=operand, negated=last.negated) if operand else None


def _spelt(text: str) -> str:
    """A text without marks, comments and breaks. String literals stay as they are."""
    pieces: list[str] = []
    end = 0
    for found in _PIECE.finditer(text):
        pieces.append(re.sub(r"\s+", " ", re.sub(r"\*\*+", "", text[end : found.start()])))
        pieces.append(_spelt_inside(found["mark"].strip("*")) if found["mark"] else found["string"] or " ")
        end = found.end()
    return _joined([*pieces, re.sub(r"\s+", " ", re.sub(r"\*\*+", "", text[end:]))])


def _spelt_inside(text: str) -> str:
    """A text that stood in marks, without breaks: neither stars nor number signs mean anything in it."""
    return _BREAK.sub(lambda found: found["string"] or " ", text).strip()


def _joined(pieces: list[str]) -> str:
    """Pieces as one text, with one blank where two of them meet in blanks."""
    done: list[str] = []
    for piece in pieces:
        blank = done and done[-1].endswith(" ") and piece.startswith(" ")
        if piece := piece[1:] if blank else piece:
            done.append(piece)
    return "".join(done).strip()


def _subject(expr: Expr | None) -> Expr | None:
    if isinstance(expr, Predicate) and expr.op in ("is", "has", "contains", *_STATES.values()):
        return expr.subject
    if isinstance(expr, Binary) and expr.op in ("==", "!="):
        return expr.left
    return None


def _denies(expr: Expr | None) -> bool:
    return (isinstance(expr, Predicate) and expr.negated) or (isinstance(expr, Binary) and expr.op == "!=")
