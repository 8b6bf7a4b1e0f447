"""What a role is told that its job is, in the author's own words (LANGUAGE.md section 4)."""

from __future__ import annotations

import re
from functools import lru_cache

from prose_runtime.nodes import Slot, Spec
from prose_runtime.runtime.declared_errors import told

_SERIES = re.compile(r"(.+?)_1\s*(?:\.\.\.?|…)\s*\1_\w+")
_TOLD = ("description", "goal", "instructions", "strategies", "guidelines")
_MODEL = re.compile(r"^[-*\s]*`?model`?\s*[:=]\s*`?([\w.:/-]+)", re.MULTILINE | re.IGNORECASE)


@lru_cache(maxsize=256)
def slot_job(spec: Spec, slot: Slot) -> str:
    """The job of a slot: its line in Shape, else its description, and what it ensures."""
    delegates = spec.shape.delegates if spec.shape else ()
    job = next((d.job for d in delegates if _is_for(d.slot, slot.name)), "") or slot.description
    ensured = "; ".join(promise.text for promise in slot.ensures)
    return "\n".join(part for part in (job, ensured and f"You provide: {ensured}") if part)


def _is_for(delegate: str, slot: str) -> bool:
    """Whether a line of Shape is about a slot; ``a_1..a_N`` is about every member of the list slot."""
    series = _SERIES.fullmatch(delegate.strip("`"))
    base = series[1] if series else delegate.strip("`")
    return base == slot or (series is not None and slot in (f"{base}s", f"{base}es"))


def function_job(spec: Spec, skills: str = "") -> str:
    """The job of a function without a program: its own text, its ``skills``, what it gets, returns and may raise."""
    described = spec.frontmatter.get("description")
    parts = [described.strip() if isinstance(described, str) else "", spec.preamble.strip()]
    parts.append(spec.shape.own if spec.shape else "")
    parts += [*(spec.text_of(key) for key in _TOLD), skills]
    parts += _listed("You get", [(p.name, p.description) for p in spec.parameters if p.description])
    if spec.returns:
        parts += _listed("You return", [(o.name, o.description) for o in spec.returns.outputs])
        parts += _listed("You ensure", [("", promise.text) for promise in spec.returns.promises])
    parts.append(told(spec))
    return "\n".join(part for part in parts if part)


def _listed(lead: str, rows: list[tuple[str, str]]) -> list[str]:
    lines = [f"- {': '.join(word for word in row if word)}" for row in rows]
    return [f"{lead}:", *lines] if lines else []


def function_model(spec: Spec) -> str | None:
    """The model that a function's Runtime section names."""
    found = _MODEL.search(spec.text_of("runtime"))
    return found[1] if found else None
