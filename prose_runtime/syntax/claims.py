"""What a sentence of a test claims, when it can be decided without a judge (LANGUAGE.md section 1, ``test``).

A claim is a verb with operands. An operand is a literal in backticks or quotes, a number, true, false, null, or JSON; a
single bare word is a literal that may also be meant as a description (``is concise``): when it does not hold as it
stands, it is left to the judge. Whatever is not read here is left to the judge.

    contains X · does not contain X · mentions X (in any case) · contains X twice · contains X or Y
    starts with X · ends with X · matches /regex/ · equals X · is X · is one of X, Y
    is empty, present, absent, null, true, false · is a number, text, list, object, boolean · is a list of texts
    has field X · has X (a field, an element, a part of a text)
    has at most N items, words, characters, lines, sentences, paragraphs · is under N words
    is at least N · is between A and B · ... and ..., ... or ...
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Literal

from prose_runtime.records import dataclass
from prose_runtime.syntax.bounds import COMPARISON, NUMBER, Bound, is_number, read_bound
from prose_runtime.syntax.config_values import BadValue, read_value
from prose_runtime.syntax.scalars import plain

LONGEST = 1000
"""Characters of a sentence that is looked at; longer ones are for the judge."""

_MOST_JOINTS = 12

Verb = Literal["contains", "mentions", "starts", "ends", "matches", "equals", "has", "field", "kind", "state"]


@dataclass(frozen=True, slots=True)
class Operand:
    """A literal. ``text`` is its spelling without quotes, ``value`` what that means; ``word``: it stands bare."""

    text: str
    value: Any
    word: bool = False


@dataclass(frozen=True, slots=True)
class Says:
    """A verb with operands, ``every`` one of which has to hold, or any. ``times`` bounds how often a text occurs."""

    verb: Verb
    operands: tuple[Operand, ...] = ()
    every: bool = True
    times: Bound | None = None
    ignore_case: bool = False


@dataclass(frozen=True, slots=True)
class Measures:
    """A bound on the value itself (``unit`` None), on its length, or on how many of a unit it holds."""

    bound: Bound
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Negation:
    """The opposite of a claim."""

    claim: Claim


@dataclass(frozen=True, slots=True)
class Joined:
    """Several claims, ``every`` one of which has to hold, or any."""

    claims: tuple[Claim, ...]
    every: bool = True


Claim = Says | Measures | Negation | Joined


class BadClaim(ValueError):
    """A sentence that can only be meant as a plain claim and is wrong; the message says how, ``part`` where."""

    def __init__(self, message: str, part: str):
        super().__init__(message)
        self.part = part


def read_claim(text: str, block: Operand | None = None) -> Claim | None:
    """The claim that a sentence makes, or None when it is for the judge. A ``block`` is the operand that it lacks.

    Raises:
        BadClaim: It holds a regular expression that is none.
    """
    if len(text) > LONGEST:
        return None
    text = _straightened(text)
    if block is not None:
        claim = _claim(f"{text or 'equals'} `{_GAP}`")
        return None if claim is None else _filled(claim, block)
    return _claim(f"is {text}" if _QUOTED_ONLY.fullmatch(text) else text)


_GAP = "\N{NULL}"
_QUOTED_ONLY = re.compile(r"`[^`]*`|\"(?:[^\"\\]|\\.)*\"")


def _filled(claim: Claim, block: Operand) -> Claim | None:
    """The claim with the block in the place of the operand that stood for it."""
    if isinstance(claim, Negation):
        inner = _filled(claim.claim, block)
        return Negation(inner) if inner else None
    if not isinstance(claim, Says):
        return None
    if claim.verb == "matches":
        return Says("matches", (Operand(block.text, _compiled(block.text, "")),))
    return Says(claim.verb, (block,), claim.every, claim.times, claim.ignore_case)


def literal(text: str) -> Operand | None:
    """The one literal that a text is, or None."""
    found = _operands(text.strip())
    return found[0][0] if found and len(found[0]) == 1 else None


# joints


def _straightened(text: str) -> str:
    """The sentence without its full stop, blanks outside quotes folded, curly quotes straight."""
    text = _BLANKS.sub(lambda match: match[0] if match["quoted"] else " ", text.strip().translate(_QUOTES))
    text = re.sub(r"(?<!\.)\.$", "", text).rstrip(" ;,")
    return _COLON.sub(r"\1 ", text, count=1)


_COLON = re.compile(r"^([a-z]+(?: [a-z]+){0,3}):(?: |$)", re.I)
"""The colon between a verb and its operand."""


_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "\N{NO-BREAK SPACE}": " "})
_QUOTED = r"`[^`]*`|\"(?:[^\"\\]|\\.)*\"|(?<!\w)'[^']*'(?!\w)|(?<!\S)/(?:[^/\\]|\\.)+/[a-z]*(?!\S)"
_BLANKS = re.compile(rf"(?P<quoted>{_QUOTED})|\s+")
_JOINT = re.compile(rf"{_QUOTED}|(?P<joint>(?:\s*,)?\s+(?P<word>and|but|or)\s+|\s*[,;]\s+)", re.I)


@lru_cache(maxsize=256)
def _claim(text: str) -> Claim | None:
    found = _single(text)
    if found is not None:
        return found
    joints = [match for match in _JOINT.finditer(text) if match["joint"]]
    if len(joints) > _MOST_JOINTS:
        return None
    for word in ("or", "and"):
        for joint in joints:
            if ((joint["word"] or "and").lower() == "or") == (word == "or"):
                left = _claim(text[: joint.start()])
                right = _right(left, text[joint.end() :])
                if left is not None and right is not None and _fit(left, right, word):
                    return Joined((left, right), every=word == "and")
    return None


def _right(left: Claim | None, text: str) -> Claim | None:
    """The claim behind a joint; ``contains X but not Y`` takes its verb from the left."""
    again = re.match(r"not\s+(?=[`\"'])", text, re.I)
    if again and isinstance(left, Says) and left.verb in ("contains", "mentions"):
        found = _contains(text[again.end() :], left.verb)
        return Negation(_any_of(found)) if found else None
    return None if again else _claim(text)


def _fit(left: Claim, right: Claim, word: str) -> bool:
    """``does not contain X or mention Y`` may be meant either way, so it is nothing to decide here."""
    return word == "and" or not (isinstance(left, Negation) and not isinstance(right, Negation))


# single claims

_LEAD = re.compile(
    r"(?:(?:it|they|this|that|the (?:result|output|value|text|list))\s+)?"
    r"(?:can(?=not\b)|(?:should|must|shall|will|may|can)\s+)?(?P<not>not\s+|never\s+)?(?=\S)",
    re.I,
)
_DENIED = re.compile(
    r"(?:(?P<be>(?:is|are|was)(?:\s+not|n['’]t)|not)|(?:does|do|did|has|have|should|must|can|will)(?:\s+not|n['’]t)|"
    r"never)\s+",
    re.I,
)
_BE = r"(?:(?:is|are|be|being|was|were|remains|stays)\s+)?"
_HAVE = r"(?:has|have|contains?|includes?|holds?|consists? of|spans?|uses?|takes?|lists?)\s+"


def _single(text: str) -> Claim | None:
    lead = _LEAD.match(text)
    rest = text[lead.end() :] if lead else text
    denied = bool(lead and lead["not"])
    negative = _DENIED.match(rest)
    if negative:
        # What is left of "is not empty" is "is empty", of "does not contain X" it is "contain X".
        rest, denied = ("is " if negative["be"] else "") + rest[negative.end() :], not denied
    found = _no_claim(rest) or _positive(rest)
    if found is None:
        return None
    return Negation(_any_of(found)) if denied else found


def _any_of(claim: Claim) -> Claim:
    """``does not contain X and Y`` forbids both."""
    if isinstance(claim, Says) and claim.verb in ("contains", "mentions", "has", "field") and len(claim.operands) > 1:
        return Says(claim.verb, claim.operands, every=False, times=claim.times, ignore_case=claim.ignore_case)
    return claim


_NO = re.compile(rf"(?P<verb>{_HAVE})(?:no|neither)\s+(?P<rest>.+)", re.I)


def _no_claim(text: str) -> Claim | None:
    """``contains no `x```, ``has no items``."""
    match = _NO.fullmatch(text)
    if match is None:
        return None
    if match["rest"].lower() in _UNITS:
        return Measures(Bound(0, 0), _UNITS[match["rest"].lower()])
    found = _field(match["verb"] + match["rest"]) or _contains(match["rest"], "contains")
    return Negation(_any_of(found)) if found else None


def _positive(text: str) -> Claim | None:
    readers: tuple[Callable[[str], Claim | None], ...] = (_state, _kind, _measure, _field, _text_verb, _equals)
    for reader in readers:
        found = reader(text)
        if found is not None:
            return found
    match = _CONTAINS.fullmatch(text)
    if match is None:
        return None
    verb: Verb = "mentions" if match["verb"].lower().startswith("mention") else "contains"
    return _contains(match["rest"], verb)


# states and kinds

_STATES = {
    "empty": "empty", "blank": "empty", "present": "present", "there": "present", "given": "present",
    "set": "present", "absent": "absent", "missing": "absent", "null": "null", "none": "null", "unset": "absent",
    "true": "true", "false": "false",
}  # fmt: skip
_STATE = re.compile(rf"{_BE}(?P<non>non-?)?(?P<state>{'|'.join(_STATES)})", re.I)


def _state(text: str) -> Claim | None:
    if text.lower() in ("exists", "exist"):
        return _says_state("present")
    match = _STATE.fullmatch(text)
    if match is None:
        return None
    claim = _says_state(_STATES[match["state"].lower()])
    return Negation(claim) if match["non"] else claim


def _says_state(state: str) -> Says:
    return Says("state", (Operand(state, state),))


_KINDS = {
    "number": "number", "numeric": "number", "integer": "integer", "whole number": "integer", "int": "integer",
    "float": "number", "text": "text", "string": "text", "list": "list", "array": "list", "object": "object",
    "mapping": "object", "map": "object", "dict": "object", "dictionary": "object", "boolean": "boolean",
    "bool": "boolean", "true or false": "boolean", "json": "json", "positive number": "positive number",
    "negative number": "negative number", "positive integer": "positive integer",
}  # fmt: skip
_ELEMENTS = {f"{word}s": kind for word, kind in _KINDS.items()}
_KIND = re.compile(
    rf"{_BE}(?:an?\s+)?(?P<non>non-?empty\s+)?(?:valid\s+|plain\s+)?(?P<kind>{'|'.join(map(re.escape, _KINDS))})"
    rf"(?:\s+(?:of|with)\s+(?:(?P<elements>{'|'.join(map(re.escape, _ELEMENTS))})|(?P<count>.+))"
    rf"|\s+(?P<bound>(?:{COMPARISON}|between|from)\s+.+))?",
    re.I,
)


def _kind(text: str) -> Claim | None:
    match = _KIND.fullmatch(text)
    if match is None:
        return None
    kind = _KINDS[match["kind"].lower()]
    if match["elements"]:
        if kind != "list":
            return None
        kind = f"list of {_ELEMENTS[match['elements'].lower()]}"
    claims: list[Claim] = [Says("kind", (Operand(kind, kind),))]
    if match["non"]:
        claims.append(Negation(_says_state("empty")))
    if match["count"] or match["bound"]:
        counted = _measure(f"has {match['count']}" if match["count"] else f"is {match['bound']}")
        if counted is None:
            return None
        claims.append(counted)
    return claims[0] if len(claims) == 1 else Joined(tuple(claims))


# counts and numbers

_UNITS = {
    **dict.fromkeys(("item", "items", "entry", "entries", "element", "elements", "member", "members"), "items"),
    **dict.fromkeys(("word", "words"), "words"),
    **dict.fromkeys(("character", "characters", "char", "chars"), "characters"),
    **dict.fromkeys(("line", "lines"), "lines"),
    **dict.fromkeys(("sentence", "sentences"), "sentences"),
    **dict.fromkeys(("paragraph", "paragraphs"), "paragraphs"),
    **dict.fromkeys(("field", "fields", "key", "keys"), "fields"),
}
_UNIT = "|".join(_UNITS)
_LENGTH = re.compile(
    r"(?:(?:has|have)\s+)?(?:an?\s+|the\s+|its\s+)?(?:length|count)\s+(?:of\s+|is\s+)?(?P<bound>.+)", re.I
)
_COUNTED = re.compile(
    rf"(?P<verb>{_HAVE}|{_BE})(?P<bound>.{{1,60}}?)[\s-]+(?P<unit>{_UNIT})"
    r"(?:\s+(?:long|in\s+length|or\s+(?P<or>more|fewer|less)))?",
    re.I,
)
_EXCEEDS = re.compile(r"exceeds?\s+", re.I)


def _measure(text: str) -> Claim | None:
    length = _LENGTH.fullmatch(text)
    if length:
        found = read_bound(length["bound"])
        return Measures(found, "length") if found else None
    exceeds = _EXCEEDS.match(text)
    text = f"over {text[exceeds.end() :]}" if exceeds else text
    counted = _COUNTED.fullmatch(text)
    if counted:
        spelled = counted["bound"] + (f" or {counted['or']}" if counted["or"] else "")
        found = read_bound(spelled)
        return Measures(found, _UNITS[counted["unit"].lower()]) if found else None
    bare = re.sub(rf"^{_BE}", "", text, flags=re.I)
    found = read_bound(bare)
    return Measures(found) if found and not is_number(bare) else None


# fields, texts and literals

_FIELD = re.compile(
    r"(?:has|have|contains?|includes?)\s+(?:an?\s+|the\s+)?(?:(?:non-null|non-empty)\s+)?"
    r"(?:fields?|keys?|propert(?:y|ies))\s+(?:named\s+|called\s+)?(?P<rest>.+)|(?:has|have)\s+(?:an?\s+|the\s+)?(?P<ticked>[`\"'].+)",
    re.I,
)
_CONTAINS = re.compile(r"(?P<verb>contains?|includes?|mentions?)\s+(?P<rest>.+)", re.I)
_TEXT_VERBS: tuple[tuple[Verb, re.Pattern[str]], ...] = (
    ("starts", re.compile(rf"{_BE}(?:starts?|begins?|starting|beginning)\s+(?:with|by)\s+(?P<rest>.+)", re.I)),
    ("ends", re.compile(rf"{_BE}(?:ends?|ending|finish(?:es)?)\s+(?:with|in|on)\s+(?P<rest>.+)", re.I)),
)
_MATCHES = re.compile(
    r"match(?:es)?\s+(?:(?:the\s+)?(?:regex|regexp|regular expression|pattern)\s+)?(?P<rest>.+)", re.I
)
_REGEX = re.compile(r"`?/(?P<body>(?:[^/\\]|\\.|/(?!`?[a-z]*`?$))+)/(?P<flags>[a-z]*)`?")
_ONE_OF = re.compile(rf"{_BE}(?:(?P<of>(?:one|any|either)\s+of)|either)\s*:?\s+(?P<rest>.+)", re.I)
_IS = re.compile(
    r"(?:equals?|is|are|be|==?)\s+(?:(?:exactly|equal to|the same as|identical to|set to)\s+)?(?P<rest>.+)", re.I
)
_FIRM = re.compile(r"(?:equals?|==?|(?:is|are|be)\s+(?:exactly|equal to|set to))\s", re.I)


def _field(text: str) -> Claim | None:
    match = _FIELD.fullmatch(text)
    if match is None:
        return None
    found = _operands(match["ticked"] or match["rest"], firm=not match["ticked"])
    return Says("has" if match["ticked"] else "field", found[0], every=found[1]) if found else None


def _text_verb(text: str) -> Claim | None:
    for verb, pattern in _TEXT_VERBS:
        match = pattern.fullmatch(text)
        if match:
            found = _operands(_without_article(match["rest"]), firm=bool(_ARTICLE.match(match["rest"])))
            return Says(verb, found[0], every=False) if found and not (found[1] and len(found[0]) > 1) else None
    match = _MATCHES.fullmatch(text)
    return _matches(match["rest"]) if match else None


def _matches(text: str) -> Claim | None:
    regex = _REGEX.fullmatch(text)
    if regex:
        return Says("matches", (Operand(regex["body"], _compiled(regex["body"], regex["flags"])),))
    found = literal(text)
    if found is None or found.word:
        return None
    return Says("matches", (Operand(found.text, _compiled(found.text, "")),))


def _compiled(body: str, flags: str) -> re.Pattern[str]:
    known = {"i": re.I, "m": re.M, "s": re.S, "x": re.X}
    unknown = [flag for flag in flags if flag not in (*known, "g", "u")]
    if unknown:
        raise BadClaim(f"a regular expression has no flag `{unknown[0]}`; it has i, m, s and x", f"/{flags}")
    number = re.NOFLAG
    for flag in flags:
        number |= known.get(flag, re.NOFLAG)
    try:
        return re.compile(body, number)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadClaim(f"`{body}` is no regular expression: {error}", body) from None


_ARTICLE = re.compile(
    r"(?:the\s+|an?\s+)?(?:exact\s+)?(?:words?|texts?|phrases?|strings?|substrings?|letters?|values?|numbers?|names?)\s*:?\s+",
    re.I,
)
_EITHER = re.compile(r"(?:either|both|all of|any of|one of|each of)\s*:?\s+", re.I)
_TAIL = re.compile(
    r"\s+(?:(?P<case>\(?(?:case[- ]insensitive(?:ly)?|ignoring case|in any case)\)?)|"
    rf"(?P<times>(?:(?:{COMPARISON})\s+)?(?:once|twice|(?:{NUMBER})(?=\s+times)))(?:\s+times)?)$",
    re.I,
)
_TIMES = {"once": "1", "twice": "2"}


def _without_article(text: str) -> str:
    return _ARTICLE.sub("", text, count=1) if _ARTICLE.match(text) else text


def _contains(text: str, verb: Verb) -> Claim | None:
    times: Bound | None = None
    ignore = verb == "mentions"
    tail = _TAIL.search(text)
    if tail:
        text = text[: tail.start()]
        ignore = ignore or bool(tail["case"])
        times = _times(tail["times"])
    any_of = re.match(r"(?:either|any of|one of)\b", text, re.I)
    bare = _EITHER.sub("", text, count=1) if _EITHER.match(text) else text
    article = _ARTICLE.match(bare)
    found = _operands(_without_article(bare), firm=bool(article))
    if found is None:
        return None
    return Says(verb, found[0], every=found[1] and not any_of, times=times, ignore_case=ignore)


def _times(spelled: str | None) -> Bound | None:
    if spelled is None:
        return None
    *words, last = spelled.split()
    return read_bound(" ".join([*words, _TIMES.get(last.lower(), last)]))


def _equals(text: str) -> Claim | None:
    one_of = _ONE_OF.fullmatch(text)
    if one_of:
        # Several bare words behind "one of" can only be the words themselves.
        found = _operands(one_of["rest"], firm=one_of["of"] is not None and "," in text)
        return Says("equals", found[0], every=False) if found and len(found[0]) > 1 else None
    match = _IS.fullmatch(text)
    if match is None:
        return None
    found = _operands(_without_article(match["rest"]), firm=bool(_FIRM.match(text)))
    if found is None or (found[1] and len(found[0]) > 1):
        return None
    return Says("equals", found[0], every=False)


_ITEM = re.compile(rf"(?P<quoted>{_QUOTED})|(?P<json>[\[{{].*[\]}}])|(?P<bare>[^\s,;\"'`()\[\]{{}}]+)")
_BETWEEN = re.compile(r"\s*(?:,\s*)?(?P<word>and|or|nor)\s+|\s*,\s*", re.I)


def _operands(text: str, *, firm: bool = False) -> tuple[tuple[Operand, ...], bool] | None:
    """The literals of a list and whether all are meant (``and``) or any (``or``); None when it is no such list.

    ``firm``: a bare word is a literal here.
    """
    found: list[Operand] = []
    words: set[str] = set()
    at = 0
    while True:
        item = _ITEM.match(text, at)
        operand = _operand(item, firm) if item else None
        if item is None or operand is None:
            return None
        found.append(operand)
        at = item.end()
        if at == len(text):
            break
        between = _BETWEEN.match(text, at)
        if between is None:
            return None
        words.add((between["word"] or "").lower())
        at = between.end()
    if len(found) > 1 and any(operand.word for operand in found):
        return None
    return None if {"and", "or"} <= words else (tuple(found), not words & {"or", "nor"})


def _operand(item: re.Match[str], firm: bool) -> Operand | None:
    if item["quoted"]:
        return _quoted(item["quoted"])
    if item["json"]:
        try:
            return Operand(item["json"], read_value(item["json"]))
        except BadValue:
            return None
    value = plain(item["bare"])
    return Operand(item["bare"], value, word=isinstance(value, str) and not firm)


def _quoted(text: str) -> Operand | None:
    if text[0] == "/":
        return None
    if text[0] == "`":
        inner = text[1:-1]
        if len(inner) > 1 and inner[0] == inner[-1] and inner[0] in "\"'":
            return _quoted(inner)
        return Operand(inner, _meaning(inner))
    inner = str(read_value(text, "string"))
    return Operand(inner, inner)


def _meaning(text: str) -> Any:
    """What stands in backticks is a value when it spells one: a number, true, null, a list."""
    try:
        return read_value(text) if text[:1] in ("[", "{") else plain(text)
    except BadValue:
        return text


def words_of(claim: Claim) -> Iterator[str]:
    """The bare words among a claim's operands: those that may be meant as a description."""
    if isinstance(claim, Says):
        yield from (operand.text for operand in claim.operands if operand.word)
    elif isinstance(claim, Negation):
        yield from words_of(claim.claim)
    elif isinstance(claim, Joined):
        for part in claim.claims:
            yield from words_of(part)
