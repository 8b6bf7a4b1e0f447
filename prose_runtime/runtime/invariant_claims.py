"""What a run says of each kind of claim that an invariant makes (``check.invariant_claims``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

from prose_runtime.check.conditions import Wording, verdict_of
from prose_runtime.check.flow import name_in_text
from prose_runtime.check.flow_counts import claimed, shown, value_of
from prose_runtime.check.invariant_claims import (
    Claim,
    Count,
    Independent,
    InOrder,
    NeverSees,
    OnlyIf,
    Order,
    Reaches,
    SameInputs,
    SeesOnly,
    Unaware,
)
from prose_runtime.runtime.invariants import SHORTEST, Called, Story, is_beside, texts
from prose_runtime.values import ServiceRef, number

Outcome = tuple[Literal["held", "broken", "unchecked"], str]


def judge(claim: Claim, story: Story) -> Outcome:
    """Whether a claim held in a run, with a short reason."""
    check = _CHECKS.get(type(claim))
    return check(claim, story) if check else ("unchecked", "neither the program nor the run can tell")


def _all(outcomes: Iterable[Outcome]) -> Outcome:
    """Several claims at once: the worst outcome."""
    found = list(outcomes)
    for status in ("broken", "unchecked", "held"):
        hows = list(dict.fromkeys(how for one, how in found if one == status))
        if hows:
            return status, "; ".join(hows[:3])
    return "unchecked", "there is nothing that it is about"


# sight


def _passed_on(answer: Called, to: Called, story: Story) -> str | None:
    """The input in which a text of an answer stands word by word; texts that the run was given tell nothing."""
    given = [text for _, text in texts(dict(story.values))]
    told = [*texts(to.inputs), *([("prompt", to.prompt)] if to.prompt else [])]
    for _, text in texts(answer.output):
        if len(text.strip()) < SHORTEST or any(text in other for other in given):
            continue
        for name, other in told:
            if text.strip() in other:
                return name
    return None


def _before(call: Called, role: str, story: Story) -> list[Called]:
    """The answers of a role that were there when a call began."""
    return [answer for answer in story.answers[: call.seen] if answer.role == role and answer is not call]


def _sees(who: str, role: str, story: Story, within: bool = False) -> Outcome:
    short, own = False, False
    members = _members(who, story) if who == role else []
    for call in story.of(who):
        for answer in _before(call, role, story):
            if within and answer.round != call.round:
                continue
            place = _passed_on(answer, call, story)
            if place is not None and call.service == answer.service and call.service in members:
                own = own or members.count(call.service) > 1
            elif place is not None:
                return "broken", f"an output of {role} stands in the input {place} of {who} (step {call.step})"
            short = short or not any(len(text.strip()) >= SHORTEST for _, text in texts(answer.output))
    if own:
        return "unchecked", f"the members of {who} cannot be told apart"
    if short:
        return "unchecked", f"an output of {role} was too short to be found again"
    return "held", f"no output of {role} was found in what {who} was told"


def _members(slot: str, story: Story) -> list[str]:
    """What fills a list slot, by name."""
    bound = story.slots.get(slot)
    return [ref.name for ref in bound if isinstance(ref, ServiceRef)] if isinstance(bound, list) else []


def _never_sees(claim: NeverSees, story: Story) -> Outcome:
    pairs = [(who, role) for who in claim.who for role in claim.roles if who != role or len(claim.who) == 1]
    found = [_sees(who, role, story, claim.within) for who, role in pairs]
    found += [_sees_input(who, name, story) for who in claim.who for name in claim.names]
    return _all(found)


def _sees_input(who: str, name: str, story: Story) -> Outcome:
    shown_ = [text for _, text in texts(story.values.get(name)) if len(text.strip()) >= SHORTEST]
    if not shown_:
        return "unchecked", f"{name} is no text that could be found again"
    for call in story.of(who):
        told = [*texts(call.inputs), *([("prompt", call.prompt)] if call.prompt else [])]
        if any(text in other for text in shown_ for _, other in told):
            return "broken", f"{name} stands in what {who} was told (step {call.step})"
    return "held", f"{name} was not found in what {who} was told"


def _sees_only(claim: SeesOnly, story: Story) -> Outcome:
    if claim.inputs:
        narrow = [replace(c, inputs=_picked(c, claim.inputs), prompt=None) for c in story.calls]
        story = replace(story, calls=narrow)
    allowed = set(claim.roles)
    others = [role for role in dict.fromkeys(call.role for call in story.calls) if role not in allowed]
    found = [_sees(who, role, story) for who in claim.who for role in others]
    if claim.latest:
        found += [_stale(who, role, story) for who in claim.who for role in claim.roles]
    if claim.names:
        inputs = [name for name in story.program.analysis.inputs if name not in claim.names]
        found += [_sees_input(who, name, story) for who in claim.who for name in inputs]
    return _all(found) if found else ("held", "nobody else answered")


def _picked(call: Called, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in call.inputs.items() if name in names}


def _stale(who: str, role: str, story: Story) -> Outcome:
    for call in story.of(who):
        answers = _before(call, role, story)
        for answer in answers[:-1]:
            place = _passed_on(answer, call, story)
            if place is not None and answers[-1].output != answer.output:
                return "broken", f"an earlier output of {role} stands in the input {place} of {who} (step {call.step})"
    return "held", f"only the latest output of {role} was found in what {who} was told"


def _independent(claim: Independent, story: Story) -> Outcome:
    pairs = [(who, role) for who in claim.who for role in claim.others if who != role or len(claim.who) == 1]
    return _all(_depends(who, role, story) for who, role in pairs)


def _depends(who: str, role: str, story: Story) -> Outcome:
    """Whether a role was told what another one said; that a condition looked at it does not show in a run."""
    seen = _sees(who, role, story)
    for call in story.of(who) if seen[0] == "held" else []:
        earlier = story.calls[: story.calls.index(call)]
        if any(one.role == role and (not one.answered or one in story.answers[: call.seen]) for one in earlier):
            return "unchecked", f"{role} was called before {who}, and a condition may have looked at it"
    return seen


def _reaches(claim: Reaches, story: Story) -> Outcome:
    for who in claim.who:
        for role in claim.roles:
            calls = story.of(who)
            if not any(_passed_on(answer, call, story) for call in calls for answer in _before(call, role, story)):
                return "unchecked", f"no output of {role} was found in what {who} was told"
    if claim.names:
        return "unchecked", "the run does not show where a value comes from"
    return "held", "it was found in what was told"


def _unaware(claim: Unaware, story: Story) -> Outcome:
    spec = story.program.spec
    given = [text for _, text in texts(dict(story.values))]
    given += [text for answer in story.answers for _, text in texts(answer.output)]
    known = any(name_in_text(spec, text) for text in given)
    for who in claim.who:
        for call in story.of(who):
            told = [*texts(call.inputs), *([("prompt", call.prompt)] if call.prompt else [])]
            if any(name_in_text(spec, text) for _, text in told):
                if known:
                    return "unchecked", f"{who} was told {spec.name}, which an input or an output names as well"
                return "broken", f"{who} was told the name {spec.name} (step {call.step})"
    return "held", "no prompt or input named the pattern"


# conditions and order


def _only_if(claim: OnlyIf, story: Story) -> Outcome:
    return _all(_guarded(who, guard, claim.side, story) for who in claim.who for guard in claim.guards)


def _guarded(who: str, guard: str, side: int, story: Story) -> Outcome:
    word = "approve" if side > 0 else "reject"
    for call in story.of(who):
        before = _before(call, guard, story)
        if not before:
            return "broken", f"{who} was called before {guard} had answered (step {call.step})"
        answers = [answer for answer in before if not is_beside(answer.step, call.step)]
        said = verdict_of(Wording(guard, word), answers[-1].output) if answers else None
        if said is None:
            return "unchecked", f"the answer of {guard} is no plain yes or no"
        if not said:
            return "broken", f"{who} was called although {guard} did not {word} (step {call.step})"
    return "held", f"each call of {who} followed an answer of {guard} that allows it"


def _order(claim: Order, story: Story) -> Outcome:
    pairs = [(first, then) for first in claim.first for then in claim.then if first != then]
    check = _over if claim.over else _ordered
    return _all(check(first, then, claim.each_round, story) for first, then in pairs)


def _over(first: str, then: str, each_round: bool, story: Story) -> Outcome:
    """Whether no call of a role comes after one of another."""
    since: list[Called] = []
    for call in story.calls:
        if call.role == then:
            since.append(call)
        elif call.role == first and any(not each_round or one.round == call.round for one in since):
            return "broken", f"{first} was called after {then} (step {call.step})"
    return "held", f"no call of {first} came after one of {then}"


def _ordered(first: str, then: str, each_round: bool, story: Story) -> Outcome:
    since: list[Called] = []
    for call in story.calls:
        if call.role == first:
            since.append(call)
        elif call.role == then:
            near = [one for one in since if not each_round or call.round is None or one.round == call.round]
            if not near:
                return "broken", f"{then} was called without {first} before it (step {call.step})"
            if each_round and story.program.spec.javascript is not None:
                since = []  # the rounds of a composite do not show: one ends with the second role
    return "held", f"{first} was called before {then}"


def _in_order(claim: InOrder, story: Story) -> Outcome:
    for slot in claim.who:
        names = _members(slot, story)
        called = [call.service for call in story.of(slot)]
        if len(set(names)) != len(names) or None in called or not names:
            return "unchecked", f"the members of {slot} cannot be told apart"
        places = [names.index(name) for name in called if name in names]
        if any(place < before and place != places[0] for before, place in pairwise(places)):  # else another walk began
            return "broken", f"{slot} were called in another order: {', '.join(map(str, called))}"
        if any(_overlap(one, other, story) for one, other in pairwise(story.of(slot))):
            return "broken", f"{slot} were called at the same time"
    return "held", "they were called in order"


def _overlap(one: Called, other: Called, story: Story) -> bool:
    """Whether the first of two calls was answered after the other one had begun."""
    return one.answered and one not in story.answers[: other.seen]


# numbers and inputs


def _count(claim: Count, story: Story) -> Outcome:
    if claim.together:
        return _number("a role", len(story.calls), claim, story)
    return _all(_counted(role, claim, story) for role in claim.who)


def _counted(role: str, claim: Count, story: Story) -> Outcome:
    calls = story.of(role)
    if claim.per == "run":
        return _number(role, len(calls), claim, story)
    if claim.per == "member":
        members = story.slots.get(role)
        names = [ref.name for ref in members] if isinstance(members, list) else [role]
        if len(set(names)) != len(names):
            return "unchecked", f"the members of {role} cannot be told apart"
        services = [call.service if isinstance(members, list) else role for call in calls]
        return _all(_number(name, services.count(name), claim, story) for name in names)
    loops = {_loop(call.round) for call in calls}
    if "" in loops or not loops:
        return "unchecked", "the run does not show its rounds"
    rounds = dict.fromkeys(call.round for call in story.calls if _loop(call.round) in loops)
    return _all(_number(role, sum(c.round == one for c in calls), claim, story, " in a round") for one in rounds)


def _loop(round_: str | None) -> str:
    """The loop that a round is a pass of."""
    return re.sub(r"\[\d+\]", "", round_ or "")


def _number(role: str, made: int, claim: Count, story: Story, where: str = "") -> Outcome:
    bound = claimed(claim.bound)
    limit = value_of(bound, _numbers(story))
    if limit is None:
        return "unchecked", f"the number {shown(bound)} is not known"
    how = f"{role} was called {made} {'time' if made == 1 else 'times'}{where}, {_bound(claim, limit)}"
    if claim.kind != "at least" and made > limit:
        return "broken", how
    if claim.kind != "at most" and made < limit:
        return ("broken", how) if story.completed else ("unchecked", f"{how}; the run did not come to its end")
    return "held", how


def _bound(claim: Count, limit: float) -> str:
    words = {"at most": "bound", "exactly": "as claimed", "at least": "at least"}
    return f"{words[claim.kind]} {limit:g}"


def _numbers(story: Story) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in {**story.values, **story.slots}.items():
        if isinstance(value, list):
            found[f"#{name}"] = len(value)
        elif (known := number(value)) is not None:
            found[name] = max(0, known)
    return found


def _same_inputs(claim: SameInputs, story: Story) -> Outcome:
    calls = [call for call in story.calls if call.role in claim.who]
    told = [_told(call, claim) for call in calls]
    if all(one == told[0] for one in told):
        return "held", f"all {len(calls)} calls got the same inputs"
    if any(call.round is not None for call in calls):
        groups: dict[str | None, list[Any]] = {}
        for call, one in zip(calls, told, strict=True):
            groups.setdefault(call.round, []).append(one)
        several = any(len(group) > 1 for group in groups.values())
        if several and all(one == group[0] for group in groups.values() for one in group):
            return "unchecked", "the inputs were the same in each round, and others in the next"
    return "broken", f"the calls got different inputs: {', '.join(_differing(told))}"


def _told(call: Called, claim: SameInputs) -> dict[str, Any]:
    inputs = {**call.inputs, **({"prompt": call.prompt} if call.prompt is not None else {})}
    return {name: value for name, value in inputs.items() if not claim.names or name in claim.names}


def _differing(told: list[dict[str, Any]]) -> Iterator[str]:
    for name in dict.fromkeys(name for one in told for name in one):
        if any(one.get(name) != told[0].get(name) for one in told):
            yield name


_CHECKS: dict[type[Any], Callable[[Any, Story], Outcome]] = {
    NeverSees: _never_sees,
    SeesOnly: _sees_only,
    Independent: _independent,
    Reaches: _reaches,
    Unaware: _unaware,
    OnlyIf: _only_if,
    Order: _order,
    InOrder: _in_order,
    Count: _count,
    SameInputs: _same_inputs,
}
