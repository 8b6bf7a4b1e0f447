"""No rule fires on what is right: the library, the examples, and the conformance cases that are meant to run."""

from __future__ import annotations

from pathlib import Path

import pytest

from prose_runtime.check.checker import check_path, check_paths, strictly
from support.commands import ROOT

CASES = ROOT / "tests" / "conformance"

# Cases whose specs have what is warned about: a name that no section declares, a spelling that only this runtime
# reads, the oldest dialect, a file that bears another name than its spec.
WARNED = {
    "check-lets-good-files-pass": {"undeclared-input"},
    "function-with-components": {"undeclared-input"},
    "list-slots-and-indexes": {"portable-append"},
    "composite-fault-has-a-line": {"name-differs-from-file"},
    "oldest-dialect": {"retired-kind"},
}
FAULTY = {"check-reports-all-with-lines"}


@pytest.mark.parametrize("folder", ["patterns", "examples"])
def test_the_library_and_the_examples_are_clean_when_strict(folder: str) -> None:
    checked = check_paths([ROOT / folder])
    assert checked.files > 2
    assert [f"{d.where} [{d.code}] {d.message}" for d in strictly(checked.diagnostics)] == []


@pytest.mark.parametrize("case", sorted(p.name for p in CASES.iterdir() if p.name not in FAULTY))
def test_nothing_but_known_warnings_on_the_conformance_cases(case: str) -> None:
    files = [p for p in sorted((CASES / case).iterdir()) if p.suffix in (".md", ".prose")]
    found = [d for path in files for d in check_path(path).diagnostics]
    assert {d.severity for d in found} <= {"warning"}
    assert {d.code for d in found} == WARNED.get(case, set())


def test_the_specs_that_are_right_are_portable() -> None:
    found = check_paths([CASES / "check-lets-good-files-pass"]).diagnostics
    assert [d for d in found if d.code.startswith("portable")] == []


def test_every_conformance_case_has_specs() -> None:
    assert all(any(Path(case).glob("*.*")) for case in CASES.iterdir())
