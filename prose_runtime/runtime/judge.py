"""Asking the judge: a verdict on a condition, or one label of a choice. An unclear answer is never a yes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from prose_runtime.errors import RunFailed, ServiceError
from prose_runtime.jsontext import objects_in
from prose_runtime.runtime.core import Activation
from prose_runtime.services.api import Request
from prose_runtime.text import Where

_VERDICT = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "verdict": {"type": "boolean"}},
    "required": ["verdict", "reason"],
}


async def verdict(text: str, values: Mapping[str, Any], act: Activation, where: Where) -> tuple[bool, str | None]:
    """Ask whether a condition holds.

    Raises:
        RunFailed: No verdict after one repair (kind ``judge``).
    """
    request = Request(job=notes(values, act), inputs=values, prompt=text, schema=_VERDICT, purpose="judge")
    fault = "give the verdict as the JSON boolean true or false in the field `verdict`"
    answer = await _answer(request, lambda found: isinstance(found.get("verdict"), bool), fault, act, where)
    return answer["verdict"], _reason(answer)


async def choose(
    text: str, options: tuple[str, ...], values: Mapping[str, Any], act: Activation, where: Where
) -> tuple[str, str | None]:
    """Ask for one of the labels.

    Raises:
        RunFailed: No label after one repair (kind ``judge``).
    """
    schema = {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "option": {"type": "string", "enum": list(options)}},
        "required": ["option", "reason"],
    }
    request = Request(
        job=notes(values, act), inputs=values, prompt=text, schema=schema, purpose="choice", options=options
    )
    fault = f"give one of these labels in the field `option`: {', '.join(options)}"
    answer = await _answer(request, lambda found: found.get("option") in options, fault, act, where)
    return answer["option"], _reason(answer)


def notes(values: Mapping[str, Any], act: Activation) -> str:
    """The spec's own words on the values that are shown."""
    known = act.unit.program.notes
    return "\n".join(f"{name}: {known[name]}" for name in values if name in known)


async def _answer(
    request: Request, fits: Callable[[dict[str, Any]], bool], fault: str, act: Activation, where: Where
) -> dict[str, Any]:
    run = act.unit.run
    judge = run.wiring.judge()
    request = request.with_(line=where.line, **judge.additions)
    for step in (act.path, f"{act.path}#2"):
        try:
            reply = await run.host.ask(step, judge.service, request)
        except ServiceError as error:
            raise _undecided(request, f"{judge.name} failed: {error.message}", where, step) from error
        found = _fitting(reply.value, fits)
        if found is not None:
            return found
        request = request.with_(
            rejected=reply.value if isinstance(reply.value, str) else repr(reply.value), fault=fault
        )
    raise _undecided(request, f"{judge.name} gave no clear answer, twice", where, act.path)


def _undecided(request: Request, reason: str, where: Where, step: str) -> RunFailed:
    what = "choice" if request.purpose == "choice" else "verdict"
    return RunFailed(
        f'the judge has no {what} on "{request.prompt}": {reason}',
        kind="judge",
        where=where,
        step=step,
        help="make the condition decidable by a field of the result, or bind a stronger judge in prose.yml",
    )


def _fitting(value: Any, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any] | None:
    """The last object in an answer that has what was asked for."""
    found = [value] if isinstance(value, dict) else objects_in(value) if isinstance(value, str) else []
    return next((o for o in reversed(found) if isinstance(o, dict) and fits(o)), None)


def _reason(answer: Mapping[str, Any]) -> str | None:
    reason = answer.get("reason")
    return reason if isinstance(reason, str) else None
