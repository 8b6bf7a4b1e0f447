"""How many calls a run makes, for a person: the line before a run, and the table of ``prose show --calls``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from prose_runtime.check.bounds import Bounds, Range
from prose_runtime.check.bounds_evaluate import NO_BOUND, Values, evaluate, names_in, number_text, text
from prose_runtime.report.bounds_estimate import ANSWER_TOKENS, CHARACTERS_PER_TOKEN, Estimate
from prose_runtime.text import printable, width

_NOTHING = Values()


def run_line(bounds: Bounds, max_calls: int | None, *, beside: int = 0) -> str:
    """What a run is told to make at most: ``at most 4 calls``. ``max_calls`` is the limit of prose.yml.

    ``beside``: calls that the run makes beside those of its program.
    """
    calls = evaluate(bounds.calls.high, _NOTHING)
    requests = evaluate(bounds.requests.high, _NOTHING)
    if calls is None or requests is None or math.isinf(requests):
        return _unbounded(bounds, max_calls)
    judge = evaluate(bounds.judge.high, _NOTHING) or 0
    calls, requests = calls + beside, requests + beside
    line = f"at most {_counted(calls, 'call')}"
    if judge:
        line += f", and {_counted(judge, 'question')} to the judge"
    more = f"{requests:,.0f} requests with repairs and retries" if requests > calls + judge else ""
    if max_calls is not None and requests > max_calls:
        stopped = f"limits.max_calls = {max_calls} stops it before"
        more = f"{more}; {stopped}" if more else stopped
    return f"{line} ({more})" if more else line


def most_calls(bounds: Bounds, *, beside: int = 0) -> int | None:
    """The number of calls that a run makes at most, without repairs, retries and the judge; None without a bound.

    ``beside``: as in ``run_line``.
    """
    calls = evaluate(bounds.calls.high, _NOTHING)
    return None if calls is None or math.isinf(calls) else int(calls) + beside


def _unbounded(bounds: Bounds, max_calls: int | None) -> str:
    reasons = "; ".join(dict.fromkeys(found.reason for found in bounds.open))
    stop = "nothing stops it" if max_calls is None else f"limits.max_calls = {max_calls} stops it"
    return f"{NO_BOUND}: {reasons + '; ' if reasons else ''}{stop}"


def _counted(number: float, what: str) -> str:
    return f"{number:,.0f} {what}{'' if number == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of a spec's calls: formulas, the bounds for what is given on the command line, what that takes."""

    spec: str
    formulas: Bounds
    numbers: Bounds
    max_calls: int | None = None
    estimates: tuple[Estimate, ...] = ()


def calls_text(shown: Shown) -> str:
    """The table of calls by target, the totals, and why there is no bound where there is none."""
    rows = [("", "at least", "at most", "with these values"), *_rows(shown)]
    widths = [max(width(row[i]) for row in rows) for i in range(4)]
    lines = [_padded(row, widths) for row in rows]
    return "\n".join([f"Calls of {printable(shown.spec)}", "", *lines, *_notes(shown), *_estimated(shown)])


