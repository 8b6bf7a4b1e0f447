"""Config, and Parameters, Requires and Inputs: what a spec is given besides its slots (LANGUAGE.md section 1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from prose_runtime.diagnostics import Collector
from prose_runtime.nodes import Bullet, ConfigItem, Parameter, Section
from prose_runtime.records import dataclass
from prose_runtime.syntax.config_values import (
    BadValue,
    closest_type,
    describe,
    fits,
    is_none,
    is_type,
    looks_like_value,
    read_type,
    read_value,
)
from prose_runtime.syntax.entries import NO_FACTS, Entry, Facts, head_of, read_entry, read_facts, read_rest, says_none
from prose_runtime.syntax.phrases import Phrase
from prose_runtime.syntax.slots import distinct, entries, labelled, phrase, report_quoted, row_phrase, words_of
from prose_runtime.text import Source, Span


@dataclass(frozen=True, slots=True)
class Declared:
    """A name with what its bullet or row says of it."""

    name: Phrase
    span: Span
    facts: Facts
    description: str

    @property
    def type(self) -> str | None:
        """The spelling of its type."""
        return self.facts.type.text if self.facts.type else None

    @property
    def is_list(self) -> bool:
        """Whether its type ends in ``[]``."""
        return (self.type or "").endswith("[]")


def read_inputs(source: Source, sections: Sequence[Section], out: Collector, *, prose: bool) -> list[Declared]:
    """The rows and bullets of Parameters, Requires and Inputs; the first of two with one name counts.

    Where the sections are ``prose``, as in a responsibility, bullets that declare nothing are no cause for a warning.
    """
    found: dict[str, Declared] = {}
    for section in sections:
        names = []
        for declared in _rows_of(source, section, Collector(source) if prose else out):
            names.append((declared.name.text, declared.name.span))
            found.setdefault(declared.name.text, declared)
        distinct(names, out, "input")
    return list(found.values())


def _rows_of(source: Source, section: Section, out: Collector) -> Iterator[Declared]:
    for bullet in section.bullets:
        entry = read_entry(phrase(source, bullet))
        if _introduces_rows(bullet, entry):
            yield from _rows_below(source, bullet, out)
        elif entry and entry.declares and not (says_none(bullet.text) and not entry.ticked):
            report_quoted(entry, out)
            yield _declared(entry, bullet.span, row=False)
        elif not says_none(bullet.text):
            help_line = (
                "write - `name`: what it is, or rows `name: type -- what it is` below a bullet that ends in a colon"
            )
            out.warning("unread-bullet", words_of(bullet), "this bullet declares no input", help_line)


def _introduces_rows(bullet: Bullet, entry: Entry | None) -> bool:
    below = bool(bullet.rows or bullet.bullets)
    named = entry is not None and entry.declares and (entry.ticked or bool(entry.rest))
    return below and bullet.text.endswith(":") and not named


def _rows_below(source: Source, bullet: Bullet, out: Collector) -> Iterator[Declared]:
    lines = [(row.span, row_phrase(source, row)) for row in bullet.rows]
    lines += [(child.span, phrase(source, child)) for child in bullet.bullets]
    for span, text in sorted(lines, key=lambda line: line[0]):
        entry = read_entry(text)
        if entry and (entry.declares or head_of(text).text == entry.name.text):
            report_quoted(entry, out)
            yield _declared(entry, span, row=True)
        elif not says_none(text.text):
            help_line = "write `name: type -- what it is`"
            out.warning("unread-bullet", text.span, "this row declares no input", help_line)


def _declared(entry: Entry, span: Span, *, row: bool) -> Declared:
    facts, description = read_rest(entry.rest, row=row and entry.colon)
    return Declared(entry.name, span, entry.facts.joined(facts), description.text)


def read_parameter(declared: Declared, out: Collector) -> Parameter:
    """A row that is an input: its default is read by its type."""
    facts = declared.facts
    default = None
    given = False
    if facts.default is not None and not is_none(facts.default.text):
        given = True
        default = _value(declared.name.text, facts.default, declared.type, out)
    return Parameter(
        span=declared.span,
        name=declared.name.text,
        name_span=declared.name.span,
        type=declared.type,
        optional=facts.optional or facts.default is not None,
        default=default,
        has_default=given,
        description=declared.description,
    )


def read_config(
    source: Source, section: Section, rows: Mapping[str, Declared], out: Collector
) -> tuple[ConfigItem, ...]:
    """The Config section; a row of Parameters with the name of an item types it and may make it required."""
    found = []
    for bullet, entry in entries(source, section, out, "config name"):
        row = rows.get(entry.name.text)
        found.append(_config_item(_config_declared(source, bullet, entry, row), row, out))
    return tuple(found)


def _config_declared(source: Source, bullet: Bullet, entry: Entry, row: Declared | None) -> Declared:
    facts, description = read_rest(entry.rest)
    facts = entry.facts.joined(facts)
    head = head_of(description)
    if facts.default is None and _is_default(head, facts.joined(row.facts if row else NO_FACTS)):
        facts = replace(facts, default=head.unwrapped())
        description = (
            description.part(len(head.text)).part(1) if description.text != head.text else description.part(0, 0)
        )
    for child in bullet.bullets:
        key, rest = labelled(phrase(source, child))
        if key == "default" and rest:
            facts = facts.joined(Facts(default=rest.unwrapped()))
        elif key == "type" and rest:
            facts = facts.joined(Facts(type=rest.unwrapped()))
        elif key == "description" and not description:
            description = rest
        elif not key:
            facts = facts.joined(read_facts(rest))
    if not description and bullet.rows:
        description = row_phrase(source, bullet.rows[0])
    return Declared(entry.name, bullet.span, facts, description.text)


def _is_default(head: Phrase, told: Facts) -> bool:
    """Whether the text behind the colon is a value: ``- `rounds`: 3``. A typed item's lone word is a description."""
    if told.type is None:
        return looks_like_value(head.text, word=True)
    return not told.optional and looks_like_value(head.text, word=False)


