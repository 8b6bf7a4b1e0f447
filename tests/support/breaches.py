"""Which sentences about roles a run broke: told from its events alone, and by marks that the answers carry."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from prose_runtime.events import CallFinished, CallStarted, Event

Breach = tuple[str, ...]

ROLES = "abc"
LISTED = "ps"
PAIRS = [(x, y) for x in ROLES for y in ROLES if x != y]

SENTENCES: dict[Breach, str] = {
    **{("never", x, y): f"`{x}` never sees the output of `{y}`." for x, y in PAIRS},
    **{("within", x, y): f"`{x}` never sees the output of `{y}` within a round." for x, y in PAIRS},
    **{("only", x, y): f"`{x}` sees only the output of `{y}`." for x, y in PAIRS},
    **{("latest", x, y): f"`{x}` sees only the latest output of `{y}`." for x, y in PAIRS},
    **{("free", x, y): f"`{x}` and `{y}` are independent of each other." for x, y in PAIRS if x < y},
    **{("if", x, y): f"`{x}` runs only when `{y}` approves." for x, y in PAIRS},
    **{("unless", x, y): f"`{x}` runs only when `{y}` rejects." for x, y in PAIRS},
    **{("order", x, y): f"`{x}` runs before `{y}`." for x, y in PAIRS},
    **{("round order", x, y): f"`{x}` runs before `{y}` in every round." for x, y in PAIRS},
    **{("over", x, y): f"`{y}` runs after all calls of `{x}`." for x, y in PAIRS},
    **{("most", x, k): f"`{x}` runs at most {k} times." for x in ROLES for k in "123"},
    **{("least", x, k): f"`{x}` runs at least {k} times." for x in ROLES for k in "12"},
    **{("exact", x, k): f"`{x}` runs exactly {k} times." for x in ROLES for k in "123"},
    **{("most each", x, k): f"`{x}` runs at most {k} times in every round." for x in ROLES for k in "12"},
    **{("least each", x, "1"): f"`{x}` runs at least 1 times in every round." for x in ROLES},
    **{("same", x): f"All calls of `{x}` get the same inputs." for x in ROLES},
    **{("rounds", k): f"There are at most {k} rounds." for k in "123"},
    **{("total", k): f"There are at most {k} calls in all." for k in "2468"},
    **{("most member", k): f"Each of the `ps` is called at most {k} times." for k in "12"},
    **{("member", k): f"Each of the `ps` is called exactly {k} times." for k in "12"},
    ("named", "a"): "`a` runs at most `n` times.",
    ("turns", LISTED): "`ps` run in order.",
    ("same", LISTED): "All `ps` get the same inputs.",
    ("mutual", LISTED): "No `ps` sees the output of another `ps`.",
    ("never", LISTED, "a"): "`ps` never sees the output of `a`.",
}
"""A sentence for each way to break one."""

_MARK = re.compile(r"<(\w+)\.(\d)\.(\d+)>")
_HANDED_ON = re.compile(r"\((\w+)\)")
_ROUND = re.compile(r"(?:^|/)(?:repeat|for|loop)\b[^/\[]*\[\d+\]")
_WALK = re.compile(r"(?:.*/)?(?:parallel )?for\b[^/\[]*(?=\[)")


def mark(role: str, number: int, serial: int, told: str) -> str:
    """The text of an answer: its own mark, and the names of those whose marks were in what the role was told."""
    others = {match[0] for match in _MARK.findall(told)} | set(_HANDED_ON.findall(told))
    return f"<{role}.{number}.{serial}>" + "".join(f"({name})" for name in sorted(others))


@dataclass
class Called:
    """A call, in the order of its start. ``number``: which member it was. ``before``: how many answers there were."""

    role: str
    number: str
    step: str
    told: str
    before: int

    @property
    def round(self) -> str | None:
        """The pass of the outermost loop whose passes come one after the other."""
        match = _ROUND.search(self.step)
        return self.step[: match.end()] if match else None

    @property
    def walk(self) -> str | None:
        """The innermost loop over a list around it, as it was run by what stands around it."""
        match = _WALK.match(self.step)
        return match[0] if match else None


@dataclass
class Answered:
    """An answer, in the order of arrival."""

    call: Called
    output: Any

    @property
    def says(self) -> bool | None:
        """A plain yes or no."""
        return self.output.get("approved") if isinstance(self.output, dict) else None


@dataclass
class Story:
    """Listens to a run."""

    calls: list[Called] = field(default_factory=list)
    answers: list[Answered] = field(default_factory=list)
    _open: dict[str, Called] = field(default_factory=dict)

    def __call__(self, event: Event) -> None:
        if isinstance(event, CallStarted):
            told = json.dumps(event.inputs, sort_keys=True) + str(event.prompt)
            called = Called(event.target, event.service[-1], event.step, told, len(self.answers))
            self._open[event.step.partition("#")[0]] = called
            self.calls.append(called)
        elif isinstance(event, CallFinished) and event.error is None:
            call = self._open.get(event.step.partition("#")[0])
            if call is not None:
                self.answers.append(Answered(call, event.output))

    def of(self, role: str) -> list[Called]:
        """The calls of a role."""
        return [call for call in self.calls if call.role == role]

    def broken(self, completed: bool, n: int) -> set[Breach]:
        """The sentences that the run surely broke; ``n`` is what the spec's config item holds."""
        found = {breach for call in self.calls for breach in (*self._sight(call), *self._guards(call))}
        found |= {breach for at, call in enumerate(self.calls) for breach in self._order(at, call)}
        return found | set(self._numbers(completed, n)) | set(self._members(completed)) | set(self._inputs())

    def _sight(self, call: Called) -> Iterator[Breach]:
        for seen, number, serial in _MARK.findall(call.told):
            yield from (("never", call.role, seen), ("free", *sorted((call.role, seen))))
            yield from ((kind, call.role, other) for kind in ("only", "latest") for other in ROLES if other != seen)
            if (call.role, seen) == (LISTED, LISTED) and number != call.number:
                yield "mutual", LISTED
            origin = next((at for at, a in enumerate(self.answers) if f".{serial}>" in json.dumps(a.output)), None)
            if origin is None:
                continue
            if any(later.call.role == seen for later in self.answers[origin + 1 : call.before]):
                yield "latest", call.role, seen
            if call.round is not None and self.answers[origin].call.round == call.round:
                yield "within", call.role, seen
        yield from (("free", *sorted((call.role, seen))) for seen in _HANDED_ON.findall(call.told))

    def _guards(self, call: Called) -> Iterator[Breach]:
        for guard in ROLES:
            said = [answer.says for answer in self.answers[: call.before] if answer.call.role == guard]
            if not said or said[-1] is False:
                yield "if", call.role, guard
            if not said or said[-1] is True:
                yield "unless", call.role, guard

    def _order(self, at: int, call: Called) -> Iterator[Breach]:
        before = self.calls[:at]
        for role in ROLES:
            near = [one for one in before if one.role == role]
            if not near:
                yield "order", role, call.role
            else:
                yield "over", call.role, role
            if not any(call.round in (None, one.round) for one in near):
                yield "round order", role, call.role

    def _numbers(self, completed: bool, n: int) -> Iterator[Breach]:
        made = Counter(call.role for call in self.calls)
        rounds = {call.round for call in self.calls} - {None}
        yield from (("rounds", k) for k in "123" if len(rounds) > int(k))
        yield from (("total", k) for k in "2468" if len(self.calls) > int(k))
        if made["a"] > n:
            yield "named", "a"
        for role in ROLES:
            yield from (("most", role, k) for k in "123" if made[role] > int(k))
            yield from (("least", role, k) for k in "12" if completed and made[role] < int(k))
            yield from (("exact", role, k) for k in "123" if _is_off(made[role], k, completed))
            own = Counter(call.round for call in self.of(role))
            yield from (("most each", role, k) for one in rounds for k in "12" if own[one] > int(k))
            loops = {_loop(one) for one in own if one}
            if completed and any(_loop(one) in loops and not own[one] for one in rounds if one):
                yield "least each", role, "1"

    def _members(self, completed: bool) -> Iterator[Breach]:
        members = self.of(LISTED)
        for number in "01":
            made = sum(call.number == number for call in members)
            yield from (("most member", k) for k in "12" if made > int(k))
            yield from (("member", k) for k in "12" if _is_off(made, k, completed))
        for places in self._walks().values():
            numbers = [members[place].number for place in places]
            if numbers != sorted(numbers) or places != list(range(places[0], places[0] + len(places))):
                yield "turns", LISTED

    def _inputs(self) -> Iterator[Breach]:
        for role in ROLES:
            if len({call.told for call in self.of(role)}) > 1:
                yield "same", role
        members = self.of(LISTED)
        if any(len({members[place].told for place in places}) > 1 for places in self._walks().values()):
            yield "same", LISTED

    def _walks(self) -> dict[str, list[int]]:
        """The places among the calls of members, by the loop that took them one after the other."""
        found: dict[str, list[int]] = {}
        for place, call in enumerate(self.of(LISTED)):
            found.setdefault(call.walk or call.step, []).append(place)
        return found


def _is_off(made: int, k: str, completed: bool) -> bool:
    return made > int(k) or (completed and made != int(k))


def _loop(one: str) -> str:
    return re.sub(r"\[\d+\]", "", one)
