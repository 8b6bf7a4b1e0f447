"""Bounds of calls against the interpreter: no run of a random program makes more calls than the bound, or fewer."""

from __future__ import annotations

import asyncio
import math
import random
import tempfile
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from prose_runtime.check.bounds import Bounds, Given, Range, formulas
from prose_runtime.check.bounds_evaluate import Values, evaluate
from prose_runtime.check.checker import check_path
from prose_runtime.depth import make_room
from prose_runtime.errors import ServiceError
from prose_runtime.events import CallStarted, ConditionDecided, Event
from prose_runtime.runtime.bounds import Wired, fills
from prose_runtime.runtime.limits import Limits
from prose_runtime.runtime.result import Result
from prose_runtime.runtime.session import Prepared, RunRequest, execute, prepare
from prose_runtime.services.api import Reply, Request
from prose_runtime.services.bindings import Bindings
from prose_runtime.services.config import ProseYml
from support.programs import pattern
from support.writing import Writer, nested

make_room()  # a run raises the limit of recursion, which Hypothesis wants to stay as it is

COUNTS = (
    "n", "m", "2", "3", "n - 1", "n + m", "n * m", "len(xs)", "min(n, 2)", "max(n, m)", "round(n / 2)", "n % 2",
    "unset or 2", "config.n", "len(xs) + 1", "o.n",
)  # fmt: skip
LISTS = (
    "xs", "xs", "objs", "[1, 2]", "range(n)", "xs + [1]", "kept", "got", "[n, m]", "opts",
    "boxes",
)  # fmt: skip
CONDITIONS = (
    "n > 1", "n > m", "n > 1 and the moon is up", "len(xs) > 1", "xs is empty", "kept is empty", "the moon is up",
    "flag", "not flag", "v is absent", "v says yes", "v says yes or m > 1", "v meets m", "v.score > 1", "m == 0",
    "unset says v is failure",
)  # fmt: skip
CALLS = (
    "call a", "call b", "call opts[0]", "call a\n  retry: 1", "call b\n  retry: m", "call scribe\n  topic: n",
    "call sub", "call sub\n  size: n", "call sub\n  size: 2", "call sub\n  whatever: o", "call sub\n  size: o.n",
    "call a\n  x: kept", 'session "hello"', 'call a(x: v)\n  retry: 2\n  backoff: "linear"', "call clerk\n  times: m",
)  # fmt: skip
SIMPLE = (
    "record v in kept", "record 1 in kept", "record call b in kept", "let flag = n > m", "let flag = true",
    "let v = null", "let v = do counting(n)", "do counting(m + 1)", "let v = do both", "do both", "let got = kept",
    "let kept = []", "let got = do doubled(xs)", "emit n", "let v = flag and call a", "let v = v or call b",
    "let i = 0", "let v = (call a if n > 1 else call b)", "let v = (call a if flag else null)",
    "let got = xs + kept", "let o = { n: n, box: [1] }", "kept = kept + [1]", "let k = len(kept)", "let k = k + 1",
)  # fmt: skip
OPEN = (
    "o.n = m", "record 1 in xs", 'for x in split("a b", " "):\n  call a', "for x in keys(o):\n  call b",
    "repeat k:\n  call a", "for x in v.items:\n  call b", "repeat v.count:\n  call a", "record kept in boxes",
    "let kept = boxes[0]", "append 1 to boxes[0]", "o.box = kept", "let kept = o.box", "boxes[0] = kept",
    "let k = v.score", 'o["n"] = n', "let box = boxes[0]\nrecord 1 in box",
)  # fmt: skip
JUMPS = ("break", "continue", "if flag:\n  break", "if n > 1:\n  continue", "if v says yes:\n  break")
OPTIONS = ("", "", "", ' (on-fail: "continue")', ' (on-fail: "ignore")', ' ("first")', ' ("any", count: 2)')
KINDS = (
    "if else elif choice repeat repeat for for each until while member objects try finally parallel parallel fork fork"
    " pipe reduce list do leave"
).split()
HEADS = {
    "if": ("if CONDITION:",),
    "else": ("if CONDITION:",),
    "elif": ("if CONDITION:",),
    "choice": ("choice the better:",),
    "repeat": ("repeat COUNT as i:",),
    "for": ("for x, i in LIST:",),
    "each": ("loop for each x in LIST (max: COUNT):",),
    "until": ("loop until CONDITION (max: COUNT):",),
    "while": ("loop while CONDITION (max: COUNT):", "loop (max: COUNT):"),
    "member": ("for p in opts:", "parallel for p in optsOPTIONS:"),
    "objects": ("for x in objs:",),
    "try": ("try:",),
    "finally": ("try:",),
    "parallel": ("parallelOPTIONS:",),
    "fork": ("parallel for x, i in LISTOPTIONS:", "let got = parallel repeat COUNT as iOPTIONS:"),
    "pipe": ("let got = LIST | map:", "let got = LIST | pmap:", "let got = LIST | filter:"),
    "reduce": ("let v = LIST | reduce(acc, it):",),
    "list": ("let got = for x in LIST:", "let got = repeat COUNT:", "let got = loop until CONDITION (max: COUNT):"),
    "do": ("do:", "let v = do:"),
    "leave": ("if CONDITION:",),
}
START = [
    "let kept = []", "let got = [1]", "let boxes = [[1]]", "let v = null", "let w = 0", "let k = 1", "let flag = n > 1",
    "let x = null", "let i = 0", "let o = { n: n, box: [1] }",
]  # fmt: skip


