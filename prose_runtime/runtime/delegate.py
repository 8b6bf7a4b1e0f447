"""Running one unit: its inputs and config become names, its body runs, its result is checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prose_runtime.errors import RunFailed
from prose_runtime.nodes import Spec
from prose_runtime.runtime.contracts import bare, check_parameters, check_returns
from prose_runtime.runtime.core import Activation, execute
from prose_runtime.runtime.frame import Frame
from prose_runtime.runtime.unit import Run, Unit, UnitCallee
from prose_runtime.values import ServiceRef, Value, snapshot

DEEPEST = 64
"""How many runs of specs may stand in each other."""


async def run_unit(callee: UnitCallee, inputs: Mapping[str, Value], run: Run, path: str, depth: int = 0) -> Value:
    """Run a spec with a program, as a run of its own or, at a ``depth``, within another.

    Raises:
        ContractError: A required input is missing, or Returns does not hold.
        RunFailed: Specs call each other without end (kind ``value``).
    """
    spec = callee.program.spec
    if depth > DEEPEST:
        message = f"`{callee.name}` is called {DEEPEST} calls deep: it calls itself without an end, or others do so"
        raise RunFailed(message, kind="value", help="return before the call once there is nothing more to do")
    inputs, config, slots = _sorted_out(callee, inputs)
    names = {**slots, **config, "config": config, **inputs}
    if run.contracts != "off":
        check_parameters(callee.name, callee.program.analysis.inputs, inputs)
    unit = Unit(run, callee.program, slots, config, depth)
    value = await _walk(unit, names, path)
    if run.contracts != "off":
        check_returns(callee.program, value)
    value = bare(spec.returns, value)
    return value["result"] if callee.bare and isinstance(value, dict) and "result" in value else value


async def _walk(unit: Unit, names: dict[str, Value], path: str) -> Value:
    act = Activation(unit, Frame(names), path)
    if unit.program.spec.javascript is not None:
        # imported when it is needed: it brings the engine, and calls run units again
        from prose_runtime.runtime.composite import run_javascript

        return await run_javascript(unit, names, act)
    if unit.program.body is None:
        return None
    # imported late: sessions call specs, and so run units again
    from prose_runtime.runtime.sessions import recall

    await recall(act)
    done = await execute(unit.program.body, act)
    if done.kind == "return" or not unit.outputs:
        return snapshot(done.value)
    return snapshot(unit.outputs)


def _sorted_out(
    callee: UnitCallee, given: Mapping[str, Value]
) -> tuple[dict[str, Value], dict[str, Any], dict[str, Any]]:
    """Sort what a call passes into inputs, config and slots, defaults filled in.

    An undeclared input that is an object fills inputs and config by its field names (LANGUAGE.md section 1).
    """
    declared = callee.program.analysis.inputs
    config_names = {item.name for item in callee.program.spec.config}
    slot_names = {slot.name for slot in callee.program.spec.slots}
    known = set(declared) | config_names | slot_names
    passed: dict[str, Value] = {}
    for name, value in given.items():
        if name not in known and isinstance(value, dict):
            passed.update({key: entry for key, entry in value.items() if key in known})
        else:
            passed[name] = value
    config = {**config_defaults(callee.program.spec), **callee.config}
    config.update({n: v for n, v in passed.items() if n in config_names and v is not None})
    slots = {**callee.slots, **{n: v for n, v in passed.items() if n in slot_names and _refers(v)}}
    inputs = {name: snapshot(parameter.default) for name, parameter in declared.items()}
    inputs.update({n: snapshot(v) for n, v in passed.items() if n in declared and v is not None})
    inputs = {name: value for name, value in inputs.items() if name not in config_names}
    return inputs, snapshot(config), slots


def _refers(value: Value) -> bool:
    return isinstance(value, ServiceRef) or (isinstance(value, list) and bool(value) and all(map(_refers, value)))


def config_defaults(spec: Spec) -> dict[str, Any]:
    """The defaults of a spec's config."""
    return {item.name: snapshot(item.default) for item in spec.config}
