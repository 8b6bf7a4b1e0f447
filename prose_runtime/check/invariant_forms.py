"""The known forms of invariant sentences: from plain wording to claims.

A form matches a whole sentence or none of it: a word that it does not understand, such as a condition, leaves the
sentence unread, and what is not read is reported as unchecked (LANGUAGE.md section 4, Invariants).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, cast

from prose_runtime.check.invariant_claims import (
    BOTH,
    EVERYBODY,
    MEMBERS,
    Claim,
    Count,
    Grows,
    Independent,
    InOrder,
    NeverSees,
    OnlyIf,
    Order,
    Reaches,
    Rounds,
    SameInputs,
    SeesOnly,
    Terms,
    Unaware,
)
from prose_runtime.check.invariant_words import Vocabulary, marked, names_of, plain, sentences

Found = list[Claim] | None
"""The claims of a sentence, or None when it is of no known form."""

_FRAGMENTS = {
    "and": r"(?:,? (?:and|or|nor) |, |/)",
    "roles": r"@\d+(?:{and}@\d+)*",
    "values": r"#\d+(?:{and}#\d+)*",
    "names": r"[@#]\d+(?:{and}[@#]\d+)*",
    "every": r"(?:(?:all|each|every|any|both|none|neither|no|of|calls|call|members|member|single|one|different) )*",
    "anybody": (
        r"(?:(?:all|each|every|any|both|none|neither|no|of|two) )*"
        r"(?:roles?|delegates?|participants?|agents?|slots?|part(?:y|ies)|sides?|members?|models?|services?|them|calls?)"
        r"|nobody|no one|everybody|everyone|neither|both|they|all"
    ),
    "whom": r"(?:{every}{roles}|{anybody})",
    "who": r"(?P<who>{whom})",
    "other": r"(?P<other>{whom})",
    "output": r"(?:(?:latest )?output of |anything (?:of|from) )?",
    "thing": r"{output}(?:{every}{names})",
    "what": r"(?P<what>(?:every |each )?{thing}(?:{and}{thing})*)",
    "round": r"(?P<round> \$round)?",
    "each_other": (
        r"(?:(?:output of )?\$other|\$others(?: (?:latest )?output)?"
        r"|output of (?:another|other|any other|others)(?: @\d+| one)?|another output of @\d+)"
    ),
    "each_time": r"(?: (?:in|for|on|at) (?:all|each|every|any)(?: of (?:its|their))? calls?| (?:each|every) times)?",
    "into": (
        r"(?:reach(?:es)?|(?:is |are )?(?:passed|shown|handed|given|sent|known|visible|fed) (?:in)?to|flows? (?:in)?to"
        r"|goes to|go to|runs to|leaks? to|arrives? at|(?:is |are )?seen by|influences?)"
    ),
    "of_pattern": (
        r"(?:(?:of|about|that|which) )?(?:(?:it|they|this) )?(?:(?:is|are|belongs?|takes?|runs?|be|being) )?(?:part )?"
        r"(?:(?:of|in|to|inside|within) )?(?:(?:name of|surrounding|whole|calling|larger|overall|existence of) )?"
        r"(?:pattern|orchestration|protocol|composition|choreography)(?:'s name| as such| itself)?"
    ),
    "guards": r"(?: all| both| every| each)? (?P<guard>{roles})",
    "yes": (
        r"(?:approves?|approved|accepts?|accepted|agrees?|allows?|permits?|pass(?:es|ed)?|certif(?:y|ies|ied)|confirms?"
        r"|proceeds?|consents?|(?:says|said|runs) (?:yes|ok|proceed)|gives? (?:leave|approval|consent|permission)"
        r"|lets? it(?: through)?)"
    ),
    "no": r"(?:reject(?:s|ed)?|refuse[sd]?|declines?|denies|denied|disapproves?|aborts?|veto(?:e?s)?|blocks?)",
    "it": (
        r"(?: (?:it|them|so|this|that|its?|[@#]\d+"
        r"|(?:its|their|\$own|(?:latest )?output|work|request|brief|draft)(?: of @\d+)?))?"
    ),
    "leave": r"(?:explicit )?(?:approval|consent|leave|permission|acceptance|approving)",
    "factor": r"(?:\d+|#\d+)",
    "number": r"(?P<number>{factor}(?: ?(?:\*|x|times) ?{factor})*(?: ?\+ ?\d+)?)",
    "kind": r"(?:(?P<kind>only at most|at most|exactly|at least|only) )?",
    "per": r"(?P<per> \$round| (?:per|for each|for every|for|on each) (?:[#@]\d+))?",
    "how_many": r"{kind}{number}(?: times)?(?: (?:in all|in total|altogether|overall))?{per}",
    "in_order": r"in (?:(?:this|that|given|listed|their|its|same) )?(?:order|sequence|turn)",
    "units": r"(?:rounds?|iterations?|cycles?|passes|attempts?|steps?|turns?)",
    "in_all": r"(?: (?:in all|in total|altogether|overall|per run))",
}
"""Parts of forms by name; a form holds them in braces."""

_NEGATIVE = re.compile(r"(?:neither|none|no|nobody)\b")


@cache
def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(spelt(form))


@cache
def spelt(form: str) -> str:
    """A form with its parts in place of their names."""
    return re.sub(r"\{(\w+)\}", lambda match: spelt(_FRAGMENTS[match[1]]), form)


def read(text: str, vocabulary: Vocabulary) -> tuple[list[Claim], list[str]]:
    """The claims of an invariant, none when it is of no known form; and the names in backticks that nothing has.

    A pattern may be called by a word of such a form, as in "the same inputs": its name is then a word like any other.
    """
    claims, unknown = _read(text, vocabulary)
    if not claims and not unknown and _bare(vocabulary.pattern, text):
        return _read(text, replace(vocabulary, pattern=""))
    return claims, unknown


def _bare(name: str, text: str) -> bool:
    """Whether a name stands in a sentence, and without backticks."""
    return bool(name) and name.casefold() in text.casefold() and f"`{name}`" not in text


def _read(text: str, vocabulary: Vocabulary) -> tuple[list[Claim], list[str]]:
    unknown: list[str] = []
    for bare_values in (False, True):
        found = marked(text, vocabulary, bare_values=bare_values)
        unknown = found.unknown
        if unknown:
            break
        parts = [clauses_of(plain(part)) for part in sentences(found.text)]
        if parts and all(parts):
            claims = [named(claim, found.names) for part in parts for claim in part or ()]
            known = [made for claim in claims if (made := settled(claim, vocabulary)) is not None]
            return known if len(known) == len(claims) else [], unknown
    return [], unknown


@lru_cache(maxsize=2048)
def clauses_of(text: str) -> tuple[Claim, ...] | None:
    """As ``claims_of``, also for two clauses with one subject, or one each."""
    whole = claims_of(text)
    if whole:
        return whole
    for match in _JOINT.finditer(text):
        left, right = claims_of(text[: match.start()]), text[match.end() :]
        subject = _compiled("{who}(?= )").match(text)
        rest = claims_of(right) or (claims_of(f"{subject['who']} {right}") if subject else None)
        if left and rest:
            return (*left, *rest)
    return None


_JOINT = re.compile(r",? (?:and|but|while) ")


@lru_cache(maxsize=2048)
def claims_of(text: str) -> tuple[Claim, ...] | None:
    """The claims of a plain sentence; roles and names are marks in them."""
    for words, pattern, build in _GUARDED:
        if all(word in text for word in words):
            match = _compiled(pattern).fullmatch(text)
            found = build(match) if match else None
            if found:
                return tuple(found)
    return None


def named(claim: Claim, table: dict[str, str]) -> Claim:
    """The same claim with the names of its marks."""
    changed: dict[str, Any] = {}
    for field, value in cast(Any, claim)._asdict().items():
        if field == "bound":
            changed["bound"] = tuple((factor, tuple(table.get(m, m) for m in marks)) for factor, marks in value)
        elif isinstance(value, tuple):
            changed[field] = names_of(value, table)
        elif field == "name":
            changed["name"] = table.get(value, value)
    return _changed(claim, changed)


def settled(claim: Claim, vocabulary: Vocabulary) -> Claim | None:
    """The same claim with the roles that are meant by "every role", "both" or "the members"; None when that is open."""
    lists = [role for role in vocabulary.roles if role in vocabulary.lists]
    meant = {
        EVERYBODY: vocabulary.roles,
        BOTH: vocabulary.roles if len(vocabulary.roles) == 2 else (),
        MEMBERS: tuple(lists) if len(lists) == 1 else (),
    }
    changed: dict[str, Any] = {}
    for field, value in cast(Any, claim)._asdict().items():
        word = next((word for word in meant if isinstance(value, tuple) and word in value), None)
        if word is not None:
            changed[field] = meant[word]
            if not meant[word]:
                return None
    return _changed(claim, changed) if changed else claim


def _changed(claim: Claim, values: dict[str, Any]) -> Claim:
    made: Claim = cast(Any, claim)._replace(**values)
    return made


# parts of sentences

_MARK = re.compile(r"[@#]\d+")


def _roles(text: str | None) -> tuple[str, ...]:
    """The roles that a subject names; everybody when it names none."""
    marks = tuple(mark for mark in _MARK.findall(text or "") if mark[0] == "@")
    if marks:
        return marks
    if re.search(r"\bmembers?\b", text or ""):
        return (MEMBERS,)
    return (BOTH,) if _PAIR.search(text or "") else (EVERYBODY,)


_PAIR = re.compile(r"\b(?:sides?|part(?:y|ies)|two|they|them)\b|^(?:both|neither)$")


def _split(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The roles and the other names in a text."""
    marks = _MARK.findall(text)
    return tuple(m for m in marks if m[0] == "@"), tuple(m for m in marks if m[0] == "#")