def _padded(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = (cell + " " * (size - width(cell)) for cell, size in zip(row, widths, strict=True))
    return "  ".join(cells).rstrip()


_TOTALS = (
    ("all calls", "calls"),
    ("longest chain", "chain"),
    ("questions to the judge", "judge"),
    ("requests", "requests"),
)


def _rows(shown: Shown) -> list[tuple[str, str, str, str]]:
    found = [
        _row(name, known, shown.numbers.targets.get(name, Range(known.low, known.high)))
        for name, known in shown.formulas.targets.items()
    ]
    return found + [
        _row(title, getattr(shown.formulas, key), getattr(shown.numbers, key)) for title, key in _totals(shown)
    ]


def _totals(shown: Shown) -> list[tuple[str, str]]:
    """The totals that say something of their own."""
    known = shown.formulas
    silent = {"judge": not known.judge.high.terms, "requests": known.requests == known.calls}
    return [(title, key) for title, key in _TOTALS if not silent.get(key)]


def _row(name: str, formula: Range, number: Range) -> tuple[str, str, str, str]:
    return printable(name), printable(text(formula.low)), printable(text(formula.high)), _span(number)


def _span(number: Range) -> str:
    low, high = (number_text(evaluate(end, _NOTHING)) for end in number)
    return low if low == high else f"{low} to {high}" if high != NO_BOUND else f"{low}, {NO_BOUND}"


def _notes(shown: Shown) -> list[str]:
    lines = ["", "The longest chain is of calls that wait for each other; what runs at the same time counts once."]
    if shown.formulas.requests != shown.formulas.calls:
        lines.append("Requests count each retry, the one repair of an answer that does not fit, and the judge's.")
    missing = needed(shown.numbers)
    if missing:
        lines.append(
            f"? depends on {' and '.join(f'`{name}`' for name in missing)}: say what it is, as for `prose run`."
        )
    for found in shown.numbers.open:
        lines.append(f"{NO_BOUND}: {printable(found.reason)} ({printable(str(found.where))})")
    if shown.numbers.open and shown.max_calls is not None:
        lines.append(f"limits.max_calls = {shown.max_calls} stops a run there.")
    return lines


def _estimated(shown: Shown) -> list[str]:
    """What the calls take at most, by binding."""
    if all(found.free for found in shown.estimates):
        return []
    rows = [("", "model", "calls", "tokens in", "tokens out", "cost"), *map(_estimate_row, shown.estimates)]
    widths = [max(width(row[i]) for row in rows) for i in range(len(rows[0]))]
    rule = (
        f"An estimate: {CHARACTERS_PER_TOKEN} characters are a token, an answer has {ANSWER_TOKENS} tokens or its "
        "binding's max_tokens; no retries, no repairs."
    )
    return ["", "At most", "", *(_padded(row, widths) for row in rows), "", *_sum(shown.estimates), rule]


def _estimate_row(found: Estimate) -> tuple[str, ...]:
    tokens = ("none", "none") if found.free else (number_text(found.input_tokens), number_text(found.output_tokens))
    model = "no model" if found.free else found.model or "unknown"
    return printable(found.service), printable(model), number_text(found.calls), *tokens, _dollars(found)


def _dollars(found: Estimate) -> str:
    if found.free:
        return "none"
    return "unknown" if found.cost_usd is None else f"${found.cost_usd:.4f}"


def _sum(estimates: Sequence[Estimate]) -> list[str]:
    """The cost of all bindings; one whose price is unknown makes the whole unknown."""
    paid = [found for found in estimates if not found.free]
    unknown = [found.service for found in paid if found.cost_usd is None]
    if not paid:
        return []
    known = sum(found.cost_usd or 0 for found in paid)
    if not unknown:
        return [f"All in all at most ${known:.4f}."]
    listed = ", ".join(map(printable, dict.fromkeys(unknown)))
    return [f"All in all unknown: there is no price for {listed} (`prices` in prose.yml), or no bound."]


def needed(bounds: Bounds) -> list[str]:
    """The names on which numbers depend that nobody has given."""
    formulas = [end for found in [*bounds.targets.values(), bounds.requests] for end in found]
    return sorted({name for formula in formulas for name in names_in(formula)})


def calls_json(shown: Shown) -> dict[str, Any]:
    """The same for a program; null where a number depends on what is not given, "unbounded" where nothing bounds it."""
    totals = {key: _range_json(getattr(shown.formulas, key), getattr(shown.numbers, key)) for _, key in _TOTALS}
    totals["chain_with_judge"] = _range_json(shown.formulas.wait, shown.numbers.wait)
    return {
        "spec": shown.spec,
        "targets": {
            name: _range_json(known, shown.numbers.targets.get(name, known))
            for name, known in shown.formulas.targets.items()
        },
        **totals,
        "unbounded": [
            {"reason": found.reason, "file": found.where.file, "line": found.where.line, "column": found.where.column}
            for found in shown.numbers.open
        ],
        "needed": needed(shown.numbers),
        "estimate": [_estimate_json(found) for found in shown.estimates],
    }


def _estimate_json(found: Estimate) -> dict[str, Any]:
    figures = {key: _finite(getattr(found, key)) for key in ("calls", "input_tokens", "output_tokens")}
    return {"service": found.service, "model": found.model, **figures, "cost_usd": found.cost_usd}


def _finite(value: float | None) -> Any:
    return None if value is None else "unbounded" if math.isinf(value) else int(value)


def _range_json(formula: Range, number: Range) -> dict[str, Any]:
    return {
        "min": {"formula": text(formula.low), "number": number_json(number.low)},
        "max": {"formula": text(formula.high), "number": number_json(number.high)},
    }


def number_json(formula: Any) -> Any:
    """A number for a program."""
    found = evaluate(formula, _NOTHING)
    if found is None:
        return None
    return "unbounded" if math.isinf(found) else int(found)
