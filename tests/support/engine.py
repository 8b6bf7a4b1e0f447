"""A real engine on this machine, and real workers, for tests of runs on many machines."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.commands import BIN, Outcome, clean_environment, prose, run

LOST_AFTER = 2
"""Seconds after which a worker of a test counts as lost."""


def free_port() -> int:
    """A port of this machine that nobody listens to."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def server(home: Path) -> Iterator[str]:
    """A development server in memory; yields its address."""
    port = free_port()
    words = [str(BIN / "temporal"), "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", str(port),
             "--http-port", str(free_port()), "--metrics-port", str(free_port()), "--log-level", "error"]  # fmt: skip
    log = (home / "server.log").open("wb")
    process = subprocess.Popen(words, stdout=log, stderr=log, env=clean_environment(home))
    try:
        _until(lambda: _listens(port), process, home / "server.log")
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)
        log.close()


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        tried.settimeout(0.2)
        return tried.connect_ex(("127.0.0.1", port)) == 0


def _until(done: Any, process: subprocess.Popen[bytes], log: Path, seconds: float = 40) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.05)


class Team:
    """Workers of one folder and one queue, and the commands that use them."""

    def __init__(self, folder: Path, home: Path, address: str, queue: str):
        self.folder = folder
        self.home = home
        self.address = address
        self.queue = queue
        self.workers: list[subprocess.Popen[bytes]] = []
        self._count = 0
        settings = {"address": address, "task_queue": queue, "lost_after": LOST_AFTER}
        self.configure(engine={"temporal": settings})

    def configure(self, **settings: Any) -> None:
        """Write the folder's prose.yml, or add to it."""
        file = self.folder / "prose.yml"
        known = json.loads(file.read_text()) if file.exists() else {}
        file.write_text(json.dumps({**known, **settings}))

    def start(self, count: int = 1) -> None:
        """Start workers and wait until they work."""
        begun = []
        for _ in range(count):
            self._count += 1
            log = self.home / f"worker{self._count}.log"
            with log.open("wb") as file:
                worker = subprocess.Popen(
                    [prose(), "worker"], cwd=self.folder, env=clean_environment(self.home), stdout=file, stderr=file
                )
            self.workers.append(worker)
            begun.append((worker, log))
        for worker, log in begun:
            _until(lambda log=log: "working" in log.read_text(), worker, log)

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """End a worker without warning."""
        worker.send_signal(signal.SIGKILL)
        worker.wait(10)
        self.workers.remove(worker)

    def stop(self) -> None:
        """End all workers."""
        for worker in self.workers:
            worker.send_signal(signal.SIGKILL)
        for worker in self.workers:
            worker.wait(10)
        self.workers.clear()

    def prose(self, *words: str, **more: Any) -> Outcome:
        """Run a command of ours in the folder."""
        return run([prose(), *words], self.folder, self.home, **more)

    def there(self, *words: str, **more: Any) -> Any:
        """The object of a run on the engine."""
        done = self.prose("run", *words, "--engine", "temporal", "--json", **more)
        return json.loads(done.stdout)

    def here(self, *words: str) -> Any:
        """The object of the same run on this machine."""
        return json.loads(self.prose("run", *words, "--json", "--no-record").stdout)

    def logs(self) -> str:
        """All that the workers wrote."""
        return "".join(file.read_text() for file in sorted(self.home.glob("worker*.log")))


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two runs came to the same in every respect but their names; the order of names in objects counts.

    When branches begin their calls depends on the workers: calls are compared by step.
    """
    return _compared(one) == _compared(other)


def _compared(run: dict[str, Any]) -> str:
    return json.dumps({**run, "run": None, "calls": sorted(run["calls"], key=lambda call: call["step"])})