def _terms(text: str) -> Terms:
    found = []
    for part in text.split("+"):
        factor, names = 1, []
        for word in re.findall(r"\d+(?!\d*\w)|#\d+", part):
            if word[0] == "#":
                names.append(word)
            else:
                factor *= int(word)
        found.append((factor, tuple(names)))
    return tuple(found)


def _count(match: re.Match[str], who: tuple[str, ...], *, member: bool = False, together: bool = False) -> Found:
    kinds = {"at most": "at most", "only": "at most", "only at most": "at most", "at least": "at least"}
    kind: Any = kinds.get(match["kind"] or "", "exactly")
    per = match["per"] or ""
    bound = _terms(match["number"])
    marks = _MARK.findall(per)
    if marks:
        bound = tuple((factor, (*names, f"len {marks[0]}")) for factor, names in bound)
    where: Any = "round" if "$round" in per else "member" if member else "run"
    return [Count(who, kind, bound, where, together)]


# forms


def _never_sees(match: re.Match[str]) -> Found:
    roles, names = _split(match["what"])
    return [NeverSees(_roles(match["who"]), roles, names, within=match["round"] is not None)]


def _no_one_sees(match: re.Match[str]) -> Found:
    return _never_sees(match) if _NEGATIVE.match(match["who"]) else None


