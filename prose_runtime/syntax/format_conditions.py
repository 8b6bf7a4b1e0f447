"""Conditions as text: their own spelling, with ``**marks**`` where it would be read differently without."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prose_runtime.diagnostics import Collector
from prose_runtime.nodes import Clause, Condition, Discretion, Junction, Node, Test, dump
from prose_runtime.syntax import conditions
from prose_runtime.syntax.outer import hits
from prose_runtime.text import Source, Span

_JOINT = r"(?<![\w-])(?:and|or)(?![\w-])"


def spelling(condition: Condition) -> str:
    """The text of a condition that is read as this tree again."""
    if not condition.marked:
        return condition.text
    return next((text for text in _spellings(condition) if _reads_as(text, condition)), f"**{condition.text}**")


def _spellings(condition: Condition) -> Iterator[str]:
    text = condition.text
    yield f"**{text}**"
    yield f"***{text}***"
    yield _discretions(text, condition)
    yield _render(condition.test, text, _clause)
    for mark in (_double, _triple, _joints):
        yield _render(condition.test, text, mark)


def _reads_as(text: str, condition: Condition) -> bool:
    return bool(dump(_read(text)) == dump(condition))


def _read(text: str) -> Condition:
    source = Source("", text)
    return conditions.read(source, Span(0, len(text)), Collector(source))


def _render(test: Test, text: str, mark: Callable[[Clause], str]) -> str:
    """A text with the clauses in it replaced by what ``mark`` makes of them."""
    if isinstance(test, Clause):
        return text.replace(test.text, mark(test), 1)
    done = ""
    for part in test.parts if isinstance(test, Junction) else ():
        before, _, text = text.partition(part.text)
        done += before + _render(part, part.text, mark)
    return done + text


def _clause(clause: Clause) -> str:
    """The clause in the first spelling that makes it one part among others."""
    makers: tuple[Callable[[Clause], str], ...] = (_plain, _discretions_of, _double, _triple, _joints)
    for make in makers:
        text = make(clause)
        test = _read(f"q or {text} or q").test
        if isinstance(test, Junction) and len(test.parts) == 3 and dump(test.parts[1]) == dump(clause):
            return text
    return clause.text


def _plain(clause: Clause) -> str:
    return clause.text


def _double(clause: Clause) -> str:
    return f"**{clause.text}**"


def _triple(clause: Clause) -> str:
    return f"***{clause.text}***"


def _discretions_of(clause: Clause) -> str:
    return _discretions(clause.text, clause)


def _discretions(text: str, node: Node) -> str:
    """A text with marks around the questions in it that are values, and in the conditions of values."""
    done = ""
    for plain, marked in _marked_parts(node):
        before, found, behind = text.partition(plain)
        if found:
            done += before + marked
            text = behind
    return done + text


def _marked_parts(node: Node) -> Iterator[tuple[str, str]]:
    for child in sorted(node.children(), key=lambda child: child.span):
        if isinstance(child, Discretion):
            stars = "***" if "**" in child.text else "**"
            yield child.text, f"{stars}{child.text}{stars}"
        elif isinstance(child, Condition):
            yield child.text, spelling(child)
        else:
            yield from _marked_parts(child)


def _joints(clause: Clause) -> str:
    """A clause with marks around each ``and`` and ``or``, which then join nothing."""
    text, end, done = clause.text, 0, ""
    for hit in hits(text, Span(0, len(text)), _JOINT):
        done += f"{text[end : hit.start()]}**{hit['hit']}**"
        end = hit.end()
    return done + text[end:]
