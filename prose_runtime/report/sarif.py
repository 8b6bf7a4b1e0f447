"""Diagnostics as SARIF 2.1.0, which code hosts and editors read. Columns are counted in UTF-16 code units."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from prose_runtime.check.rule import Rule
from prose_runtime.check.rules import EVERY_RULE
from prose_runtime.diagnostics import Diagnostic, Fix, Severity
from prose_runtime.errors import UnreadableFile
from prose_runtime.text import Source, Span
from prose_runtime.values import clean_text

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}


def render(diagnostics: Sequence[Diagnostic], unreadable: Sequence[UnreadableFile] = ()) -> str:
    """One run, with the pages of the rules that were broken."""
    broken = {diagnostic.code for diagnostic in diagnostics}
    rules = [rule for rule in EVERY_RULE if rule.code in broken]
    numbers = {rule.code: number for number, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": "prose-runtime",
                "version": version("prose-runtime"),
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "columnKind": "utf16CodeUnits",
        "invocations": [
            {"executionSuccessful": not unreadable, "toolExecutionNotifications": [_unread(e) for e in unreadable]}
        ],
        "results": [_result(diagnostic, numbers) for diagnostic in diagnostics],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=2)


def _rule(rule: Rule) -> dict[str, Any]:
    page = (rule.page or rule.title).strip()
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.title},
        "help": {"text": page},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(diagnostic: Diagnostic, numbers: dict[str, int]) -> dict[str, Any]:
    source = diagnostic.source
    text = diagnostic.message + (f"\n{diagnostic.help}" if diagnostic.help else "")
    shown: dict[str, Any] = {"ruleId": diagnostic.code}
    if diagnostic.code in numbers:
        shown["ruleIndex"] = numbers[diagnostic.code]
    shown |= {
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": clean_text(text)},
        "locations": [_location(source, diagnostic.span)],
    }
    if diagnostic.secondary:
        shown["relatedLocations"] = [
            {"id": number, **_location(source, second.span), "message": {"text": clean_text(second.message)}}
            for number, second in enumerate(diagnostic.secondary, 1)
        ]
    if diagnostic.fix and diagnostic.fix.safe:
        shown["fixes"] = [_fix(source, diagnostic.fix)]
    return shown


def _location(source: Source, span: Span) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": _artifact(source.path), "region": _region(source, span)}}


def _artifact(path: str) -> dict[str, str]:
    place = Path(path)
    return {"uri": place.as_uri() if place.is_absolute() else quote(place.as_posix())}


def _region(source: Source, span: Span) -> dict[str, int]:
    end = max(span.start, span.end)
    return {
        "startLine": source.place(span.start).line,
        "startColumn": source.utf16_column(span.start),
        "endLine": source.place(end).line,
        "endColumn": source.utf16_column(end),
    }


def _fix(source: Source, fix: Fix) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(source, edit.span), "insertedContent": {"text": clean_text(edit.text)}}
        for edit in fix.edits
    ]
    change = {"artifactLocation": _artifact(source.path), "replacements": replacements}
    return {"description": {"text": fix.title}, "artifactChanges": [change]}


def _unread(error: UnreadableFile) -> dict[str, Any]:
    location = {"physicalLocation": {"artifactLocation": _artifact(error.path)}}
    return {"level": "error", "message": {"text": clean_text(error.message)}, "locations": [location]}
