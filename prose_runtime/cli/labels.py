"""Flags for the values of an enumerated config item: ``--tetralemma`` for ``--mode tetralemma``."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import click

from prose_runtime.cli.convert import Item, base_type, dashed, enum_labels

_NAME = re.compile(r"[A-Za-z][\w-]*")


@dataclass(slots=True)
class Labels:
    """``flags`` maps an unambiguous flag to its item and label; ``unclear`` the others to what could be meant."""

    flags: dict[str, tuple[Item, str]] = field(default_factory=dict)
    unclear: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, items: Sequence[Item], taken: Collection[str]) -> Labels:
        """The flags of all enumerated config items; the names in ``taken`` are options already."""
        found = cls()
        meant: dict[str, list[tuple[Item, str]]] = {}
        for item in items:
            if item.kind == "config" and base_type(item.type) == "enum":
                for label in filter(_NAME.fullmatch, enum_labels(item.type)):
                    meant.setdefault(f"--{dashed(label)}", []).append((item, label))
        for flag, meanings in meant.items():
            if flag not in taken and len(meanings) == 1:
                found.flags[flag] = meanings[0]
            elif flag not in taken:
                found.unclear[flag] = [f"{item.option} {label}" for item, label in meanings]
        return found

    def options(self) -> list[click.Option]:
        """One flag each; the help shows them beside their item."""
        return [click.Option([flag, _key(flag)], is_flag=True, hidden=True) for flag in self.flags]

    def shown(self, item: Item) -> str:
        """The flags of one item, for its help."""
        return ", ".join(flag for flag, (owner, _) in self.flags.items() if owner is item)

    def given(self, values: dict[str, object]) -> list[tuple[Item, str]]:
        """What the flags on the command line say; ``values`` is what click read."""
        return [meaning for flag, meaning in self.flags.items() if values[_key(flag)]]


def _key(flag: str) -> str:
    return "label_" + flag.removeprefix("--").replace("-", "_")
