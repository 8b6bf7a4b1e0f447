"""``prose show``: what can be known of a spec without running it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from prose_runtime.errors import CheckFailed, UsageError

if TYPE_CHECKING:
    from prose_runtime.check.project import Project
    from prose_runtime.check.tables import Analysis


class View(NamedTuple):
    """Something to show: as text for a person, and as a JSON value."""

    text: Callable[[], str]
    value: Callable[[], Any]


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("spec", metavar="SPEC")
@click.argument("words", metavar="", nargs=-1, type=click.UNPROCESSED)
@click.option("--flow", "view", flag_value="flow", help="Who sees what, by which lines (the default).")
@click.option("--ast", "view", flag_value="ast", help="The tree that the spec is read as.")
@click.option(
    "--calls", "view", flag_value="calls", help="How many calls a run makes; takes the options of `prose run`."
)
@click.option("--diagram", "view", flag_value="diagram", help="The program as a sequence diagram, for Mermaid.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(spec: str, words: tuple[str, ...], view: str | None, *, as_json: bool) -> int:
    """Show what is known of a spec without running it.

    SPEC is a file, or the name of a spec of this project or of the library. Who sees what comes as a table: a row for
    each role, a column for each input, config item and role whose answers may get there, then the lines by which they
    travel, and what is known of the spec's invariants.

    How many calls a run makes comes as formulas over config and inputs, with numbers for the defaults, or for what is
    given as for a run (`prose show refine --calls --max-iterations 2 --refiner claude`).

    The diagram is text in Mermaid's language, which GitHub and many editors draw (`prose show refine --diagram`).
    """
    from prose_runtime.check.checker import check_path
    from prose_runtime.check.locate import found
    from prose_runtime.check.project import Project
    from prose_runtime.report.run_json import dumps

    path = found(spec, Path.cwd())
    project = Project.around(path)
    if words and view != "calls":
        raise UsageError(f"there is no option `{words[0]}`", help="`prose show --help` lists the options")
    analysis = check_path(path, project)
    shown = _calls(analysis, project, words) if view == "calls" else VIEWS[view or "flow"](analysis, project)
    click.echo(dumps(shown.value()) if as_json else shown.text())
    return 0


def _flow(analysis: Analysis, project: Project) -> View:
    """Who sees what. Raises CheckFailed for a spec whose program cannot be followed."""
    from prose_runtime.check.flow import flow_of
    from prose_runtime.check.flow_matrix import matrix
    from prose_runtime.report.flow_text import flow_json, flow_text

    errors = [d for d in analysis.diagnostics if d.severity == "error" and d.code != "invariant-refuted"]
    if errors:
        raise CheckFailed(errors)
    spec = analysis.spec
    findings = flow_of(spec, project)
    table = matrix(spec, findings) if findings is not None else None
    given = table, analysis.verdicts, spec.source
    return View(lambda: flow_text(*given), lambda: flow_json(*given))


def _tree(analysis: Analysis, _: Project) -> View:
    """The tree of a spec, whatever its faults."""
    from prose_runtime.nodes import dump
    from prose_runtime.report.tree_text import tree_text

    tree = dump(analysis.spec)
    return View(lambda: tree_text(tree), lambda: tree)


def _calls(analysis: Analysis, project: Project, words: tuple[str, ...]) -> View:
    """How many calls a run makes. Raises CheckFailed for a spec with errors, UsageError for words that are wrong."""
    from prose_runtime.cli.show_calls import shown_calls
    from prose_runtime.report.bounds_text import calls_json, calls_text

    shown = shown_calls(analysis, project, words)
    return View(lambda: calls_text(shown), lambda: calls_json(shown))


def _diagram(analysis: Analysis, _: Project) -> View:
    """Who is called, in order. Raises CheckFailed for a spec with errors."""
    from prose_runtime.report.mermaid import diagram

    errors = [d for d in analysis.diagnostics if d.severity == "error" and d.code != "invariant-refuted"]
    if errors:
        raise CheckFailed(errors)
    drawn = diagram(analysis)
    return View(lambda: drawn.rstrip("\n"), lambda: {"mermaid": drawn})


VIEWS: dict[str, Callable[[Analysis, Project], View]] = {"flow": _flow, "ast": _tree, "diagram": _diagram}
"""What can be shown, by the name of its option."""
