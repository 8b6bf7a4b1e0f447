"""Slots, Parameters, Returns, Invariants and Shape: bullets to nodes (LANGUAGE.md section 1, Sections as data)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from prose_runtime.diagnostics import Collector, Edit, Fix, Secondary, did_you_mean, near
from prose_runtime.nodes import (
    Bullet,
    Delegate,
    Invariant,
    OutputDecl,
    Promise,
    Requirement,
    Returns,
    Row,
    Section,
    Shape,
    Slot,
)
from prose_runtime.syntax.config_values import is_type
from prose_runtime.syntax.entries import NO_FACTS, Entry, read_entry, read_rest, says_none
from prose_runtime.syntax.phrases import NAME, Phrase
from prose_runtime.text import Source, Span

_OPTIONAL = re.compile(r"\boptional\b|\(\s*if\b|\bif\s+(?:any|given|present|available|there)\b", re.I)
_PARENS = re.compile(r"\([^()]*\)")
_ITEM = re.compile(
    rf"(?:(?:optional(?:ly)?|and|or)\s+)*(?:`(?P<tick>{NAME})`|(?P<bare>{NAME}))(?:\s+if\s.*|\s*[.?])?", re.I
)
_MEMBERS = re.compile(rf"(?P<base>{NAME}?)_1\s*(?:\.{{2,3}}|…|to|–)\s*(?P=base)_[nN]\b")
_JOB_END = re.compile(r"\s—(?:\s|$)")


def phrase(source: Source, bullet: Bullet) -> Phrase:
    """A bullet's own text with its places."""
    return Phrase.of(source, bullet.text_span)


def row_phrase(source: Source, row: Row) -> Phrase:
    """A row's text with its places."""
    return Phrase.of(source, row.span)


def words_of(bullet: Bullet) -> Span:
    """Where a bullet's own text stands; its sign when it has none."""
    return bullet.text_span if bullet.text else Span(bullet.span.start, bullet.span.start + 1)


def entries(source: Source, section: Section, out: Collector, what: str) -> Iterator[tuple[Bullet, Entry]]:
    """The bullets that declare a name. Others get a warning, unless they say that there is nothing."""
    for bullet in section.bullets:
        entry = read_entry(phrase(source, bullet))
        if entry and entry.rest.text.startswith("(") and not entry.separated:
            place = Span(entry.rest.span.start, entry.rest.span.start + 1)
            out.error("unclosed-parenthesis", place, f"this parenthesis of `{entry.name.text}` is never closed")
        if entry and entry.declares and not (says_none(bullet.text) and not entry.ticked):
            report_quoted(entry, out)
            yield bullet, entry
        elif not says_none(bullet.text):
            out.warning(
                "unread-bullet",
                words_of(bullet),
                f"this bullet declares no {what}",
                f"start it with a name: - `name`: what it is for; or write - None. when there is no {what}",
            )


def report_quoted(entry: Entry, out: Collector) -> None:
    """Say that more than a name stands in backticks."""
    if entry.quoted is not None:
        start, end = entry.quoted
        edits = (Edit(Span(start, start + 1), ""), Edit(Span(end - 1, end), ""))
        message = f"more than the name `{entry.name.text}` stands in backticks"
        fix = Fix("Take the backticks away", edits)
        place = out.source.first_line(entry.quoted)
        out.warning("quoted-declaration", place, message, "put the name alone in backticks, or nothing", fix=fix)


def distinct(found: Iterable[tuple[str, Span]], out: Collector, what: str) -> None:
    """Report names that are declared twice, at the second."""
    first: dict[str, Span] = {}
    for name, span in found:
        if name in first:
            where = Secondary(first[name], "first declared here")
            out.error("duplicate-name", span, f"the {what} `{name}` is declared twice", secondary=[where])
        first.setdefault(name, span)


def read_slots(source: Source, section: Section, lists: set[str], out: Collector) -> tuple[Slot, ...]:
    """The Slots section; ``lists`` names those that a ``[]`` row makes lists."""
    slots = []
    for bullet, entry in entries(source, section, out, "slot"):
        _report_misspelt(source, bullet.bullets, ("requires", "ensures", "maintains", "description", "role"), out)
        slots.append(_slot(source, bullet, entry, lists))
    return tuple(slots)


def _report_misspelt(source: Source, bullets: Sequence[Bullet], known: Sequence[str], out: Collector) -> None:
    """Bullets with a label that is nearly one of those that are read; any other is documentation."""
    for bullet in bullets:
        entry = read_entry(phrase(source, bullet))
        label = entry.name.text.lower() if entry and entry.separated else ""
        if entry and label not in known and near(label, known, 1, 0.75):
            message = f"nothing reads the label `{entry.name.text}`"
            out.warning("unread-bullet", entry.name.span, message, did_you_mean(label, known))


