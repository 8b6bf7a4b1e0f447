"""What a person reads of a run: its result, its error, its cost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from prose_runtime.errors import CheckFailed, ProseError
from prose_runtime.report.waiting_text import waiting_text
from prose_runtime.services.outline import outline
from prose_runtime.text import Where
from prose_runtime.values import to_json, to_text


def value_text(value: Any) -> str:
    """A result: text as it is, anything else as an outline of its fields; null is nothing.

    An object that holds nothing but ``result`` is shown as that result.
    """
    value = to_json(value)
    if isinstance(value, dict) and list(value) == ["result"]:
        value = value["result"]
    if value is None:
        return ""
    return value if isinstance(value, str) else "\n".join(outline(value))


def error_text(error: ProseError) -> str:
    """An error with its place, the source line with a caret, and what to do instead."""
    if isinstance(error, CheckFailed):
        from prose_runtime.report.text import render

        return render(error.diagnostics)
    lines = [f"error: {error.message}"]
    if error.where is not None:
        lines += place_lines(error.where)
    if error.help:
        lines.append(f"help: {error.help}")
    return "\n".join(lines)


def place_lines(where: Where) -> list[str]:
    """``file:line:column`` and, when the file can still be read, the line with a caret below the column."""
    try:
        line = Path(where.file).read_text(encoding="utf-8-sig").splitlines()[where.line - 1]
    except (OSError, ValueError, IndexError):
        return [f"  {where}"]
    number = str(where.line)
    indent = "".join("\t" if c == "\t" else " " for c in line[: where.column - 1])
    return [f"  {where}", f"  {number} | {line.rstrip()}", f"  {' ' * len(number)} | {indent}^"]


def usage_text(usage: Mapping[str, Any]) -> str:
    """``5 calls, 1,204 tokens in, 380 out, $0.0123``; figures that nobody knows are left out."""
    calls = usage.get("calls") or 0
    parts = [f"{calls} call{'' if calls == 1 else 's'}"]
    if usage.get("input_tokens") is not None and usage.get("output_tokens") is not None and calls:
        parts.append(f"{usage['input_tokens']:,} tokens in, {usage['output_tokens']:,} out")
    if usage.get("cost_usd"):
        parts.append(f"${usage['cost_usd']:.4f}")
    return ", ".join(parts)


def run_text(shown: Mapping[str, Any]) -> str:
    """A recorded run: what it was, its calls and conditions in order, how it ended."""
    lines = [f"run {shown['run']} of {shown['spec']}: {shown['status']}"]
    lines += [_call_line(call) for call in shown["calls"]]
    lines += [_condition_line(condition) for condition in shown["conditions"]]
    lines += [f"invariant, {entry['status']}: {entry['text']}" for entry in shown["invariants"]]
    lines.append(usage_text(shown["usage"]))
    error = shown.get("error")
    if error:
        place = f" ({error['file']}:{error['line']}:{error['column']})" if error.get("file") else ""
        lines.append(f"error: {error['message']}{place}")
    if shown.get("waiting") and shown["status"] == "paused":
        lines += waiting_text(shown["waiting"], shown["run"])
    if shown.get("result") is not None:
        lines += ["", value_text(shown["result"])]
    return "\n".join(lines)


def _call_line(call: Mapping[str, Any]) -> str:
    place = f"line {call['line']}: " if call.get("line") else ""
    words = " ".join(to_text(call.get("output")).split())
    shown = words if len(words) <= 60 else words[:57] + "..."
    return f"  {place}{call.get('target') or call['step']} ({call['service']}): {shown}"


def _condition_line(condition: Mapping[str, Any]) -> str:
    place = f"line {condition['line']}: " if condition.get("line") else ""
    return f"  {place}{condition['text']} -> {json.dumps(condition['verdict'])} ({condition['rung']})"


def broken_text(invariants: Iterable[Mapping[str, Any]]) -> list[str]:
    """One line for each invariant that did not hold."""
    return [
        f"broken invariant (line {entry['line']}): {entry['text']}" + (f" ({entry['how']})" if entry.get("how") else "")
        for entry in invariants
        if entry["status"] == "broken"
    ]
