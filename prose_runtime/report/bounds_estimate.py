"""An estimate of the tokens and dollars that a run takes at most, by simple rules that are told with it.

A token is 4 characters. A request counts with the text around its inputs (the role's job, the names of inputs, the
shape) and with the length of what is passed: a given input with its own length, one that is not given with
``INPUT_CHARACTERS``, an answer of a role with ``max_tokens`` of its binding, else ``ANSWER_TOKENS``. Answers count
likewise as output. A question to the judge counts with one answer and ``JUDGE_CHARACTERS`` around it. Retries and
repairs do not count. Models without a known price have an unknown cost, which is never zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from prose_runtime.check.bounds import Bounds, Site
from prose_runtime.check.bounds_evaluate import Values, evaluate
from prose_runtime.check.shapes import schema
from prose_runtime.errors import UsageError
from prose_runtime.runtime.jobs import function_job, slot_job
from prose_runtime.services.api import Request
from prose_runtime.services.bindings import Bindings
from prose_runtime.services.pricing import price_of
from prose_runtime.services.prompt import render
from prose_runtime.services.settings import ServiceSettings

CHARACTERS_PER_TOKEN = 4
ANSWER_TOKENS = 500
INPUT_CHARACTERS = 400
JUDGE_CHARACTERS = 600
JUDGE_ANSWER_TOKENS = 60

NO_MODEL = frozenset({"echo", "human", "rehearsal", "script"})
"""Providers that take no tokens."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one binding takes at most. Figures are None when they are unknown, infinite when nothing bounds them.

    ``model`` is None when no model is known, ``free`` says that the binding is none.
    """

    service: str
    model: str | None
    calls: float | None
    input_tokens: float | None
    output_tokens: float | None
    cost_usd: float | None
    free: bool = False


def estimates(bounds: Bounds, bindings: Bindings) -> list[Estimate]:
    """An estimate for each binding that is asked, the judge's questions last."""
    found = list(_services(bounds, bindings))
    questions = evaluate(bounds.judge.high, Values())
    if questions != 0:
        judge = bindings.judge()
        tokens = JUDGE_CHARACTERS / CHARACTERS_PER_TOKEN + _answer_tokens(judge.settings)
        name = f"{judge.name} as judge"
        found.append(_estimate(name, judge.settings, questions, tokens, JUDGE_ANSWER_TOKENS))
    return found


def unpriced(bounds: Bounds, bindings: Bindings) -> list[str]:
    """The models, or else services, that a run may ask and whose price is not known."""
    asked = [_settings(service, bindings) for service in bounds.services]
    if evaluate(bounds.judge.high, Values()) != 0:
        asked.append(bindings.judge().settings)
    models = [(settings, _model(settings)) for settings in asked if settings and settings.provider not in NO_MODEL]
    found = [m or s.provider for s, m in models if m is None or price_of(m, s.price(m)) is None]
    return list(dict.fromkeys(found))


def _services(bounds: Bounds, bindings: Bindings) -> Iterator[Estimate]:
    by_target = {site.fill.name: _answer_tokens(_settings(site.fill.service, bindings)) for site in bounds.sites}
    answers = {target: tokens * CHARACTERS_PER_TOKEN for target, tokens in by_target.items()}
    values = Values(
        answer=lambda target: answers.get(target, ANSWER_TOKENS * CHARACTERS_PER_TOKEN), assumed=INPUT_CHARACTERS
    )
    for service, (calls, characters) in bounds.services.items():
        settings = _settings(service, bindings)
        around = max((_around(site, settings) for site in bounds.sites if site.fill.service == service), default=0)
        number, told = evaluate(calls, values), evaluate(characters, values)
        each = None if number is None or told is None else around + (told / number if number else 0)
        tokens = math.inf if number is not None and math.isinf(number) else each and each / CHARACTERS_PER_TOKEN
        yield _estimate(service or "?", settings, number, tokens, _answer_tokens(settings))


def _estimate(
    name: str, settings: ServiceSettings | None, calls: float | None, each: float | None, answer: float
) -> Estimate:
    """``each`` and ``answer`` are the tokens of one request and of its answer."""
    model = _model(settings)
    if settings is not None and settings.provider in NO_MODEL:
        return Estimate(name, None, calls, 0, 0, None, free=True)
    if calls is None or each is None or math.isinf(calls):
        return Estimate(name, model, calls, calls, calls, None)
    price = price_of(model, settings.price(model)) if model and settings else None
    cost = None if price is None else calls * price.cost(fresh=math.ceil(each), output=math.ceil(answer))
    return Estimate(name, model, calls, calls * math.ceil(each), calls * answer, cost)


def _settings(service: str, bindings: Bindings) -> ServiceSettings | None:
    """The settings of a binding by its name; None for a function of Python's."""
    default = bindings.default_service().binding
    if service == default.name:
        return default.settings
    try:
        return bindings.resolve(service).settings if service else None
    except UsageError:
        return None


def _answer_tokens(settings: ServiceSettings | None) -> float:
    return (settings.max_tokens if settings else None) or ANSWER_TOKENS


def _model(settings: ServiceSettings | None) -> str | None:
    """The model that answers: the binding's, else its provider's usual one."""
    if settings is None:
        return None
    if settings.model is not None or settings.base_url is not None or settings.provider not in ("anthropic", "openai"):
        return settings.model
    found = getattr(import_module(f"prose_runtime.services.{settings.provider}"), "DEFAULT_MODEL", None)
    return found if isinstance(found, str) else None


_ADDITIONS = ("instructions", "persona", "language", "background")


def _around(site: Site, settings: ServiceSettings | None) -> int:
    """The characters of a request without what is passed."""
    spec = site.unit.analysis.spec
    jobs = [function_job(site.fill.spec)] if site.fill.spec else []
    jobs += [slot_job(spec, site.slot)] if site.slot else []
    more: Mapping[str, Any] = {key: getattr(settings, key, None) for key in _ADDITIONS}
    request = Request(job="\n".join(jobs), inputs=dict.fromkeys(site.inputs, ""), schema=schema(site.demand), **more)
    return sum(map(len, render(request)))