class Counted(Writer):
    """Programs that mostly have a bound: what they loop over is given, written in place, or collected by a loop."""

    def simple(self, looping: bool) -> list[str]:
        kind = self.chance.randrange(12)
        if kind < 7:
            return (self.any(("", "let v = ")) + self.any(CALLS)).split("\n")
        if kind == 7 and self.once_in(4):
            return self.any(OPEN).split("\n")
        return self.any([*SIMPLE, *JUMPS] if looping else SIMPLE).split("\n")

    def head(self, kind: str) -> str:
        words = {"CONDITION": CONDITIONS, "COUNT": COUNTS, "LIST": LISTS, "OPTIONS": OPTIONS}
        head = self.any(HEADS[kind])
        for word, choices in words.items():
            head = head.replace(word, self.any(choices))
        return head

    def statement(self, depth: int, looping: bool) -> list[str]:
        if not depth or self.once_in(3):
            return self.simple(looping)
        kind = self.any(KINDS)
        passing = looping if kind in FORKS else kind in ("repeat", "for", "each", "until", "while")
        body = getattr(self, kind, self.block)(depth - 1, passing)
        return nested(self.head(kind), body) + self.rest(kind, depth - 1, looping)

    def rest(self, kind: str, depth: int, looping: bool) -> list[str]:
        """The other branches of a construct."""
        found: list[str] = []
        if kind == "elif":
            found += nested(self.head("if").replace("if", "elif", 1), self.block(depth, looping))
        if kind == "else" or (kind == "elif" and self.once_in(2)):
            found += nested("else:", self.block(depth, looping))
        if kind == "try" or (kind == "finally" and self.once_in(2)):
            found += nested("catch as e:", self.block(depth, looping))
        return found + (nested("finally:", self.simple(False)) if kind == "finally" else [])

    # bodies

    def choice(self, depth: int, looping: bool) -> list[str]:
        options = [nested(f'option "{name}":', self.block(depth, looping)) for name in ("one", "two")]
        return [line for option in options for line in option]

    def member(self, depth: int, looping: bool) -> list[str]:
        return ["call p", *(self.block(depth) if self.once_in(3) else [])]

    def objects(self, depth: int, looping: bool) -> list[str]:
        return nested(self.any(("repeat x.count:", "for y in x.items:", "parallel for y in x.items:")), ["call a"])

    def parallel(self, depth: int, looping: bool) -> list[str]:
        parts = [["let v = call a"], ["let w = call b"], ["do both"], *(self.unnamed(depth) for _ in range(2))]
        return [line for part in self.chance.sample(parts, self.chance.randint(2, 4)) for line in part]

    def unnamed(self, depth: int) -> list[str]:
        """A branch that publishes nothing."""
        return nested("do:", self.block(depth))

    def valued(self, depth: int, looping: bool) -> list[str]:
        return [*self.block(depth, looping), self.any(("call a", "v", "1"))]

    fork = pipe = reduce = list = valued

    def leave(self, depth: int, looping: bool) -> list[str]:
        return [self.any(("return v", "return kept", 'throw "no"'))]

    def program(self) -> str:
        blocks = [
            "block counting(size):", "  repeat size:", "    call a", "  size + 1",
            *nested("block both:", [*(line.replace("both", "counting(2)") for line in self.block(1)), "call b"]),
            "block doubled(items):", "  for item in items:", "    call b", "  return items + items",
        ]  # fmt: skip
        return "\n".join([*blocks, *START, *self.block(2), *(self.statement(2, False)), "return v"])


