"""The spellings that Slots, Config, Parameters and Returns share: a name, facts in parentheses, a description."""

from __future__ import annotations

import re
from dataclasses import replace

from prose_runtime.records import dataclass
from prose_runtime.syntax.config_values import is_type, looks_like_type
from prose_runtime.syntax.phrases import NAME, Phrase, closing, pairs
from prose_runtime.text import Span

_LEAD = re.compile(
    rf"(?P<bold>\*\*|__(?=`))?&?(?:`(?P<tick>{NAME})`|(?P<bare>{NAME}))(?(bold)(?P=bold)|)(?P<maybe>\?)?"
)
_SEPARATOR = re.compile(r"\s*(?::|=|—|–|--|-(?=\s))\s*(?:\*\*)?\s*")
_DASH_OR_PAIR = re.compile(r"(?P<dash>(?:^|(?<=\s))(?:—|–|--+)(?=\s|$)|—)|[(\[{\"'`]")
_DEFAULT = re.compile(r"defaults?(?:\s+value)?(?:\s+to|\s+is)?\s*[:=]?\s*", re.I)
_NONE_BULLET = re.compile(
    r"[*_(`]*(?:none|nothing|n/a)[`*_)]*\s*(?:$|[.;,!(]|—|–|--|needed\b|required\b|for now\b)", re.I
)
_FACTS_IN_TEXT = re.compile(r"\((?=\s*(?:optional|required|default)\b)", re.I)
_OPTIONAL = re.compile(r"(optional|required)\b\s*(?:[.,:;]|—|–|--)?\s*", re.I)


@dataclass(frozen=True, slots=True)
class Facts:
    """What parentheses say of a name."""

    type: Phrase | None = None
    default: Phrase | None = None
    optional: bool = False
    required: bool = False
    primary: bool = False
    person: bool = False

    def joined(self, other: Facts) -> Facts:
        """These facts, and the other ones where these say nothing."""
        return Facts(
            self.type or other.type,
            self.default or other.default,
            self.optional or other.optional,
            self.required or other.required,
            self.primary or other.primary,
            self.person or other.person,
        )


NO_FACTS = Facts()


@dataclass(frozen=True, slots=True)
class Entry:
    """A bullet or row that starts with a name. ``rest`` is the text behind the colon or dash, or behind the name.

    ``quoted`` is what stands in backticks where that is more than the name: the type, or all of it.
    """

    name: Phrase
    ticked: bool
    facts: Facts
    rest: Phrase
    separated: bool
    colon: bool = False
    quoted: Span | None = None

    @property
    def span(self) -> Span:
        """From the name to the last character."""
        return Span(self.name.span.start, max(self.name.span.end, self.rest.span.end))

    @property
    def declares(self) -> bool:
        """Whether this declares a name, rather than being a sentence that happens to start with a word."""
        return self.ticked or self.separated or not self.rest


def says_none(text: str) -> bool:
    """Whether a bullet says that there is nothing to list: ``None. Nothing to set.``"""
    return bool(_NONE_BULLET.match(text))


def read_entry(phrase: Phrase) -> Entry | None:
    """A phrase that starts with a name, or None."""
    lead = phrase.match(_LEAD)
    if lead is None:
        return _quoted_entry(phrase)
    name = phrase.group(lead, "tick" if lead["tick"] else "bare")
    rest = phrase.part(lead.end())
    if rest.text and rest.span.start == phrase.offset(lead.end()) and rest.text[0] not in "(:=—–*-":
        return None
    facts = Facts(optional=True) if lead["maybe"] else NO_FACTS
    group, behind = _take_group(rest)
    if group is not None:
        facts, rest = read_facts(group).joined(facts), behind
    separator = rest.match(_SEPARATOR)
    colon = separator is not None and separator[0].strip(" *") in (":", "=")
    if separator:
        rest = rest.part(separator.end())
    separated = separator is not None or (group is not None and not rest)
    return Entry(name, bool(lead["tick"]), facts, rest, separated, colon)


def _quoted_entry(phrase: Phrase) -> Entry | None:
    """```topic: string -- what``` as a whole in backticks, or up to the type."""
    end = phrase.text.find("`", 1) if phrase.text.startswith("`") else -1
    entry = read_entry(phrase.part(1, end)) if end > 0 else None
    if entry is None or not entry.separated:
        return None
    quoted, behind = phrase.part(0, end + 1).span, phrase.part(end + 1)
    if not behind:
        return replace(entry, ticked=True, quoted=quoted)
    if not looks_like_type(entry.rest.text):
        return None
    facts = entry.facts.joined(Facts(type=entry.rest))
    return replace(entry, ticked=True, facts=facts, rest=_after_separator(behind), colon=False, quoted=quoted)


def _take_group(phrase: Phrase) -> tuple[Phrase | None, Phrase]:
    """The text in parentheses at the start, and what follows them."""
    if not phrase.text.startswith("("):
        return None, phrase
    end = closing(phrase.text, 0)
    if end is None:
        end = _loose_end(phrase.text)
    return (None, phrase) if end is None else (phrase.part(1, end), phrase.part(end + 1))


def _loose_end(text: str) -> int | None:
    """The parenthesis that closes the first one when other brackets between them do not match."""
    depth = 0
    for index, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return index
    return None


