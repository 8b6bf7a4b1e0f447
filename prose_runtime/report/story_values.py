"""Where the words of an input stood before: in the inputs of the run, or in an earlier answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_SHORTEST = 3
"""Characters of a text that says where it comes from by being the same."""
_SHORTEST_PART = 16
"""Characters of a text that says where it comes from by being part of another."""
_LATEST = 200
"""How many of the latest texts are looked for inside others."""


@dataclass(frozen=True, slots=True)
class Origin:
    """An input of the run (``number`` 0) or the answer of a call, by its number and target."""

    number: int
    name: str


class Origins:
    """Remembers what was said by whom. Values are compared, so that it holds for every program and composite."""

    def __init__(self, inputs: Mapping[str, Any]):
        self._exact: dict[str, Origin] = {}
        self._texts: dict[str, Origin] = {}
        for name, value in inputs.items():
            self._remember(Origin(0, name), value)

    def add(self, number: int, target: str, output: Any) -> None:
        """Remember an answer; the latest of the same words counts."""
        self._remember(Origin(number, target), output)

    def of(self, value: Any) -> tuple[Origin, ...]:
        """Where a value, or parts of it, came from, in order of appearance."""
        found: dict[Origin, None] = {}
        for part in _parts(value):
            origin = self._exact.get(_key(part))
            if origin is not None:
                found[origin] = None
            elif isinstance(part, str) and len(part) >= _SHORTEST_PART:
                found.update(dict.fromkeys(self._inside(part)))
            if origin is not None and part is value:
                break
        return tuple(sorted(found, key=lambda origin: origin.number))

    def _inside(self, text: str) -> Iterator[Origin]:
        for known in list(self._texts)[-_LATEST:]:
            if known in text or text in known:
                yield self._texts[known]

    def _remember(self, origin: Origin, value: Any) -> None:
        for part in _parts(value):
            self._exact[_key(part)] = origin
            if isinstance(part, str) and len(part) >= _SHORTEST_PART:
                self._texts.pop(part, None)
                self._texts[part] = origin


def _parts(value: Any) -> Iterator[Any]:
    """A value and what it holds, as far as it can be told apart from chance."""
    if isinstance(value, str):
        if len(value) >= _SHORTEST:
            yield value
    elif isinstance(value, dict | list) and value:
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from _parts(item)


def _key(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