def _slot(source: Source, bullet: Bullet, entry: Entry, lists: set[str]) -> Slot:
    requires: list[Requirement] = []
    ensures: list[Promise] = []
    description = entry.rest
    for child in bullet.bullets:
        key, rest = labelled(phrase(source, child))
        if key == "requires":
            requires += [_requirement(item) for item in items(source, child, rest) if not says_none(item.text)]
        elif key in ("ensures", "maintains"):
            ensures += _promises(source, child, rest)
        elif key in ("description", "role") and not description:
            description = rest
    if not description and bullet.rows:
        description = row_phrase(source, bullet.rows[0])
    return Slot(
        span=bullet.span,
        name=entry.name.text,
        name_span=entry.name.span,
        description=description.text,
        primary=entry.facts.primary,
        person=entry.facts.person,
        is_list=entry.name.text in lists or bool(entry.facts.type and entry.facts.type.text.endswith("[]")),
        requires=tuple(requires),
        ensures=tuple(ensures),
    )


def labelled(text: Phrase) -> tuple[str, Phrase]:
    """The lower-case word before a bullet's colon, and the text behind it."""
    entry = read_entry(text)
    if entry is None or not entry.separated:
        return "", text
    return entry.name.text.lower(), entry.rest


def items(source: Source, bullet: Bullet, rest: Phrase) -> list[Phrase]:
    """The comma-separated items of a bullet, or one item each nested bullet or row."""
    found = rest.split()
    found += [phrase(source, child) for child in bullet.bullets]
    found += [part for row in bullet.rows for part in row_phrase(source, row).split()]
    return [item for item in found if item]


def _requirement(item: Phrase) -> Requirement:
    optional = bool(_OPTIONAL.search(item.text)) or _is_conditional(item.text)
    return Requirement(span=item.span, text=item.text, name=single_name(item.text), optional=optional)


def _is_conditional(text: str) -> bool:
    match = _ITEM.fullmatch(text)
    return bool(match) and " if " in text


def single_name(text: str) -> str | None:
    """The name that an item consists of, apart from ``optional`` and what stands in parentheses."""
    match = _ITEM.fullmatch(_PARENS.sub(" ", text).strip())
    return None if match is None else match["tick"] or match["bare"]


def _promises(source: Source, bullet: Bullet, rest: Phrase) -> list[Promise]:
    found = [promise(rest)] if rest else []
    below = [phrase(source, child) for child in bullet.bullets] + [row_phrase(source, row) for row in bullet.rows]
    heads = [read_entry(text) for text in below]
    named = sum(1 for head in heads if head and head.ticked) > 1
    for text, head in zip(below, heads, strict=True):
        if named and head and head.ticked:
            found.append(Promise(span=text.span, text=text.text, names=(head.name.text,), types=_types([text])))
        else:
            found.append(promise(text))
    return found


def promise(text: Phrase) -> Promise:
    """A sentence that someone keeps; a list of two or more identifiers declares them as fields."""
    return Promise(span=text.span, text=text.text, names=_declared(text), types=_types(text.split()))


def _types(parts: Iterable[Phrase]) -> dict[str, str]:
    """The types in parentheses behind names: ```verdict` (accept | reject)``, ```score` (number, optional)``."""
    found = {}
    for part in parts:
        name, group = single_name(part.text), _PARENS.search(part.text)
        types = [piece.strip() for piece in group[0][1:-1].split(",") if is_type(piece.strip())] if group else []
        if name and types:
            found[name] = types[0]
    return found


def _declared(text: Phrase) -> tuple[str, ...]:
    parts = [_PARENS.sub(" ", part.text).strip().rstrip(".") for part in text.split()]
    if len(parts) < 2 or "and" in parts[-1].split():
        # `a`, `b` and `c`: in backticks "and" is a comma; bare words around it are a sentence.
        last = re.split(r"\s+and\s+", parts[-1]) if parts and "`" in parts[-1] else parts[-1:]
        parts = [*parts[:-1], *last]
    names = [single_name(part) for part in parts]
    if len(names) < 2 or None in names:
        return ()
    optional = [bool(_OPTIONAL.search(part.text)) for part in text.split()]
    optional += [False] * (len(names) - len(optional))
    return tuple(name for name, free in zip(names, optional, strict=True) if name and not free)