def _mutual(match: re.Match[str]) -> Found:
    who = _roles(match["who"])
    return [NeverSees(who, who, within=match["round"] is not None)]


def _no_one_mutual(match: re.Match[str]) -> Found:
    return _mutual(match) if _NEGATIVE.match(match["who"]) else None


_BEFORE = (
    r"(?:(?:latest )?output of )?(?:(?:@\d+|one)(?: (?:right|just|immediately))? before(?: it)?"
    r"|(?:previous|preceding) (?:@\d+|one))"
)
_ITEM = (
    r"(?:(?P<own>(?:latest )?\$own)|{output}{every}(?P<names>{names})|inputs?"
    r"|(?:(?:latest|current|last) )?(?P<value>#\d+))"
)


def _sees_only(match: re.Match[str]) -> Found:
    found = _only(_roles(match["who"]), match["what"])
    return None if found is None else [found]


def _sees_only_as(match: re.Match[str]) -> Found:
    found = _only(_roles(match["who"]), match["what"])
    return None if found is None else [found._replace(inputs=_split(match["inputs"])[1])]


def _comes_from(match: re.Match[str]) -> Found:
    """``the critique of the worker is the critic's output``: nothing else is in it, and that is."""
    found = _only(_roles(match["who"]), match["what"])
    if found is None:
        return None
    inputs = _split(match["inputs"])[1]
    return [found._replace(inputs=inputs), Reaches(found.who, found.roles, found.names, inputs)]


