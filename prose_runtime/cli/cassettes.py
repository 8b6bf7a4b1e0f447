"""Cassettes as options of ``prose run``: recording a run's answers into a file, and answering a run from one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from prose_runtime.runtime.tape import TapeWords

NAMES = ("--record", "--replay", "--replay-missing")


def cassette_options() -> list[click.Option]:
    """The options, for ``prose run``."""
    return [
        click.Option(["--record", "record_to"], metavar="FILE", help="Write the answers to a cassette, as text."),
        click.Option(["--replay", "replay_from"], metavar="FILE", help="Take the answers from a cassette; ask nobody."),
        click.Option(
            ["--replay-missing", "replay_missing"], type=click.Choice(["fail", "ask"]), metavar="[fail|ask]",
            help="With --replay: what to do where the cassette has no answer. [default: fail]",
        ),
        click.Option(["--strict", "replay_strict"], is_flag=True,
                     help="With --replay: take no answer to another request than is made now."),
    ]  # fmt: skip


def given_cassettes(params: Mapping[str, Any]) -> dict[str, Any]:
    """What the options say of cassettes, as the record of a run keeps it."""
    said = {
        "record": params.get("record_to"),
        "replay": params.get("replay_from"),
        "missing": params.get("replay_missing"),
        "strict": params.get("replay_strict"),
    }
    return {name: value for name, value in said.items() if value}


def tape_words(said: Mapping[str, Any], base: Path) -> TapeWords:
    """The words of a run's request; paths count from its folder."""
    from prose_runtime.errors import UsageError
    from prose_runtime.runtime.tape import TapeWords

    if "replay" not in said and ("missing" in said or "strict" in said):
        raise UsageError("there is no cassette to replay", help="give one with `--replay FILE`")
    paths = {name: base / said[name] for name in ("record", "replay") if name in said}
    return TapeWords(
        paths.get("replay"), paths.get("record"), said.get("missing", "fail"), bool(said.get("strict", False))
    )