FORKS = frozenset({"if", "else", "elif", "choice", "try", "finally", "do", "leave"})

INSIDE = """\
---
name: sub
kind: pattern
---

### Slots

- `helper`

### Config

- `size` (integer, default: 2)

### Delegation

```prose
let made = repeat size as j:
  call helper
if made is empty:
  return made
let more = call helper
return { result: made, more: more }
```
"""
COMPONENTS = "## scribe\n\n### Parameters\n\n- `topic`: (optional) what\n\n### Returns\n\n- `text`: it\n- `mood`: how\n"
COMPONENTS += "\n## clerk\n\n### Parameters\n\n- `times` (integer): how often\n\n### Execution\n\n```prose\n"
COMPONENTS += 'repeat times:\n  session "file it"\nreturn call scribe\n  topic: times\n```\n'
CONFIG = "- `n` (integer, default: 2)\n- `m` (integer, default: 1)\n- `unset` (string, default: none)"
ROWS = "xs: array -- (optional)\nobjs: array -- (optional)"


class Service:
    """Answers by chance: text, one word, a number, an object, a list, or a failure."""

    def __init__(self, name: str, chance: random.Random):
        self.name = name
        self.chance = chance

    async def __call__(self, request: Request) -> Reply:
        await asyncio.sleep(0)
        return Reply(self.answer(request))

    def answer(self, request: Request) -> Any:
        """Any answer that the request may get."""
        if request.purpose == "judge":
            return {"verdict": self.chance.random() < 0.5, "reason": ""}
        if request.purpose == "choice":
            return {"option": self.chance.choice(request.options), "reason": ""}
        if self.chance.randrange(25) == 0:
            raise ServiceError("busy", kind=self.chance.choice(["overloaded", "failed"]))
        good = {"score": self.chance.randrange(4), "text": "t", "mood": "m", "count": 2, "items": [1, 2], "yes": True}
        return [good, good, good, "yes", 3, [1, 2, 3], "some words"][self.chance.randrange(7)]


