"""Regular expressions that somebody else wrote, looked for in texts that somebody else wrote: never without end."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

PATIENCE = 2.0
"""Seconds for one search. What a person means takes milliseconds; nested repetitions can take years."""


def is_in(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a text has a place that fits.

    Raises:
        TimeoutError: It takes longer than ``PATIENCE``, with a sentence for the person.
    """
    with _alarm(f"looking for /{pattern.pattern}/ takes longer than {PATIENCE:g} s: it can fit in too many ways"):
        return pattern.search(text) is not None


@contextmanager
def _alarm(message: str) -> Iterator[None]:
    """Stop what is done inside when the time is over, where that can be done.

    A search looks for signals, which only the main thread gets, and of which Windows has no alarm.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def ring(*_: Any) -> NoReturn:
        raise TimeoutError(message)

    begun, before = time.monotonic(), signal.signal(signal.SIGALRM, ring)
    left, interval = signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
        if left:  # somebody else's alarm, such as that of a test
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - begun), 0.001), interval)
