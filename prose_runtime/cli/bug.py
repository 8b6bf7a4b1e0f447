"""What a person sees of a fault of this program itself."""

from __future__ import annotations

import os
import tempfile
import traceback
from pathlib import Path

from prose_runtime.errors import ProseError
from prose_runtime.journal import RECORD_FOLDER, redact


class Bug(ProseError):
    """This program is wrong, not its user."""

    kind = "bug"


def report_bug(error: BaseException) -> Bug:
    """Write the traceback to a file and make one sentence of the error."""
    text = "".join(traceback.format_exception(error))
    log = _write(redact(text))
    message = f"this is a bug in prose-runtime: {type(error).__name__}: {redact(str(error))}"
    return Bug(message, help=f"please report it with {log}" if log else "please report it")


def _write(text: str) -> Path | None:
    local = Path(RECORD_FOLDER)
    for folder in (local, Path(tempfile.gettempdir())):
        try:
            handle, name = tempfile.mkstemp(prefix="prose-bug-", suffix=".log", dir=folder)
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
            return Path(name)
        except OSError:
            continue
    return None
