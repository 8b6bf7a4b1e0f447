"""Tests as JUnit XML, which servers of continuous integration read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from xml.etree import ElementTree as ET

from prose_runtime.report.outcomes import failures, sentence
from prose_runtime.runtime.testrun import Outcome
from prose_runtime.values import clean_text


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
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _is_failure(outcome: Outcome) -> bool:
    return outcome.error is None and not outcome.passed


def _case(suite: ET.Element, outcome: Outcome) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        {
            "classname": _allowed(".".join(PurePath(outcome.where.file).with_suffix("").parts)),
            "name": _allowed(outcome.name),
            "time": f"{outcome.seconds:.3f}",
            "file": _allowed(outcome.where.file),
            "line": str(outcome.where.line),
        },
    )
    if outcome.passed:
        return
    if outcome.error is not None:
        told = ET.SubElement(case, "error", {"type": outcome.error.kind, "message": _allowed(outcome.error.message)})
    else:
        first = next(judgement for judgement in outcome.judgements if not judgement.passed)
        told = ET.SubElement(case, "failure", {"type": "expectation", "message": _allowed(sentence(first))})
    told.text = _allowed(failures(outcome))


_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _allowed(text: str) -> str:
    """The text with each character that XML cannot hold replaced by U+FFFD."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", clean_text(text))
