"""What differs between two runs or cassettes: inputs, calls, answers, conditions, result."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prose_runtime.journal import Journal
from prose_runtime.journal.cassette import Entry, is_cassette, natural, read_cassette
from prose_runtime.text import printable
from prose_runtime.values import to_text

_ASKED = ("target", "service", "inputs", "prompt")


@dataclass(slots=True)
class Told:
    """One side: its name, and by topic what it says; calls and conditions by step.

    ``judged_only``: of conditions it tells only what a judge decided, as a cassette does.
    """

    name: str
    judged_only: bool
    given: Mapping[str, Any] = field(default_factory=dict)
    calls: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    conditions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    result: Any = None


def told(word: str, journal: Journal, base: Path) -> Told:
    """The side that a word means: the file of a cassette, else a run. Raises UsageError when it is neither."""
    path = base / word
    if is_cassette(path):
        tape = read_cassette(path)
        asked = {step: _call(entry) for step, entry in tape.entries.items() if entry.answer.kind != "event"}
        calls = {step: call for step, call in asked.items() if call["target"] not in ("judge", "choice")}
        verdicts = {step: _verdict(call) for step, call in asked.items() if step not in calls}
        return Told(word, True, tape.given, calls, verdicts, tape.result)
    shown, request = journal.show(word), journal.request(word)
    given = {topic: request[topic] for topic in ("inputs", "config") if request.get(topic)}
    calls = {call["step"]: {**{key: call[key] for key in _ASKED}, "output": call["output"]} for call in shown["calls"]}
    conditions = {row["step"]: {key: row[key] for key in ("text", "rung", "verdict")} for row in shown["conditions"]}
    return Told(shown["run"], False, given, calls, conditions, shown["result"])


def _call(entry: Entry) -> dict[str, Any]:
    asked = {key: entry.asked.get(key) for key in _ASKED}
    output = entry.answer.value
    if entry.answer.kind == "error":
        output = {key: output.get(key) for key in ("message", "kind", "service")}
    return {**asked, "service": entry.answer.service, "output": output}


def _verdict(call: Mapping[str, Any]) -> dict[str, Any]:
    value = call["output"]
    said = value.get("verdict", value.get("option")) if isinstance(value, dict) else value
    return {"text": call["prompt"], "rung": "judge", "verdict": said}


def differences(a: Told, b: Told) -> dict[str, Any]:
    """What differs, by topic; empty when nothing does. Only conditions that both sides tell of can differ."""
    found: dict[str, Any] = {}
    if a.given != b.given:
        found["given"] = {"a": dict(a.given), "b": dict(b.given)}
    rungs = {"judge"} if a.judged_only or b.judged_only else None
    for topic, one, other in (
        ("calls", a.calls, b.calls),
        ("conditions", _with(a.conditions, rungs), _with(b.conditions, rungs)),
    ):
        rows = {step: {"a": one.get(step), "b": other.get(step)} for step in sorted({*one, *other}, key=natural)}
        changed = {step: row for step, row in rows.items() if row["a"] != row["b"]}
        if changed:
            found[topic] = changed
    if a.result != b.result:
        found["result"] = {"a": a.result, "b": b.result}
    return found


def _with(rows: Mapping[str, Mapping[str, Any]], rungs: set[str] | None) -> dict[str, Mapping[str, Any]]:
    return {step: row for step, row in rows.items() if rungs is None or row["rung"] in rungs}


def diff_text(a: Told, b: Told) -> str:
    """The differences for a person, in the manner of a unified diff."""
    found = differences(a, b)
    lines = [f"--- {a.name}", f"+++ {b.name}"]
    for topic in ("given", "result"):
        if topic in found:
            lines += [f"@@ {topic} @@", *_lines(found[topic]["a"], found[topic]["b"])]
    for topic in ("calls", "conditions"):
        for step, row in found.get(topic, {}).items():
            kind = topic.removesuffix("s")
            only = " only in the first" if row["b"] is None else " only in the second" if row["a"] is None else ""
            lines.append(f"@@ {kind} {step}{only} @@")
            lines += _fields(row["a"] or {}, row["b"] or {})
    return "\n".join(map(printable, lines)) if found else ""


def _fields(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[str]:
    for name in dict.fromkeys([*a, *b]):
        one, other = a.get(name), b.get(name)
        if one != other:
            yield f" {name}:"
            yield from _lines(one, other, name in a, name in b)


def _lines(a: Any, b: Any, there: bool = True, here: bool = True) -> Iterator[str]:
    one, other = (_text(value).splitlines() if known else [] for value, known in ((a, there), (b, here)))
    for line in difflib.ndiff(one, other):
        if line[:1] in "+- ":
            yield f"{line[:1]}   {line[2:]}"


def _text(value: Any) -> str:
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, indent=2)
    return "null" if value is None else to_text(value)
