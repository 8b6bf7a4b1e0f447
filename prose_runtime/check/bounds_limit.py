"""Holds specs to a number of calls: ``prose check --max-calls N``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from prose_runtime import nodes as n
from prose_runtime.check.bounds import Bounds, Given, formulas, numbers
from prose_runtime.check.bounds_evaluate import Values, evaluate, names_in, number_text, text
from prose_runtime.check.bounds_units import InProject
from prose_runtime.check.project import Project
from prose_runtime.check.rules.call_bound import RULE
from prose_runtime.check.subjects import TEST_KIND
from prose_runtime.check.suppress import suppressions
from prose_runtime.check.tables import Analysis
from prose_runtime.diagnostics import Diagnostic
from prose_runtime.nodes import Spec
from prose_runtime.text import Span


def beyond(analysis: Analysis, limit: int) -> Iterator[Diagnostic]:
    """A diagnostic for a spec that can make more calls than the limit with its default config.

    A spec with errors is left out: nothing is known of its calls.
    """
    return _beyond(analysis, limit) if _countable(analysis) else iter(())


def _countable(analysis: Analysis) -> bool:
    spec = analysis.spec
    runs = spec.body is not None or spec.javascript is not None or (not spec.slots and spec.kind != "pattern")
    return runs and spec.kind != TEST_KIND and not any(d.severity == "error" for d in analysis.diagnostics)


def _beyond(analysis: Analysis, limit: int) -> Iterator[Diagnostic]:
    spec = analysis.spec
    outside = InProject(Project.around(Path(spec.source.path)))
    known = numbers(analysis, Given(), outside)
    high = evaluate(known.calls.high, Values())
    if high is not None and high <= limit:
        return
    written = text(formulas(analysis, None, outside).calls.high)
    span = _cause(spec, known, high)
    message = f"a run can make {_many(written, high, known)}; --max-calls allows {limit}"
    found = Diagnostic(RULE.code, RULE.severity, message, spec.source, span, _help(known, high))
    if not any(comment.covers(found) for comment in suppressions(spec, frozenset({RULE.code}))):
        yield found


def _many(written: str, high: float | None, known: Bounds) -> str:
    if high is None:
        listed = " and ".join(names_in(known.calls.high))
        return f"{written} calls, and nothing bounds {listed}"
    if not math.isinf(high):
        same = written == number_text(high)
        return f"{written} calls" if same else f"{written} calls, {number_text(high)} with the default config"
    reasons = "; ".join(dict.fromkeys(found.reason for found in known.calls.high.open))
    counted = "any number of" if any(found.label is None for found in known.calls.high.open) else written
    return f"{counted} calls, as {reasons.replace('`', '')}"


def _help(known: Bounds, high: float | None) -> str:
    if high is None:
        return "give the loop a bound of its own: `loop for each x in xs (max: N):`"
    if math.isinf(high):
        reasons = " ".join(found.reason for found in known.calls.high.open)
        if "has no max" in reasons:
            return "give it one: `(max: N)` before the colon"
        return "where nothing bounds a run, `limits: {max_calls: N}` in prose.yml stops it"
    return "lower a default in Config, or allow more; `prose show SPEC --calls` shows what adds up"


def _cause(spec: Spec, known: Bounds, high: float | None) -> Span:
    """The loop or call that makes most of the calls, or that has no bound."""
    found = [(node, evaluate(cost.high, Values())) for node, cost in known.heavy.items()]
    if high is None or math.isinf(high):
        unbounded = [node for node, number in found if number is None or math.isinf(number)]
        if unbounded:
            return _head(spec, max(unbounded, key=lambda node: node.span.start))
    else:
        counted = [(number, -node.span.start, node) for node, number in found if number is not None]
        if counted:
            return _head(spec, max(counted, key=lambda row: row[:2])[2])
    if spec.javascript is not None:
        return _head(spec, spec.javascript)
    return spec.name_span


def _head(spec: Spec, node: n.Node) -> Span:
    """The part of a node on its first line, without the colon."""
    end = spec.source.line_span(spec.source.place(node.span.start).line).end
    written = spec.source.text[node.span.start : min(end, node.span.end)].rstrip().rstrip(":")
    return Span(node.span.start, node.span.start + len(written))
