"""Cassettes: the answers of a run as a text file that people review and keep beside a spec (DESIGN.md section 6).

A cassette is YAML: what was asked for, then one entry a step in the order of their names, so that two recordings of one
program differ where their answers do. Secrets are left out, and so is what differs from run to run: times and costs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from prose_runtime.errors import UnreadableFile, UsageError
from prose_runtime.journal.answers import Answer
from prose_runtime.journal.redaction import Redactor
from prose_runtime.text import Where

FORMAT = 1
"""The number behind ``cassette`` in the file; a file with a higher one is refused."""

_SHOWN = ("target", "inputs", "prompt")


@dataclass(frozen=True, slots=True)
class Entry:
    """An answer, and in ``asked`` the target, inputs and prompt: for people, and for ``prose runs diff``."""

    answer: Answer
    asked: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Cassette:
    """The content of a file: the spec's name, what it was given, an entry a step, what came of it."""

    spec: str
    given: dict[str, Any] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    result: Any = None

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all. Raises UsageError when it cannot be written."""
        answers = [_row(entry) for _, entry in sorted(self.entries.items(), key=lambda item: natural(item[0]))]
        content = {
            "cassette": FORMAT,
            "spec": self.spec,
            "given": self.given,
            "answers": answers,
            "result": self.result,
        }
        text = yaml.dump(
            Redactor().value(content), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100, indent=2
        )
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            draft.write_text(text, encoding="utf-8")
            draft.replace(path)
        except OSError as error:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            raise _unwritable(path, error.strerror or str(error)) from None


def check_writable(path: Path) -> None:
    """Look before a run whether its cassette can be written after it. Raises UsageError when not."""
    if path.is_dir():
        raise _unwritable(path, "it is a folder")
    if not path.parent.is_dir():
        raise _unwritable(path, f"there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise _unwritable(path, f"the folder {path.parent} may not be written to")


def _unwritable(path: Path, why: str) -> UsageError:
    return UsageError(f"the cassette {path} cannot be written: {why}")


def read_cassette(path: Path) -> Cassette:
    """The content of a file.

    Raises:
        UnreadableFile: It cannot be read.
        UsageError: It is no cassette.
    """
    try:
        content = yaml.load(path.read_text(encoding="utf-8-sig"), Loader=_Loader)  # a SafeLoader
    except UnicodeDecodeError:
        raise UnreadableFile(str(path), "it is not UTF-8 text") from None
    except OSError as error:
        raise UnreadableFile(str(path), (error.strerror or str(error)).lower()) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise _no_cassette(path, "it is no valid YAML", mark.line + 1 if mark else 1) from None
    if not isinstance(content, dict) or not isinstance(content.get("cassette"), int):
        raise _no_cassette(path, "it does not begin with `cassette: 1`")
    if content["cassette"] > FORMAT:
        raise _no_cassette(path, f"its format {content['cassette']} is newer than this version of prose knows")
    rows = content.get("answers") or []
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and isinstance(row.get("step"), str) for row in rows
    ):
        raise _no_cassette(path, "`answers` is no list of entries with a `step`")
    entries = {row["step"]: Entry(_answer(row), {k: row[k] for k in _SHOWN if k in row}) for row in rows}
    return Cassette(str(content.get("spec")), content.get("given") or {}, entries, content.get("result"))


def is_cassette(path: Path) -> bool:
    """Whether a file begins as a cassette does."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.readline().startswith("cassette:")
    except OSError:
        return False


def _no_cassette(path: Path, why: str, line: int = 1) -> UsageError:
    help_ = "record one with `prose run SPEC --record FILE`"
    return UsageError(f"{path} is no cassette: {why}", help=help_, where=Where(str(path), line))


def _row(entry: Entry) -> dict[str, Any]:
    answer = entry.answer
    if answer.kind == "event":
        return {"step": answer.step, "event": answer.value}
    row = {"step": answer.step, "service": answer.service, **entry.asked}
    if answer.model is not None:
        row["model"] = answer.model
    row |= {"error": answer.value} if answer.kind == "error" else {"reply": answer.value}
    return {**row, "request": answer.digest}


def _answer(row: Mapping[str, Any]) -> Answer:
    if "event" in row:
        return Answer(row["step"], "", "event", row["event"], "")
    kind, value = ("error", row["error"]) if "error" in row else ("reply", row.get("reply"))
    if kind == "error":
        value = {"message": "", "kind": "failed", "service": None, "retry_after": None} | dict(value or {})
    digest, service = str(row.get("request", "")), str(row.get("service", ""))
    return Answer(row["step"], digest, "error" if kind == "error" else "reply", value, service, model=row.get("model"))


def natural(step: str) -> list[tuple[int, str]]:
    """A key by which steps come in the order in which people count: the second pass before the tenth."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", step)]


class _Dumper(yaml.SafeDumper):
    """Plain data; texts of several lines stand as they are read."""

    def ignore_aliases(self, data: Any) -> bool:
        """Equal values are written out each time."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


class _Loader(yaml.SafeLoader):
    """Plain data; dates stay text."""


_Loader.yaml_implicit_resolvers = {
    sign: [(tag, pattern) for tag, pattern in rows if tag != "tag:yaml.org,2002:timestamp"]
    for sign, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
