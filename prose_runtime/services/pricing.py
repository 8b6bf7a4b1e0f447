"""What tokens cost. A model that is not in the table has an unknown cost, which is never zero."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prose_runtime.services.settings import Price as OwnPrice

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens.

    ``above`` is the number of input tokens from which the dearer ``long`` price holds for the whole request.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float
    above: int | None = None
    long: Price | None = None

    def cost(self, *, fresh: int, output: int, cache_read: int = 0, cache_write: int = 0) -> float:
        """The dollars of one request: ``fresh`` input tokens are those neither read from nor written to a cache."""
        if self.long is not None and self.above is not None and fresh + cache_read + cache_write > self.above:
            return self.long.cost(fresh=fresh, output=output, cache_read=cache_read, cache_write=cache_write)
        read, written = cache_read * self.cache_read, cache_write * self.cache_write
        return (fresh * self.input + output * self.output + read + written) / MILLION


def _claude(input_: float, output: float, cache_read: float | None = None) -> Price:
    """Writing to the five-minute cache costs a quarter more than reading afresh."""
    return Price(input_, output, input_ / 10 if cache_read is None else cache_read, input_ * 1.25)


def _gpt(input_: float, output: float, cache_read: float, long_input: float = 0.0, long_output: float = 0.0) -> Price:
    """Caches are written without a charge; the newer models cost more above 272,000 tokens."""
    long = Price(long_input, long_output, cache_read * 2, long_input) if long_input else None
    return Price(input_, output, cache_read, input_, 272_000 if long else None, long)


PRICES: Mapping[str, Price] = {
    "claude-opus-5-5": _claude(4, 20, 0.2),
    "claude-opus-5": _claude(5, 25),
    "claude-opus-4-8": _claude(5, 25),
    "claude-opus-4-7": _claude(5, 25),
    "claude-opus-4-5": _claude(5, 25),
    "claude-sonnet-5-5": _claude(2, 10, 0.1),
    "claude-sonnet-5": _claude(2, 10),
    "claude-sonnet-4-6": _claude(3, 15),
    "claude-sonnet-4-5": _claude(3, 15),
    "claude-haiku-5-5": Price(0.1, 0.5, 0.01, 0.125, 100_000, _claude(0.5, 2.5)),
    "claude-haiku-4-5": _claude(1, 5),
    "gpt-6.1-sol": _gpt(2, 10, 0.1, 4, 15),
    "gpt-6-sol": _gpt(2, 10, 0.2, 4, 15),
    "gpt-6.1-terra": _gpt(1, 5, 0.05, 2, 7.5),
    "gpt-6-luna": _gpt(0.1, 0.5, 0.01, 0.2, 0.75),
    "gpt-5.4": _gpt(2.5, 15, 0.25, 5, 22.5),
    "gpt-5.4-mini": _gpt(0.75, 4.5, 0.075),
    "gpt-5.1": _gpt(1.25, 10, 0.125),
    "gpt-5": _gpt(1.25, 10, 0.125),
    "gpt-5-mini": _gpt(0.25, 2, 0.025),
    "gpt-4.1": _gpt(2, 8, 0.5),
    "gpt-4.1-mini": _gpt(0.4, 1.6, 0.1),
    "gpt-4o": _gpt(2.5, 10, 1.25),
    "gpt-4o-mini": _gpt(0.15, 0.6, 0.075),
}
"""List prices as published in November 2026."""

_DATED = re.compile(r"(?:-\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$")


def price_of_any(models: Iterable[str | None], own: Callable[[str], OwnPrice | None]) -> Price | None:
    """The price of the first model whose price is known: what was asked for, or what a server says that it used.

    ``own`` gives what prose.yml says of a model.
    """
    found = (price_of(model, own(model)) for model in models if model is not None)
    return next((price for price in found if price is not None), None)


def price_of(model: str, own: OwnPrice | None = None) -> Price | None:
    """The price of a model by its id, with or without a release date; None when it is unknown.

    ``own`` is what prose.yml says; without its own figure, a cached token costs what any other costs.
    """
    if own is not None:
        return Price(own.input, own.output, own.input if own.cached is None else own.cached, own.input)
    return PRICES.get(model) or PRICES.get(_DATED.sub("", model))
