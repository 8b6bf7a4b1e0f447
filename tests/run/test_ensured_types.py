"""Types in a slot's ``ensures``: what a service is asked for, and what becomes of another word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import prose_runtime as prose
from prose_runtime.errors import ContractError
from prose_runtime.testing import Recorder, record, script

SPEC = """---
name: ruled
kind: pattern
---

### Slots

- `judge`: rules
  - ensures: `verdict` (accept | reject), `sure` (number), optional `reasons` (string[])

### Delegation

```prose
let ruling = call judge
return { verdict: ruling.verdict, sure: ruling.sure, reasons: ruling.reasons }
```
"""


def ruled(folder: Path, *replies: Any) -> tuple[Any, Recorder]:
    path = folder / "ruled.prose.md"
    path.write_text(SPEC, encoding="utf-8")
    judge = record(script(*replies))
    return prose.run(path, bind={"judge": judge}).value, judge


def test_a_service_is_asked_for_the_types(tmp_path: Path) -> None:
    _, judge = ruled(tmp_path, {"verdict": "accept", "sure": 0.5, "reasons": ["a"]})
    assert judge.requests[0].schema == {
        "type": "object",
        "properties": {
            "verdict": {"enum": ["accept", "reject"]},
            "sure": {"type": "number"},
            "reasons": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["verdict", "sure"],
    }


def test_a_word_in_another_case_is_the_word(tmp_path: Path) -> None:
    value, _ = ruled(tmp_path, {"verdict": "Accept", "sure": 1})
    assert value["verdict"] == "accept"


def test_another_word_is_asked_for_once_more_and_then_a_breach(tmp_path: Path) -> None:
    value, judge = ruled(tmp_path, {"verdict": "maybe", "sure": 1}, {"verdict": "reject", "sure": 1})
    assert value["verdict"] == "reject"
    assert "accept, reject" in str(judge.requests[1].fault)
    with pytest.raises(ContractError, match="verdict"):
        ruled(tmp_path, *[{"verdict": "maybe", "sure": 1}] * 2)