def read_facts(group: Phrase) -> Facts:
    """What comma-separated words say: a type, ``optional`` and such, and ``default: value`` up to the end."""
    facts = NO_FACTS
    pieces = group.pieces(",;")
    for index, (start, end) in enumerate(pieces):
        part = group.part(start, end)
        default = part.match(_DEFAULT)
        if default and (default.end() < len(part.text) or index + 1 < len(pieces)):
            value = group.text.index(part.text, start) + default.end()
            return _with_default(facts, group, value, pieces[index:])
        facts = _with_word(facts, part)
    return facts


def _with_word(facts: Facts, part: Phrase) -> Facts:
    word = part.text.lower()
    if word == "primary":
        return replace(facts, primary=True)
    if word == "person":
        return replace(facts, person=True)
    if word == "required":
        return replace(facts, required=True)
    if re.match(r"(optional|if)\b", word):
        return replace(facts, optional=True)
    if facts.type is None and looks_like_type(part.text):
        return replace(facts, type=part.unwrapped())
    return facts


def _with_default(facts: Facts, group: Phrase, value: int, pieces: list[tuple[int, int]]) -> Facts:
    """The default reaches to the end of the group, apart from words behind it that say something else."""
    while len(pieces) > 1 and group.text[slice(*pieces[-1])].strip().lower() in ("optional", "required"):
        facts = _with_word(facts, group.part(*pieces[-1]))
        pieces = pieces[:-1]
    return replace(facts, default=group.part(value, pieces[-1][1]).unwrapped())


def read_rest(rest: Phrase, *, row: bool = False) -> tuple[Facts, Phrase]:
    """What the text behind a name's colon says of it, and the description that remains.

    In a ``row`` every single word before the dash is a type, known or not.
    """
    facts, rest = _leading_group(NO_FACTS, rest)
    found, rest = _head_facts(rest, row)
    facts, rest = _leading_group(facts.joined(found), rest)
    if word := rest.match(_OPTIONAL):
        facts = _with_word(facts, rest.part(0, word.end(1)))
        rest = rest.part(word.end())
    for start in (found.start() for found in _FACTS_IN_TEXT.finditer(rest.text)):
        end = closing(rest.text, start)
        facts = facts.joined(read_facts(rest.part(start + 1, end)) if end else NO_FACTS)
    return facts, rest


def _leading_group(facts: Facts, rest: Phrase) -> tuple[Facts, Phrase]:
    group, behind = _take_group(rest)
    if group is None:
        return facts, rest
    told = read_facts(group)
    if told == NO_FACTS or (told == Facts(told.type) and told.type and not is_type(told.type.text)):
        return facts, rest
    return facts.joined(told), _after_separator(behind)


def _after_separator(rest: Phrase) -> Phrase:
    separator = rest.match(_SEPARATOR)
    return rest.part(separator.end()) if separator else rest


def head_of(rest: Phrase) -> Phrase:
    """The text before the first dash that starts a description."""
    text = rest.text
    partners = pairs(text)
    end = 0
    for found in _DASH_OR_PAIR.finditer(text):
        if found.start() < end:
            continue
        if found["dash"]:
            return rest.part(0, found.start())
        end = partners.get(found.start(), end)
    return rest


def _head_facts(rest: Phrase, row: bool) -> tuple[Facts, Phrase]:
    """``integer, default `2```, ``string, optional``, ``integer (default: 2)`` before a dash or at the start."""
    head = head_of(rest)
    facts = NO_FACTS
    used = 0
    for start, end in head.pieces(",;"):
        part = head.part(start, end)
        default = part.match(_DEFAULT)
        if default and default.end() < len(part.text):
            value = head.text.index(part.text, start) + default.end()
            length = _value_length(head.text[value:])
            facts = replace(facts, default=head.part(value, value + length).unwrapped())
            used = value + length
            break
        if part.text.lower() in ("optional", "required"):
            facts = _with_word(facts, part)
        elif facts.type is None and not used and (is_type(part.text) or (row and looks_like_type(part.text))):
            facts = replace(facts, type=part.unwrapped())
        else:
            typed = None if used else _typed_group(part, row)
            used = used if typed is None else head.text.index(part.text, start) + typed[1]
            facts = facts if typed is None else typed[0]
            break
        used = end
    return facts, _behind(rest, used) if used else rest


def _typed_group(part: Phrase, row: bool) -> tuple[Facts, int] | None:
    """``integer (default: 2)``: the facts, and how much of the text they take."""
    start = part.text.find("(")
    word = part.text[: max(start, 0)].strip()
    end = closing(part.text, start) if start > 0 else None
    if end is None or not (is_type(word) or (row and looks_like_type(word))):
        return None
    return Facts(part.part(0, start).unwrapped()).joined(read_facts(part.part(start + 1, end))), end + 1


def _value_length(text: str) -> int:
    """How far a default reaches that no parenthesis ends."""
    end = closing(text, 0) if text[:1] in "`\"'[{" else None
    if end is not None:
        return end + 1
    stop = _VALUE_STOP.search(text)
    return stop.start() if stop else len(text)


_VALUE_STOP = re.compile(r"(?:[.;:](?=\s|$)|,\s*(?:optional|required)\b)")


def _behind(rest: Phrase, used: int) -> Phrase:
    return rest.part(used + len(_GLUE.match(rest.text, used)[0]))  # type: ignore[index]


_GLUE = re.compile(r"\s*(?:[,.;:]|—|–|--+)?\s*")
