"""The options of ``prose run`` about people: who joins, whose voice a role takes on, what all roles are told.

A spec's own names come first: where it has a ``language`` of its own, the run's is ``--run-language``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from prose_runtime.check.tables import Analysis
from prose_runtime.cli.convert import dashed
from prose_runtime.errors import UsageError
from prose_runtime.values import clean_text

if TYPE_CHECKING:
    from prose_runtime.cli.options import Reader

WITH_VALUE = ("--join", "--persona", "--personas", "--language", "--context", "--run-context")
"""Options that take a value; ``--telegram`` may have one."""

TELEGRAM = "--telegram"

_CHAT = re.compile(r"new|-?\d+|@\w+")


def people_options(taken: Collection[str]) -> list[click.Option]:
    """The options, under names that the spec has not ``taken``."""

    def names(name: str, key: str) -> list[str]:
        return [f"--run-{name}" if f"--{name}" in taken else f"--{name}", key]

    context = ["--run-context", *([] if "--context" in taken else ["--context"]), "context_file"]
    return [
        click.Option(names("join", "join"), multiple=True, metavar="SLOT",
                     help="Take over a slot yourself; SLOT.INNER is a slot of the pattern that fills SLOT."),
        click.Option(names("persona", "one_persona"), multiple=True, metavar="SLOT=NAME",
                     help="Give a slot a voice and style; its position stays."),
        click.Option(names("personas", "all_personas"), metavar="NAMES",
                     help="Personas of the slots, in their order, with commas between."),
        click.Option(names("language", "language"), metavar="LANGUAGE", help="The language of all roles."),
        click.Option(context, metavar="FILE",
                     help="Background for all roles, summed up once by the default service; - is standard input."),
        click.Option(names("telegram", "telegram"), metavar="[CHAT|new]",
                     help="Who joins answers on Telegram, in this chat; new prints a link that invites."),
    ]  # fmt: skip


def with_chats(words: Sequence[str], option: str = TELEGRAM) -> list[str]:
    """The words of a command line where ``--telegram`` has its value: the next word if that is a chat, else nothing."""
    done: list[str] = []
    for i, word in enumerate(words):
        if word == "--":
            return [*done, *words[i:]]
        if done and done[-1] == f"{option}=" and words[i - 1] == option and _CHAT.fullmatch(word):
            done[-1] += word
        else:
            done.append(f"{option}=" if word == option else word)
    return done


def read_people(given: Mapping[str, Any], analysis: Analysis, reader: Reader) -> dict[str, Any] | None:
    """What the options say, as the record keeps it (``runtime.people.People``); None when they say nothing.

    Raises:
        UsageError: A persona has no slot, nobody joins who could be on Telegram, or a file cannot be read.
    """
    join = [clean_text(word.strip()) for text in given["join"] for word in text.split(",") if word.strip()]
    if given["telegram"] is not None and not join:
        raise UsageError(f"`{TELEGRAM}` says where somebody is, but nobody joins", help="add `--join SLOT`")
    people = {
        "join": list(dict.fromkeys(join)),
        "personas": _personas(given, analysis),
        "language": given["language"] and clean_text(given["language"]),
        "context": None if given["context_file"] is None else reader.text(given["context_file"]).strip() or None,
        "telegram": None if given["telegram"] is None else _word(given["telegram"]),
    }
    return people if any(people.values()) else None


def _word(chat: str) -> str:
    return f"telegram:{chat}" if chat else "telegram"


def _personas(given: Mapping[str, Any], analysis: Analysis) -> dict[str, str]:
    slots = [slot.name for slot in analysis.spec.slots]
    listed = [name.strip() for name in clean_text(given["all_personas"] or "").split(",")]
    if len(listed) > len(slots) and any(listed):
        known = f"its slots, in order: {', '.join(slots)}" if slots else "it has no slots"
        raise UsageError(f"{len(listed)} personas are given for {len(slots)} slots", help=known)
    personas = {slot: name for slot, name in zip(slots, listed, strict=False) if name}
    for text in given["one_persona"]:
        slot, equals, name = (part.strip() for part in clean_text(text).partition("="))
        if not (slot and equals and name):
            raise UsageError(f"`--persona {text}` names no slot", help="write `--persona SLOT=NAME`")
        if dashed(slot) in map(dashed, personas):
            raise UsageError(f"`{slot}` is given two personas", help="give it one")
        personas[slot] = name
    return personas
