"""What models read beyond the author's and the data's own text, and how much of it a provider can have cached.

Each pattern of the library runs once, with roles that answer in texts of 150 words. The least that a call can be told
is its job, the names and values of its inputs, the prompt, and the names of the fields that are asked for. Cached can
be what a call's text begins with in common with an earlier call of the same role.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import prose_runtime as prose
from benchmarks.measure import Row, Scale
from benchmarks.peers import python_of, version_in
from prose_runtime.check.checker import check_path
from prose_runtime.check.project import library
from prose_runtime.errors import ProseError
from prose_runtime.nodes import Slot
from prose_runtime.services.api import Request
from prose_runtime.services.prompt import render
from prose_runtime.services.rehearsal import RehearsalService
from prose_runtime.services.shape import shape_of
from prose_runtime.values import to_text

COUNT = Path(__file__).with_name("programs") / "count_tokens.py"
WORDS = "the tide turns because the earth spins below two bulges of water that the moon and the sun hold up".split()
PUBLISHED = "PROSE_UPSTREAM"
"""The environment variable that names a folder with upstream's public documents, as a model reads them to play."""


@dataclass(slots=True)
class Told:
    """A request as a role reads it, and the author's and the data's part of it."""

    role: str
    text: str
    least: str


def rows(scale: Scale) -> Iterator[Row]:
    """For each pattern the tokens over the least, and the share of its calls' text that stands in a stable prefix."""
    python = python_of("tokens")
    by = f"the least, by litellm {version_in(python, 'litellm')}'s tokenizer for Claude"
    whole: list[tuple[int, int, int]] = []
    for path in sorted(library().glob("*.prose.md")):
        told = asyncio.run(_played(path))
        read, least, cached = _counted(told, python)
        whole.append((read, least, cached))
        name = path.name.removesuffix(".prose.md")
        note = f"{100 * cached / read:.0f} % of it cacheable"
        yield Row(f"{name} ({len(told)} calls)", read, "tokens", by, least, 1.15, note)
    read, least, cached = map(sum, zip(*whole, strict=True))
    yield Row("the whole library", read, "tokens", by, least, 1.15, f"{100 * cached / read:.0f} % of it cacheable")
    yield _machine(python)


def _machine(python: Path) -> Row:
    """What a model that plays the machine itself reads before its first step."""
    folder = os.environ.get(PUBLISHED)
    texts = [path.read_text(encoding="utf-8") for path in sorted(Path(folder).rglob("*.md"))] if folder else []
    note = "" if texts else f"set {PUBLISHED} to a folder with upstream's documents to measure what a model reads there"
    return Row(
        "orchestration before the first step", 0, "tokens", "upstream", sum(_tokens(texts, python)) or None, note=note
    )


async def _played(path: Path) -> list[Told]:
    told: list[Told] = []
    fill = RehearsalService("rehearsal")

    async def role(request: Request) -> Any:
        told.append(Told(request.target, "\n".join(render(request)), _least(request)))
        return _lengthened((await fill(request)).value, len(told))

    analysis = check_path(path)
    inputs = {name: _value(str(item.type)) for name, item in analysis.inputs.items()}
    inputs.pop("briefs", None)  # fan-out takes one brief for all, or one for each
    bind: dict[str, Any] = {slot.name: _members(slot, role) for slot in analysis.spec.slots}
    try:
        await prose.arun(path, inputs, bind=bind, limits={"max_calls": 40})
    except ProseError as error:
        if not told:
            raise SystemExit(f"{path.name}: {error}") from error
    return told


def _members(slot: Slot, role: Any) -> Any:
    return [role] * 3 if slot.is_list else role


def _value(kind: str) -> Any:
    text = _text(60, len(kind))
    return [text, _text(60, 3), _text(60, 5)] if "[]" in kind or kind == "array" else text


def _text(words: int, start: int) -> str:
    return " ".join(WORDS[(start + i * (1 + start % 5)) % len(WORDS)] for i in range(words))


def _lengthened(value: Any, number: int) -> Any:
    """The same answer with texts as long as those of a model."""
    if isinstance(value, str):
        return _text(150, number)
    if isinstance(value, list):
        return [_lengthened(item, number + i) for i, item in enumerate(value)]
    if isinstance(value, dict):
        return {name: _lengthened(item, number) for name, item in value.items()}
    return value


def _least(request: Request) -> str:
    given = [f"{name}: {to_text(value)}" for name, value in request.inputs.items() if value is not None]
    parts = [request.job, request.prompt, *given, " ".join(_fields(shape_of(request) or {}))]
    return "\n".join(part for part in parts if part)


def _fields(schema: Mapping[str, Any]) -> Iterator[str]:
    for name, inner in schema.get("properties", {}).items():
        yield name
        yield from _fields(inner)
    if isinstance(schema.get("items"), Mapping):
        yield from _fields(schema["items"])


def _counted(told: Sequence[Told], python: Path) -> tuple[int, int, int]:
    """Tokens read, the least possible, and those in a prefix that an earlier call of the same role began with."""
    before: dict[str, list[str]] = {}
    shared = []
    for one in told:
        earlier = before.setdefault(one.role, [])
        shared.append(max((_common(one.text, text) for text in earlier), key=len, default=""))
        earlier.append(one.text)
    counts = _tokens([*(t.text for t in told), *(t.least for t in told), *shared], python)
    ends = list(accumulate([len(told)] * 3))
    return sum(counts[: ends[0]]), sum(counts[ends[0] : ends[1]]), sum(counts[ends[1] :])


def _common(one: str, other: str) -> str:
    length = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:length]


def _tokens(texts: Sequence[str], python: Path) -> list[int]:
    done = subprocess.run(
        [str(python), str(COUNT)], input=json.dumps(texts), check=True, capture_output=True, text=True
    )
    counts: list[int] = json.loads(done.stdout)
    return counts
