"""The background of a run: what its user knows of the matter, summed up once and told to every role."""

from __future__ import annotations

from prose_runtime.runtime.asking import Asking, ask_role
from prose_runtime.runtime.core import Activation, Bracket
from prose_runtime.runtime.frame import Frame
from prose_runtime.runtime.program import Program
from prose_runtime.runtime.unit import Run, Unit
from prose_runtime.services.api import Request
from prose_runtime.values import to_text

TARGET = "context"
"""Under which name the call is reported."""

_JOB = (
    "Sum up the background in a few sentences: the facts, figures, names and constraints that whoever works on the "
    "matter has to know. Add nothing, judge nothing."
)


async def tell_background(run: Run, program: Program) -> None:
    """Have the default service sum up the context of a run, if there is any, and tell every role from now on.

    Raises:
        ProseError: The service failed, or the run ended.
    """
    if run.context is None:
        return
    act = Activation(Unit(run, program, {}, {}), Frame({}))
    with Bracket(act, program.spec, TARGET) as inner:
        request = Request(job=_JOB, inputs={TARGET: run.context})
        asking = Asking(node=program.spec, target=TARGET, callee=run.wiring.default(), request=request)
        run.additions["background"] = to_text(await ask_role(asking, inner))
