"""Checks many files in several processes, each of which reads what its files share once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from prose_runtime.check.checker import Checked, Projects, Question, check_files, spec_files
from prose_runtime.errors import UnreadableFile

_WORTH = 50
"""How many files a process has to get to save more time than its start takes."""

_AT_ONCE = 16
"""How many files a process takes at a time: few, so that none waits long for the last."""


def check_all(paths: Iterable[Path], jobs: int | None = None, more: Sequence[Question] = ()) -> Checked:
    """Check files, and the specs in folders and below; what is found does not depend on the number of processes.

    ``jobs`` is the greatest number of them; None stands for as many as there are processors, and are worth it.
    ``more`` are functions that a process can be sent: those of a module, or ``partial`` of one.
    """
    unreadable: list[UnreadableFile] = []
    files = list(spec_files(paths, unreadable.append))
    shares = [files[at : at + _AT_ONCE] for at in range(0, len(files), _AT_ONCE)]
    count = min(_processors(), len(files) // _WORTH) if jobs is None else min(jobs, len(shares))
    checked = _side_by_side(files, shares, count, more) if count > 1 else None
    checked = checked or check_files(files, Projects(files), more)
    checked.unreadable += unreadable
    return checked


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _side_by_side(
    files: Sequence[Path], shares: Sequence[Sequence[Path]], count: int, more: Sequence[Question]
) -> Checked | None:
    """None when the system has too few processes or threads to give, as in some sandboxes, or takes one away."""
    from concurrent.futures import ProcessPoolExecutor  # takes as long to import as a small file to check
    from multiprocessing import active_children

    checked = Checked()
    others = active_children()
    try:
        with ProcessPoolExecutor(count, initializer=_start, initargs=(files,)) as pool:
            try:
                for part in [pool.submit(_check, share, more) for share in shares]:
                    checked.extend(part.result())
            except BaseException:
                for started in active_children():
                    if started not in others:  # it may wait for ever: for work, or for a file that is a pipe
                        started.terminate()
                raise
    except (OSError, ImportError, RuntimeError):
        return None
    return checked


_projects: Projects
"""What a process of a pool has read."""


def _start(files: Sequence[Path]) -> None:
    global _projects  # noqa: PLW0603
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits for this one
    _projects = Projects(files)


def _check(files: Sequence[Path], more: Sequence[Question]) -> Checked:
    return check_files(files, _projects, more)
