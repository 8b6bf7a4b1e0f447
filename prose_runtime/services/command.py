"""``command``: asks a program. It reads one JSON object on stdin and prints JSON or text (DESIGN.md section 4)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import Any

from prose_runtime.errors import ServiceError, UsageError
from prose_runtime.jsontext import parse_json
from prose_runtime.services.api import Reply, Request, Service
from prose_runtime.services.settings import ServiceSettings
from prose_runtime.services.shape import shape_of
from prose_runtime.values import clean_text, to_json

LARGEST_OUTPUT = 16_000_000
"""Bytes on stdout; a program that prints more is stopped."""

STDERR_KEPT = 8_000
"""Bytes of the end of stderr that are kept, of which ``STDERR_LINES`` lines are shown."""

STDERR_LINES = 5


def provider(settings: ServiceSettings) -> Service:
    """Make a service of the setting ``command``; the program runs in the folder of prose.yml, without a shell."""
    if not settings.command or not settings.command[0]:
        raise UsageError(
            f"service `{settings.name}` has no command",
            help=f'in prose.yml: services: {{{settings.name}: {{provider: command, command: ["python", "lint.py"]}}}}',
        )
    return CommandService(settings.name, settings.command, settings.folder)


class CommandService:
    """Starts the program anew for each request, with this process's environment."""

    def __init__(self, name: str, command: list[str], folder: Path | None = None):
        self.name = name
        self.command = command
        self.folder = folder

    async def __call__(self, request: Request) -> Reply:
        """Ask the program. When this is cancelled, the program and all that it started are ended."""
        process = await self._start()
        try:
            out, err = await _converse(process, _question(request))
        except BaseException:
            await _end(process)
            raise
        if len(out) > LARGEST_OUTPUT:
            message = f"{self._called} printed more than {LARGEST_OUTPUT // 1_000_000} MB"
            raise ServiceError(message, service=self.name)
        if process.returncode:
            raise ServiceError(
                f"{self._called} ended with {_ending(process.returncode)}{_last_lines(err)}", service=self.name
            )
        return Reply(self._answer(out))

    async def ping(self) -> str:
        """Find the program without running it."""
        import shutil

        found = shutil.which(self.command[0], path=os.environ.get("PATH"))
        if found is None and not (self.folder and (self.folder / self.command[0]).is_file()):
            raise self._unavailable("was not found")
        return f"runs {self.command[0]}"

    @property
    def _called(self) -> str:
        return f"the command of `{self.name}` ({self.command[0]})"

    async def _start(self) -> Process:
        try:
            # A group of its own, so that what the program starts can be ended with it, and so that Ctrl-C in the
            # terminal reaches this process only.
            return await asyncio.create_subprocess_exec(
                *self.command, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=self.folder, start_new_session=True
            )
        except FileNotFoundError:
            raise self._unavailable("was not found") from None
        except (OSError, ValueError) as error:
            raise self._unavailable(f"cannot be started: {getattr(error, 'strerror', None) or error}") from error

    def _unavailable(self, why: str) -> ServiceError:
        # Not of kind unavailable: asking again would not make the program appear.
        return ServiceError(
            f"{self._called} {why}", service=self.name, help="the first word of `command` in prose.yml is the program"
        )

    def _answer(self, out: bytes) -> Any:
        try:
            text = out.decode("utf-8")
        except UnicodeDecodeError:
            message = f"{self._called} printed bytes that are not UTF-8"
            raise ServiceError(message, kind="format", service=self.name) from None
        try:
            return to_json(parse_json(text))
        except ValueError:
            return text.rstrip("\r\n")


def _question(request: Request) -> bytes:
    told = [request.job, request.instructions, request.voice, request.background]
    if request.language:
        told.append(f"Write in this language: {request.language}.")
    if request.note:
        told.append(f"A note for this answer: {request.note}")
    if request.fault:
        told.append(f"The earlier answer was not accepted: {request.fault}. Answer again, in full.")
    schema = shape_of(request)
    question = {
        "inputs": to_json(dict(request.inputs)),
        "prompt": None if request.prompt is None else clean_text(request.prompt),
        "instructions": clean_text("\n\n".join(part for part in told if part)),
        "schema": None if schema is None else dict(schema),
    }
    return json.dumps(question, ensure_ascii=False).encode("utf-8") + b"\n"


async def _converse(process: Process, question: bytes) -> tuple[bytes, bytes]:
    async with asyncio.TaskGroup() as group:
        group.create_task(_feed(process, question))
        out = group.create_task(_read_all(process))
        err = group.create_task(_read_end(process))
    await process.wait()
    return out.result(), err.result()


async def _feed(process: Process, question: bytes) -> None:
    assert process.stdin is not None
    # A program need not read its question.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(question)
        await process.stdin.drain()
    process.stdin.close()
    # Not waited for here: asyncio trips over a wait that is cancelled while the program is being ended. But somebody
    # has to hear that the pipe broke.
    closing = asyncio.ensure_future(process.stdin.wait_closed())
    closing.add_done_callback(lambda closed: closed.cancelled() or closed.exception())


async def _read_all(process: Process) -> bytes:
    assert process.stdout is not None
    data = bytearray()
    while piece := await process.stdout.read(1 << 16):
        data += piece
        if len(data) > LARGEST_OUTPUT:
            _kill(process)
            break
    return bytes(data)


async def _read_end(process: Process) -> bytes:
    assert process.stderr is not None
    data = b""
    while piece := await process.stderr.read(1 << 16):
        data = (data + piece)[-STDERR_KEPT:]
    return data


async def _end(process: Process) -> None:
    """End the program and what it started. Waiting is shielded, so that a second cancellation leaves no zombie."""
    _kill(process)
    await asyncio.shield(process.wait())


def _kill(process: Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _ending(code: int) -> str:
    if code > 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"signal {signal.Signals(-code).name}"
    return f"signal {-code}"


def _last_lines(err: bytes) -> str:
    lines = [line.rstrip() for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
    return ": " + "\n".join(lines[-STDERR_LINES:]) if lines else ""
