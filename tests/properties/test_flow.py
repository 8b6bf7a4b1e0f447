"""The flow analysis misses nothing: what a role is really told by another one is a flow that the analysis knows."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prose_runtime as prose
from prose_runtime.check.checker import check_path
from prose_runtime.check.flow import flow_of
from prose_runtime.check.project import Project
from prose_runtime.errors import ProseError
from prose_runtime.events import CallStarted, Event
from prose_runtime.nodes import Spec
from prose_runtime.services.api import Request
from support.commands import ROOT
from support.programs import pattern

LIBRARY = sorted((ROOT / "patterns").glob("*.prose.md"))


def filled(schema: Mapping[str, Any] | None, token: str) -> Any:
    """A value of a shape in which every text is the token."""
    kind = (schema or {}).get("type")
    if isinstance(kind, list):
        kind = kind[0]
    if kind == "object":
        assert schema is not None
        return {name: filled(part, token) for name, part in schema.get("properties", {}).items()} or {"it": token}
    if kind == "array":
        assert schema is not None
        return [filled(schema.get("items"), token)] * 2
    return {"boolean": False, "number": 1, "integer": 1}.get(str(kind), token)


def told(path: Path, spec: Spec, inputs: dict[str, Any]) -> set[tuple[str, str]]:
    """Pairs of a role and another one whose token stood in what it was told."""
    found: set[tuple[str, str]] = set()

    def listen(event: Event) -> None:
        if isinstance(event, CallStarted):
            text = json.dumps(event.inputs) + str(event.prompt)
            found.update((event.target, slot.name) for slot in spec.slots if f"<{slot.name}>" in text)

    def role(name: str) -> Any:
        async def answer(request: Request) -> Any:
            return filled(request.schema, f"<{name}>")

        return answer

    bind = {slot.name: [role(slot.name)] * 2 if slot.is_list else role(slot.name) for slot in spec.slots}
    with contextlib.suppress(ProseError):  # how the run ends does not matter here
        asyncio.run(prose.arun(path, inputs, bind=bind, on_event=listen))
    return found


def known(path: Path) -> tuple[Spec, set[tuple[str, str]]]:
    project = Project.around(path)
    spec = check_path(path, project).spec
    flow = flow_of(spec, project)
    assert flow is not None
    labels = {
        (role, label.name)
        for role, values in flow.received.items()
        for value in values.values()
        for label in value.data
        if label.kind in ("output", "error")
    }
    return spec, labels


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.name.partition(".")[0])
def test_the_library_tells_nobody_more_than_is_known(path: Path) -> None:
    spec, flows = known(path)
    config = {item.name for item in spec.config}
    lists = {row.name for row in spec.parameters if row.type and (row.type.endswith("[]") or row.type == "array")}
    names = {row.name for row in spec.parameters} - {slot.name for slot in spec.slots} - config
    inputs = {name: ["one", "two"] if name in lists else "a text" for name in sorted(names)}
    assert told(path, spec, inputs) <= flows


NAMES = ("x", "y", "xs", "o")


def expressions() -> st.SearchStrategy[str]:
    names = st.sampled_from(["x", "y", "o", "o.f", "o.g", "xs", "xs[0]", "topic", "1"])
    return st.one_of(
        names,
        st.builds("[{}, {}]".format, names, names),
        st.builds("{{ f: {}, g: {} }}".format, names, names),
        st.builds('"{{{}}} and"'.format, st.sampled_from(["x", "y", "o.f"])),
        st.builds("{} or {}".format, names, names),
        st.builds("({} if {} else {})".format, names, names, names),
        st.builds("call {}(x: {})".format, st.sampled_from("abc"), names),
    )


def lines(depth: int = 2) -> st.SearchStrategy[list[str]]:
    e = expressions()
    simple = st.one_of(
        st.builds("let {} = {}".format, st.sampled_from(NAMES), e),
        st.builds("let o.{} = {}".format, st.sampled_from("fg"), e).map(lambda line: line.removeprefix("let ")),
        st.builds("record {} in xs".format, e),
        st.builds("call {}(x: {})".format, st.sampled_from("abc"), e),
        st.sampled_from(
            ["let o = { f: 1, g: 2 }", "let xs = []", "let z = xs", "record x in z", "let y = xs | map: item"]
        ),
        st.builds("let y = do say({})".format, e),
    ).map(lambda line: [line])
    if not depth:
        return simple

    def block(head: str, body: list[str]) -> list[str]:
        return [head, *(f"  {line}" for line in body)]

    loops = "repeat 2:|for each i in [1, 2]:|let xs = repeat 2:|let xs = parallel repeat 2:|parallel for i in [1, x]:"
    heads = st.sampled_from(f"if topic:|if x:|do:|parallel repeat 2:|{loops}".split("|"))
    inner = st.lists(lines(depth - 1), min_size=1, max_size=3).map(
        lambda parts: [one for part in parts for one in part]
    )
    tried = st.builds(lambda a, b: [*block("try:", a), *block("catch as y:", b)], inner, inner)
    return st.one_of(simple, simple, st.builds(block, heads, inner), tried)


PROGRAMS = st.lists(lines(), min_size=4, max_size=10).map(
    lambda parts: "\n".join(one for part in parts for one in part)
)
START = (
    "block say(p):\n  record p in xs\n  return { f: p, g: x }\n"
    "let x = call a(x: topic)\nlet y = call b(x: topic)\nlet o = { f: x, g: 2 }\nlet xs = [y]\nlet z = xs\n"
)


@settings(max_examples=60, deadline=None)
@given(PROGRAMS)
def test_generated_programs_tell_nobody_more_than_is_known(
    tmp_path_factory: pytest.TempPathFactory, program: str
) -> None:
    path = pattern(tmp_path_factory.mktemp("flow"), START + program, slots="a b c", rows="topic: string")
    spec, flows = known(path)
    assert told(path, spec, {"topic": "a text"}) <= flows, path.read_text()
