"""Programs written by chance."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence


def indented(lines: list[str]) -> list[str]:
    """The lines of a body."""
    return ["  " + line for line in lines]


def nested(head: str, body: list[str]) -> list[str]:
    """A construct with a body."""
    return [head, *indented(body)]


class Writer(ABC):
    """Writes programs; ``chance`` decides everything."""

    def __init__(self, chance: random.Random):
        self.chance = chance

    def any(self, choices: Sequence[str]) -> str:
        """One of several texts."""
        return self.chance.choice(choices)

    def once_in(self, times: int) -> bool:
        """True once in so many times."""
        return self.chance.randrange(times) == 0

    def block(self, depth: int, looping: bool = False) -> list[str]:
        """Some statements; ``looping``: they may leave a loop."""
        return [line for _ in range(self.chance.randint(1, 3)) for line in self.statement(depth, looping)]

    @abstractmethod
    def statement(self, depth: int, looping: bool) -> list[str]:
        """One statement, with others in it up to a depth."""
