"""Bounds of calls against the interpreter: no run of a random program makes more calls than the bound, or fewer."""

from __future__ import annotations

import asyncio
import math
import random
import tempfile
from collections import Counter
from copy import deepcopy
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

make_room()  # a run raises the limit of recursion, which Hypothesis wants to stay as it is

CONDITIONS = (
    "n > 1", "k > 2", "len(l1) > 1", "v is absent", "l2 is empty", "the moon is up", "v says yes", "flag", "not flag",
    "n > 1 and the moon is up", "v says yes or k > 2", "w meets m", "unset says v is failure", "v.score > 1",
)  # fmt: skip
COUNTS = (
    "n", "m", "2", "n - 1", "n + m", "k", "len(l1)", "min(n, 2)", "n * m", "unset or 2", "round(n / 2)", "len(xs)",
    "o.n",
)  # fmt: skip
LISTS = ("xs", "l1", "l2", "opts", "[1, 2]", "xs + l1", "objs", "boxes")
CALLS = (
    "call a", "call b", "call opts[0]", "call a\nretry: 1", "call b\nretry: m", "call scribe\ntopic: n",
    "call sub\nsize: n", "call sub\nwhatever: o", "call sub\nsize: o.n", "call sub", "call a\nx: l1",
    "session \"hello\"",
)  # fmt: skip


def indented(lines: list[str]) -> list[str]:
    return ["  " + line for line in lines]


@st.composite
def call(draw: Any, prefix: str = "") -> list[str]:
    head, *more = draw(st.sampled_from(CALLS)).split("\n")
    return [prefix + head, *indented(more)]


@st.composite
def simple(draw: Any, inside: frozenset[str]) -> list[str]:
    fixed = [
        "record v in l1", "record 1 in l2", "l2 = l1", "let l2 = []", "l1 = l1 + [1]", "let k = len(l1)", "k = k + 1",
        "let k = n", "emit k", "record l1 in boxes", "let flag = true", "let w = v.score", "let v = null",
        "record 1 in xs", "let l2 = xs", "let l1 = l2", "throw \"no\"", "return l1", "let k = do counting(n)",
        "do twice", "let l1 = do grown(l2)", "let box = boxes[0]", "let l2 = boxes[0]", "append 1 to boxes[0]",
        "o.n = k", "let k = o.n", "let box = o.box", "o[\"n\"] = n", "boxes[0] = l1",
    ]  # fmt: skip
    if "loop" in inside:
        fixed += ["break", "continue", "let k = x.count", "let last = x", "let l2 = x.items", "let k = i"]
    kind = draw(st.integers(0, 9))
    if kind < 3:
        return draw(call())
    if kind < 6:
        return draw(call("let v = "))
    return [draw(st.sampled_from(fixed))]


@st.composite
def statement(draw: Any, depth: int, inside: frozenset[str]) -> list[str]:
    if depth == 0 or draw(st.integers(0, 2)) == 0:
        return draw(simple(inside))
    kind = draw(
        st.sampled_from(
            ["if", "repeat", "for", "loop", "try", "parallel", "fork", "pipe", "collected", "choice", "or", "value if"]
        )
    )
    body = block(depth - 1, inside)
    in_loop = block(depth - 1, inside | {"loop"})
    own = block(depth - 1, inside - {"loop"})
    condition, count = draw(st.sampled_from(CONDITIONS)), draw(st.sampled_from(COUNTS))
    items = draw(st.sampled_from(LISTS))
    options = draw(st.sampled_from(["", ' (on-fail: "continue")', ' ("first")', ' ("any", count: 2)']))
    if kind == "if":
        found = [f"if {condition}:", *indented(draw(body))]
        return found + (["else:", *indented(draw(body))] if draw(st.booleans()) else [])
    if kind == "repeat":
        return [f"repeat {count} as i:", *indented(draw(in_loop))]
    if kind == "for":
        return [f"for x, i in {items}:", *indented(draw(in_loop))]
    if kind == "loop":
        word = draw(st.sampled_from([f"until {condition}", f"while {condition}", "", f"for each x in {items}"]))
        return [" ".join(part for part in ("loop", word, f"(max: {count}):") if part), *indented(draw(in_loop))]
    if kind == "try":
        found = ["try:", *indented(draw(body)), "catch as e:", *indented(draw(body))]
        return found + (["finally:", *indented(draw(simple(frozenset())))] if draw(st.booleans()) else [])
    if kind == "parallel":
        parts = [["let v = call a"], ["let w = call b"], *[draw(statement(depth - 1, frozenset())) for _ in range(2)]]
        return [f"parallel{options}:", *[line for part in parts for line in indented(part)]]
    if kind == "fork":
        head = draw(st.sampled_from([f"parallel for x, i in {items}", f"parallel repeat {count} as i"]))
        name = draw(st.sampled_from(["", "let l1 = ", "let l2 = "]))
        return [f"{name}{head}{options}:", *indented(draw(own)), "  v"]
    if kind == "pipe":
        stage = draw(st.sampled_from(["map", "pmap", "filter", "reduce(acc, x)"]))
        return [f"let l1 = {items} | {stage}:", *indented(draw(own)), "  v"]
    if kind == "collected":
        head = draw(st.sampled_from([f"for x, i in {items}", f"repeat {count} as i"]))
        return [f"let l2 = {head}:", *indented(draw(in_loop)), "  v"]
    if kind == "choice":
        one, two = ['option "one":', *indented(draw(body))], ['option "two":', "  k"]
        return ["choice the better:", *indented(one + two)]
    if kind == "or":
        return ["let v = flag and call a", "let w = v or call b", f"let k = 2 if {condition} else n"]
    return [f"let v = if {condition}:", *indented(draw(body)), "  call a"]


