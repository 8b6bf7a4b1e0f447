"""The JSON object of a run (DESIGN.md section 4)."""

from __future__ import annotations

import json
from typing import Any

from prose_runtime.errors import Cancelled, ProseError
from prose_runtime.values import to_json


def dumps(value: Any) -> str:
    """A JSON value as indented text that can be written anywhere."""
    return json.dumps(to_json(value), ensure_ascii=False, indent=2)


def failure(error: ProseError, spec: str | None) -> dict[str, Any]:
    """The object of a run that never began: ``run`` is null and nothing was called."""
    return {
        "run": None,
        "status": "cancelled" if isinstance(error, Cancelled) else "failed",
        "spec": spec,
        "result": None,
        "error": error.as_json(),
        "calls": [],
        "conditions": [],
        "emitted": [],
        "invariants": [],
        "usage": {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0},
    }
