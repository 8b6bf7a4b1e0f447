"""What agents of the oldest dialect remember: the exchanges of a run, of a project, or of a user.

An exchange is what an agent was asked and what it replied. ``session: agent`` starts fresh unless the agent says
``persist``; ``resume: agent`` is always told what went before. A branch starts with what was remembered at its fork,
and what branches add is joined in branch order, as for lists (LANGUAGE.md section 3, rule 2).
"""

from __future__ import annotations

import fcntl
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from prose_runtime.errors import RecordError
from prose_runtime.journal import redact
from prose_runtime.nodes import Agent, Constant, Template

TOLD = 20
"""How many of its latest exchanges an agent is told."""

Exchange = Mapping[str, Any]
"""``prompt`` and ``reply`` as JSON."""


class Memory:
    """What the agents of a frame remember."""

    __slots__ = ("_added", "_known")

    def __init__(self, known: dict[str, list[Exchange]] | None = None):
        self._known = known or {}
        self._added: list[tuple[str, Exchange]] = []

    def of(self, agent: str) -> list[Exchange]:
        """The latest exchanges of an agent, oldest first."""
        return self._known.get(agent, [])[-TOLD:]

    def start(self, agent: str, exchanges: list[Exchange]) -> None:
        """Begin with what was remembered before the run."""
        self._known[agent] = list(exchanges)

    def add(self, agent: str, exchange: Exchange) -> None:
        """Remember an exchange."""
        self._known.setdefault(agent, []).append(exchange)
        self._added.append((agent, exchange))

    def branch(self) -> Memory:
        """The memory of a branch: a copy of this one."""
        return Memory({agent: list(exchanges) for agent, exchanges in self._known.items()})

    def join(self, branch: Memory) -> None:
        """Take over what a finished branch added."""
        for agent, exchange in branch._added:
            self.add(agent, exchange)


def kept_as(agent: Agent) -> str | None:
    """What an agent's ``persist`` says: ``run``, ``project``, ``user``, ``=name``, or None when it does not persist."""
    value = next((arg.value for arg in agent.args if arg.name == "persist"), None)
    if isinstance(value, Template):
        word = "".join(part for part in value.parts if isinstance(part, str))
        return word if word in ("project", "user") else f"={word}"
    return "run" if isinstance(value, Constant) and value.value is True else None


class Store(Protocol):
    """Where the exchanges of one agent are kept beyond a run."""

    async def recall(self) -> dict[str, Any]:
        """The latest exchanges as ``exchanges``, oldest first, and as ``id`` what marks those of this run.

        Raises:
            RecordError: They cannot be read.
        """
        ...

    async def remember(self, exchange: Exchange, key: str) -> None:
        """Keep an exchange unless there is one with this key, as when a run is resumed.

        Raises:
            RecordError: It cannot be kept.
        """
        ...


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A store in a file: a line of JSON for each exchange."""

    path: Path

    async def recall(self) -> dict[str, Any]:
        """As ``Store.recall``; the mark is new each time."""
        return {"id": secrets.token_hex(8), "exchanges": self.read()}

    async def remember(self, exchange: Exchange, key: str) -> None:
        """As ``Store.remember``."""
        self.append(exchange, key)

    def read(self) -> list[dict[str, Any]]:
        """The latest exchanges, oldest first; a line that cannot be read is passed over.

        Raises:
            RecordError: The file is there and cannot be read.
        """
        rows = [row for row in map(_row, self._lines()) if row is not None]
        return [{"prompt": row.get("prompt"), "reply": row.get("reply")} for row in rows[-TOLD:]]

    def append(self, exchange: Exchange, key: str) -> None:
        """Write an exchange down unless it is there. Secrets are left out, as in the record of runs.

        Raises:
            RecordError: The file cannot be written.
        """
        line = json.dumps(redact({**exchange, "key": key}))
        try:
            self._make_folder()
            with self.path.open("a+", encoding="utf-8") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.seek(0)
                known = file.read()
                if json.dumps(key) not in known:
                    file.write(line + "\n" if known.endswith("\n") or not known else f"\n{line}\n")
        except OSError as error:
            raise self._fault("written", error) from None

    def _make_folder(self) -> None:
        """Make the folder, which no version control shall take up by accident."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        ignore = self.path.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")

    def _lines(self) -> list[str]:
        try:
            return self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._fault("read", error) from None

    def _fault(self, what: str, error: OSError) -> RecordError:
        reason = error.strerror or str(error)
        return RecordError(
            f"the memory {self.path} cannot be {what}: {reason}",
            help="make it a file that you may read and write, or leave `persist` out of the agent",
        )


def _row(line: str) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None