@st.composite
def block(draw: Any, depth: int, inside: frozenset[str]) -> list[str]:
    return [line for _ in range(draw(st.integers(1, 3))) for line in draw(statement(depth, inside))]


@st.composite
def programs(draw: Any) -> str:
    start = [
        "let l1 = []", "let l2 = [1]", "let boxes = [[1]]", "let v = null", "let w = 0", "let k = 1",
        "let flag = n > 1", "let x = null", "let i = 0", "let o = {n: 1, box: [1]}",
    ]  # fmt: skip
    blocks = [
        "block counting(size):", "  repeat size:", "    call a", "  size + 1",
        "block twice:", *indented(draw(block(1, frozenset()))), "  call b",
        "block grown(items):", "  record 1 in items", "  for item in items:", "    call b", "  items",
    ]  # fmt: skip
    return "\n".join([*start, *draw(block(3, frozenset())), *draw(block(2, frozenset())), "return v", *blocks])


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
COMPONENT = "## scribe\n\n### Parameters\n\n- `topic`: (optional) what\n\n### Returns\n\n- `text`: it\n- `mood`: how\n"
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
        kind = self.chance.randrange(8)
        if kind == 0:
            raise ServiceError("busy", kind=self.chance.choice(["overloaded", "failed"]))
        good = {"score": self.chance.randrange(4), "text": "t", "mood": "m", "count": 2, "items": [1, 2], "yes": True}
        return [good, good, good, "yes", 3, [1, 2, 3], "some words"][kind - 1]


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
    """A run with services that answer by chance. ``opts`` has a letter for each binding: s service, p pattern."""
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


numbers_ = st.integers(0, 3)
objects = st.lists(st.fixed_dictionaries({"count": numbers_, "items": st.lists(st.just(1), max_size=2)}), max_size=3)
texts = st.lists(st.just("x"), max_size=3)
services = st.sampled_from(["s", "ss", "sss", "p", "sp", "ps", "spp"])


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), numbers_, numbers_, objects, texts, services, st.integers())
def test_a_run_stays_within_its_bounds(
    program: str, n: int, m: int, objs: list[Any], xs: list[str], opts: str, seed: int
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sub.prose.md").write_text(INSIDE, encoding="utf-8")
        path = pattern(folder, program, slots="a b opts[]", rows=ROWS, config=CONFIG)
        path.write_text(path.read_text(encoding="utf-8") + "\n" + COMPONENT, encoding="utf-8")
        if any(d.severity == "error" for d in check_path(path).diagnostics):
            return
        config, inputs = {"n": n, "m": m}, {"xs": xs, "objs": objs}
        prepared, result, seen = run(path, deepcopy(inputs), config, opts, seed)
        note(f"{config} {inputs} {opts}\n{program}\n{seen.calls} {result.error}")
        compare(prepared.bounds, Values(), result, seen)
        filled = Given(slots=fills(prepared.slots))
        values = Values({**config, **inputs, "unset": None, "opts": list(opts)})
        compare(formulas(prepared.analysis, filled, Wired(prepared.wiring)), values, result, seen)