def _only(who: tuple[str, ...], rest: str) -> SeesOnly | None:
    if _compiled(_BEFORE).fullmatch(rest):
        return SeesOnly(who, who, latest=True)
    roles: list[str] = []
    names: list[str] = []
    latest = True
    for part in _parts(rest):
        item = _compiled(_ITEM).fullmatch(part)
        if item is None:
            return None
        if item["own"]:
            roles += who
        given, values = _split(item["names"] or item["value"] or "")
        roles += given
        names += values
        if given or item["own"]:
            latest = latest and part.startswith("latest")
    return SeesOnly(who, tuple(roles), tuple(names), latest and bool(roles))


def _parts(text: str) -> list[str]:
    """The items of an enumeration: names that share what stands before them stay together."""
    parts: list[str] = []
    for part in re.split(r",? (?:and|or|plus) |, ", text):
        if parts and re.fullmatch(r"@\d+", part):
            parts[-1] += f" and {part}"
        else:
            parts.append(part)
    return parts


def _independent(match: re.Match[str]) -> Found:
    who = _roles(match["who"])
    others = _roles(match["others"]) if match["others"] else who
    return [Independent(who, others)]


def _same(match: re.Match[str]) -> Found:
    return [SameInputs(_roles(match["who"]), _split(match["what"])[1])]


def _unaware(match: re.Match[str]) -> Found:
    return [Unaware(_roles(match["who"]))]


def _no_one_aware(match: re.Match[str]) -> Found:
    return _unaware(match) if _NEGATIVE.match(match["who"]) else None


def _only_if(match: re.Match[str]) -> Found:
    side = -1 if match["no"] else 1
    return [OnlyIf(_roles(match["who"]), _roles(match["guard"]), side)]


def _only_if_not(match: re.Match[str]) -> Found:
    """``if X refuses, Y never runs``: Y runs only if X approves."""
    return [OnlyIf(_roles(match["who"]), _roles(match["guard"]), 1)]


def _ordered(match: re.Match[str], first: str, then: str) -> Order:
    over = _CALLS_OF.search(match[first]) is not None
    return Order(_roles(match[first]), _roles(match[then]), match["round"] is not None, over)


_CALLS_OF = re.compile(r"\b(?:all|each|every|any) (?:of )?calls? of\b")


def _after(match: re.Match[str]) -> Found:
    return [_ordered(match, "other", "who")]


def _before(match: re.Match[str]) -> Found:
    return [_ordered(match, "who", "other")]


def _counted_and_ordered(match: re.Match[str]) -> Found:
    order = _ordered(match, "other", "who") if match["way"] == "after" else _ordered(match, "who", "other")
    return [*(_counted(match) or ()), order]


_MEMBERS = re.compile(r"(?:each|every|any|no|none)\b.*@|.* each$")


def _counted(match: re.Match[str]) -> Found:
    who = match["who"]
    return _count(match, _roles(who), member=_MEMBERS.match(who) is not None)


def _counted_each(match: re.Match[str]) -> Found:
    return _count(match, _roles(match["who"]), member=True)


def _in_order(match: re.Match[str]) -> Found:
    marks = _roles(match["who"])
    if not marks[0].startswith("@"):
        return None
    if len(marks) == 1:
        return [InOrder(marks)]
    rounds = match["round"] is not None
    return [Order((one,), (two,), rounds) for one, two in pairwise(marks)]


def _in_order_counted(match: re.Match[str]) -> Found:
    return [*(_in_order(match) or ()), *(_counted_each(match) or ())]


def _first(match: re.Match[str]) -> Found:
    return [Order(_roles(match["who"]), (EVERYBODY,), match["round"] is not None)]


def _last(match: re.Match[str]) -> Found:
    return [Order((EVERYBODY,), _roles(match["who"]), match["round"] is not None)]


