"""Every rule against its suite: missing faults and unexpected ones both fail."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prose_runtime.check.checker import check_paths
from prose_runtime.check.rules import EVERY_RULE
from prose_runtime.diagnostics import Diagnostic
from support.suites import Case, Expected, cases

CASES = cases()


def found_in(case: Case, folder: Path) -> list[Diagnostic]:
    case.write(folder)
    checked = check_paths([folder])
    assert not checked.unreadable
    return checked.diagnostics


def fits(want: Expected, have: Diagnostic, folder: Path) -> bool:
    place = (str(Path(have.source.path).relative_to(folder)), have.start.line, have.severity, have.code)
    said = f"{have.message} {have.help or ''}".lower()
    return place == (want.file, want.line, want.severity, want.code) and want.words.lower() in said


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.suite}: {case.title}")
def test_suite(case: Case, tmp_path: Path) -> None:
    left = found_in(case, tmp_path)
    missing = []
    for want in case.expected:
        hit = next((have for have in left if fits(want, have, tmp_path)), None)
        if hit is None:
            missing.append(want)
        else:
            left.remove(hit)
    unexpected = [f"{have.where} {have.severity}[{have.code}] {have.message} ({have.help})" for have in left]
    assert (missing, unexpected) == ([], [])


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.suite}: {case.title}")
def test_range_holds_what_the_message_names(case: Case, tmp_path: Path) -> None:
    for diagnostic in found_in(case, tmp_path):
        text = diagnostic.source.slice(diagnostic.span)
        named = re.search(r"`([^`]+)`", diagnostic.message)
        assert text.strip() == text or diagnostic.code == "printed-sign"
        assert text, f"{diagnostic.code} at {diagnostic.where} has an empty range"
        assert named is None or named[1] in text, f"{diagnostic.code}: {diagnostic.message} at {text!r}"


def test_every_rule_has_bad_and_good_examples() -> None:
    good = {case.suite for case in CASES if not case.expected}
    shown = {want.code for case in CASES if case.suite in good for want in case.expected}
    assert {rule.code for rule in EVERY_RULE if rule.find is not None} - shown == set()