def _config_item(declared: Declared, row: Declared | None, out: Collector) -> ConfigItem:
    own = declared.facts
    told = row.facts if row else NO_FACTS
    default = own.default or told.default
    kind = _winning_type(own, told)
    none = default is not None and is_none(default.text)
    required = own.required or (none and row is not None and not told.optional and not own.optional)
    _warn_type(own.type, out)
    return ConfigItem(
        span=declared.span,
        name=declared.name.text,
        name_span=declared.name.span,
        type=kind.text if kind else None,
        type_span=kind.span if kind else None,
        default=None if none or default is None else _config_default(declared.name.text, default, own, kind, out),
        default_span=default.span if default else None,
        optional=(own.optional or none) and not required,
        description=declared.description or (row.description if row else ""),
    )


def _winning_type(own: Facts, told: Facts) -> Phrase | None:
    """The row's type wins, unless Config narrows it: an enum says more than ``string``."""
    if told.type is None or own.type is None:
        return told.type or own.type
    narrower = read_type(own.type.text).kind == "enum" or not is_type(told.type.text)
    return own.type if narrower else told.type


def _warn_type(kind: Phrase | None, out: Collector) -> None:
    hint = closest_type(kind.text) if kind else None
    if kind and hint:
        out.warning("unknown-type", kind.span, f"`{kind.text}` is no type that is known; every value is accepted", hint)


def _config_default(name: str, default: Phrase, own: Facts, kind: Phrase | None, out: Collector) -> Any:
    spelling = kind.text if kind else None
    if own.type and kind is not own.type and default is own.default:
        value = _value(name, default, own.type.text, out)
        if value is None or fits(value, spelling):
            return value
    return _value(name, default, spelling, out)


def _value(name: str, text: Phrase, spelling: str | None, out: Collector) -> Any:
    try:
        return read_value(text.text, spelling)
    except BadValue as bad:
        message = f"the default of `{name}` is `{text.text}`, which is not {describe(spelling)}"
        why = f"{bad}; " if str(bad) else ""
        out.error("config-type", text.span, message, f"{why}write a value of that type, or `none` for no default")
        return None
