"""Who sees whose output: for each role of a spec, what may reach it, by which way, and under which conditions.

The analysis follows data (a value, or what was made of it, is passed on) and, apart from it, control (whether a call
is made, or which value is passed, depends on something). It is sound: where it cannot tell, it takes a flow for
possible (LANGUAGE.md section 4, Invariants). Roles are slots, inline components, agents, specs that are called, and
``session``; a role inside a called spec is known by what fills it, else as ``spec/role``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from prose_runtime import nodes as n
from prose_runtime.check.collect import collected
from prose_runtime.check.flow_findings import WHETHER, Findings
from prose_runtime.check.flow_loops import Walk
from prose_runtime.check.flow_units import Composed
from prose_runtime.check.flow_walk import SESSION, Known
from prose_runtime.check.project import Project
from prose_runtime.check.resolve import Resolution, resolve

__all__ = ["SESSION", "WHETHER", "Findings", "flow_of", "name_in_text", "names_the_pattern"]


LARGEST = 12_000
"""Nodes of a program up to which its flow is followed: some thousand lines."""


def flow_of(
    spec: n.Spec,
    project: Project,
    enclosing: n.Spec | None = None,
    *,
    resolution: Resolution | None = None,
    within: frozenset[n.Node] | None = None,
) -> Findings | None:
    """The flow of a spec, found once; None for a spec that is being looked at already, for composites, and for
    programs of more than ``LARGEST`` nodes, where following every value would take longer than anybody waits.

    ``enclosing`` is the file's spec when this one is an inline component of it; ``resolution`` and ``within`` are what
    ``resolve`` and ``collected`` give for it, where that is known already.
    """
    if spec.javascript is not None:
        return None
    if spec not in project.flows:
        project.flows[spec] = None  # a spec that calls itself finds this
        if too_large(spec):
            return None
        project.flows[spec] = Walk(_known(spec, project, enclosing, resolution, within)).run()
    return project.flows[spec]


def too_large(spec: n.Spec) -> bool:
    """Whether a program has more nodes than are followed."""
    body = spec.body
    if body is None or body.span.end - body.span.start < LARGEST // 10:
        return False  # not even a program of names alone has ten nodes a character
    return len(n.everything(body)) > LARGEST


def _known(
    spec: n.Spec,
    project: Project,
    enclosing: n.Spec | None,
    resolution: Resolution | None,
    within: frozenset[n.Node] | None,
) -> Known:
    scopes = project.scopes(spec)
    resolved = resolution or resolve(scopes, project, enclosing)
    file = enclosing or spec
    components: Mapping[str, n.Spec] = {component.name: component for component in file.components}

    def inner(callee: n.Spec) -> Findings | None:
        return flow_of(callee, project, file if callee in file.components else None)

    return Known(
        spec=spec,
        targets=resolved.targets,
        collected=collected(spec) if within is None else within,
        visible=scopes.visible,
        inputs=scopes.inputs,
        units=Composed(inner),
        patterns=resolved.patterns,
        components=components,
        pattern=names_the_pattern(spec) if _may_name(spec) else None,
    )


def names_the_pattern(spec: n.Spec) -> re.Pattern[str]:
    """Finds a spec's name in a text, spelt with hyphens, underscores or blanks, in any case."""
    words = [re.escape(word) for word in re.split(r"[-_\s]+", spec.name) if word]
    return re.compile(rf"(?<![\w-]){'[-_ ]'.join(words)}(?![\w-])" if words else r"(?!)", re.IGNORECASE)


def name_in_text(spec: n.Spec, text: str) -> bool:
    """Whether a text holds a spec's name."""
    return names_the_pattern(spec).search(text) is not None


def _may_name(spec: n.Spec) -> bool:
    """Whether the program holds the name at all, so that its texts are worth looking at."""
    body = spec.body
    if body is None:
        return False
    text = spec.source.text[body.span.start : body.span.end]
    folded = text.casefold()
    parts = re.split(r"[-_\s]+", spec.name.casefold())
    return all(part in folded for part in parts) and name_in_text(spec, text)