def _in_all(match: re.Match[str]) -> Found:
    return _count(match, (EVERYBODY,), together=True)


def _rounds(match: re.Match[str]) -> Found:
    return [Rounds(_terms(match["number"]))]


def _grows(match: re.Match[str]) -> Found:
    return [Grows(match["name"])]


def _never_shrinks(match: re.Match[str]) -> Found:
    return [Grows(match["name"], strict=False)]


def _reaches(match: re.Match[str]) -> Found:
    if _NEGATIVE.match(match["what"]):
        return None
    roles, names = _split(match["what"])
    return [Reaches(_roles(match["who"]), roles, names)]


def _sees(match: re.Match[str]) -> Found:
    return None if _NEGATIVE.match(match["who"]) else _reaches(match)


FORMS: tuple[tuple[str, str, Callable[[re.Match[str]], Found]], ...] = (
    ("aware", "{who} (?:is|are) aware {of_pattern}", _no_one_aware),
    ("aware", "{who} (?:(?:is|are|stays?|remains?) )?(?:unaware|never aware) {of_pattern}", _unaware),
    ("pattern", "{who} never (?:knows?|learns?|sees|hears?) {of_pattern}", _unaware),
    ("pattern", "{who} (?:knows?|learns?|sees|hears?) {of_pattern}", _no_one_aware),
    (
        "independent",
        r"{who} (?:(?:is|are|runs|works?|answers?|stay|remain|judges?) )?(?:mutually |fully )?independent(?:ly)?"
        r"(?: (?:of|from) (?:\$other|(?P<others>{every}{roles})))?",
        _independent,
    ),
    ("isolated", r"{who} (?:is|are) (?:mutually )?isolated from \$other{round}", _mutual),
    ("same", "{who} sees (?:exactly )?same (?P<what>inputs?|(?:input )?{names}|things?){each_time}", _same),
    ("identical", "{who} sees (?:exactly )?identical (?P<what>inputs?|{names}){each_time}", _same),
    ("inputs of", "inputs of {who} (?:is|are) (?P<what>same|identical)", _same),
    ("same", "same (?P<what>inputs?|{names}) (?:(?:is |are )?(?:given|passed)|goes|go|runs) to {who}", _same),
    ("never sees", "{who} never sees {each_other}{round}", _mutual),
    ("never sees", "{who} never sees {what}{round}", _never_sees),
    ("sees", "{who} sees {each_other}{round}", _no_one_mutual),
    ("sees", "{who} sees {what}{round}", _no_one_sees),
    ("nothing", "nothing (?:of|from) {what} {into} {who}{round}", _never_sees),
    ("never", "{what} never {into} {who}{round}", _never_sees),
    ("no ", "no {what} {into} {who}{round}", _never_sees),
    (" from", "{who} (?:is|are) (?:isolated|shielded|kept|separated) from {what}{round}", _never_sees),
    ("blind", "{who} (?:is|are) blind to {what}{round}", _never_sees),
    ("blind", "{who} (?:is|are) blind to {each_other}{round}", _mutual),
    (" from", "{what} (?:is|are) (?:hidden|kept) from {who}{round}", _never_sees),
    ("only sees", "{who} (?:sees only|only sees) (?P<what>.+) as (?:its |their )?(?P<inputs>{values})", _sees_only_as),
    (
        "only sees",
        "as (?:its |their )?(?P<inputs>{values}),? {who} (?:sees only|only sees) (?P<what>.+)",
        _sees_only_as,
    ),
    ("of runs from", "(?P<inputs>{values}) of {who} (?:only runs|runs only|runs) from (?P<what>.+)", _comes_from),
    ("# of", "(?P<inputs>{values}) of {who} (?:is|are) (?:only )?(?P<what>.+)", _comes_from),
    ("only sees", "{who} (?:sees only|only sees)(?: inputs?)? (?P<what>.+)", _sees_only),
    ("nothing", "{who} sees nothing (?:but|except|other than|besides?) (?P<what>.+)", _sees_only),
    ("nothing", "{who} sees (?P<what>.+?),? and nothing (?:else|more)", _sees_only),
    ("only sees", "{who} sees (?P<what>.+) only", _sees_only),
    (
        "only runs",
        r"{who} (?:runs only|only runs) (?:if|when|after|once|where){guards} (?:{yes}|(?P<no>{no})){it}",
        _only_if,
    ),
    ("unless", r"{who} never runs unless{guards} (?:{yes}|(?P<no>{no})){it}", _only_if),
    ("without", r"{who} never runs without {leave} (?:of|from|by){guards}(?P<no>\b\B)?", _only_if),
    ("without", r"{who} never runs without{guards}(?:'s?)? {leave}(?P<no>\b\B)?", _only_if),
    ("never", "(?:if|when|where|once){guards} {no}{it},? {who} never runs", _only_if_not),
    ("never", "{who} never runs (?:if|when|where|once|after){guards} {no}{it}", _only_if_not),
    (
        "in ",
        r"{who} (?:runs )?{in_order},? (?:and )?(?:each )?(?:runs )?(?:each )?{how_many}(?P<round>\b\B)?",
        _in_order_counted,
    ),
    ("in ", "{who} (?:runs )?{in_order}{round}", _in_order),
    ("after", "{who} (?:runs |follows? )?(?:only |right |immediately )?after {other}{round}", _after),
    ("only after", "{who} only (?:runs )?after {other}{round}", _after),
    ("before", "{who} (?:runs )?(?:only |right |immediately )?before {other}{round}", _before),
    ("followed", "{other} (?:is|are) followed by {who}{round}", _after),
    ("follow", "{who} follows? {other}{round}", _after),
    ("precede", "{who} precedes? {other}{round}", _before),
    ("first", "{who} runs first{round}", _first),
    ("last", "{who} runs last{round}", _last),
    (
        "runs",
        "{who} (?:only )?runs {how_many},? (?:and )?(?:only )?(?P<way>after|before) {other}{round}",
        _counted_and_ordered,
    ),
    ("runs", "{who} (?:only )?(?:never )?runs {how_many}", _counted),
    (
        "calls",
        r"(?:there (?:is|are) )?(?P<kind>at most|exactly|at least) {number} calls(?: (?:runs|(?:is |are )?made))?"
        r"{in_all}(?P<per>\b\B)?",
        _in_all,
    ),
    (
        "calls",
        r"(?:total )?(?:number of )?(?:all )?calls (?:is |are |stays? )?(?P<kind>at most|exactly) {number}"
        r"(?P<per>\b\B)?",
        _in_all,
    ),
    (
        "at most",
        r"(?:there (?:is|are)|(?:loop|pattern|it) (?:runs|ends after|stops after|takes|makes|lasts)(?: for)?"
        r"|number of {units}(?: is)?) at most {number}(?: {units}| times)?",
        _rounds,
    ),
    ("at most", "at most {number} {units}(?: (?:runs|takes? place|happen|are made))?", _rounds),
    ("grows", r"(?P<name>#\d+) (?:only grows|grows monotonically|only grows monotonically|grows only)", _grows),
    ("append", r"(?P<name>#\d+) (?:is|are) append-only", _grows),
    ("append", r"(?P<name>#\d+) (?:is )?only appended(?: to)?", _grows),
    (
        "mono",
        r"(?P<name>#\d+) (?:is|grows|increases) monoton(?:e|ic|ous)(?:al)?(?:ly)?(?: (?:growing|increasing))?",
        _grows,
    ),
    ("shrinks", r"(?P<name>#\d+) never shrinks", _never_shrinks),
    ("removed", r"(?:nothing|no (?:entry|step|item)) (?:is )?removed from (?P<name>#\d+)", _never_shrinks),
    ("removed", r"(?:entries|items|elements|steps) never removed from (?P<name>#\d+)", _never_shrinks),
    ("", "{what} {into} (?P<who>{roles})", _reaches),
    ("sees", "{who} sees {what}", _sees),
)
"""Words that must stand in the sentence, the form, and what it claims; the first form that fits counts."""

_GUARDED = tuple((tuple(words.split()), pattern, build) for words, pattern, build in FORMS)
