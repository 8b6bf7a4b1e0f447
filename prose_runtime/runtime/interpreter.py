"""The interpreter's front door: importing it registers the runner of every construct."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prose_runtime.runtime import blocks, calls, expressions, loops, parallel, sessions, statements
from prose_runtime.runtime.asking import Asking, ask_role
from prose_runtime.runtime.background import tell_background
from prose_runtime.runtime.contracts import bare, check_parameters
from prose_runtime.runtime.core import Activation, Bracket
from prose_runtime.runtime.delegate import run_unit
from prose_runtime.runtime.frame import Frame
from prose_runtime.runtime.jobs import function_job, function_model
from prose_runtime.runtime.program import Program
from prose_runtime.runtime.unit import Run, Unit, UnitCallee
from prose_runtime.services.api import Request
from prose_runtime.values import Value, to_json

RUNNERS = (blocks, calls, expressions, loops, parallel, sessions, statements)
"""The modules that hold the runners."""


async def run_program(
    run: Run, program: Program, slots: Mapping[str, Value], inputs: Mapping[str, Any], config: Mapping[str, Any]
) -> Value:
    """Run a spec as the outermost unit of a run: its program, or the one call that a plain function is.

    Raises:
        ProseError: The run ended without a result.
    """
    await tell_background(run, program)
    if program.body is None and program.spec.javascript is None:
        return await _ask_function(run, program, inputs)
    return await run_unit(UnitCallee(program.spec.name, program, slots, config), inputs, run, "")


async def _ask_function(run: Run, program: Program, inputs: Mapping[str, Any]) -> Value:
    spec = program.spec
    if run.contracts != "off":
        check_parameters(spec.name, program.analysis.inputs, inputs)
    given = {p.name: inputs.get(p.name, p.default) for p in program.analysis.inputs.values()}
    act = Activation(Unit(run, program, {}, {}), Frame({}))
    model = function_model(spec)
    request = Request(
        job=function_job(spec, run.wiring.skills(spec)),
        inputs=to_json(given),
        model=None if model is None else run.wiring.model(model),
    )
    with Bracket(act, spec, f"call {spec.name}") as inner:
        asking = Asking(node=spec, target=spec.name, callee=run.wiring.default(), request=request, spec=spec)
        return bare(spec.returns, await ask_role(asking, inner))
