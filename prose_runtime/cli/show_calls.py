"""``prose show SPEC --calls``: how many calls a run makes, and an estimate of what it takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prose_runtime.check.project import Project
    from prose_runtime.check.tables import Analysis
    from prose_runtime.report.bounds_text import Shown


def shown_calls(analysis: Analysis, project: Project, words: Sequence[str]) -> Shown:
    """The bounds of a spec's calls, for the slots, config and inputs that ``words`` give as for ``prose run``.

    Raises:
        CheckFailed: The spec, or one that it calls, has errors.
        UsageError: It is nothing to run, or the words are wrong.
    """
    from prose_runtime.check.bounds import Given, formulas, numbers
    from prose_runtime.check.checker import all_diagnostics
    from prose_runtime.cli import options
    from prose_runtime.errors import CheckFailed
    from prose_runtime.report.bounds_estimate import estimates
    from prose_runtime.report.bounds_text import Shown
    from prose_runtime.runtime.bounds import Wired, fills
    from prose_runtime.runtime.limits import Limits
    from prose_runtime.runtime.program import Program
    from prose_runtime.runtime.wiring import LocalWiring, runnable
    from prose_runtime.services.bindings import Bindings

    found = all_diagnostics(analysis)
    if any(diagnostic.severity == "error" for diagnostic in found):
        raise CheckFailed(found)
    runnable(analysis)
    base = Path.cwd()
    said = options.parse(analysis, analysis.spec.name, words, base)
    assert isinstance(said, options.Words), "only --help gives a text, and it is no option here"
    bindings = Bindings.load(Path(analysis.spec.source.path), base)
    wiring = LocalWiring(bindings, project)
    slots = {slot.name: slot for slot in analysis.spec.slots}
    bound: dict[str, Any] = {name: wiring.refer(word, slots[name], base) for name, word in said.bind.items()}
    filled = fills(wiring.filled(Program(analysis), bound))
    outside = Wired(wiring, naming=True)
    with_values = numbers(analysis, Given(said.config, said.inputs, filled), outside)
    return Shown(
        analysis.spec.name,
        formulas(analysis, Given(slots=filled), outside),
        with_values,
        bindings.config.limits.max_calls or Limits().max_calls,
        tuple(estimates(with_values, bindings)),
    )
