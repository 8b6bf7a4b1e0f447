"""What a person reads of tests: a line each, what failed and what was there instead, a summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from prose_runtime.report.run_text import error_text
from prose_runtime.runtime.testrun import Judgement, Outcome
from prose_runtime.text import printable


def outcome_text(outcome: Outcome, *, quiet: bool = False) -> str:
    """A test: its line, what the judge was asked, and what failed; with ``quiet`` nothing of one that passed."""
    if quiet and outcome.passed:
        return ""
    word = "PASS" if outcome.passed else "FAIL"
    lines = [f"{word} {outcome.where.file}: {outcome.name} ({outcome.seconds:.2f} s)"]
    for judgement in outcome.judgements:
        lines += _judgement(judgement)
    if outcome.error is not None:
        lines += [f"  {line}" for line in error_text(outcome.error).splitlines()]
    return "\n".join(printable(line) for line in lines)


def failures(outcome: Outcome) -> str:
    """What failed in a test, without its line."""
    lines = [line for judgement in outcome.judgements if not judgement.passed for line in _failed(judgement)]
    return "\n".join([*lines, *([error_text(outcome.error)] if outcome.error else [])])


def _judgement(judgement: Judgement) -> Iterator[str]:
    if not judgement.passed:
        yield from (f"  {line}" for line in _failed(judgement))
    elif judgement.judged:
        yield f"  judge, line {judgement.where.line}: {sentence(judgement)}: {_folded(judgement.reason or 'no reason')}"


def _failed(judgement: Judgement) -> Iterator[str]:
    yield f"{judgement.where}: {sentence(judgement)}"
    if judgement.got:
        yield f"  got: {_folded(judgement.got)}"
    if judgement.judged:
        yield f"  judge: {_folded(judgement.reason or 'no reason given')}"


def sentence(judgement: Judgement) -> str:
    """The expectation as a phrase: ``expected ...`` or ``expected not: ...``."""
    return f"expected{' not' if judgement.negated else ''}: {judgement.text}"


def _folded(text: str) -> str:
    return " ".join(text.split())


def summary(outcomes: Sequence[Outcome] | Iterable[Outcome]) -> str:
    """``3 passed, 1 failed``."""
    verdicts = [outcome.passed for outcome in outcomes]
    return f"{verdicts.count(True)} passed, {verdicts.count(False)} failed"
