"""One writer a run: a lock file that the system lets go of when its process ends, however it does."""

from __future__ import annotations

import fcntl
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from prose_runtime.errors import RecordError
from prose_runtime.journal.file import told


@dataclass(slots=True)
class Lock:
    """The lock of a run; free when ``handle`` is None."""

    path: Path
    handle: int | None = field(default=None)

    def release(self) -> None:
        """Let go of it; harmless when called again."""
        if self.handle is not None:
            self.path.unlink(missing_ok=True)  # while it is held: nobody can mistake the file for a free one
            os.close(self.handle)
            self.handle = None


def take_lock(path: Path) -> Lock:
    """Take the lock of a run. Raises RecordError when a living process holds it."""
    holder = ""
    for attempt in range(_TRIES):
        with told(path.parent):
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _same_file(handle, path):
                os.ftruncate(handle, 0)
                os.pwrite(handle, str(os.getpid()).encode(), 0)
                return Lock(path, handle)
        except BlockingIOError:
            holder = os.pread(handle, 20, 0).decode()
            if _is_alive(holder) and attempt >= _TRIES_OF_THE_LIVING:  # before: only somebody who looked, perhaps
                os.close(handle)
                break
            time.sleep(_PAUSE)
        os.close(handle)
    raise RecordError(
        f"run {path.stem} is running in process {holder}", help="wait until it ends, or stop it with Ctrl-C there"
    )


# A process that was killed while it started a program leaves its lock for a moment to that child, until the child is
# the other program. So a lock whose holder is dead is looked at again for a while.
_TRIES = 40
_TRIES_OF_THE_LIVING = 4
_PAUSE = 0.025


def is_locked(path: Path) -> bool:
    """Whether a living process holds the lock."""
    for _ in range(_TRIES):
        try:
            handle = os.open(path, os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            if _is_alive(os.pread(handle, 20, 0).decode()):
                return True
        else:
            return False
        finally:
            os.close(handle)
        time.sleep(_PAUSE)
    return True


def _is_alive(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:  # somebody else's
        return True
    return True


def _same_file(handle: int, path: Path) -> bool:
    try:
        return os.fstat(handle).st_ino == path.stat().st_ino
    except FileNotFoundError:
        return False
