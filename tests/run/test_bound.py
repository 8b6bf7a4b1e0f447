"""The bound of a run, as it is wired and with the values that it gets."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from prose_runtime.check.bounds import Bounds
from prose_runtime.check.bounds_evaluate import Values, evaluate
from prose_runtime.check.bounds_formula import constant
from prose_runtime.errors import LimitExceeded
from prose_runtime.runtime.session import RunRequest, execute, prepare
from prose_runtime.services.bindings import Bindings
from prose_runtime.services.config import ProseYml
from prose_runtime.testing import script
from support.programs import pattern


def bound(path: Path, **asked: Any) -> Bounds:
    bindings = Bindings(ProseYml(), env={"PROSE_DEFAULT": "echo"})
    return prepare(RunRequest(path.name, base=path.parent, bindings=bindings, **asked)).bounds


def test_it_knows_the_inputs(tmp_path: Path) -> None:
    path = pattern(tmp_path, "for x in xs:\n  call a\n    x: x", rows="xs: array")
    found = bound(path, inputs={"xs": [1, 2, 3]}, bind={"a": script("one")})
    assert (found.calls.low, found.calls.high) == (constant(3), constant(3))


def test_an_optional_input_that_is_not_given_is_not_there(tmp_path: Path) -> None:
    path = pattern(tmp_path, "if extra is present:\n  call a\ncall a", rows="extra: string -- (optional)")
    assert bound(path).calls.high == constant(1)
    assert bound(path, inputs={"extra": "x"}).calls.low == constant(2)


def test_bindings_of_a_list_slot_count_each_by_itself(tmp_path: Path) -> None:
    pattern(tmp_path, "repeat size:\n  call helper", slots="helper", config="- `size` (integer)", name="sub")
    path = pattern(tmp_path, "for o in options:\n  call o\n    said: 1", slots="options[]")
    nested = [{"pattern": "sub", "config": {"size": size}} for size in (2, 5)]
    found = bound(path, bind={"options": [script("one"), *nested]})
    assert (found.calls.low, found.calls.high) == (constant(8), constant(8))
    assert {name: r.high for name, r in found.targets.items()} == {"options": constant(1), "helper": constant(7)}


def test_a_value_that_may_be_any_binding_counts_as_the_dearest_one(tmp_path: Path) -> None:
    pattern(tmp_path, "repeat size:\n  call helper", slots="helper", config="- `size` (integer)", name="sub")
    nested = [{"pattern": "sub", "config": {"size": size}} for size in (2, 5)]
    for call in ("let who = options[1]\ncall who", "call one\n  helper: options[1]"):
        pattern(tmp_path, "call helper", slots="helper", name="one")
        path = pattern(tmp_path, f"let notes = [1]\nnotes[0] = 2\n{call}", slots="options[]")
        assert evaluate(bound(path, bind={"options": [script("one"), *nested]}).calls.high, Values()) == 5


def test_a_list_of_bindings_that_is_passed_fills_a_slot(tmp_path: Path) -> None:
    pattern(tmp_path, "for one in members:\n  call one", slots="members[]", name="sub")
    path = pattern(tmp_path, "call sub\n  members: [a, b, a]", slots="a b")
    assert bound(path).calls.high == constant(3)


def test_a_run_stops_at_its_bound(tmp_path: Path) -> None:
    path = pattern(tmp_path, "call a\ntry:\n  call a\ncatch:\n  call a\ncall a")
    bindings = Bindings(ProseYml(), env={"PROSE_DEFAULT": "echo"})
    prepared = prepare(RunRequest(path.name, base=path.parent, record=False, bindings=bindings))
    prepared.bounds = bound(pattern(tmp_path, "call a", name="smaller"))
    result = asyncio.run(execute(prepared))
    assert isinstance(result.error, LimitExceeded)
    assert (result.error.limit, result.error.exit_code, result.requests) == ("bound", 4, 1)