def read_returns(source: Source, sections: Sequence[Section], out: Collector) -> Returns | None:
    """Returns, Ensures and Maintains together: declared outputs and promises in prose."""
    if not sections:
        return None
    outputs: list[OutputDecl] = []
    promises: list[Promise] = []
    for section in sections:
        for bullet in section.bullets:
            _return_bullet(source, bullet, outputs, promises, out)
    distinct(((output.name, output.name_span) for output in outputs), out, "output")
    return Returns(span=around(sections), outputs=tuple(outputs), promises=tuple(promises))


def _return_bullet(
    source: Source, bullet: Bullet, outputs: list[OutputDecl], promises: list[Promise], out: Collector
) -> None:
    text = phrase(source, bullet)
    names = [read_entry(part) for part in text.split()] if text.text.startswith("`") else []
    plain = [name for name in names if name and name.ticked and not name.rest]
    if len(plain) > 1 and len(plain) == len(names):
        outputs += [_output(name, name.name.span) for name in plain]
        return
    entry = read_entry(text) or _leading_tick(text)
    if entry and entry.declares and not (says_none(text.text) and not entry.ticked):
        report_quoted(entry, out)
        outputs.append(_output(entry, bullet.span))
    elif text and not says_none(text.text):
        promises.append(promise(text))


_TICK = re.compile(rf"`(?P<name>{NAME})`")


def _leading_tick(text: Phrase) -> Entry | None:
    """A sentence whose first word is a name in backticks."""
    tick = text.match(_TICK)
    return Entry(text.group(tick, "name"), True, NO_FACTS, text.part(tick.end()), False) if tick else None


def _output(entry: Entry, span: Span) -> OutputDecl:
    facts, description = read_rest(entry.rest)
    facts = entry.facts.joined(facts)
    return OutputDecl(
        span=span,
        name=entry.name.text,
        name_span=entry.name.span,
        type=facts.type.text if facts.type else None,
        optional=facts.optional or entry.facts.optional,
        description=description.text,
    )


def around(sections: Sequence[Section]) -> Span:
    """From the first to the last of some sections."""
    return Span(min(s.span.start for s in sections), max(s.span.end for s in sections))


def read_invariants(source: Source, section: Section) -> tuple[Invariant, ...]:
    """The Invariants section: one sentence a bullet."""
    texts = [phrase(source, bullet) for bullet in section.bullets]
    return tuple(Invariant(span=t.span, text=t.text) for t in texts if t and not says_none(t.text))


def read_shape(source: Source, section: Section, slots: Sequence[Slot], out: Collector) -> Shape:
    """The Shape section: ``self``, ``delegates`` and ``prohibited``."""
    _report_misspelt(source, section.bullets, ("self", "delegates", "prohibited"), out)
    own = ""
    delegates: list[Delegate] = []
    prohibited: list[str] = []
    for bullet in section.bullets:
        key, rest = labelled(phrase(source, bullet))
        below = [phrase(source, child) for child in bullet.bullets] + [row_phrase(source, r) for r in bullet.rows]
        if key == "self":
            own = " ".join(part.text for part in [rest, *below] if part)
        elif key == "delegates":
            delegates += [found for text in below if (found := _delegate(text, slots))]
        elif key == "prohibited":
            prohibited += [text.text for text in [rest, *below] if text and not says_none(text.text)]
    return Shape(span=section.span, own=own, delegates=tuple(delegates), prohibited=tuple(prohibited))


_DELEGATE = re.compile(rf"(?:\*\*)?`?(?P<who>{NAME}|{_MEMBERS.pattern})`?(?:\*\*)?\s*(?::|—|--|→|->)\s*(?P<job>.*)")


def _delegate(text: Phrase, slots: Sequence[Slot]) -> Delegate | None:
    match = text.match(_DELEGATE)
    if match is None:
        return None
    job = match["job"]
    end = _JOB_END.search(job)
    return Delegate(
        span=text.span, slot=_member_slot(match["who"], slots), job=job[: end.start() if end else None].strip()
    )


def _member_slot(who: str, slots: Sequence[Slot]) -> str:
    """``member_1..member_N`` is the list slot ``member`` or ``members``."""
    members = _MEMBERS.fullmatch(who)
    if members is None:
        return who
    base = members["base"]
    names = [slot.name for slot in slots]
    close = [name for name in names if name in (base, base + "s", base + "es", base.rstrip("y") + "ies")]
    lists = [slot.name for slot in slots if slot.is_list]
    return close[0] if close else lists[0] if len(lists) == 1 else who
