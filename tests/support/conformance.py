"""Runs a conformance case: a folder with ``case.yml`` and specs. A case passes when ``faults`` finds nothing.

Keys of ``case.yml``: ``run``, ``check`` or ``test`` (the target) with ``args`` and ``stdin`` make the command line,
``prose_yml`` and ``bytes`` (``crlf``, ``bom``) prepare the folder; all others are expectations, one function below for
each. A case of ``test`` is judged by its exit code and its output alone.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from support.commands import Outcome, prose, run

Case = dict[str, Any]


def load(folder: Path) -> Case:
    """The case of a folder."""
    case: Case = yaml.safe_load((folder / "case.yml").read_text(encoding="utf-8"))
    return case


def execute(folder: Path, case: Case, tmp: Path) -> Outcome:
    """Run the case's command line in a copy of its folder."""
    work = Path(shutil.copytree(folder, tmp / "case"))
    if "prose_yml" in case:
        settings = yaml.safe_dump(case["prose_yml"], allow_unicode=True)
        (work / "prose.yml").write_text(settings, encoding="utf-8")
    verb = next(verb for verb in ("run", "check", "test") if verb in case)
    for change in case.get("bytes", ()):
        _change_bytes(work / case[verb], change)
    as_json = {"run": ["--json"], "check": ["--format", "json"], "test": []}[verb]
    words = [prose(), verb, case[verb], *map(str, case.get("args", ())), *as_json]
    return run(words, work, home=tmp, stdin=case.get("stdin", ""))


def _change_bytes(path: Path, change: str) -> None:
    data = path.read_bytes()
    path.write_bytes(data.replace(b"\n", b"\r\n") if change == "crlf" else b"\xef\xbb\xbf" + data)


def faults(case: Case, outcome: Outcome) -> list[str]:
    """Everything in which the outcome differs from what the case expects."""
    found = list(_process_faults(case, outcome))
    if "test" in case:
        return found
    try:
        report = json.loads(outcome.stdout)
    except ValueError:
        return [*found, f"stdout is no JSON: {outcome.stdout[:300]!r}"]
    expectations = EXPECTATIONS if "run" in case else CHECK_EXPECTATIONS
    for key, look in expectations.items():
        if key in case:
            found += look(case[key], report)
    return found + (_errors_beyond(case, report) if case.get("only") else [])


def _process_faults(case: Case, outcome: Outcome) -> Iterator[str]:
    if outcome.exit != case.get("exit", 0):
        yield f"exit {outcome.exit}, expected {case.get('exit', 0)}; stderr: {outcome.stderr[-600:]}"
    if "Traceback (most recent call last)" in outcome.stderr:
        yield f"a traceback reached the user: {outcome.stderr[-600:]}"
    if outcome.seconds > case.get("within", 100):
        yield f"took {outcome.seconds:.1f} s, expected at most {case['within']} s"
    for key, text in (("stderr_has", outcome.stderr), ("stdout_has", outcome.stdout)):
        yield from (f"{key}: {p!r} not in {text[-400:]!r}" for p in case.get(key, ()) if not re.search(p, text, re.S))


def differences(want: Any, have: Any, where: str) -> list[str]:
    """Where ``have`` lacks a part of ``want``: mappings by subset, lists by equal length, ``/regex/`` by search."""
    if isinstance(want, dict) and isinstance(have, dict):
        missing = [f"{where}.{key} is missing" for key in want if key not in have]
        return missing + [d for key in want if key in have for d in differences(want[key], have[key], f"{where}.{key}")]
    if isinstance(want, list) and isinstance(have, list) and len(want) == len(have):
        return [d for i, pair in enumerate(zip(want, have, strict=True)) for d in differences(*pair, f"{where}[{i}]")]
    if isinstance(want, str) and isinstance(have, str) and re.fullmatch("/.+/", want, re.S):
        return [] if re.search(want[1:-1], have, re.S) else [f"{where}: {have!r} does not match {want}"]
    same = want == have and isinstance(want, bool) == isinstance(have, bool)
    return [] if same else [f"{where}: expected {want!r}, got {have!r}"]


def _calls_in_any_order(want: list[Any], report: Any) -> list[str]:
    left = list(report["calls"])
    missing = []
    for call in want:
        hit = next((i for i, have in enumerate(left) if not differences(call, have, "")), None)
        if hit is None:
            missing.append(f"no call {call} among {left}")
        else:
            del left[hit]
    return missing + [f"a call that was not expected: {call}" for call in left]


def _counts(want: dict[str, int], report: Any) -> list[str]:
    have = {name: sum(call["target"] == name for call in report["calls"]) for name in want}
    return [] if have == want else [f"calls by target: expected {want}, got {have}"]


def _rungs(want: list[str], report: Any) -> list[str]:
    have = [(c["rung"], c["text"], c["verdict"]) for c in report["conditions"]]
    return [] if [rung for rung, *_ in have] == want else [f"rungs: expected {want}, got {have}"]


def _error(want: list[str], report: Any) -> list[str]:
    text = json.dumps(report["error"] or {}, ensure_ascii=False)
    return [f"error: {p!r} not in {text}" for p in want if not re.search(p, text, re.S | re.I)]


def _exactly(key: str) -> Callable[[Any, Any], list[str]]:
    return lambda want, report: [] if report[key] == want else [f"{key}: expected {want!r}, got {report[key]!r}"]


def _partly(key: str) -> Callable[[Any, Any], list[str]]:
    return lambda want, report: differences(want, report[key], key)


def _diagnostics(want: list[Any], report: Any) -> list[str]:
    return [
        f"no diagnostic {w}; have {_brief(report)}" for w in want if not any(_fits(w, d) for d in report["diagnostics"])
    ]


def _fits(want: Any, row: Any) -> bool:
    said = f"{row['message']} {row.get('help') or ''}"
    same_place = (row["line"], row["severity"]) == (want["line"], want.get("severity", "error"))
    return same_place and bool(re.search(want.get("says", ""), said, re.I))


def _errors_beyond(case: Case, report: Any) -> list[str]:
    lines = {want["line"] for want in case["diagnostics"]}
    return [f"unexpected error {row}" for row in _brief(report) if row[2] == "error" and row[1] not in lines]


def _brief(report: Any) -> list[tuple[Any, ...]]:
    return [(d["file"], d["line"], d["severity"], d["message"]) for d in report["diagnostics"]]


EXPECTATIONS: dict[str, Callable[[Any, Any], list[str]]] = {
    "status": _exactly("status"),
    "result": _exactly("result"),
    "result_has": lambda want, report: differences(want, report["result"], "result"),
    "invariants": _partly("invariants"),
    "calls": _partly("calls"),
    "calls_any_order": _calls_in_any_order,
    "counts": _counts,
    "rungs": _rungs,
    "emitted": _exactly("emitted"),
    "error_has": _error,
}

CHECK_EXPECTATIONS: dict[str, Callable[[Any, Any], list[str]]] = {
    "diagnostics": _diagnostics,
}
