"""The sections of a test: Fixtures, Expects and Expects Not, from bullets to nodes (LANGUAGE.md section 1)."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from prose_runtime.diagnostics import Collector
from prose_runtime.nodes import Bullet, Expectation, Fixture, Row, Section
from prose_runtime.records import dataclass
from prose_runtime.syntax.entries import read_entry, says_none
from prose_runtime.syntax.phrases import NAME, Phrase
from prose_runtime.syntax.sections import opening_line
from prose_runtime.syntax.slots import distinct, entries, phrase
from prose_runtime.text import Source, Span, compiled

PATH = rf"{NAME}(?:\.{NAME}|\[(?:-?\d{{1,9}}|\"[^\"\]`]*\"|'[^'\]`]*')\])*"
"""An output, or a place in it: ``a``, ``a.b``, ``a[0]``, ``a["b"]``."""

_SUBJECT = rf"(?:\*\*)?(?:`(?P<tick>{PATH})`|(?P<bare>{PATH})(?=\s*:(?:\s|$)))(?:\*\*)?\s*(?P<colon>:)?\s*"
_FENCE = r"(?ms)(?P<mark>`{3,}|~{3,})[ \t]*(?P<label>[^\s`]*)[^\n]*\n(?P<text>.*?)(?:^(?P=mark)[`~]*\s*\Z|\Z)"
_ERROR_WORDS = ("raises", "throws", "fails", "error")


class Below(NamedTuple):
    """The lines below a bullet: their text, and the label of the fence around them when there is one."""

    text: str
    label: str | None


def read_fixtures(source: Source, section: Section, out: Collector) -> tuple[Fixture, ...]:
    """The Fixtures section."""
    found = []
    loose = _loose(source, section, out)
    for bullet, entry in entries(source, section, out, "input, config item or slot"):
        below = _below(source, bullet.rows) or loose.get(bullet.span.start)
        found.append(
            Fixture(
                span=bullet.span,
                name=entry.name.text,
                name_span=entry.name.span,
                text=entry.rest.text,
                block=below.text if below else None,
                label=below.label if below else None,
                bullets=bullet.bullets,
            )
        )
    distinct(((fixture.name, fixture.name_span) for fixture in found), out, "fixture")
    return tuple(found)


def read_expectations(source: Source, section: Section, out: Collector, *, negated: bool) -> tuple[Expectation, ...]:
    """The sentences of Expects or Expects Not; bullets below a bullet that only names an output speak of that."""
    found: list[Expectation] = []
    loose = _loose(source, section, out)
    for bullet in section.bullets:
        if not says_none(bullet.text):
            found += _expectations(source, bullet, _Above(block=loose.get(bullet.span.start)), negated)
    return tuple(found)


def _loose(source: Source, section: Section, out: Collector) -> dict[int, Below]:
    """Fences that stand below a bullet without being indented, by the offset of the bullet whose value they are."""
    found: dict[int, Below] = {}
    for fence in section.fences:
        above = next((bullet for bullet in reversed(section.bullets) if bullet.span.end <= fence.span.start), None)
        if above is None or above.rows or above.bullets or above.span.start in found or not above.text.endswith(":"):
            help_ = "write `- name:` above it, with nothing behind the colon, and indent the fence below"
            out.warning("unread-bullet", opening_line(source, fence), "this fence is the value of no bullet", help_)
        else:
            text = source.slice(fence.content).removesuffix("\n")
            found[above.span.start] = Below(text, fence.label.lower())
    return found


@dataclass(frozen=True, slots=True)
class _Above:
    """What a bullet says to those below it: the output that is meant, and the beginning of the sentence about it.

    ``block`` is a fence below it that is not indented.
    """

    subject: _Subject | None = None
    text: str = ""
    claim: str = ""
    block: Below | None = None


class _Subject(NamedTuple):
    path: str
    span: Span
    ticked: bool


def _expectations(source: Source, bullet: Bullet, above: _Above, negated: bool) -> Iterator[Expectation]:
    whole = phrase(source, bullet)
    subject, claim = (None, whole) if above.claim else _split(whole)
    text, said = f"{above.text}{whole.text}", f"{above.claim}{claim.text}"
    subject = subject or above.subject
    below = _below(source, bullet.rows) or above.block
    if bullet.bullets and (not claim or claim.text.endswith(":")):
        head = _Above(subject, f"{text.removesuffix(':')}{' ' if claim else ': '}", _opening(said))
        for child in bullet.bullets:
            yield from _expectations(source, child, head, negated)
        return
    if not whole:
        return
    yield Expectation(
        span=bullet.span,
        text=text,
        claim=said.removesuffix(":") if below else said,
        claim_span=claim.span,
        path=subject.path if subject else None,
        path_span=subject.span if subject else None,
        ticked=bool(subject and subject.ticked),
        negated=negated,
        block=below.text if below else None,
        label=below.label if below else None,
    )


def _opening(claim: str) -> str:
    """The beginning of a sentence whose end stands below: ``mentions:`` is ``mentions ``."""
    return f"{claim.removesuffix(':')} " if claim else ""


def _split(whole: Phrase) -> tuple[_Subject | None, Phrase]:
    """The output that a sentence starts with, and what it says of that."""
    lead = whole.match(compiled(_SUBJECT))
    if lead is None or (lead["bare"] and lead["bare"].lower() in _ERROR_WORDS):
        return None, whole
    name = "tick" if lead["tick"] else "bare"
    place = whole.group(lead, name)
    return _Subject(place.text, place.span, name == "tick"), whole.part(lead.end())


def _below(source: Source, rows: tuple[Row, ...]) -> Below | None:
    """The rows of a bullet as they stand in the file, without their common indentation and the fence around them."""
    if not rows:
        return None
    start = source.text.rfind("\n", 0, rows[0].span.start) + 1
    text = textwrap.dedent(source.slice(Span(start, rows[-1].span.end)))
    fence = compiled(_FENCE).match(text)
    return Below(fence["text"].removesuffix("\n"), fence["label"].lower()) if fence else Below(text.strip("\n"), None)


def names_value(text: str) -> bool:
    """Whether a bullet is ``name: value``: an entry of an object rather than an element of a list."""
    entry = read_entry(Phrase(text, ((0, 0),)))
    return entry is not None and entry.separated and entry.colon
