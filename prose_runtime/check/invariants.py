"""Invariants before a run: read, then proved, refuted, or left to be watched (LANGUAGE.md section 4, Invariants)."""

from __future__ import annotations

from typing import Literal

from prose_runtime import nodes as n
from prose_runtime.check.flow import too_large
from prose_runtime.check.invariant_certainty import doubt_of_way
from prose_runtime.check.invariant_claims import (
    Claim,
    Count,
    Grows,
    Independent,
    NeverSees,
    Rounds,
    SameInputs,
    SeesOnly,
    Unaware,
)
from prose_runtime.check.invariant_doubts import doubt, recursion
from prose_runtime.check.invariant_forms import read
from prose_runtime.check.invariant_order import CALLS
from prose_runtime.check.invariant_proofs import SIGHT, Ground, Ruling, Status
from prose_runtime.check.invariant_words import Vocabulary
from prose_runtime.check.rule import Facts
from prose_runtime.check.scope import required_names
from prose_runtime.records import dataclass
from prose_runtime.text import Span

UNREAD = "no check exists for a sentence of this form"

_LONGEST = 300
"""Characters beyond which a sentence is not read: it is a paragraph."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of an invariant before a run.

    Attributes:
        status: ``watched``: a run will tell, by the ``claims``. ``unread``: no known form, or nothing can tell.
        how: Why, in a short sentence.
        claims: What a run has to watch; of a refuted one as well, in case that its author insists.
        places: Where the program breaks it, with a word on each; of a watched one, where some run may.
        unknown: Names in backticks that nothing in the spec has.
    """

    invariant: n.Invariant
    status: Literal["proved", "refuted", "watched", "unread"]
    how: str
    claims: tuple[Claim, ...] = ()
    places: tuple[tuple[Span, str], ...] = ()
    unknown: tuple[str, ...] = ()


def verdicts(facts: Facts) -> tuple[Verdict, ...]:
    """The verdict on each invariant of a spec, found once."""
    known = facts.project.verdicts
    if facts.spec not in known:
        known[facts.spec] = tuple(_verdicts(facts))
    return known[facts.spec]


def _verdicts(facts: Facts) -> list[Verdict]:
    if not facts.spec.invariants:
        return []
    words, ground = vocabulary(facts), Ground(facts)
    return [_verdict(invariant, words, ground) for invariant in facts.spec.invariants]


def _verdict(invariant: n.Invariant, words: Vocabulary, ground: Ground) -> Verdict:
    claims, unknown = read(invariant.text, words) if len(invariant.text) <= _LONGEST else ([], [])
    if not claims:
        return Verdict(invariant, "unread", UNREAD, unknown=tuple(unknown))
    spec = ground.spec
    if spec.javascript is not None:
        return Verdict(invariant, "watched", "the JavaScript of a composite is watched at run time", tuple(claims))
    if spec.body is None or ground.facts.resolution.unresolved or ground.facts.all(n.Invalid):
        return Verdict(invariant, "unread", "the program cannot be followed")
    if too_large(spec):
        return Verdict(invariant, "watched", "the program is too large to be followed before a run", tuple(claims))
    rulings = [(claim, _ruled(claim, ground)) for claim in claims]
    verdict = _summed(invariant, rulings)
    doubtful = {"proved": doubt, "refuted": recursion}.get(verdict.status)
    why = ground.facts.shared(doubtful) if doubtful else None
    return verdict if why is None else Verdict(invariant, "watched", why, tuple(claims))


def _ruled(claim: Claim, ground: Ground) -> Ruling:
    prove = SIGHT.get(type(claim)) or CALLS[type(claim)]
    ruling = prove(claim, ground)
    if ruling.status != "refuted" or ruling.certain or not ruling.places:
        return ruling
    data = isinstance(claim, NeverSees | SeesOnly | Independent | Unaware | SameInputs)
    spans = [span for span, _ in ruling.places]
    counted, decided = isinstance(claim, Count | Rounds), not isinstance(claim, Grows)
    why = doubt_of_way(ground.facts, ground.findings, spans, data=data, counted=counted, decided=decided)
    if why is None:
        return ruling
    status: Status = "unsure" if isinstance(claim, Rounds | Grows) else "open"
    return Ruling(status, f"{ruling.how}, but {why}", ruling.places)


def _summed(invariant: n.Invariant, rulings: list[tuple[Claim, Ruling]]) -> Verdict:
    claims = tuple(claim for claim, ruling in rulings if ruling.status != "proved")

    def said(status: str) -> str:
        return "; ".join(ruling.how for _, ruling in rulings if ruling.status == status)

    statuses = {ruling.status for _, ruling in rulings}
    if "refuted" in statuses:
        places = next(ruling.places for _, ruling in rulings if ruling.status == "refuted")
        return Verdict(invariant, "refuted", said("refuted"), claims, places)
    if "unsure" in statuses:
        return Verdict(invariant, "unread", said("unsure"))
    if "open" in statuses:
        places = next((ruling.places for _, ruling in rulings if ruling.status == "open" and ruling.places), ())
        return Verdict(invariant, "watched", said("open"), claims, places)
    return Verdict(invariant, "proved", said("proved"))


def vocabulary(facts: Facts) -> Vocabulary:
    """The names that the invariants of a spec can be about."""
    spec = facts.spec
    components = (facts.enclosing or spec).components
    roles = [slot.name for slot in spec.slots] + [component.name for component in components]
    roles += [node.name.id for node in facts.all(n.Agent)]
    roles += [target.name for target in facts.targets.values() if target.kind in ("spec", "alias")]
    values = {item.name for item in spec.config} | set(facts.scopes.inputs)
    values |= {name for frame in facts.scopes.all_frames for name in frame.bindings}
    values |= {output.name for output in spec.returns.outputs} if spec.returns else set()
    values |= {name for slot in spec.slots for name in required_names(slot)}
    values |= {name for slot in spec.slots for promise in slot.ensures for name in promise.names}
    values |= {argument.name for argument in facts.all(n.Argument) if argument.name}
    lists = frozenset(slot.name for slot in spec.slots if slot.is_list)
    known = tuple(dict.fromkeys(roles))
    return Vocabulary(spec.name, known, lists, frozenset(values - set(known)))
