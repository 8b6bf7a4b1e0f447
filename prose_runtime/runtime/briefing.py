"""What a person who joins is told of the role, in the author's words: the task, the rules, what comes to see.

Who may see whose output is read from the flow of the spec, so that what is said of it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prose_runtime.check.flow import flow_of
from prose_runtime.check.flow_matrix import RESULT, Entry, Matrix, matrix
from prose_runtime.check.project import Project
from prose_runtime.nodes import Slot, Spec
from prose_runtime.runtime.jobs import slot_job


def briefing(spec: Spec, slot: Slot, project: Project) -> str:
    """The text for one slot of a spec."""
    findings = flow_of(spec, project)
    lines = [f"You take part as {slot.name}.", f"Your task: {slot_job(spec, slot) or 'answer what you are asked'}"]
    lines += [f"Not allowed: {rule}" for rule in _rules(spec, slot)]
    lines += _sight(matrix(spec, findings), spec, slot) if findings else _declared(slot)
    return "\n".join(lines)


def _rules(spec: Spec, slot: Slot) -> Iterator[str]:
    """What the spec prohibits, without that which names other roles only."""
    others = [other.name for other in spec.slots if other is not slot]
    for rule in _parts(spec.shape.prohibited if spec.shape else ()):
        named = [name for name in (*others, slot.name) if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", rule)]
        if not named or slot.name in named:
            yield rule


def _parts(prohibited: Iterable[str]) -> Iterator[str]:
    """The single rules: they stand behind each other, with commas between that are not inside parentheses."""
    for text in prohibited:
        yield from (part.strip() for part in re.split(r"[,;]\s+(?![^()]*\))", text) if part.strip())


def _sight(table: Matrix, spec: Spec, slot: Slot) -> Iterator[str]:
    entries = [entry for entry in table.entries if entry.receiver == slot.name and entry.mark == "data"]
    by_input: dict[str, list[Entry]] = {}
    for entry in entries:
        by_input.setdefault(entry.input, []).append(entry)
    if by_input:
        yield "You will see:"
        yield from (
            f"- {name or 'what is handed on'}: {', '.join(_origins(found, slot))}" for name, found in by_input.items()
        )
    seen = {entry.source.name for entry in entries if entry.source.kind == "output"}
    hidden = [role for role in table.receivers if role not in seen and role not in (RESULT, slot.name)]
    if hidden:
        yield f"You never see what these say: {', '.join(hidden)}"


def _origins(entries: list[Entry], slot: Slot) -> Iterator[str]:
    for entry in entries:
        name, kind = entry.source.name, entry.source.kind
        if kind == "output":
            who = "you" if name == slot.name else name
            yield (
                f"what {who} said"
                + (" in an earlier turn" if entry.earlier else "")
                + ("" if entry.sure else ", perhaps")
            )
        elif kind == "error":
            yield f"that {name} failed"
        else:
            yield f"{name}, as the run was given it"


def _declared(slot: Slot) -> Iterator[str]:
    names = [item.name or item.text for item in slot.requires]
    if names:
        yield f"You will see: {', '.join(names)}"
