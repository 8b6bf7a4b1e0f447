"""The conformance cases: each a rule of the language, seen from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import conformance

FOLDERS = sorted(path.parent for path in Path(__file__).with_name("conformance").glob("*/case.yml"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_case(folder: Path, tmp_path: Path) -> None:
    case = conformance.load(folder)
    assert conformance.faults(case, conformance.execute(folder, case, tmp_path)) == []


def test_a_case_that_does_not_hold_is_noticed(tmp_path: Path) -> None:
    folder = next(folder for folder in FOLDERS if folder.name == "let-rebinds-across-iterations")
    case = conformance.load(folder)
    outcome = conformance.execute(folder, case, tmp_path)
    wrong = case | {"exit": 1, "result": {}, "rungs": ["judge"], "counts": {"left": 1}, "within": 0, "emitted": ["x"]}
    assert len(conformance.faults(wrong, outcome)) == 6
