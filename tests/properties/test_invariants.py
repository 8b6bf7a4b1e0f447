"""A proof is never wrong: what is proved of a random program holds in each of its runs, whatever the roles say."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import Counter
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
from support.programs import pattern

make_room()  # a run raises the limit of recursion, which Hypothesis wants to stay as it is

Breach = tuple[str, ...]
PAIRS = [(x, y) for x in "abc" for y in "abc" if x != y]
SENTENCES: dict[Breach, str] = {
    **{("never", x, y): f"`{x}` never sees the output of `{y}`." for x, y in PAIRS},
    **{("only", x, y): f"`{x}` sees only the output of `{y}`." for x, y in PAIRS},
    **{("if", x, y): f"`{x}` runs only when `{y}` approves." for x, y in PAIRS},
    **{("order", x, y): f"`{x}` runs before `{y}`." for x, y in PAIRS},
    **{("most", x, k): f"`{x}` runs at most {k} times." for x in "abc" for k in "12"},
    **{("least", x, k): f"`{x}` runs at least {k} times." for x in "abc" for k in "12"},
    ("mutual", "ps", "ps"): "No `ps` sees the output of another `ps`.",
    ("never", "ps", "a"): "`ps` never sees the output of `a`.",
}
VALUES = st.sampled_from(["x", "y", "o.f", "o.g", "xs[0]", "xs", "topic", "1", "v", "v.text", "o"])
CONDITIONS = st.sampled_from(
    ["v.approved", "not v.approved", "v approves", "v rejects", "v does not approve", "n > 1", "x", "y is present"]
)
ROLES = st.sampled_from("abc")
FORKS = ("parallel repeat 2:", "let xs = repeat 2:", "let xs = parallel for i in [1, x]:")


def indented(lines: list[str]) -> list[str]:
    return ["  " + line for line in lines]


def expressions() -> st.SearchStrategy[str]:
    return st.one_of(
        VALUES,
        st.builds("[{}, {}]".format, VALUES, VALUES),
        st.builds("{{ f: {}, g: {} }}".format, VALUES, VALUES),
        st.builds("{} or {}".format, VALUES, VALUES),
        st.builds("({} if {} else {})".format, VALUES, CONDITIONS, VALUES),
        st.builds("xs + [{}]".format, VALUES),
        st.builds("do say({})".format, VALUES),
    )


@st.composite
def blocks(draw: Any, depth: int, looping: bool = False) -> list[str]:
    return [line for _ in range(draw(st.integers(1, 3))) for line in draw(statements(depth, looping))]


@st.composite
def statements(draw: Any, depth: int, looping: bool) -> list[str]:
    if not depth or draw(st.booleans()):
        return list(draw(simple(looping)))
    kind = draw(st.sampled_from(["if", "else", "leave", "repeat", "for", "loop", "try", "parallel", "fork"]))
    condition = draw(CONDITIONS)
    if kind == "leave":
        return [f"if {condition}:", draw(st.sampled_from(["  return x", '  throw "no"']))]
    if kind == "parallel":
        parts = ["let x = call a(x: topic)", "let y = call b(x: x)", "do:", *indented(draw(blocks(depth - 1)))]
        return ["parallel:", *indented(parts)]
    heads = {
        "repeat": f"repeat {draw(st.sampled_from(['2', 'n']))}:",
        "for": f"for i in {draw(st.sampled_from(['[1, 2]', 'xs', '[x, y]']))}:",
        "loop": f"loop {draw(st.sampled_from(['until', 'while']))} {condition} (max: 2):",
        "fork": draw(st.sampled_from(FORKS)),
        "try": "try:",
    }
    inside = looping if kind in ("if", "else", "try") else kind != "fork"
    found = [heads.get(kind, f"if {condition}:"), *indented(draw(blocks(depth - 1, inside)))]
    other = {"else": "else:", "try": "catch as problem:"}.get(kind)
    return [*found, other, *indented(draw(blocks(depth - 1, inside)))] if other else found


def simple(looping: bool) -> st.SearchStrategy[list[str]]:
    fixed = [
        "let xs = []", "let o = { f: 1, g: 2 }", "let x = xs[0]", "record x in xs", "for m in ps:\n  call m(x: x)",
        "let xs = parallel for m in ps:\n  call m(x: topic)", "parallel for m, i in ps:\n  call m(x: xs[i])",
        "for m in ps:\n  let q = call m(x: topic)\n  call m(x: q)", "let x = call ps[0](x: topic)",
        "let xs = xs | filter: item", *(["break", "continue"] if looping else []),
    ]  # fmt: skip
    return st.one_of(
        st.builds("let {} = call {}(x: {})".format, st.sampled_from("xyvv"), ROLES, VALUES),
        st.builds("call {}(x: {})".format, ROLES, VALUES),
        st.builds("let {} = {}".format, st.sampled_from(["x", "y", "o", "xs", "v"]), expressions()),
        st.builds("o.{} = {}".format, st.sampled_from("fg"), VALUES),
        st.sampled_from(fixed),
    ).map(lambda text: text.split("\n"))


START = ["let x = null", "let y = 1", "let v = call a(x: topic)", "let o = { f: 0, g: 2 }", "let xs = []"]
BLOCK = ["block say(p):", "  let q = call c(x: p)", "  return { f: p, g: q }"]
TOKEN = re.compile(r"<(\w+)\.(\d)>")


class Service:
    """Answers by chance with its own mark, and says what it is asked and answers."""

    def __init__(self, role: str, number: int, chance: random.Random, story: list[tuple[Any, ...]]):
        self.role, self.number, self.chance, self.story = role, number, chance, story
        self.name = f"{role}{number}"

    async def __call__(self, request: Request) -> Reply:
        if request.purpose == "judge":
            return Reply({"verdict": self.chance.random() < 0.5, "reason": ""})
        for _ in range(self.chance.randint(0, 2)):
            await asyncio.sleep(0)
        self.story.append(("told", self.role, self.number, json.dumps(request.inputs)))
        if self.chance.random() < 0.05:
            raise ServiceError("busy", kind="failed")
        approved = self.chance.random() < 0.5
        answer = self.filled(request.schema, "", approved)
        self.story.append(("said", self.role, approved if isinstance(answer, dict) and "approved" in answer else None))
        return Reply(answer)

    def filled(self, schema: Any, name: str, approved: bool) -> Any:
        kind = (schema or {}).get("type")
        kind = kind[0] if isinstance(kind, list) else kind
        if kind == "object":
            fields = {key: self.filled(part, key, approved) for key, part in schema.get("properties", {}).items()}
            return fields or {"it": f"<{self.role}.{self.number}>"}
        if kind == "array":
            return [self.filled(schema.get("items"), "", approved)] * 2
        if kind == "boolean" or name == "approved":
            return approved
        return 1 if kind in ("number", "integer") else f"<{self.role}.{self.number}>"


def breaches(story: list[tuple[Any, ...]], completed: bool) -> set[Breach]:
    """The sentences that a run surely broke."""
    found: set[Breach] = set()
    said: dict[str, bool | None] = {}
    calls: Counter[str] = Counter()
    for what, role, *rest in story:
        if what == "said":
            said[role] = rest[0]
            continue
        number, text = rest
        for seen, other in TOKEN.findall(text):
            found.add(("never", role, seen))
            found |= {("only", role, allowed) for allowed in "abc" if allowed != seen}
            if (role, seen) == ("ps", "ps") and int(other) != number:
                found.add(("mutual", "ps", "ps"))
        found |= {("if", role, guard) for guard in "abc" if said.get(guard, False) is False}
        found |= {("order", first, role) for first in "abc" if not calls[first]}
        calls[role] += 1
    for role in "abc":
        found |= {("most", role, k) for k in "12" if calls[role] > int(k)}
        found |= {("least", role, k) for k in "12" if completed and calls[role] < int(k)}
    return found


def broken(path: Path, seeds: range) -> set[Breach]:
    """What runs of a program break."""
    found: set[Breach] = set()
    for seed in seeds:
        chance, story = random.Random(seed), list[tuple[Any, ...]]()
        bindings = Bindings(ProseYml(), env={"PROSE_DEFAULT": "echo"})
        bindings._services["echo"] = Service("judge", 0, chance, story)
        bind: dict[str, Any] = {role: Service(role, 0, chance, story) for role in "abc"}
        bind["ps"] = [Service("ps", number, chance, story) for number in (0, 1)]
        asked = RunRequest(path.name, {"topic": "t"}, {}, bind, path.parent, False, bindings=bindings)
        prepared = prepare(asked)
        prepared.limits = Limits(max_calls=60)
        result = asyncio.run(execute(prepared))
        found |= breaches(story, result.error is None)
    return found


def written(folder: Path, lines: list[str], *, claims: bool) -> Path:
    listed = "### Invariants\n\n" + "\n".join(f"- {sentence}" for sentence in SENTENCES.values()) + "\n"
    folder.mkdir(exist_ok=True)
    config = "- `n` (integer, default: 2)"
    body = "\n".join(lines)
    return pattern(
        folder, body, slots="a b c ps[]", rows="topic: string", config=config, extra=listed if claims else ""
    )


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(blocks(2), blocks(2))
def test_what_is_proved_is_never_broken(
    tmp_path_factory: pytest.TempPathFactory, one: list[str], two: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("proofs")
    lines = [*BLOCK, *START, *one, *two, "return y"]
    path = written(folder, lines, claims=False)
    if any(found.severity == "error" for found in check_path(path).diagnostics):
        return
    verdicts = check_path(written(folder / "claims", lines, claims=True)).verdicts
    proved = {key for key, verdict in zip(SENTENCES, verdicts, strict=True) if verdict.status == "proved"}
    note("\n".join(lines))
    assert not proved & broken(path, range(8))
