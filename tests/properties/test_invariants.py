"""A proof is never wrong: what is proved of a random program holds in each of its runs, whatever the roles say."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from prose_runtime.check.checker import check_path
from prose_runtime.depth import make_room
from prose_runtime.errors import ServiceError
from prose_runtime.runtime.limits import Limits
from prose_runtime.runtime.session import RunRequest, execute, prepare
from prose_runtime.services.api import Reply, Request
from prose_runtime.services.bindings import Bindings
from prose_runtime.services.config import ProseYml
from support.breaches import LISTED, ROLES, SENTENCES, Breach, Story, mark
from support.programs import pattern
from support.writing import Writer, nested

make_room()  # a run raises the limit of recursion, which Hypothesis wants to stay as it is

VALUES = "x y o.f o.g xs[0] xs topic topic topic 1 v v.text o n".split()
CONDITIONS = (
    "v.approved", "not v.approved", "v approves", "v rejects", "v does not approve", "w approves", "n > 1", "x",
    "y is present",
)  # fmt: skip
PLAIN = (
    "let xs = []", "let o = { f: 1, g: 2 }", "let x = xs[0]", "record x in xs", "o.f = 1", "o.g = x", "xs[0] = 1",
    "let n = 1", "let topic = 1", "let { f, g } = o", "let xs = xs | filter: item", "let ps = [ps[1], ps[0]]",
    "do say(1)", "do say(x)", "do both", "do any", "let xs = [do say(1), call a(x: topic), do say(2)]",
    "for m in ps:\n  call m(x: x)", "for m in ps:\n  call m(x: topic)", "for m, i in ps:\n  call m(x: i)",
    "for m in ps:\n  do ask(m)", "for m in ps:\n  do ask(ps[0])", "let x = call ps[0](x: topic)",
    "for m in ps:\n  let q = call m(x: topic)\n  call m(x: q)", "parallel for m in ps:\n  call m(x: x)",
    "let xs = parallel for m in ps:\n  call m(x: topic)", "parallel for m, i in ps:\n  call m(x: xs[i])",
    "let xs = [1, 2] | map:\n  call a(x: item)", "let xs = [1, 2] | pmap:\n  call b(x: item)",
    "let y = [1, 2] | reduce(acc, it):\n  call c(x: acc)",
)  # fmt: skip
JUMPS = ("break", "continue", "if x:\n  break", "if v.approved:\n  continue")
HEADS = {
    "repeat": ("repeat 2:", "repeat n:", "repeat 3 as i:", "repeat n - 1:", "repeat len(xs):"),
    "for": ("for i in [1, 2]:", "for i in xs:", "for i in [x, y]:"),
    "loop": ("loop until CONDITION (max: 2):", "loop while CONDITION (max: n):"),
    "fork": ("parallel repeat 2:", "parallel repeat n as i:", "let xs = parallel for i in [1, x]:"),
    "list": ("let xs = repeat 2:", "let xs = for i in xs:"),
    "race": ('parallel repeat 2 ("first"):', 'parallel for i in [1, 2] ("any", count: 1):'),
    "member": ("for m in ps:", "parallel for m in ps:", "let xs = for m in ps:"),
    "stage": ("let xs = [1, 2] | map:", "let xs = xs | pmap:", "let xs = [x, y] | filter:"),
    "parallel": ("parallel:", 'parallel ("first"):', 'parallel ("any", count: 1):', 'parallel (on-fail: "ignore"):'),
    "do": ("do:", "let x = do:"),
    "if": ("if CONDITION:",),
    "else": ("if CONDITION:",),
    "try": ("try:",),
    "choice": ("choice the better one:",),
}  # fmt: skip
START = ["let x = null", "let y = 1", "let v = null", "let w = null", "let o = { f: 0, g: 2 }", "let xs = []"]
BLOCKS = [
    "block say(p):", "  let q = call c(x: p)", "  return { f: p, g: q }", "block ask(m):", "  call m(x: 1)",
    "block both:", "  call a(x: topic)", "  call b(x: topic)",
]  # fmt: skip


class Claimed(Writer):
    """Programs over three roles and a list of two."""

    def value(self) -> str:
        return self.any(VALUES)

    def call(self) -> str:
        return f"call {self.any(ROLES)}(x: {self.value()})"

    def expression(self) -> str:
        one, two = self.value(), self.value()
        condition = self.any(CONDITIONS)
        return self.any(
            [one, one, f"[{one}, {two}]", f"{{ f: {one}, g: {two} }}", f"{one} or {two}", f"xs + [{one}]", "do any",
             f"do say({one})", f"({one} if {condition} else {two})", f"({self.call()} if {condition} else {one})"]
        )  # fmt: skip

    def simple(self, looping: bool) -> list[str]:
        kind = self.chance.randrange(6)
        if kind < 2:
            return [f"let {self.any('xyvvw')} = {self.call()}"]
        if kind == 2:
            return [self.call()]
        if kind == 3:
            return [f"let {self.any(['x', 'y', 'o', 'xs', 'v', 'topic', 'n'])} = {self.expression()}"]
        return self.any([*PLAIN, *JUMPS] if looping else PLAIN).split("\n")

    def statement(self, depth: int, looping: bool) -> list[str]:
        if not depth or self.chance.randrange(9) < 4:
            return self.simple(looping)
        kind = self.any(sorted(HEADS))
        head = self.any(HEADS[kind]).replace("CONDITION", self.any(CONDITIONS))
        passing = looping if kind in ("if", "else", "try", "do", "choice") else kind in ("repeat", "for", "loop")
        body = self.block(depth - 1, passing)
        if kind == "choice":
            options = [nested(f'option "{name}":', self.block(depth - 1, looping)) for name in ("one", "two")]
            return nested(head, [line for option in options for line in option])
        if kind == "parallel":
            body = [f"let x = {self.call()}", f"let y = {self.call()}", *nested("do:", body), "do any"]
        elif kind in ("member", "stage"):
            body.append(f"call m(x: {self.value()})" if kind == "member" else "x")
        return nested(head, body) + self.rest(kind, depth, looping)

    def rest(self, kind: str, depth: int, looping: bool) -> list[str]:
        """The other branches of a construct."""
        if kind == "else":
            return nested("else:", self.block(depth - 1, looping))
        if kind != "try":
            return []
        caught = nested("catch as problem:", self.block(depth - 1, looping))
        return caught + (nested("finally:", self.simple(False)) if self.once_in(3) else [])

    def program(self) -> list[str]:
        body = [*self.statement(2, False), *(self.block(1) if self.chance.randrange(2) else [])]
        return [*BLOCKS, *nested("block any:", self.block(1)), *START, *body, "return y"]


class Service:
    """Answers by chance with its own mark; some answers are late, some fail."""

    def __init__(self, role: str, number: int, chance: random.Random, serial: list[int]):
        self.role, self.number, self.chance, self.serial = role, number, chance, serial
        self.name = f"{role}{number}"

    async def __call__(self, request: Request) -> Reply:
        if request.purpose == "judge":
            return Reply({"verdict": self.chance.random() < 0.5, "reason": ""})
        if request.purpose == "choice":
            return Reply({"option": self.chance.choice(request.options), "reason": ""})
        for _ in range(self.chance.randint(0, 3)):
            await asyncio.sleep(0)
        if self.chance.random() < 0.05:
            raise ServiceError("busy", kind="failed")
        self.serial[0] += 1
        text = mark(self.role, self.number, self.serial[0], json.dumps(request.inputs) + str(request.prompt))
        return Reply(self.filled(request.schema, "", self.chance.random() < 0.5, text))

    def filled(self, schema: Any, name: str, approved: bool, text: str) -> Any:
        kind = (schema or {}).get("type")
        kind = kind[0] if isinstance(kind, list) else kind
        if kind == "object":
            parts = schema.get("properties", {}).items()
            return {key: self.filled(part, key, approved, text) for key, part in parts} or {"it": text}
        if kind == "array":
            return [self.filled(schema.get("items"), "", approved, text)] * 2
        if kind == "boolean" or name == "approved":
            return approved
        return 1 if kind in ("number", "integer") else text


def broken(path: Path, seeds: range) -> set[Breach]:
    """What runs of a program break."""
    found: set[Breach] = set()
    for seed in seeds:
        chance, serial, story, n = random.Random(seed), [0], Story(), (2, 1, 3)[seed % 3]
        bindings = Bindings(ProseYml(), env={"PROSE_DEFAULT": "echo"})
        bindings._services["echo"] = Service("judge", 0, chance, serial)
        bind: dict[str, Any] = {role: Service(role, 0, chance, serial) for role in ROLES}
        bind[LISTED] = [Service(LISTED, number, chance, serial) for number in (0, 1)]
        asked = RunRequest(path.name, {"topic": "t"}, {"n": n}, bind, path.parent, False, bindings=bindings)
        prepared = prepare(asked)
        prepared.limits = Limits(max_calls=60)
        result = asyncio.run(execute(prepared, listeners=[story]))
        found |= story.broken(result.error is None, n)
    return found


def written(folder: Path, lines: list[str], *, claims: bool) -> Path:
    listed = "### Invariants\n\n" + "\n".join(f"- {sentence}" for sentence in SENTENCES.values()) + "\n"
    folder.mkdir(exist_ok=True)
    config, extra = "- `n` (integer, default: 2)", listed if claims else ""
    return pattern(folder, "\n".join(lines), slots="a b c ps[]", rows="topic: string", config=config, extra=extra)


def wrongly_proved(folder: Path, lines: list[str], seeds: range) -> set[Breach]:
    """The sentences that are proved of a program and broken by a run."""
    path = written(folder, lines, claims=False)
    if any(found.severity == "error" for found in check_path(path).diagnostics):
        return set()
    verdicts = check_path(written(folder / "claims", lines, claims=True)).verdicts
    proved = {key for key, verdict in zip(SENTENCES, verdicts, strict=True) if verdict.status == "proved"}
    return proved & broken(path, seeds)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_what_is_proved_is_never_broken(tmp_path_factory: pytest.TempPathFactory, chance: random.Random) -> None:
    lines = Claimed(chance).program()
    note("\n".join(lines))
    assert wrongly_proved(tmp_path_factory.mktemp("proofs"), lines, range(8)) == set()
