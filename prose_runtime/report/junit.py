"""Tests as JUnit XML, which servers of continuous integration read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from xml.etree import ElementTree as ET

from prose_runtime.report.outcomes import failures, sentence
from prose_runtime.report.xml import allowed, document
from prose_runtime.runtime.testrun import Outcome


def render(outcomes: Sequence[Outcome]) -> str:
    """One suite with a case for each test: a failed expectation is a failure, what ended a test an error.

    Times are in seconds.
    """
    counts = {
        "tests": str(len(outcomes)),
        "failures": str(sum(_is_failure(outcome) for outcome in outcomes)),
        "errors": str(sum(outcome.error is not None for outcome in outcomes)),
        "time": f"{sum(outcome.seconds for outcome in outcomes):.3f}",
    }
    root = ET.Element("testsuites", counts)
    suite = ET.SubElement(root, "testsuite", {"name": "prose", **counts, "skipped": "0"})
    for outcome in outcomes:
        _case(suite, outcome)
    return document(root)


def _is_failure(outcome: Outcome) -> bool:
    return outcome.error is None and not outcome.passed


def _case(suite: ET.Element, outcome: Outcome) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        {
            "classname": allowed(".".join(PurePath(outcome.where.file).with_suffix("").parts)),
            "name": allowed(outcome.name),
            "time": f"{outcome.seconds:.3f}",
            "file": allowed(outcome.where.file),
            "line": str(outcome.where.line),
        },
    )
    if outcome.passed:
        return
    if outcome.error is not None:
        told = ET.SubElement(case, "error", {"type": outcome.error.kind, "message": allowed(outcome.error.message)})
    else:
        first = next(judgement for judgement in outcome.judgements if not judgement.passed)
        told = ET.SubElement(case, "failure", {"type": "expectation", "message": allowed(sentence(first))})
    told.text = allowed(failures(outcome))