class Seen:
    """Counts what a run does."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.judged = 0

    def __call__(self, event: Event) -> None:
        if isinstance(event, CallStarted) and event.attempt == 1:
            self.calls[event.target] += 1
        if isinstance(event, ConditionDecided) and event.rung == "judge":
            self.judged += 1


def run(
    path: Path, inputs: dict[str, Any], config: dict[str, Any], opts: str, seed: int
) -> tuple[Prepared, Result, Seen]:
    """A run with services that answer by chance."""
    chance, seen = random.Random(seed), Seen()
    one = Service("one", chance)
    bindings = Bindings(ProseYml(), env={"PROSE_DEFAULT": "echo"})
    bindings._services["echo"] = one
    nested = {"pattern": "sub", "with": {"helper": "echo"}, "config": {"size": 1}}
    bind = {"a": one, "b": one, "opts": [one if letter == "s" else nested for letter in opts]}
    prepared = prepare(RunRequest(path.name, inputs, config, bind, path.parent, False, bindings=bindings))
    prepared.limits = Limits(max_calls=400)
    return prepared, asyncio.run(execute(prepared, listeners=[seen])), seen


def holds(what: str, have: int, bound: Range, values: Values, completed: bool) -> None:
    low, high = evaluate(bound.low, values), evaluate(bound.high, values)
    assert low is not None and high is not None, what
    assert not math.isinf(low)
    assert have <= high, f"{what}: {have} of at most {high}"
    assert have >= low or not completed, f"{what}: {have} of at least {low}"


def compare(bounds: Bounds, values: Values, result: Result, seen: Seen) -> None:
    completed = result.error is None
    assert getattr(result.error, "limit", None) != "bound", result.error
    holds("calls", sum(seen.calls.values()), bounds.calls, values, completed)
    holds("judge", seen.judged, bounds.judge, values, completed)
    holds("requests", result.requests, bounds.requests, values, completed)
    for name in {*seen.calls, *bounds.targets}:
        assert name in bounds.targets or bounds.open, f"{name} is called"
        holds(name, seen.calls[name], bounds.targets.get(name, bounds.calls), values, completed)


@dataclass
class Trial:
    """A program, and what it is run with. ``opts`` has a letter for each binding: s service, p pattern."""

    program: str
    config: dict[str, int]
    inputs: dict[str, Any]
    opts: str

    def check(self, folder: Path, seeds: range) -> list[float]:
        """Compare some runs with the bounds that were told before them, and give the most calls that each may make."""
        (folder / "sub.prose.md").write_text(INSIDE, encoding="utf-8")
        path = pattern(folder, self.program, slots="a b opts[]", rows=ROWS, config=CONFIG)
        path.write_text(path.read_text(encoding="utf-8") + "\n" + COMPONENTS, encoding="utf-8")
        faults = [found for found in check_path(path).diagnostics if found.severity == "error"]
        return [] if faults else [self.compare(path, seed) for seed in seeds]

    def compare(self, path: Path, seed: int) -> float:
        prepared, result, seen = run(path, deepcopy(self.inputs), self.config, self.opts, seed)
        compare(prepared.bounds, Values(), result, seen)
        filled = Given(slots=fills(prepared.slots))
        values = Values({**self.config, **self.inputs, "unset": None, "opts": list(self.opts)})
        compare(formulas(prepared.analysis, filled, Wired(prepared.wiring)), values, result, seen)
        return evaluate(prepared.bounds.calls.high, Values()) or 0


def trial(chance: random.Random) -> Trial:
    """A program by chance, with values by chance."""
    objects = [{"count": chance.randrange(3), "items": [1] * chance.randrange(3)} for _ in range(chance.randrange(3))]
    inputs = {"xs": ["x"] * chance.randrange(4), "objs": objects}
    opts = chance.choice(["s", "ss", "sss", "p", "sp", "ps", "spp"])
    return Trial(Counted(chance).program(), {"n": chance.randrange(4), "m": chance.randrange(4)}, inputs, opts)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_a_run_stays_within_its_bounds(chance: random.Random) -> None:
    found = trial(chance)
    note(f"{found.config} {found.inputs} {found.opts}\n{found.program}")
    with tempfile.TemporaryDirectory() as name:
        found.check(Path(name), range(2))


def test_most_of_these_programs_have_a_bound(tmp_path: Path) -> None:
    bounds = [bound for seed in range(25) for bound in trial(random.Random(seed)).check(tmp_path, range(1))]
    assert len(bounds) > 15
    assert sum(math.isfinite(bound) for bound in bounds) > 0.6 * len(bounds)
