"""Small composites for tests: written to a folder, run through the package's own front door."""

from __future__ import annotations

import asyncio
import textwrap
from pathlib import Path
from typing import Any

from prose_runtime.services.api import Reply, Request

FIRST_LINE = 28
"""The line of the file on which the program of ``composite`` with its defaults starts."""


def composite(
    folder: Path, body: str, *, slots: str = "one two", rows: str = "", config: str = "", name: str = "probe"
) -> Path:
    """Write a composite with these slots (``x[]`` a list slot), Requires rows, Config bullets and program."""
    names = slots.split()
    listed = "\n".join(f"- `{slot.removesuffix('[]')}`\n  - requires: brief" for slot in names)
    typed = [f"{slot.removesuffix('[]')}: {'string[]' if slot.endswith('[]') else 'string'}" for slot in names]
    table = "\n".join("    " + row for row in [*typed, *rows.splitlines()])
    text = (
        f"---\nname: {name}\nkind: composite\n---\n\n### Slots\n\n{listed}\n\n### Config\n\n{config or '- None.'}\n\n"
        f"### Requires\n\n- &compositeState exists at __compositeState with:\n{table}\n\n"
        f"### Delegation Loop\n\n```javascript\n{textwrap.dedent(body).strip()}\n```\n"
    )
    path = folder / f"{name}.md"
    path.write_text(text, encoding="utf-8")
    return path


class Talker:
    """A service that answers ``NAME:PROMPT``, or as ``replies`` says, after as many seconds as ``delays`` says.

    Both go by the first word of the prompt. ``asked`` holds the requests; ``fail_at`` is the number of the request at
    which it breaks down as a crashed process would.
    """

    def __init__(
        self,
        name: str,
        replies: dict[str, Any] | None = None,
        delays: dict[str, float] | None = None,
        fail_at: int | None = None,
    ):
        self.name = name
        self.replies = replies or {}
        self.delays = delays or {}
        self.fail_at = fail_at
        self.asked: list[Request] = []
        self.cancelled: list[str] = []

    async def __call__(self, request: Request) -> Reply:
        if self.fail_at is not None and len(self.asked) >= self.fail_at:
            raise Crash
        self.asked.append(request)
        word = (request.prompt or "").split(" ")[0]
        try:
            await asyncio.sleep(self.delays.get(word, 0))
        except asyncio.CancelledError:
            self.cancelled.append(word)
            raise
        reply = self.replies.get(word, f"{self.name}:{request.prompt}")
        if isinstance(reply, BaseException):
            raise reply
        return Reply(reply)

    @property
    def prompts(self) -> list[str]:
        """What was asked, in order."""
        return [str(request.prompt) for request in self.asked]


class Crash(BaseException):
    """The process died: nothing of the program sees it."""
