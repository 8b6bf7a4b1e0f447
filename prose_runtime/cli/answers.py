"""``--answer`` of ``prose resume``: words of the command line as answers to the questions that a run waits with."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prose_runtime.cli.options import Reader
from prose_runtime.diagnostics import did_you_mean
from prose_runtime.errors import UsageError
from prose_runtime.services.answers import is_address, read_answers
from prose_runtime.values import clean_text


def given_answers(words: Sequence[str], waiting: Sequence[Mapping[str, Any]], base: Path) -> dict[str, Any]:
    """The answers by step.

    Raises:
        UsageError: Nothing waits, it is not clear what is meant, a value does not fit, or a file cannot be read.
    """
    reader = Reader(base)
    return read_answers(waiting, [_split(word, waiting, reader) for word in words]) if words else {}


def _split(word: str, waiting: Sequence[Mapping[str, Any]], reader: Reader) -> tuple[str, str]:
    address, equals, rest = word.partition("=")
    if equals and is_address(address, waiting):
        return address, _text(rest, reader)
    close = did_you_mean(address, _names(waiting)) if equals and re.fullmatch(r"[\w.-]+", address) else None
    if close:
        raise UsageError(
            f"`{address}` is no question or field that the run waits for", help=f"{close} Or give the text as @FILE"
        )
    return "", _text(word, reader)


def _names(waiting: Sequence[Mapping[str, Any]]) -> list[str]:
    fields = [name for question in waiting for name in (question["schema"] or {}).get("properties", ())]
    return [*(question["target"] for question in waiting), *fields]


def _text(word: str, reader: Reader) -> str:
    if word == "-":
        return clean_text(reader.stdin())
    return clean_text(reader.text(word[1:]) if word.startswith("@") else word)
