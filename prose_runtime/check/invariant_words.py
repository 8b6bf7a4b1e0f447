"""Invariant sentences in a plain form: names become marks, and the many ways to say a thing become one.

``@0`` marks a role, ``#0`` any other name of the spec. What is left is English of few words, which ``invariant_forms``
reads; the step in between knows no names, so that it is done once for all specs that say the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cache, lru_cache

from prose_runtime.records import dataclass

_TICKED = re.compile(r"`([^`]*)`")
_SERIES = re.compile(r"(\w[\w-]*?)_1\s*(?:\.\.\.?|…)\s*\1_\w+")
_PLAIN_NAME = re.compile(r"[A-Za-z_][\w-]*")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names of a spec: roles (``lists`` are those with members), and all others that it has."""

    pattern: str
    roles: tuple[str, ...]
    lists: frozenset[str]
    values: frozenset[str]


@dataclass(slots=True)
class Marked:
    """A sentence with marks. ``names`` gives the name of each; ``unknown`` are names in backticks that nothing has."""

    text: str = ""
    names: dict[str, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def mark(self, sign: str, name: str) -> str:
        """The mark of a name."""
        for mark, known in self.names.items():
            if known == name and mark[0] == sign:
                return mark
        made = f"{sign}{len(self.names)}"
        self.names[made] = name
        return made


def marked(sentence: str, vocabulary: Vocabulary, *, bare_values: bool = False) -> Marked:
    """Put marks for names. ``bare_values``: names that are no roles count without backticks, too."""
    found = Marked()
    text = _TICKED.sub(lambda match: _ticked(match[1].strip(), vocabulary, found), sentence)
    text = _pattern_named(text, vocabulary)
    text = _bare(text, _wordings(vocabulary.roles), "@", found)
    if bare_values:
        text = _bare(text, _wordings(vocabulary.values), "#", found)
    found.text = text
    return found


def _pattern_named(text: str, vocabulary: Vocabulary) -> str:
    """The pattern under its own name, behind an article so that it is a thing and no verb."""
    if vocabulary.pattern in vocabulary.roles or not vocabulary.pattern:
        return text
    parts = re.split(r"[-_\s]+", vocabulary.pattern)
    folded = text.casefold()
    if not all(part.casefold() in folded for part in parts):
        return text
    words = r"[-_ ]".join(map(re.escape, parts))
    return re.sub(rf"\b(?:the|a|an|this) {words}\b", "the pattern", text, flags=re.IGNORECASE)


def _ticked(name: str, vocabulary: Vocabulary, found: Marked) -> str:
    """What a text in backticks is: the mark of a name, the pattern, a number, a product, or a question mark."""
    series = _SERIES.fullmatch(name)
    if series is not None:
        name = next((role for role in vocabulary.roles if series[1] in _forms(role)), name)
    base = name.removeprefix("config.").partition(".")[0].partition("[")[0]
    role = next((role for role in vocabulary.roles if base == role), None)
    if role is None and base in vocabulary.values:
        return found.mark("#", base)
    role = role or next((role for role in vocabulary.roles if name.lower() in _forms(role)), None)
    if role is not None:
        return found.mark("@", role)
    return _no_name(name, vocabulary, found)


def _no_name(name: str, vocabulary: Vocabulary, found: Marked) -> str:
    if name.lower() == vocabulary.pattern.lower():
        return "the pattern"
    terms = re.split(r"\s*([*×+])\s*", name)
    if len(terms) > 1:
        return " ".join(word if word in "*×+" else _ticked(word, vocabulary, found) for word in terms).replace("×", "*")
    if _PLAIN_NAME.fullmatch(name):
        found.unknown.append(name)
    return name if name.isdigit() else "?"


@lru_cache(maxsize=512)
def _forms(role: str) -> tuple[str, ...]:
    """How a role is named in running text: with blanks, in the singular of a plural and the other way round."""
    word = re.sub(r"[-_]+", " ", role).lower()
    other = _singular(word) if word.endswith("s") else word + "s"
    return tuple(dict.fromkeys((role.lower(), word, other)))


@dataclass(frozen=True, slots=True)
class _Wordings:
    """How names stand in running text, and the most words of those that begin with a word."""

    names: Mapping[str, str]
    lengths: Mapping[str, int]


@lru_cache(maxsize=64)
def _wordings(names: tuple[str, ...] | frozenset[str]) -> _Wordings:
    """Roles come as a tuple and have several wordings, other names as a set and have one."""
    roles = isinstance(names, tuple)
    known = {form: name for name in names for form in (_forms(name) if roles else (name.lower(),))}
    lengths: dict[str, int] = {}
    for form in known:
        words = form.split(" ")
        lengths[words[0]] = max(lengths.get(words[0], 0), len(words))
    return _Wordings(known, lengths)


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if not word.endswith(("ss", "sis")) else word + "es"


_WORD = re.compile(r"(?<![\w#@?-])[A-Za-z][\w-]*")
_FIXED = re.compile(
    r"\b(?:in|within|during|per|of|for)(?: (?:the|a|any|one|every|each|same|single|given|current))* "
    r"(?:rounds?|iterations?|cycles?|pass(?:es)?|turns?|attempts?|steps?)\b",
    re.IGNORECASE,
)
"""Wordings in which a word is no name, whatever the spec calls its roles."""


def _bare(text: str, known: _Wordings, sign: str, found: Marked) -> str:
    """Put marks for names without backticks; the longest one wins where several words make a name."""
    words = list(_WORD.finditer(text))
    kept: list[tuple[int, int]] | None = None
    parts, end, number = [], 0, 0
    while number < len(words):
        step = 1
        start = words[number].start()
        for length in range(min(known.lengths.get(words[number][0].lower(), 0), len(words) - number), 0, -1):
            stop = words[number + length - 1].end()
            name = known.names.get(" ".join(text[start:stop].lower().split()))
            if name is None:
                continue
            kept = [match.span() for match in _FIXED.finditer(text)] if kept is None else kept
            if not any(first <= start < last for first, last in kept):
                parts += [text[end:start], found.mark(sign, name)]
                end, step = stop, length
                break
        number += step
    return "".join((*parts, text[end:])) if parts else text


# wording

_NOUN = (
    r"(?:outputs?|answers?|repl(?:y|ies)|results?|responses?|works?|reasoning|texts?|arguments?|verdicts?|decisions?|"
    r"positions?|contributions?|findings?|opinions?|words?|drafts?|reviews?|reports?|critiques?|feedback|proposals?|"
    r"judge?ments?|conclusions?|messages?|thoughts?|content|side|case|attacks?|lessons?|scores?)"
)
_ADJECTIVE = r"(?:latest|last|current|newest|previous|prior|earlier|own|raw|full|final|any|other|most recent|actual)"

_COUNTED = r"(?:times?|calls?|rounds?|iterations?|cycles?|passes|attempts?|steps?|turns?)"
_NUMBERS = dict(zip("one two three four five six seven eight nine ten".split(), range(1, 11), strict=True))
_ROUND = r"(?:round|iteration|cycle|pass|turn|attempt|step|exchange)"
_WITHIN = r"(?:in|within|during|per|for|of)"

_ROLES = r"(?:@\d+(?:'s?)?(?:,? (?:and|or|nor) |, ))*@\d+"


def _latest(adjectives: str) -> str:
    """The one adjective of an answer that matters."""
    return "latest " if re.search(r"\b(?:latest|last|current|newest|most recent)\b", adjectives) else ""


REWRITES: tuple[tuple[str, str, str | Callable[[re.Match[str]], str]], ...] = (
    ("’|‘", r"[’‘]", "'"),
    ("*|__", r"\*\*|__|(?<!\S)\*(?=\S)|(?<=\S)\*(?!\S)", ""),
    ("(", r"\([^()]*\)", " "),
    (
        "what ",
        rf"\bwhat ({_ROLES}) (?:writes?|says?|answers?|produces?|decides?|thinks?|wrote|said|reports?)\b",
        r"output of \1",
    ),
    ("call|invocation", r"\b(?:every|each|all|any) (@\d+) (?:calls?|invocations?)\b", r"calls of \1"),
    (
        "—|–|-|so that|because|since|in order to|otherwise",
        r"\s+[—–]\s.*$|\s-\s.*$|,? (?:so that|because|since|in order to|otherwise) .*$",
        "",
    ),
    ("", r"\b(?:the|a|an)\s+(?=\S)", ""),
    ("that of", r"\b(?:or|nor) that of\b", "or"),
    (
        "round|iteration|cycle|pass|turn|attempt|step|exchange",
        rf"^(?:in|within|during|per|for) (?:every|each|any|one|single|same) {_ROUND},? (.*)$",
        r"\1 $round",
    ),
    (
        "round|iteration|cycle|pass|turn|attempt|step|exchange",
        rf",? \b{_WITHIN}(?: (?:same|every|each|any|one|single|current|this|given))* {_ROUND}\b",
        " $round",
    ),
    ("round|iteration|cycle|pass|turn|attempt|step|exchange", rf"\b(?:every|each) {_ROUND}\b", "$round"),
    ("other", r"\b(?:each other|one another)'s\b|\b(?:other|another)(?: one)?'s\b|\bothers'", "$others"),
    ("each other|one another", r"\b(?:each other|one another)\b", "$other"),
    (
        "more|greater|up to|maximum|exceed",
        r"\bno (?:more|greater) than\b|\bnot more than\b|\bnever (?:more|exceeds?) (?:than )?|\bup to\b|\bmaximum of\b"
        r"|\bnever exceeds?\b",
        "at most ",
    ),
    ("fewer|less", r"\bno (?:fewer|less) than\b|\bnot (?:fewer|less) than\b", "at least"),
    ("precisely|just", r"\b(?:precisely|just)\b", "exactly"),
    (
        "n't|not|never|at no point",
        r"\b(?:cannot|can't|mustn't|doesn't|don't|didn't|won't|isn't|aren't|at no point"
        r"|(?:can|may|must|will|shall|should) (?:not|never)|(?:does|do|did) not|(?:is|are) (?:not|never))\b",
        "never",
    ),
    (
        "must|shall|will|should|always|ever|strictly|directly|themselves|itself|explicitly|also|may|can|allowed",
        r"\b(?:must|shall|will|should|always|ever|strictly|directly|themselves|itself|explicitly|also|may|can"
        r"|(?:is|are) allowed to)\b",
        "",
    ),
    ("access", r"\b(?:has|have) no access to\b", "never sees"),
    ("only", r"\b(?:is|are) only\b", "only"),
    (
        "called|invoked|asked|executed|consulted|queried|dispatched",
        r"\b(?:(?:is|are|be|being) )?(?:called|invoked|asked|executed|consulted|queried|dispatched)\b",
        "runs",
    ),
    (
        "run|speak|act|execute|start|respond|argue|come|go",
        r"\b(?:is|are) run\b|\b(?:run|speak|act|execute|start|respond|argue|come)s?\b|\bgoes\b|\bgo\b(?! to)",
        "runs",
    ),
    (
        "shown|given|told|exposed|handed|passed|access|see|read|receive|observe|view|get|know",
        r"\b(?:(?:is|are) )?(?:shown|given|told|exposed to|handed|passed)\b(?! to\b)|\b(?:has|have) access to\b"
        r"|\b(?:see|read|receive|observe|view)s?\b|\bgets?\b(?! to)|\bknows? (?=(?:any )?\w+ (?:of|from) @)",
        "sees",
    ),
    ("runs more", r"\bnever runs more than\b", "runs at most"),
    ("both|each|all", r"(@\d+) (?:both|each|all) (?=runs|sees|never)", r"\1 "),
    ("once", r"\bonce\b(?! (?:@|#|all|both|each|every))", "1 times"),
    ("twice", r"\btwice\b", "2 times"),
    ("thrice", r"\bthrice\b", "3 times"),
    (
        "one|two|three|four|five|six|seven|eight|nine|ten|single",
        rf"\b({'|'.join(_NUMBERS)}|single) (?={_COUNTED}\b)",
        lambda match: f"{_NUMBERS.get(match[1], 1)} ",
    ),
    ("time", r"\btime\b", "times"),
    ("@", rf"({_ROLES})'s? ((?:{_ADJECTIVE} )*{_NOUN})\b", r"\2 of \1"),
    (
        "its|their",
        rf"\b(?:its|their) (?:own )?((?:{_ADJECTIVE} )*){_NOUN}\b(?! (?:of|from)\b)",
        lambda m: f"{_latest(m[1])}$own",
    ),
    (
        "of|from",
        rf"\b((?:{_ADJECTIVE} )*){_NOUN}(?:,? (?:and|or|nor) (?:{_ADJECTIVE} )*{_NOUN})? (?:of|from)\b",
        lambda match: f"{_latest(match[1])}output of",
    ),
    ("$others", rf"(?<=\$others )((?:{_ADJECTIVE} )*){_NOUN}\b", lambda match: f"{_latest(match[1])}output"),
    ("@", r"(@\d+)'s?(?=,| and| or| nor|$)", r"\1"),
    ("", r"\s+([,;.])", r"\1"),
    ("", r"\s+", " "),
)
"""What is replaced by what, in this order; first the words, between bars, one of which stands wherever it applies."""


_GUARDED = tuple((tuple(words.split("|")), pattern, new) for words, pattern, new in REWRITES)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@lru_cache(maxsize=2048)
def plain(text: str) -> str:
    """A marked sentence in few words, lower case, without its dot."""
    text = text.lower().strip(" .")
    for words, pattern, new in _GUARDED:
        if any(word in text for word in words):
            text = _compiled(pattern).sub(new, text)
    return text.strip(" .,;")


_LABEL = re.compile(r"^[^@#:]{1,40}: (?=\S)")


def sentences(text: str) -> list[str]:
    """The parts of a marked text that claim something of their own; a short title before them is none."""
    text = _LABEL.sub("", re.sub(r"\*\*|__", "", text.strip()))
    parts = re.split(r";\s+|\.\s+(?=\S)", text)
    return [part for part in parts if part.strip(" .*") and not (len(parts) > 1 and _is_title(part))]


def _is_title(part: str) -> bool:
    return len(part.split()) <= 2 and "@" not in part and "#" not in part


def names_of(marks: Iterable[str], table: dict[str, str]) -> tuple[str, ...]:
    """The names of marks."""
    return tuple(dict.fromkeys(table.get(mark, mark) for mark in marks))
